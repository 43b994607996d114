//go:build cgo

package statedb

import (
	"context"
	"errors"

	"github.com/mattn/go-sqlite3"
)

// resultCodes gives SQLite's primary and extended result code of an error, where it is one of SQLite's.
func resultCodes(err error) (primary, extended int, ok bool) {
	e, is := errors.AsType[sqlite3.Error](err)
	if !is {
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

// pagesAtOnce is how many pages of a copy are made before a cancel is heard.
const pagesAtOnce = 1024

// copyPages copies what one driver connection reads into another's store, page by page.
func copyPages(ctx context.Context, to, from any) (err error) {
	backup, err := to.(*sqlite3.SQLiteConn).Backup("main", from.(*sqlite3.SQLiteConn), "main")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backup.Finish()) }()
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if done, err = backup.Step(pagesAtOnce); err != nil {
			return err
		}
	}
	return nil
}
