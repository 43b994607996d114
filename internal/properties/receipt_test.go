package properties

import (
	"encoding/json"
	"slices"

	"github.com/stretchr/testify/require"
)

const receiptsTable = "session_deletion_receipts"

// requireReceipt checks the receipt that a delete has left, if it found a row, against the rows as they were, and takes the
// table out of what is left to compare. Receipts that were there stay as they are.
func (c *checked) requireReceipt(before, after tables, result answered) {
	rt := c.rt
	receipts := after[receiptsTable]
	require.Equal(rt, before[receiptsTable], nilIfEmpty(receipts[:len(before[receiptsTable])]))
	left := receipts[len(before[receiptsTable]):]
	delete(after, receiptsTable)

	want := []any{}
	m := newModel(before, nil)
	for _, id := range slices.Sorted(slices.Values(result.DeletedIDs)) {
		if r := m.sessions[id]; r != nil {
			identity := map[string]any{"id": id}
			for _, column := range []string{"source", "session_key", "chat_id", "chat_type", "thread_id", "parent_session_id"} {
				identity[column] = r[column]
			}
			want = append(want, identity)
		}
	}
	if len(want) == 0 {
		require.Empty(rt, left, "no row was there")
		require.Empty(rt, result.Receipt)
		return
	}
	require.Len(rt, left, 1)
	require.Equal(rt, result.Receipt, left[0]["operation_id"])
	var deletion map[string]any
	require.NoError(rt, json.Unmarshal([]byte(left[0]["deletion_json"].(string)), &deletion))
	require.Equal(rt, map[string]any{
		"operation_id": result.Receipt, "reason": "explicit_user", "surface": "session_rpc",
		"store_id": c.home.Store(), "profile_home": c.home.Path, "identities": want,
	}, deletion)
}

func nilIfEmpty(rows []map[string]any) []map[string]any {
	if len(rows) == 0 {
		return nil
	}
	return rows
}
