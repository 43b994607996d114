package statedb

import (
	"maps"
	"slices"
)

// This file holds what a store must have, and how it must keep it, for each path (contract 3). It is all functions of the schema.

// sessionColumns and messageColumns make a store one of conversations (contract 3.2).
var (
	sessionColumns = []string{"id", "parent_session_id"}
	messageColumns = []string{"session_id"}
)

// guardTables are those that a running turn can be seen by (contract 3.3).
var guardTables = map[string][]string{
	"compression_locks":   {"session_id", "holder", "expires_at"},
	"session_turn_leases": {"conversation_id", "holder", "expires_at"},
}

// ledgerTables are a newer Agent's runtime ledger; canonicalNeeds is all that the canonical path needs beside the revision
// (contract 3.5).
var (
	ledgerTables   = []string{"session_admissions", "worker_executions", "worker_receipts"}
	canonicalNeeds = append(slices.Clone(ledgerTables), "state_meta", "gateway_routing", "conversation_generations")
)

// canonicalColumns are what the canonical path reads and writes of those tables.
var canonicalColumns = map[string][]string{
	"session_admissions": {
		"admission_id", "request_id", "principal_id", "target_session_id", "lineage_json", "payload_json", "status",
	},
	"worker_executions":        {"execution_id", "session_id", "status"},
	"worker_receipts":          {"execution_id", "sequence", "payload_digest", "result_json"},
	"state_meta":               {"key", "value"},
	"gateway_routing":          {"session_key", "entry_json"},
	"conversation_generations": {"source", "session_key", "generation"},
}

// idColumns hold what a delete on either path finds its rows and its guards by, canonicalIDs what the canonical path goes by
// beside. Of the latter the legacy path asks those in which a newer Agent's history may name a conversation; compared loosely
// they name one more often, so it refuses more and never less, and they are no reason to refuse a store there.
var (
	idColumns = func() map[string][]string {
		columns := map[string][]string{"session_turn_leases": {"conversation_id"}}
		for _, t := range hangingTables {
			columns[t.name] = []string{t.key}
		}
		columns["sessions"] = append(columns["sessions"], "parent_session_id")
		return columns
	}()
	canonicalIDs = map[string][]string{
		"session_admissions":       {"target_session_id", "admission_id"},
		"worker_executions":        {"session_id", "execution_id"},
		"worker_receipts":          {"execution_id"},
		"state_meta":               {"key", "value"}, // a value may be nothing but an id
		"gateway_routing":          {"session_key"},
		"conversation_generations": {"source", "session_key"},
	}
)

// hasConversations tells whether the store is one of conversations at all.
func (s *schema) hasConversations() bool {
	return s.has("sessions", sessionColumns...) && s.has("messages", messageColumns...)
}

// hasRecords tells whether the store keeps records. One that does not has none.
func (s *schema) hasRecords() bool { return s.has("state_meta", "key", "value") }

// missingGuards names a table of guards that is not all there; nothing where a running turn can be seen.
func (s *schema) missingGuards() (table string) {
	for _, table := range sortedKeys(guardTables) {
		if !s.has(table, guardTables[table]...) {
			return table
		}
	}
	return ""
}

// missingRuntime lists what the store lacks of the runtime that the canonical path needs, as table or table.column.
func (s *schema) missingRuntime() []string {
	missing := slices.DeleteFunc(slices.Clone(canonicalNeeds), func(table string) bool { return s.has(table) })
	if !s.has("sessions", "runtime_revision") {
		missing = append(missing, "sessions.runtime_revision")
	}
	return missing
}

// hasPartOfLedger tells whether one of the ledger's tables is there.
func (s *schema) hasPartOfLedger() bool {
	return slices.ContainsFunc(ledgerTables, func(table string) bool { return s.has(table) })
}

// canonical is the canonical path, for a store that keeps all that it goes by as it was written.
func (s *schema) canonical() (Path, error) {
	for _, columns := range []map[string][]string{idColumns, canonicalIDs} {
		if column := s.keptAsNumber(columns); column != "" {
			return "", unsupported("the store keeps %s as a number where it can", column)
		}
	}
	if err := s.refuseLooseIDs(canonicalIDs); err != nil {
		return "", err
	}
	return PathCanonical, nil
}

// refuseOtherColumns is ErrUnsupported, naming the column, for a store whose ledger has another shape than we know.
func (s *schema) refuseOtherColumns() error {
	for _, table := range sortedKeys(canonicalColumns) {
		for _, column := range canonicalColumns[table] {
			if !s.has(table, column) {
				return unsupported("the store's table %s has no column %s", table, column)
			}
		}
	}
	return nil
}

// refuseLooseIDs is ErrUnsupported where SQLite does not compare one of the columns letter by letter: under such a collation one id
// would take the rows, and pass the guards, of another.
func (s *schema) refuseLooseIDs(columns map[string][]string) error {
	if column := firstOf(columns, s.isLoose); column != "" {
		return unsupported("the store compares %s in another way than letter by letter", column)
	}
	return nil
}

// keptAsNumber names one of the columns whose declared type would take the id "5", and "05" too, for the number.
func (s *schema) keptAsNumber(columns map[string][]string) string {
	return firstOf(columns, func(table, column string) bool { return s.numeric[table][column] })
}

// firstOf names the first of some columns, by table, that is as it should not be; nothing where none is.
func firstOf(columns map[string][]string, is func(table, column string) bool) string {
	for _, table := range sortedKeys(columns) {
		for _, column := range columns[table] {
			if is(table, column) {
				return table + "." + column
			}
		}
	}
	return ""
}

// decisive is all that contract 3 looks for, with the columns.
func decisive() map[string][]string {
	all := map[string][]string{
		"sessions": append(slices.Clone(sessionColumns), "runtime_revision"), "messages": messageColumns,
	}
	maps.Copy(all, guardTables)
	for _, table := range canonicalNeeds {
		all[table] = nil
	}
	return all
}

// missing lists what the store lacks of that, sorted. A table that is not there is named without its columns.
func (s *schema) missing() []string {
	var missing []string
	for table, columns := range decisive() {
		if !s.has(table) {
			missing = append(missing, table)
			continue
		}
		for _, column := range columns {
			if !s.has(table, column) {
				missing = append(missing, table+"."+column)
			}
		}
	}
	slices.Sort(missing)
	return missing
}
