package statedb

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"session-sidecar/internal/agentjson"
	"session-sidecar/internal/home"
)

// Tool output that was too large for a message and was spilled to a file in the home (contract 5b.5). That these files go
// with the messages that named them is inferred from how the Agent writes them, and kept apart: this file decides, the
// SQL is in spill_sql.go; spelling.go says how a text may spell a name.

// SpillNote is what a delete noted of the spilled files that it left to be removed.
type SpillNote struct {
	OperationID string
	Files       []string // paths inside the home, sorted
	SessionIDs  []string // the sessions that named them, in the order of deleted_ids
}

// isSpilled tells whether a path inside the home is that of a file directly in one of the folders. A name with a control
// character, a quote or a separator could be spelled in too many ways to be sure that no text names it.
func isSpilled(file string) bool {
	folder, name := path.Split(file)
	switch {
	case !slices.Contains(home.SpillFolders, strings.TrimSuffix(folder, "/")):
		return false
	case name == "" || name == "." || name == ".." || name == "tool-results":
		return false
	}
	return utf8.ValidString(name) && !strings.ContainsAny(name, `\"`) && !strings.ContainsFunc(name, unicode.IsControl)
}

// spellingOf is how a message names a spilled file: with its folder, wherever that is mounted.
func spellingOf(file string) string {
	folder := file[:strings.LastIndex(file, "/")]
	return nameOf(folder) + "/" + nameOf(file)
}

// nameOf is the last part of a path inside the home.
func nameOf(file string) string { return file[strings.LastIndex(file, "/")+1:] }

// spillReader looks for the spellings of some files in texts.
type spillReader struct {
	find  *finder
	files map[string]string   // spelling -> file
	named map[string]struct{} // the files that were found
}

// newSpillReader leaves files out that are none.
func newSpillReader(files []string) *spillReader {
	r := &spillReader{files: map[string]string{}, named: map[string]struct{}{}}
	for _, file := range files {
		if isSpilled(file) {
			r.files[spellingOf(file)] = file
		}
	}
	r.find = newFinder(sortedKeys(r.files))
	return r
}

// read takes in the files that a text names, as it is or as JSON spells it.
func (r *spillReader) read(text string) {
	r.readPlain(oneSlash(text))
	if plain := fromJSON(text); plain != text {
		r.readPlain(oneSlash(plain))
	}
}

// readPlain goes letter by letter, and takes a name neither for the beginning nor for the end of a longer one.
func (r *spillReader) readPlain(text string) {
	longest := map[int]string{}
	r.find.in(text, func(spelling string, end int) {
		start := end - len(spelling)
		if text[start:end] == spelling && len(spelling) > len(longest[start]) && !endsInName(text[:start]) && !goesOn(text[end:]) {
			longest[start] = spelling
		}
	})
	for _, spelling := range longest {
		r.named[r.files[spelling]] = struct{}{}
	}
}

// parseSpillNote reads a note. One that is not as we write it notes nothing.
func parseSpillNote(operationID, value string) (note SpillNote, ok bool) {
	record, ok := readObject(value)
	if !ok ||
		json.Unmarshal(record["files"], &note.Files) != nil || json.Unmarshal(record["session_ids"], &note.SessionIDs) != nil ||
		note.Files == nil || note.SessionIDs == nil {
		return note, false
	}
	note.OperationID = operationID
	foreign := slices.ContainsFunc(note.Files, func(file string) bool { return !isSpilled(file) })
	return note, !foreign
}

// encode is the note as it is stored. An id that is no UTF-8 is noted as the wire spells it.
func (n SpillNote) encode() (string, error) {
	return agentjson.Encode(agentjson.Object{"files": values(n.Files), "session_ids": values(asSpelled(n.SessionIDs))})
}
