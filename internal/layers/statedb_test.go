package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sqlElsewhere are the files of statedb that hold SQL, or import database/sql, though their name does not say so, with the reason.
var sqlElsewhere = map[string]string{
	"store.go":     "opening, pragmas, BEGIN, COMMIT and ROLLBACK are what a store is",
	"read.go":      "BEGIN makes the snapshot of a question",
	"rows.go":      "it runs the statements of all others",
	"look.go":      "BEGIN and ROLLBACK make and end the snapshot of a look, and one pragma proves it",
	"untouched.go": "BEGIN makes the snapshot of an exam, and one statement tells what kind a store is of",
	"survey.go":    "what a survey has found holds a statement of others to a few rows",
	"compact.go":   "VACUUM and the checkpoints are all that it does",
}

// sqlText is what no text but a statement, or a piece of one, has.
var sqlText = regexp.MustCompile(`\b(SELECT|INSERT INTO|UPDATE [a-z_]+ SET|DELETE FROM|CREATE [A-Z]+|DROP (TABLE|TRIGGER)|PRAGMA|BEGIN|COMMIT|ROLLBACK|VACUUM|WHERE|FROM|GLOB|IN|AND|OR)\b`)

// saysPure is how a file of statedb says that it decides from what was read before, and asks no store.
var saysPure = regexp.MustCompile(`(?i)\bthis file decides\b|\ball functions of\b`)

// In statedb, SQL stands in files that say so, and every such file holds some; who decides knows neither SQL nor a connection.
func TestSQLStandsWhereANameSaysSo(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "statedb", "*.go"))
	require.NoError(t, err)
	seen, pure := 0, 0
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "driver_") { // a driver is what is below database/sql
			continue
		}
		seen++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		found := sqlIn(file)
		reason, excused := sqlElsewhere[name]
		switch {
		case strings.HasSuffix(name, "_sql.go"):
			assert.NotEmpty(t, found, "%s holds no SQL", name)
		case excused:
			assert.NotEmpty(t, found, "%s holds no SQL any more, and needs no reason for it (%s)", name, reason)
		default:
			assert.Empty(t, found, "%s holds SQL, which belongs into a file that says so", name)
		}
		if slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool { return saysPure.MatchString(c.Text()) }) {
			pure++
			assert.Empty(t, found, "%s says that it decides, and knows SQL", name)
			assert.False(t, knowsConnection(file), "%s says that it decides, and knows a connection", name)
		}
	}
	assert.Greater(t, seen, 60)
	assert.Greater(t, pure, 8)
	for name := range sqlElsewhere {
		assert.FileExists(t, filepath.Join("..", "..", "statedb", name))
	}
}

// sqlIn gives the pieces of SQL of a file, and database/sql where it is imported.
func sqlIn(file *ast.File) (found []string) {
	imports := map[*ast.BasicLit]bool{}
	for _, spec := range file.Imports {
		imports[spec.Path] = true
		if spec.Path.Value == `"database/sql"` {
			found = append(found, spec.Path.Value)
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING || imports[literal] {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && sqlText.MatchString(text) {
			found = append(found, text)
		}
		return true
	})
	return found
}

// knowsConnection tells whether a file names the type of a connection to a store, or what one is made of.
func knowsConnection(file *ast.File) (knows bool) {
	ast.Inspect(file, func(node ast.Node) bool {
		if name, ok := node.(*ast.Ident); ok && slices.Contains([]string{"conn", "Tx", "ExecContext", "QueryContext", "QueryRowContext"}, name.Name) {
			knows = true
		}
		return true
	})
	return knows
}
