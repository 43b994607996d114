package sidecartest

import (
	"database/sql"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Canary is a word that the helpers here put into what they write. No log may ever hold it.
const Canary = "canary7d1f0a"

// A log never holds a title, a message or a config. So every such text that a test puts into a store is a canary: it is remembered
// when it is written, and looked for in all that any sidecar of the tests logs, and in what tests log themselves over Log. Texts of
// fewer than canaryLeast bytes, or of one byte again and again, say nothing, and of longer ones the first canaryMost count, so that one that is cut off is found.
const (
	canaryLeast = 6
	canaryMost  = 12
)

// canaryColumns hold what was said, and what nobody may read in a log.
var canaryColumns = map[string][]string{
	"sessions":           {"title", "model_config", "system_prompt", "display_name", "origin_json"},
	"messages":           {"content", "tool_calls", "reasoning", "media_content", "api_content"},
	"system_prompts":     {"prompt"},
	"session_admissions": {"payload_json"},
	"worker_receipts":    {"result_json"},
}

// canaryRows is how many of the newest rows of a table are remembered after each change: large stores are made of alike ones.
const canaryRows = 100

var canaries = struct {
	sync.Mutex
	texts map[string]bool
	names map[string]bool // ids and paths, which may be logged and may be what somebody said too
}{texts: map[string]bool{Canary: true}, names: map[string]bool{}}

// Remember remembers texts that no log may hold.
func Remember(texts ...string) {
	canaries.Lock()
	defer canaries.Unlock()
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if text = text[:min(len(text), canaryMost)]; len(text) >= canaryLeast && strings.Trim(text, text[:1]) != "" {
			canaries.texts[text] = true
		}
	}
}

// Named remembers ids and paths, which a log may hold.
func Named(names ...string) {
	canaries.Lock()
	defer canaries.Unlock()
	for _, name := range names {
		canaries.names[name] = true
	}
}

// longestNamed bounds the requests that are remembered: hosts name ids in short ones.
const longestNamed = 4096

// namedIn remembers the ids that a request names: those that are in no store may be logged too. Other words of requests may not.
func namedIn(request string) {
	if len(request) <= longestNamed && strings.Contains(request, `"session_id`) && !strings.Contains(request, `"query"`) {
		Named(request)
	}
}

// remember has what a store holds now never stand in a log. A store that cannot be read says nothing.
func remember(db *sql.DB) {
	for table, columns := range canaryColumns {
		there, err := queryLines(db, "SELECT name FROM pragma_table_info(?)", table)
		if err != nil {
			return
		}
		for _, column := range columns {
			if slices.Contains(there, column) {
				texts, _ := queryLines(db, "SELECT "+column+" FROM "+table+" WHERE typeof("+column+") = 'text' ORDER BY rowid DESC LIMIT ?", canaryRows)
				Remember(texts...)
			}
		}
		if table == "sessions" && slices.Contains(there, "id") {
			ids, _ := queryLines(db, "SELECT id FROM sessions ORDER BY rowid DESC LIMIT ?", canaryRows)
			Named(ids...)
		}
	}
}

// unescaped is what the lines of a log say.
var unescaped = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t")

// Overheard gives what a log holds and may not.
func Overheard(log string) (found []string) {
	canaries.Lock()
	defer canaries.Unlock()
	for _, text := range []string{log, unescaped.Replace(log)} {
		for at := range len(text) {
			for n := canaryLeast; n <= canaryMost && at+n <= len(text); n++ {
				word := text[at : at+n]
				if canaries.texts[word] && !isName(word) && !slices.Contains(found, word) {
					found = append(found, word)
				}
			}
		}
	}
	return found
}

func isName(word string) bool {
	for name := range canaries.names {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// RequireSilent checks that a log holds nothing that was said in a conversation of any store of the tests.
func RequireSilent(t testing.TB, log string) {
	t.Helper()
	if found := Overheard(log); len(found) > 0 {
		t.Logf("a log holds what was said in a conversation: %q\n%s", found, log)
		t.Fail() // and not Errorf, which stops a story, where there is one no more
	}
}

// Log is a log for code that runs inside a test: every level of it is checked when the test ends, as that of a sidecar is. also may
// read along.
func Log(t testing.TB, also ...io.Writer) *slog.Logger {
	t.Helper()
	log := &lockedBuffer{}
	t.Cleanup(func() { RequireSilent(t, log.String()) })
	out := io.MultiWriter(append([]io.Writer{log}, also...)...)
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Listening gives a program that runs the sidecar for a story's own commands, in the terminal or the pipes that it is given, and has all
// that it says on a standard error that is no terminal checked when the test ends. Where there is no shell it is the sidecar itself.
func Listening(t testing.TB, program string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		return program
	}
	folder, err := os.MkdirTemp("", "sidecar-said-")
	require.NoError(t, err)
	t.Cleanup(func() {
		defer func() { _ = os.RemoveAll(folder) }()
		logs, err := filepath.Glob(filepath.Join(folder, "said.*"))
		require.NoError(t, err)
		for _, name := range logs {
			log, err := os.ReadFile(name)
			require.NoError(t, err)
			RequireSilent(t, string(log))
		}
	})
	path := filepath.Join(folder, "sidecar")
	script := `#!/bin/sh
[ -t 2 ] && exec '` + program + `' "$@"
said='` + folder + `/said.'$$
'` + program + `' "$@" 2>"$said"
status=$?
cat "$said" >&2
exit $status
`
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	return path
}
