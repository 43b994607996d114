package statedb

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

var (
	future = float64(time.Now().Add(24 * time.Hour).Unix())
	past   = float64(time.Now().Add(-24 * time.Hour).Unix())
)

// threeSegments is a store with a chain a, b, c, and others.
func threeSegments(t *testing.T) *sidecartest.Home {
	t.Helper()
	return newStore(t, `INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, end_reason) VALUES
		('a', 'cli', NULL, 1, 2, 'compression'), ('b', 'cli', 'a', 2, 3, 'compression'), ('c', 'cli', 'b', 3, NULL, NULL),
		('other', 'cli', NULL, 1, NULL, NULL)`)
}

func lock(id, holder string, expires any) string {
	return fmt.Sprintf("INSERT INTO compression_locks VALUES ('%s', '%s', 1, %v)", id, holder, expires)
}

func lease(root, holder string, expires any) string {
	return fmt.Sprintf("INSERT INTO session_turn_leases VALUES ('%s', '%s', 1, %v)", root, holder, expires)
}

func TestGuardsRefuse(t *testing.T) {
	for name, test := range map[string]struct {
		guard   string
		request Request
		want    Guard
	}{
		"a lock": {lock("c", "h", future), Request{SessionID: "c"}, Guard{"c", GuardCompressionLock, "h", new(float64(future)), "c", future}},
		"a lock of another segment": {
			lock("b", "h", future),
			Request{SessionID: "a", WithLineage: true},
			Guard{"b", GuardCompressionLock, "h", new(float64(future)), "b", future},
		},
		"a lease, under the root": {
			lease("a", "h", future), Request{SessionID: "c"}, Guard{"c", GuardTurnLease, "h", new(float64(future)), "a", future},
		},
		"a lease, of the first of the order": {
			lease("a", "h", future),
			Request{SessionID: "a", WithLineage: true},
			Guard{"c", GuardTurnLease, "h", new(float64(future)), "a", future},
		},
		"an expiry that is no number": {
			lock("c", "h", "'whenever'"), Request{SessionID: "c"}, Guard{"c", GuardCompressionLock, "h", nil, "c", "whenever"},
		},
		"an expiry as a blob": {
			lock("c", "h", "x'31'"), Request{SessionID: "c"}, Guard{"c", GuardCompressionLock, "h", nil, "c", []byte("1")},
		},
		"of a session that is not there": {
			lock("lost", "h", future), Request{SessionID: "lost"}, Guard{"lost", GuardCompressionLock, "h", new(float64(future)), "lost", future},
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := threeSegments(t)
			home.Exec(test.guard)
			tx := begin(t, home)
			_, err := tx.Plan(t.Context(), test.request)
			require.ErrorIs(t, err, ErrActiveTurn)
			var failure *Error
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, &test.want, failure.Guard)
			assert.Equal(t, PathLegacy, failure.Path)
			assert.Contains(t, failure.Error(), test.want.SessionID)
		})
	}
}

func TestGuardsOfOthersDoNotRefuse(t *testing.T) {
	home := threeSegments(t)
	home.Exec(lock("a", "h", future), lock("other", "h", future), lease("c", "h", future), lease("b", "h", future), lease("other", "h", future))
	tx := begin(t, home)
	_, err := remove(t, tx, "c")
	require.NoError(t, err, "the lease of c's threeSegments would be a's")
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"a", "other"}, home.Query("SELECT session_id FROM compression_locks ORDER BY 1"))
	assert.Equal(t, []string{"b", "c", "other"}, home.Query("SELECT conversation_id FROM session_turn_leases ORDER BY 1"))
}

func TestStaleGuardsGoWithTheDelete(t *testing.T) {
	home := threeSegments(t)
	home.Exec(lock("c", "h", past), lease("a", "h", past), lock("other", "h", past), lease("other", "h", past))
	tx := begin(t, home)
	_, err := remove(t, tx, "c")
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	assert.Len(t, home.Query("SELECT * FROM compression_locks"), 2, "with the transaction, or not at all")

	tx = begin(t, home)
	_, err = remove(t, tx, "c")
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"other"}, home.Query("SELECT session_id FROM compression_locks"))
	assert.Equal(t, []string{"other"}, home.Query("SELECT conversation_id FROM session_turn_leases"))
}

func TestOneLiveGuardKeepsTheStaleOnes(t *testing.T) {
	home := threeSegments(t)
	home.Exec(lock("a", "h", past), lock("b", "h", future), lease("a", "h", past))
	tx := begin(t, home)
	_, err := tx.Plan(t.Context(), Request{SessionID: "a", WithLineage: true})
	require.ErrorIs(t, err, ErrActiveTurn)
	require.NoError(t, tx.Rollback())
	assert.Len(t, home.Query("SELECT * FROM compression_locks"), 2)
	assert.Len(t, home.Query("SELECT * FROM session_turn_leases"), 1)
}

func TestGuardsOfManyIDs(t *testing.T) {
	home := newStore(t)
	var ids []string
	for i := range 3 * chunkSize {
		ids = append(ids, fmt.Sprintf("%05d", i))
	}
	home.Exec(lock(ids[0], "h", past), lock(ids[chunkSize], "h", past), lock(ids[3*chunkSize-1], "h", past), lease(ids[700], "h", past))
	guards, err := connect(t, home).readGuards(t.Context(), ids, eachItself(ids))
	require.NoError(t, err)
	var found []string
	for _, g := range guards {
		found = append(found, g.SessionID)
	}
	assert.Equal(t, []string{"00000", "00400", "00700", "01199"}, found, "in the order of the ids")
}

func eachItself(ids []string) map[string]string {
	roots := map[string]string{}
	for _, id := range ids {
		roots[id] = id
	}
	return roots
}
