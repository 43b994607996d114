package deletion_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// byUser tells whether a user asks for these deletes, so that each leaves a receipt.
func (w way) byUser() bool { return w.method != "state_db.sweep_sessions" }

// requireReceiptFits checks that the receipt of a user's delete is there if and only if its rows are gone, with each of them
// (contract 8.3).
func requireReceiptFits(t *testing.T, home *sidecartest.Home, byUser bool, f fate, ids ...string) {
	t.Helper()
	receipts := receiptsNaming(t, home, ids[0])
	if f == stands || !byUser {
		require.Empty(t, receipts, "%v: %s", ids, f)
		return
	}
	require.Equal(t, [][]string{slices.Sorted(slices.Values(ids))}, receipts)
}

// receiptsNaming gives the rows of each receipt that names a session.
func receiptsNaming(t *testing.T, home *sidecartest.Home, id string) (receipts [][]string) {
	t.Helper()
	if len(home.Query("SELECT 1 FROM sqlite_schema WHERE name = 'session_deletion_receipts'")) == 0 {
		return nil
	}
	for _, text := range home.Query("SELECT deletion_json FROM session_deletion_receipts ORDER BY sequence") {
		var deletion struct{ Identities []struct{ ID string } }
		require.NoError(t, json.Unmarshal([]byte(text), &deletion))
		var named []string
		for _, i := range deletion.Identities {
			named = append(named, i.ID)
		}
		if slices.Contains(named, id) {
			receipts = append(receipts, named)
		}
	}
	return receipts
}
