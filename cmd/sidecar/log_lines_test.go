package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// line is one line that the program may log: its level or levels, and its fields in their order.
type line struct{ level, fields string }

// TestTheDocumentListsEveryLogLine reads docs/reference/logs.md beside every call in the code that logs, both ways.
func TestTheDocumentListsEveryLogLine(t *testing.T) {
	t.Parallel()
	documented := documentedLines(t)
	written := map[string]line{}
	for _, folder := range []string{".", "../../rpc", "../../methods", "../../cleanup", "../../locks", "../../statedb", "../../internal"} {
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "sidecartest") {
				linesIn(t, path, written)
			}
			return err
		}))
	}
	require.Greater(t, len(written), 20, "no calls were found")
	assert.Equal(t, slices.Sorted(maps.Keys(written)), slices.Sorted(maps.Keys(documented)))
	for message, one := range written {
		assert.Equal(t, one, documented[message], message)
	}
}

// documentedLines are the rows of the document's tables: what is logged, its level, its fields.
func documentedLines(t *testing.T) map[string]line {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/logs.md")
	require.NoError(t, err)
	documented := map[string]line{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([a-z, ]+) \\| (.*?) \\|").FindAllStringSubmatch(string(text), -1) {
		var fields []string
		for _, field := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[3], -1) {
			fields = append(fields, field[1])
		}
		documented[row[1]] = line{row[2], strings.Join(fields, " ")}
	}
	return documented
}

// linesIn adds the lines that a file of the code may log. Messages and the names of fields are literals in the call itself.
func linesIn(t *testing.T, path string, found map[string]line) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if !is {
			return true
		}
		method, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			return true
		}
		at := set.Position(call.Pos())
		if method.Sel.Name == "warnOnce" { // which logs what it is given
			found[literal(t, call.Args[0], at)] = line{"warn", "home error"}
			return true
		}
		if name := receiver(method.X); name != "log" || !slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Log"}, method.Sel.Name) {
			return true
		}
		level, arguments := strings.ToLower(method.Sel.Name), call.Args
		if level == "log" {
			level, arguments = "info, warn", arguments[2:]
		}
		if what, is := arguments[0].(*ast.Ident); is && what.Name == "what" {
			return true // warnOnce itself
		}
		var fields []string
		for i := 1; i < len(arguments); i += 2 {
			fields = append(fields, literal(t, arguments[i], at))
		}
		message := literal(t, arguments[0], at)
		if earlier, twice := found[message]; twice {
			require.Equal(t, earlier, line{level, strings.Join(fields, " ")}, "%v: a message has the same fields everywhere", at)
		}
		found[message] = line{level, strings.Join(fields, " ")}
		return true
	})
}

func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}

func literal(t *testing.T, x ast.Expr, at token.Position) string {
	t.Helper()
	text, is := x.(*ast.BasicLit)
	require.True(t, is, "%v: a log line is spelled with literals", at)
	value, err := strconv.Unquote(text.Value)
	require.NoError(t, err)
	return value
}

