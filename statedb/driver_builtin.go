//go:build cgo && !libsqlite3

package statedb

// builtIn says that the SQLite in this build is the one that the driver brings. fts5_required.go does not let it be compiled without
// FTS5, which has the trigram tokenizer with it.
const builtIn = true
