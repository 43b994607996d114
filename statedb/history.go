package statedb

import (
	"encoding/json"
	"slices"
	"strings"
)

// The downgrade fence (contract 5.5): a store may hold the runtime history of an Agent that is newer than the installed
// one. The legacy path must not take a conversation that this history names, since it could not retire it. This file decides what
// names one, where SQLite cannot; the family that is asked about is graph.logicalFamily.

// namesOne tells whether a record names one of the ids in one of the fields of contract 5.5.
func namesOne(value string, ids map[string]bool) bool {
	record, _ := readPythonObject(strings.ToValidUTF8(value, "\uFFFD")) // whatever is broken in it, it may name one
	entry, _ := readObject(record["entry"])                             // one that is no object names nothing
	var lineage []json.RawMessage
	_ = json.Unmarshal(record["lineage"], &lineage)
	names := append(lineage, record["session_id"], record["target_session_id"], entry["session_id"])
	return slices.ContainsFunc(names, func(raw json.RawMessage) bool {
		id, ok := readString(raw)
		return ok && ids[id]
	})
}

func namedIn(place string) string {
	return "a newer Agent's runtime history names this conversation in " + place
}

// historyTables are the ledger's columns that name a session.
var historyTables = []struct{ table, column string }{
	{"session_admissions", "target_session_id"},
	{"worker_executions", "session_id"},
}
