// Package agentjson writes JSON as the Agent's runtime writes what it looks up and compares by its bytes (contract 5b.4):
// UTF-8, sorted keys, no spaces, only the quotation mark, the backslash and characters below U+0020 escaped, numbers as
// they were read.
package agentjson

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrNotText says that a value cannot be written as JSON: text that is no UTF-8, a blob, or a number that is not finite.
var ErrNotText = errors.New("it holds a value that JSON cannot spell")

// Raw is JSON text that is already in this form.
type Raw string

// Object is a JSON object.
type Object = map[string]any

// Encode writes a value that was read from a store or put together from such values: nil, bool, int, int64, float64,
// string, Raw, json.Number, []any and Object. A float64 keeps its point (1790000000.0). Anything else is ErrNotText.
func Encode(value any) (string, error) {
	var out strings.Builder
	if err := write(&out, value); err != nil {
		return "", err
	}
	return out.String(), nil
}

func write(out *strings.Builder, value any) error {
	switch v := value.(type) {
	case nil:
		out.WriteString("null")
	case bool:
		out.WriteString(strconv.FormatBool(v))
	case int:
		out.WriteString(strconv.Itoa(v))
	case int64:
		out.WriteString(strconv.FormatInt(v, 10))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: %v", ErrNotText, v)
		}
		out.WriteString(float(v))
	case string:
		if !utf8.ValidString(v) {
			return fmt.Errorf("%w: text that is no UTF-8", ErrNotText)
		}
		writeString(out, v)
	case Raw:
		out.WriteString(string(v))
	case json.Number:
		out.WriteString(string(v))
	case []any:
		out.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := write(out, element); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case Object:
		out.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := write(out, key); err != nil {
				return err
			}
			out.WriteByte(':')
			if err := write(out, v[key]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
	default:
		return fmt.Errorf("%w: a value of type %T", ErrNotText, value)
	}
	return nil
}

// float spells a number as Python does: the shortest text that gives it back, with a point or an exponent.
func float(v float64) string {
	if v == 0 || (math.Abs(v) >= 1e-4 && math.Abs(v) < 1e16) {
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	return strconv.FormatFloat(v, 'e', -1, 64)
}

func writeString(out *strings.Builder, text string) {
	out.WriteByte('"')
	for i := range len(text) {
		writeByte(out, text[i])
	}
	out.WriteByte('"')
}

// writeByte writes one byte of UTF-8 text inside a string.
func writeByte(out *strings.Builder, b byte) {
	switch b {
	case '"', '\\':
		out.WriteByte('\\')
		out.WriteByte(b)
	case '\b':
		out.WriteString(`\b`)
	case '\f':
		out.WriteString(`\f`)
	case '\n':
		out.WriteString(`\n`)
	case '\r':
		out.WriteString(`\r`)
	case '\t':
		out.WriteString(`\t`)
	default:
		if b < 0x20 {
			fmt.Fprintf(out, `\u%04x`, b)
			return
		}
		out.WriteByte(b)
	}
}

// Fingerprint is the hex SHA-256 under which the Agent keeps what belongs to a session and a payload (contract 5b.4).
func Fingerprint(target string, payload any) (string, error) {
	text, err := Encode(Object{"payload": payload, "target": target})
	if err != nil {
		return "", err
	}
	return hash(text), nil
}

// ASCIIFingerprints is the hex SHA-256 of a compact JSON array of texts in ASCII (contract 5b.1): what is beyond it as \uxxxx
// in lower case, surrogate pairs where one is not enough. The contract leaves U+007F as it is; Python's json escapes it, so
// a text that holds it has a second one.
func ASCIIFingerprints(texts ...string) ([]string, error) {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	encoded, err := Encode(list)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	for _, r := range encoded {
		switch {
		case r < utf8.RuneSelf:
			out.WriteByte(byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	fingerprints := []string{hash(out.String())}
	if escaped := strings.ReplaceAll(out.String(), "\x7f", `\u007f`); escaped != out.String() {
		fingerprints = append(fingerprints, hash(escaped))
	}
	return fingerprints, nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
