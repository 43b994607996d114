// Package sidecartest runs the real program against real stores for the tests: it builds the binary, makes homes, speaks over pipes,
// plays the other processes that a test needs, and listens to what is logged. Only tests import it.
package sidecartest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Build is a kind of binary.
type Build string

// The kinds of sidecar, and the program of other processes that no race detector may slow down.
const (
	Plain       Build = "sidecar"
	FaultPoints Build = "sidecar-faultpoints"
	Release     Build = "sidecar-release"

	helperProgram Build = "helper"
)

// recipe is how a kind is built.
type recipe struct {
	program string
	tags    string
	raced   bool // with the race detector exactly where the test that runs it has it
}

var recipes = map[Build]recipe{
	Plain:         {program: "cmd/sidecar", tags: "sqlite_fts5", raced: true},
	FaultPoints:   {program: "cmd/sidecar", tags: "sqlite_fts5,faultpoints", raced: true},
	Release:       {program: "cmd/sidecar", tags: "sqlite_fts5"},
	helperProgram: {program: "internal/sidecartest/helper", tags: "sqlite_fts5"},
}

var builds sync.Map // Build -> func() (string, error)

// Binary builds the program once for each test process and gives its path. The Go build cache makes this quick.
func Binary(t testing.TB, kind Build) string {
	t.Helper()
	once, _ := builds.LoadOrStore(kind, sync.OnceValues(func() (string, error) { return build(kind) }))
	path, err := once.(func() (string, error))()
	require.NoError(t, err)
	return path
}

// programVariable names a program that is tested instead of one that is built here: one for another system, under its stand-in.
const programVariable = "SIDECARTEST_PROGRAM"

func build(kind Build) (string, error) {
	if program := os.Getenv(programVariable); program != "" && (kind == Plain || kind == Release) {
		return program, nil
	}
	dir, err := os.MkdirTemp("", "sidecar-build-")
	if err != nil {
		return "", err
	}
	atTheEnd(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, string(kind))
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	from := recipes[kind]
	args := []string{"build", "-tags", from.tags, "-o", path}
	if raceEnabled && from.raced {
		args = append(args, "-race")
	}
	command := exec.Command("go", append(args, "session-sidecar/"+from.program)...)
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return path, nil
}
