package statedb

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// The order among those that may continue a session, with the times that the store really holds.
func TestTheStoresTimesDecide(t *testing.T) {
	// z would be preferred by its id, and by its start.
	const rival = `INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, last_activity_at) VALUES ('z', 'cli', '` + localOwner + `', 9, 10, `
	const message = `INSERT INTO messages (session_id, role, timestamp) VALUES `
	for name, test := range map[string]struct {
		statements []string
		holds      bool
	}{
		"an activity":                     {[]string{rival + `50)`, `UPDATE sessions SET last_activity_at = 51 WHERE id = 'b'`}, true},
		"an earlier activity":             {[]string{rival + `50)`, `UPDATE sessions SET last_activity_at = 49 WHERE id = 'b'`}, false},
		"the newest message":              {[]string{rival + `50)`, message + `('b', 'user', 51), ('b', 'user', 3)`}, true},
		"messages that are older":         {[]string{rival + `50)`, message + `('b', 'user', 49), ('b', 'user', 48)`}, false},
		"the rival's message":             {[]string{rival + `50)`, message + `('b', 'user', 51), ('z', 'user', 52)`}, false},
		"text as a time":                  {[]string{rival + `50)`, message + `('b', 'user', 51), ('z', 'user', 'soon'), ('z', 'user', '2026-01-01')`}, true},
		"a time beyond all":               {[]string{rival + `253402300801)`, message + `('b', 'user', 51), ('z', 'user', 253402300801), ('z', 'user', -1e300)`}, true},
		"a message counts beside such":    {[]string{rival + `NULL)`, message + `('b', 'user', 51), ('z', 'user', 253402300801), ('z', 'user', 52)`}, false},
		"at the end of the range":         {[]string{rival + `253402300799)`, message + `('b', 'user', 253402300800)`}, true},
		"numeric text is a REAL's number": {[]string{rival + `50)`, message + `('b', 'user', '51')`}, true},
		"a blob":                          {[]string{rival + `50)`, message + `('b', 'user', 51), ('z', 'user', x'3939')`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			home := localStore(t, asJSON(t, localPolicy()), test.statements...)
			if !test.holds {
				_, err := membersOf(t, home, "c")
				requireDetail(t, err, ErrReceiptInvalid, "not the preferred continuation")
				return
			}
			requireMembers(t, home, "c", localOwner, "b", "c")
		})
	}
}

// Stores that lack a column which only tells more are read without it.
func TestPoliciesWithoutColumns(t *testing.T) {
	home := localStore(t, asJSON(t, localPolicy()), `ALTER TABLE sessions DROP COLUMN last_activity_at`)
	requireMembers(t, home, "c", localOwner, "b", "c")
	home.Exec(`ALTER TABLE sessions DROP COLUMN user_id`)
	_, err := membersOf(t, home, "c")
	requireDetail(t, err, ErrReceiptInvalid, "user_id")
	home.Exec(`ALTER TABLE sessions DROP COLUMN chat_id`)
	requireMembers(t, home, "c", "c")
	requireMembers(t, home, localOwner, localOwner, "b", "c")
}

// chainOf is a conversation of so many sessions that were compressed one after the other, each with rivals and messages.
func chainOf(t *testing.T, length, rivals int) (*sidecartest.Home, []string) {
	t.Helper()
	lineage := []string{localOwner}
	for i := 1; i < length; i++ {
		lineage = append(lineage, fmt.Sprint("s", i))
	}
	r := localPolicy()
	r["lineage"], r["entry"] = lineage, map[string]any{"session_id": lineage[length-1]}
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema)
	putPolicy(t, home, localOwner, asJSON(t, r))
	tx, err := home.Open().Begin()
	require.NoError(t, err)
	insert := func(id string, parent any, end any, started int) {
		_, err := tx.Exec(`INSERT INTO sessions (id, source, user_id, session_key, chat_id, parent_session_id, started_at, ended_at, end_reason)
			VALUES (?, 'cli', 'human', 'agent:main:local:1', ?, ?, ?, ?, ?)`, id, localOwner, parent, started, 5, end)
		require.NoError(t, err)
		_, err = tx.Exec(`INSERT INTO messages (session_id, role, timestamp) VALUES (?1, 'user', ?2), (?1, 'user', ?2 + 0.5)`, id, started)
		require.NoError(t, err)
	}
	for i, id := range lineage {
		var parent any
		if i > 0 {
			parent = lineage[i-1]
			for j := range rivals {
				insert(fmt.Sprint(id, "-rival-", j), parent, endCompression, 7+j)
			}
		}
		insert(id, parent, endCompression, 100)
	}
	require.NoError(t, tx.Commit())
	return home, lineage
}