// TestALineForADelete compares the example of the document with the line of a real delete, and a refused one with it.
func TestALineForADelete(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/logs.md")
	require.NoError(t, err)
	example := regexp.MustCompile(`(?m)^\{"time":.*"msg":"delete".*\}$`).FindString(string(text))
	require.NotEmpty(t, example)

	home := storeWith(t, fixtures.LegacySchema)
	home.Exec(`INSERT INTO sessions (id, source, started_at) SELECT 'delegate-' || value, 'cli', 1 FROM json_each('[1,2]')`,
		`UPDATE sessions SET model_config = '{"_delegate_from":"s1"}' WHERE id LIKE 'delegate-%'`)
	p := sidecartest.Start(t, sidecartest.Plain, sidecartest.Env("SIDECAR_LOG_LEVEL=info"))
	p.Handshake()
	require.True(t, p.Delete(home, "s1").OK)
	home.Exec(`INSERT INTO sessions (id, source, started_at) VALUES ('busy', 'cli', 1)`,
		`INSERT INTO session_turn_leases VALUES ('busy', 'h', 1, 9999999999)`)
	require.Equal(t, "active_turn", p.Delete(home, "busy").Reason)
	p.CloseStdin()
	require.Zero(t, p.Wait())
	lines := deletesIn(t, p.Stderr())
	require.Len(t, lines, 2)
	assert.Equal(t, keysOf(t, example), keysOf(t, lines[0]))
	assert.Equal(t, keysOf(t, example), keysOf(t, lines[1]))

	var done, refused struct {
		Session, Reason, Path string
		OK                    bool
		IDs                   []string
		Count                 int     `json:"id_count"`
		Lock                  float64 `json:"home_lock_wait_ms"`
		WriteLock             float64 `json:"write_lock_wait_ms"`
		Decision              float64 `json:"decision_ms"`
		Transaction           float64 `json:"transaction_ms"`
		Cleanup               float64 `json:"cleanup_ms"`
		Total                 float64 `json:"total_ms"`
	}
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &done))
	assert.Equal(t, []string{"s1", "delegate-1", "delegate-2"}, done.IDs)
	assert.Equal(t, 3, done.Count)
	assert.True(t, done.OK)
	assert.Equal(t, "legacy", done.Path)
	parts := []float64{done.Lock, done.WriteLock, done.Decision, done.Transaction, done.Cleanup}
	for i, part := range parts {
		assert.Positive(t, part, "part %d", i)
		assert.LessOrEqual(t, part, done.Total)
	}
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &refused))
	assert.Equal(t, "active_turn", refused.Reason)
	assert.Empty(t, refused.IDs)
	assert.Positive(t, refused.Transaction, "a refusal holds the write lock too")
	assert.Zero(t, refused.Cleanup)
}

// TestALineForEachOfManyDeletes: one line for each id that was reached, one for those that were not, and no line names more ids than
// anybody reads.
func TestALineForEachOfManyDeletes(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	home.Exec(`INSERT INTO sessions (id, source, started_at, model_config) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
		SELECT 'delegate-' || i, 'cli', 1, '{"_delegate_from":"s1"}' FROM n`, `INSERT INTO sessions (id, source, started_at) VALUES ('s2', 'cli', 1)`)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	p.Request(1, "state_db.delete_sessions", map[string]any{"profile_home": home.Path, "session_ids": []string{"s1", "delegate-7", "s2", "gone"}})
	for reply := p.Reply(); reply.Method == "stream"; {
		reply = p.Reply()
	}
	missing := sidecartest.NewHome(t)
	p.Request(2, "state_db.delete_sessions", map[string]any{"profile_home": missing.Path, "session_ids": []string{"a", "b"}})
	p.Reply()
	p.CloseStdin()
	require.Zero(t, p.Wait())
	lines := deletesIn(t, p.Stderr())
	require.Len(t, lines, 3, "of s1, s2 and gone")
	assert.Contains(t, lines[0], `"id_count":31`)
	assert.Contains(t, lines[0], `"delegate-1`)
	assert.Equal(t, 19, strings.Count(lines[0], `"delegate-`), "and s1")
	assert.Contains(t, lines[1], `"session":"s2"`)
	assert.Contains(t, p.Stderr(), `"msg":"taken along","home":`+quoted(home.Path)+`,"session":"delegate-7","taken_by":"s1"`)
	assert.Contains(t, p.Stderr(), `"msg":"deletes not reached","home":`+quoted(missing.Path)+`,"reason":"store_missing","ids":["a","b"],"id_count":2`)
}

// deletesIn are the lines of deletes in a log.
func deletesIn(t *testing.T, log string) (lines []string) {
	t.Helper()
	for text := range strings.Lines(log) {
		var entry struct{ Msg string }
		require.NoError(t, json.Unmarshal([]byte(text), &entry), text)
		if entry.Msg == "delete" {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	return lines
}

// keysOf are the names of the fields of a line, in their order.
func keysOf(t *testing.T, text string) (keys []string) {
	t.Helper()
	var entry map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &entry))
	for _, key := range regexp.MustCompile(`"([a-z_]+)":`).FindAllStringSubmatch(text, -1) {
		if _, is := entry[key[1]]; is {
			keys = append(keys, key[1])
		}
	}
	return keys
}

// quoted is a text as JSON has it: on Windows a path has backslashes.
func quoted(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}
