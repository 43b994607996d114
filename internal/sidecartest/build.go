// Package sidecartest runs the real program against real stores for the tests: it builds the binary, makes homes, and
// speaks over pipes. Only tests import it.
package sidecartest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// Build is a kind of binary.
type Build string

// The kinds. The race detector is in a binary exactly where it is in the test that runs it, except in Release and in Writer, which
// is no sidecar: see StartWriter.
const (
	Plain       Build = "sidecar"
	FaultPoints Build = "sidecar-faultpoints"
	Release     Build = "sidecar-release"
	Writer      Build = "store-writer"
)

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
	cleanups = append(cleanups, func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, string(kind))
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	tags := "sqlite_fts5"
	if kind == FaultPoints {
		tags += ",faultpoints"
	}
	args := []string{"build", "-tags", tags, "-o", path}
	if raceEnabled && kind != Release && kind != Writer {
		args = append(args, "-race")
	}
	program := "session-sidecar/cmd/sidecar"
	if kind == Writer {
		program = "session-sidecar/internal/sidecartest/writer"
	}
	command := exec.Command("go", append(args, program)...)
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return path, nil
}

var cleanups []func()

// Main runs a package's tests and removes what Binary built. No goroutine may outlive them. It also is the other process of
// HoldWriteLock, StartAgent and StartOther. Once all tests have passed, the checks look at what they have done together.
func Main(m *testing.M, checks ...func() error) {
	holdIfAsked()
	agentIfAsked()
	otherIfAsked()
	if os.Getenv("GORACE") == "" {
		// A program with the race detector else waits a second at its end, each of the many that the tests start.
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	drawAlikeInCI()
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "a goroutine outlives the tests:", err)
			code = 1
		}
		for _, check := range checks {
			if err := check(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	for _, cleanup := range slices.Backward(cleanups) {
		cleanup()
	}
	os.Exit(code)
}

// drawAlikeInCI gives the property tests one seed there: a landing stands or falls with its own change, and a draw that nobody
// has met is looked for where somebody can look into it (docs/reference/testing.md). A seed on the command line wins.
func drawAlikeInCI() {
	flag.Parse()
	seed := flag.Lookup("rapid.seed") // only where a package draws
	if os.Getenv("CI") == "" || seed == nil || seed.Value.String() != seed.DefValue {
		return
	}
	if err := flag.Set("rapid.seed", "20261129"); err != nil {
		fmt.Fprintln(os.Stderr, "the seed of the property tests cannot be set:", err)
		os.Exit(1)
	}
}
