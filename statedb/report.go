package statedb

import "slices"

// This file says what is told of a store's shape (contract 5d, features).

// Report is what a store is and has (contract 5d, features).
type Report struct {
	Path          Path  // empty where no path applies; then PathError says why
	PathError     error // an *Error
	SchemaVersion *int64
	Tables        map[string]bool // of the tables that the contract names
	Guards        bool            // a running turn can be seen
	Indexes       []Index
	Receipts      bool // deletion receipts can be read
	JournalMode   string
	Bytes         int64
	WALBytes      int64
	Sessions      *int64   // nil without a table of them
	Missing       []string // what contract 3 looks for and does not find, as table or table.column
}

// Index is one full-text index.
type Index struct {
	Name      string
	Tokenizer string // with its arguments
	Usable    bool   // this build can read and write it
}

// otherTables are those that the contract names beside what decides the path.
var otherTables = func() []string {
	names := []string{promptsTable, "schema_version", receiptsTable}
	for _, t := range sideTables() {
		names = append(names, t.name)
	}
	return names
}()

func (s *schema) namedTables() map[string]bool {
	tables := map[string]bool{}
	for _, table := range slices.Concat(sortedKeys(decisive()), otherTables) {
		tables[table] = s.has(table)
	}
	return tables
}
