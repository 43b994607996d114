//go:build cgo && !sqlite_fts5 && !fts5

package statedb

/*
#error "The sidecar needs SQLite with FTS5, or no delete could keep a full-text index in step: build with `make build`, or pass -tags sqlite_fts5."
*/
import "C"
