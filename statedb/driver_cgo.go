//go:build cgo

package statedb

import (
	"errors"

	"github.com/mattn/go-sqlite3"
)

// resultCodes gives SQLite's primary and extended result code of an error, where it is one of SQLite's.
func resultCodes(err error) (primary, extended int, ok bool) {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return 0, 0, false
	}
	return int(e.Code), int(e.ExtendedCode), true
}

// keepWAL makes the WAL persistent on a driver connection, so that closing it never takes -wal and -shm away under a
// running Agent (contract 4).
func keepWAL(driverConn any) error {
	return driverConn.(*sqlite3.SQLiteConn).SetFileControlInt("main", sqlite3.SQLITE_FCNTL_PERSIST_WAL, 1)
}

// inTransaction tells whether a driver connection still has an open transaction.
func inTransaction(driverConn any) bool {
	return !driverConn.(*sqlite3.SQLiteConn).AutoCommit()
}

func sqliteVersion() string {
	version, _, _ := sqlite3.Version()
	return version
}
