//go:build cgo

package statedb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// counter counts what is asked of SQLite. What a trigger does is no statement of ours.
type counter struct{ statements []string }

// countingConnector opens one store through a counter.
type countingConnector struct {
	counter *counter
	uri     string
}

func (c countingConnector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

func (c countingConnector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.Driver().Open(c.uri)
	if err != nil {
		return nil, err
	}
	return &countingConn{opened.(*sqlite3.SQLiteConn), c.counter}, nil
}

type countingConn struct {
	*sqlite3.SQLiteConn
	counter *counter
}

func (c *countingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.counter.statements = append(c.counter.statements, query)
	return c.SQLiteConn.ExecContext(ctx, query, args)
}

func (c *countingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.counter.statements = append(c.counter.statements, query)
	return c.SQLiteConn.QueryContext(ctx, query, args)
}

// PrepareContext is never used, or what it makes would go uncounted.
func (c *countingConn) PrepareContext(context.Context, string) (driver.Stmt, error) {
	return nil, driver.ErrBadConn
}

// placeholders are a list of parameters, however long.
var placeholders = regexp.MustCompile(`\([(), ?]*\?\)`)

// counted runs work in a write transaction that is undone, and gives the statements.
func counted(t *testing.T, home *sidecartest.Home, work func(*Tx)) []string {
	t.Helper()
	c := &counter{}
	db := sql.OpenDB(countingConnector{c, storeURI(home.Store(), readWrite)})
	defer func() { require.NoError(t, db.Close()) }()
	sqlConn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, sqlConn.Close()) }()
	_, err = sqlConn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	c.statements = nil
	work(&Tx{conn: &conn{db: db, Conn: sqlConn}})
	statements := c.statements
	for i, statement := range statements {
		statements[i] = placeholders.ReplaceAllString(statement, "(LIST)")
	}
	_, err = sqlConn.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	return statements
}

// conversationOf makes a conversation of 5 segments and 3 delegates, with so many messages and rows in the ledger: requests
// with their results, and workers with their receipts.
func conversationOf(t *testing.T, messages, ledger int) *sidecartest.Home {
	t.Helper()
	home := newHome(t)
	statements := []string{
		fixtures.RuntimeSchema,
		`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4)
			INSERT INTO sessions (id, source, session_key, parent_session_id, started_at, ended_at, end_reason)
			SELECT 's' || i, 'cli', 'key', CASE WHEN i > 0 THEN 's' || (i - 1) END, i, i + 1, 'compression' FROM n`,
		`INSERT INTO sessions (id, source, model_config, started_at) VALUES ('d0', 'cli', '{"_delegate_from":"s1"}', 1),
			('d1', 'cli', '{"_delegate_from":"s4"}', 1), ('d2', 'cli', '{"_delegate_from":"d1"}', 1)`,
		`INSERT INTO gateway_routing (session_key, entry_json, updated_at) VALUES ('key', '{"session_id":"s4"}', 1)`,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO messages (session_id, role, content, timestamp) SELECT 's' || (i %% 5), 'user', 'hello', i FROM n`, messages-1),
		fmt.Sprintf(`CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n`, ledger/2-1) +
			`; INSERT INTO session_admissions SELECT i, 'a' || i, 'r' || i, 'human', 's' || (i % 5), '[]', '{"text":"hello"}', 'd', 'queue', 'terminal', 1, NULL, NULL FROM n
			 ; INSERT INTO state_meta SELECT 'gateway.admission.result.v1.a' || i, '{"result":{"messages":[1]}}' FROM n
			 ; INSERT INTO state_meta SELECT 'gateway.mutation.v1.' || i, '{"result":{"session_id":"s1","title":"t"}}' FROM n
			 ; INSERT INTO worker_executions SELECT 'w' || i, 's' || (i % 5), 1, 1, 'tool', 'd', 'terminal' FROM n
			 ; INSERT INTO worker_receipts SELECT 'w' || i, 0, 'd', 'hello' FROM n`,
	}
	home.Create(statements...)
	return home
}

// A delete asks SQLite a bounded number of things, none of them once per message or per row of the ledger.
func TestStatementsDoNotGrowWithTheConversation(t *testing.T) {
	deleteOf := func(messages, ledger int) []string {
		home := conversationOf(t, messages, ledger)
		return counted(t, home, func(tx *Tx) {
			plan, err := tx.Plan(t.Context(), Request{SessionID: "s0"})
			require.NoError(t, err)
			assert.Equal(t, []string{"s0", "d0", "d1", "d2", "s1", "s2", "s3", "s4"}, plan.IDs())
			require.NoError(t, tx.Remove(t.Context(), plan))
			assert.Equal(t, []Counted{
				{"final_responses", ledger / 2, "an exact retry of a settled request still gets its answer"},
				{"mutation_receipts", ledger / 2, "an exact retry of a change is still known, without its text"},
			}, plan.Retained)
		})
	}
	few := deleteOf(200, 40)
	if many := deleteOf(400, 80); !slices.Equal(few, many) {
		t.Errorf("%d statements, and %d for twice as much:\n%s", len(few), len(many), strings.Join(many, "\n"))
	}
	assert.Less(t, len(few), 70)
}

// Nor does a sweep, for one more session.
func TestStatementsDoNotGrowWithTheSweep(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema, `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
		INSERT INTO sessions (id, source, started_at) SELECT 's' || i, 'cli', 1 FROM n`)
	sweepOf := func(n int) []string {
		return counted(t, home, func(tx *Tx) {
			var ids []string
			for i := range n {
				ids = append(ids, fmt.Sprintf("s%d", i))
			}
			plan, skipped, err := tx.PlanSweep(t.Context(), SweepRequest{SessionIDs: ids})
			require.NoError(t, err)
			assert.Empty(t, skipped)
			assert.Equal(t, ids, plan.IDs())
			require.NoError(t, tx.Remove(t.Context(), plan))
		})
	}
	assert.Len(t, sweepOf(100), len(sweepOf(10)))
}
