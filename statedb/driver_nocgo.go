//go:build !cgo

package statedb

import (
	"context"
	"errors"

	_ "github.com/mattn/go-sqlite3" // its stand-in answers every open with the reason
)

var errNoCgo = errors.New("this build has no SQLite: build with CGO_ENABLED=1 and a C compiler")

func resultCodes(error) (primary, extended int, ok bool) { return 0, 0, false }

func keepWAL(any) error { return errNoCgo }

func inTransaction(any) bool { return false }

func sqliteVersion() string { return "none" }

func copyPages(context.Context, any, any) error { return errNoCgo }
