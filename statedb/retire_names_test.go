package statedb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
)

// An id that is no UTF-8, or has a NUL in it, is compared as it is: what JSON would make of it is the id of another session.
func TestRetirementTakesNothingOfASimilarID(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema,
		`INSERT INTO sessions (id, source, started_at) VALUES ('x', 'cli', 1), ('a', 'cli', 1), (char(0xfffd), 'cli', 1)`,
		`INSERT INTO sessions (id, source, model_config, started_at) VALUES
			(CAST(x'ff' AS TEXT), 'cli', '{"_delegate_from":"x"}', 1), ('a' || char(0), 'cli', '{"_delegate_from":"x"}', 1)`,
		`CREATE TEMP TABLE other AS SELECT id FROM sessions WHERE id IN ('a', char(0xfffd));
		INSERT INTO state_meta SELECT 'gateway.mutation.v1.' || id, json_object('result', json_object('session_id', id, 'title', 'kept')) FROM other;
		INSERT INTO state_meta SELECT 'gateway.local_policy.v1:' || id, json_object('entry', json_object('session_id', id)) FROM other;
		INSERT INTO state_meta SELECT 'gateway.api.conversation.v1.' || id, id FROM other;
		INSERT INTO gateway_routing (session_key, entry_json, updated_at) SELECT id, json_object('session_id', id), 1 FROM other`,
		`INSERT INTO state_meta VALUES ('gateway.api.conversation.v1.strange', CAST(x'ff' AS TEXT))`)
	const kept = `SELECT key || value FROM state_meta WHERE key NOT LIKE '%retired%' AND key NOT LIKE '%strange'
		UNION ALL SELECT entry_json FROM gateway_routing UNION ALL SELECT id FROM sessions WHERE id IN ('a', char(0xfffd)) ORDER BY 1`
	before := home.Query(kept)
	require.Len(t, before, 10)
	tx := begin(t, home)
	plan, err := remove(t, tx, "x")
	require.NoError(t, err)
	assert.Equal(t, []string{"x", "a\x00", "\xff"}, plan.IDs())
	require.NoError(t, tx.Commit())
	assert.Equal(t, before, home.Query(kept))
	assert.Empty(t, home.Query("SELECT key FROM state_meta WHERE key LIKE '%strange'"))
}

// More sessions than fit in one statement: a receipt that names several of them is kept once.
func TestMutationReceiptsOverManySessions(t *testing.T) {
	home := newHome(t)
	const n = 2*chunkSize + 1
	home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('x', 'cli', 1)`,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO sessions (id, source, model_config, started_at) SELECT printf('x%%04d', i), 'cli', '{"_delegate_from":"x"}', 1 FROM n`, n),
		fmt.Sprintf(`INSERT INTO state_meta VALUES ('gateway.mutation.v1.1', '{"result":{"session_id":"x0001","target_session_id":"x%04d","title":"t"}}'),
			('gateway.mutation.v1.2', '{"result":{"session_id":"x%04d","title":"t"}}'), ('gateway.mutation.v1.3', '{"result":{"session_id":"y","title":"t"}}')`, n, n))
	tx := begin(t, home)
	plan, err := remove(t, tx, "x")
	require.NoError(t, err)
	assert.Len(t, plan.IDs(), n+1)
	require.Len(t, plan.Retained, 1)
	assert.Equal(t, 2, plan.Retained[0].Count)
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"gateway.mutation.v1.3"}, home.Query(`SELECT key FROM state_meta WHERE value LIKE '%"title":"t"%'`))
	assert.Equal(t, []string{fmt.Sprint(n + 1)}, home.Query("SELECT count(*) FROM state_meta WHERE key LIKE 'gateway.retired_session.v1.%'"))
}
