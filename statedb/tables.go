package statedb

import (
	"slices"

	"session-sidecar/internal/sqlname"
)

// hangingTable is a table of the Agent whose rows belong to one session each, or are sessions. They go with it on either path (contract
// 5.4), are exported, and are proved gone. A table that a later Agent adds gets a line in hangingTables, and all of that.
type hangingTable struct {
	name   string
	key    string // the column that holds the session's id
	order  string // of one session's rows where they are copied or exported; empty: of all columns
	copied bool   // a copy for the trash has its rows too (contract 10.1)
}

// hangingTables stand in the order in which an export has them, and in which a restore needs them: a session before what hangs on it. A
// store has the first two (contract 3.2); the others only if its Agent made them.
var hangingTables = []hangingTable{
	{name: "sessions", key: "id", copied: true},
	{name: "messages", key: "session_id", order: "id", copied: true},
	{name: "session_model_usage", key: "session_id", copied: true},
	{name: "telegram_dm_topic_bindings", key: "session_id"},
	{name: "compression_locks", key: "session_id"},
}

// sideTables are those that need no care but to be emptied of a session before it goes.
func sideTables() []hangingTable { return hangingTables[2:] }

// hanging are the tables of that kind that the store has.
func (s *schema) hanging(tables []hangingTable) []hangingTable {
	return slices.DeleteFunc(slices.Clone(tables), func(t hangingTable) bool { return !s.has(t.name, t.key) })
}

// hangingNamed finds one by its name, as SQLite compares names; of any other table it says so.
func hangingNamed(name string) (table hangingTable, is bool) {
	i := slices.IndexFunc(hangingTables, func(t hangingTable) bool { return sqlname.Same(t.name, name) })
	if i < 0 {
		return hangingTable{}, false
	}
	return hangingTables[i], true
}

// CopiedTables are the tables that a copy for the trash may have rows of, in the order of a copy (contract 10.1).
func CopiedTables() (names []string) {
	names = []string{promptsTable}
	for _, t := range hangingTables {
		if t.copied {
			names = append(names, t.name)
		}
	}
	return names
}

// promptsTable has the system prompts, which sessions share by their hash.
const promptsTable = "system_prompts"