func TestPoliciesOfManyMembers(t *testing.T) {
	home, lineage := chainOf(t, maxPolicyMembers, 1)
	requireMembers(t, home, localOwner, lineage...)
	requireMembers(t, home, lineage[maxPolicyMembers-1], lineage...)
	home.Exec(`UPDATE sessions SET started_at = 101 WHERE id = 's777-rival-0'`, `INSERT INTO messages (session_id, role, timestamp) VALUES ('s777-rival-0', 'user', 101)`)
	_, err := membersOf(t, home, lineage[3])
	requireDetail(t, err, ErrReceiptInvalid, `"s777" is not the preferred continuation of "s776"`)
}

// sqliteSelect is SQLite's code for a SELECT that is about to be compiled.
const sqliteSelect = 21

// The number of statements is the same whatever the number of members, rivals and messages.
func TestStatementsForAPolicy(t *testing.T) {
	count := func(home *sidecartest.Home, want []string) (selects int) {
		c := connect(t, home)
		s, err := c.readSchema(t.Context())
		require.NoError(t, err)
		require.NoError(t, c.Raw(func(driverConn any) error {
			driverConn.(*sqlite3.SQLiteConn).RegisterAuthorizer(func(action int, _, _, _ string) int {
				if action == sqliteSelect {
					selects++
				}
				return 0
			})
			return nil
		}))
		got, err := c.localMembers(t.Context(), s, localOwner)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		return selects
	}
	small, smallLineage := chainOf(t, 2, 1)
	large, largeLineage := chainOf(t, 150, 1)
	few := count(small, smallLineage)
	assert.Positive(t, few)
	assert.Equal(t, few, count(large, largeLineage))
}

// The newest message comes out of the index: no message is read for its time.
func TestNewestMessagesUseTheIndex(t *testing.T) {
	home, _ := chainOf(t, 2, 1)
	plan := strings.Join(home.Query("EXPLAIN QUERY PLAN "+newestMessages+"('s1')"), "\n")
	assert.Contains(t, plan, "SEARCH m USING COVERING INDEX idx_messages_session (session_id=? AND timestamp>? AND timestamp<?)")
	assert.NotContains(t, plan, "TEMP B-TREE")
}

func TestPoliciesOfACancelledCall(t *testing.T) {
	home := localStore(t, asJSON(t, localPolicy()))
	c := connect(t, home)
	s, err := c.readSchema(t.Context())
	require.NoError(t, err)
	_, err = c.localMembers(cancelled(t), s, "c")
	assert.ErrorIs(t, err, context.Canceled)
}

// The vectors tell whose policy does not hold, and who goes with whom.
func TestPoliciesOfTheVectors(t *testing.T) {
	text, err := os.ReadFile("../fixtures/vectors.jsonl")
	require.NoError(t, err)
	joined, refused := 0, 0
	for line := range strings.Lines(string(text)) {
		var vector struct {
			Name, Schema string
			Rows         map[string][]map[string]any
			Request      struct {
				SessionID string `json:"session_id"`
			}
			Expect struct {
				Result struct {
					DeletedIDs []string `json:"deleted_ids"`
					Reason     string
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &vector))
		if vector.Schema != "schema_runtime.sql" {
			continue
		}
		home := newHome(t)
		home.Create(fixtures.RuntimeSchema)
		db := home.Open()
		for _, table := range []string{"system_prompts", "sessions", "messages", "state_meta"} {
			for _, row := range vector.Rows[table] {
				columns := sortedKeys(row)
				var values []any
				for _, column := range columns {
					values = append(values, row[column])
				}
				_, err := db.Exec(`INSERT INTO `+table+` (`+strings.Join(columns, ",")+`) VALUES (?`+strings.Repeat(",?", len(columns)-1)+`)`, values...)
				require.NoError(t, err)
			}
		}
		require.NoError(t, db.Close())
		got, err := membersOf(t, home, vector.Request.SessionID)
		if vector.Expect.Result.Reason == "receipt_invalid" {
			refused++
			require.ErrorIs(t, err, ErrReceiptInvalid, vector.Name)
			continue
		}
		require.NoError(t, err, vector.Name)
		if vector.Expect.Result.DeletedIDs != nil {
			assert.Subset(t, vector.Expect.Result.DeletedIDs, got, vector.Name)
		}
		if len(got) > 1 {
			joined++
		}
	}
	assert.Positive(t, joined)
	assert.Positive(t, refused)
}
