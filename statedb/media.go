package statedb

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"session-sidecar/internal/agentjson"
	"session-sidecar/internal/lazyregexp"
)

// Media that an admission's payload references, and what is noted of it (contract 5b.4, 5b.5). This file decides; the SQL
// is in filenotes_sql.go.

// mediaReference is media that an admission references.
type mediaReference struct {
	path   string
	sha256 string
	stored string // the object as JSON text, to be noted under mediaKey(path)
}

// mediaLists are the members of a payload that hold a list of media.
var mediaLists = []string{"attachments_v1", "native_text_v1", "api_turn_v1"}

const (
	hostedRequest  = "hosted:"                    // how the id of a hosted room's request begins
	attachmentLine = "[Shared attachment] file: " // how its prompt names a document that nothing else references
)

// hostedPath is the path of such a document; its folder has the hash of what is in it.
var hostedPath = lazyregexp.New(`^/(?:[^\n]*/)?native-inputs/([0-9a-f]{64})/[^/\n]+$`)

// mediaOf lists the media that an admission's payload references, each path once. What is malformed inside of a payload
// references nothing; a payload that is no JSON object is ErrUnsupported (contract 5b.4).
func mediaOf(payloadJSON, requestID string) ([]mediaReference, error) {
	payload, ok := readPythonObject(payloadJSON)
	if !ok {
		return nil, unsupported("the payload of an admission is no JSON object")
	}
	var found []mediaReference
	known := map[string]bool{}
	add := func(r mediaReference, ok bool) {
		if ok && !known[r.path] {
			known[r.path] = true
			found = append(found, r)
		}
	}
	for _, name := range mediaLists {
		var member map[string]json.RawMessage
		var list []json.RawMessage
		if json.Unmarshal(payload[name], &member) != nil || json.Unmarshal(member["media"], &list) != nil {
			continue
		}
		for _, raw := range list {
			add(readMediaReference(raw))
		}
	}
	if text, ok := readString(payload["text"]); ok && strings.HasPrefix(requestID, hostedRequest) {
		for _, line := range innerLines(text) {
			add(hostedReference(line))
		}
	}
	return found, nil
}

// readMediaReference reads one object of a list, which is stored as it stands there.
func readMediaReference(raw json.RawMessage) (r mediaReference, ok bool) {
	path, hash, ok := readMedia(raw)
	if !ok {
		return r, false
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return r, false
	}
	return mediaReference{path, hash, compact.String()}, true
}

// hostedReference reads a line of a hosted request's prompt.
func hostedReference(line string) (r mediaReference, ok bool) {
	path, ok := strings.CutPrefix(line, attachmentLine)
	m := hostedPath().FindStringSubmatch(path)
	if !ok || m == nil || !nameable(path) {
		return r, false
	}
	stored, err := agentjson.Encode(agentjson.Object{"path": path, "sha256": m[1]})
	if err != nil {
		return r, false
	}
	return mediaReference{path, m[1], stored}, true
}

// innerLines are the lines that have a line break before and after.
func innerLines(text string) []string {
	lines := strings.Split(text, "\n")
	if len(lines) < 3 {
		return nil
	}
	return lines[1 : len(lines)-1]
}

// readMedia reads a media object: path and sha256 are texts, whatever else it holds.
func readMedia(raw json.RawMessage) (path, hash string, ok bool) {
	object, ok := readObject(raw)
	if !ok {
		return "", "", false
	}
	path, hasPath := readString(object["path"])
	hash, hasHash := readString(object["sha256"])
	return path, hash, hasPath && hasHash && nameable(path)
}

// nameable tells whether a text can be the path of a file. The replacement character may stand for half a surrogate pair,
// which the Agent could not turn into a path either.
func nameable(path string) bool {
	return path != "" && !strings.ContainsRune(path, 0) && !strings.ContainsRune(path, utf8.RuneError)
}

// mediaKey is the key of state_meta under which the media of a path is noted.
func mediaKey(path string) string {
	sum := sha256.Sum256([]byte(path))
	return mediaPrefix + hex.EncodeToString(sum[:])
}
