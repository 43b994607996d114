//go:build !cgo || libsqlite3

package statedb

// builtIn says that nobody knows before the start what SQLite there is.
const builtIn = false
