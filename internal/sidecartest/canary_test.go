package sidecartest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A part of what was said is heard, as it is and as a line of JSON spells it; ids and paths are not.
func TestWhatIsOverheard(t *testing.T) {
	home := NewHome(t)
	home.Create(`CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, model_config TEXT)`, `CREATE TABLE messages (content)`,
		`INSERT INTO sessions VALUES ('the weather', 'Overheard: a "quoted" title', '{"overheard_key":1}')`,
		`INSERT INTO messages VALUES ('overheard: a long message'), ('weathe'), ('x'), ('`+home.Path+`/overheard')`)
	for log, heard := range map[string]bool{
		"level=INFO session=\"the weather\" home=" + home.Path: false,
		`{"msg":"x"}`:                               false,
		`{"error":"Overheard: a \"qu…"}`:            true,
		`{"error":"{\"overheard_key\":1} is none"}`: true,
		"error=\"overheard: a\"":                    true,
		"overheard":                                 false,
		"a file: " + Canary:                         true,
	} {
		assert.Equal(t, heard, len(Overheard(log)) > 0, log)
	}
}

// unheard are the files with tests that start a sidecar, or make a log, by a way of their own, and why nothing is missed there.
var unheard = map[string]string{
	"bench/bench_test.go":                 "the benchmark's processes get no standard error",
	"cleanup/watch_test.go":               "no store is there",
	"cmd/sidecar/host_gone_linux_test.go": "launch in main_test.go reads the log",
	"cmd/sidecar/parent_test.go":          "launch in main_test.go reads the log",
	"cmd/sidecar/process_linux_test.go":   "a person's command; its whole standard error is compared",
	"cmd/sidecar/profile_test.go":         "a command line that is refused, and help",
	"cmd/sidecar/socket_unix_test.go":     "no store is there, and no standard error",
	"cmd/sidecar/terminal_linux_test.go":  "help; the other one has no store",
	"fixtures/access_commands_test.go":    "it makes the program readable for another user",
	"fixtures/picture_test.go":            "the demo, whose standard error nobody reads; its store is made up by the program",
	"internal/demo/demo_test.go":          "its standard error is empty, or one line that is compared",
	"rpc/host_test.go":                    "no store is there",
}

// TestEverySidecarIsListenedTo finds tests that start one past Start, StartCommand and Listening, or make a log past Log.
func TestEverySidecarIsListenedTo(t *testing.T) {
	ownWay := regexp.MustCompile(`sidecartest\.Binary\(|slog\.New\(`)
	listens := regexp.MustCompile(`sidecartest\.(RequireSilent|Overheard|Listening)\(`)
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git" || entry.Name() == "build") {
			return fs.SkipDir
		}
		name, err := filepath.Rel("../..", path)
		if name = filepath.ToSlash(name); err != nil || !strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/sidecartest/") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !ownWay.Match(text) || listens.Match(text) {
			return err
		}
		found[name] = true
		assert.NotEmpty(t, unheard[name], fmt.Sprint(name, " starts a sidecar or makes a log that nobody listens to"))
		return nil
	}))
	for name := range unheard {
		assert.True(t, found[name], "%s is listened to, or gone", name)
	}
}
