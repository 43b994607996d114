package properties

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// objectOf reads a JSON object; anything else is nil. Numbers keep their spelling.
func objectOf(value any) map[string]any {
	text, _ := value.(string)
	parsed, ok := parse(text)
	object, isObject := parsed.(map[string]any)
	if !ok || !isObject {
		return nil
	}
	return object
}

func parse(text string) (value any, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	return value, decoder.Decode(&value) == nil && json.Valid([]byte(text))
}

// jsonOf spells a value as contract 5b.4 does, numbers of a REAL column aside.
func jsonOf(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // the tests put together what can be spelled
	}
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(out.String(), "\n"))
}

// fingerprint is contract 5b.4.
func fingerprint(target string, payload any) string {
	sum := sha256.Sum256([]byte(jsonOf(map[string]any{"payload": payload, "target": target})))
	return hex.EncodeToString(sum[:])
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
