package demo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The demo promises to fail rather than to show something wrong, so each kind of wrong must be seen.
func TestASnapshotSeesEveryDifference(t *testing.T) {
	faults := map[string]func(*testing.T, *store){
		"a message that changed": func(t *testing.T, s *store) {
			change(t, s, `UPDATE messages SET role = 'tool' WHERE id = 1`)
		},
		"a message that went without its index": func(t *testing.T, s *store) {
			change(t, s, `DROP TRIGGER messages_fts_delete`, `DELETE FROM messages WHERE content LIKE '%bamboo%'`)
		},
		"a hit that went alone": func(t *testing.T, s *store) {
			change(t, s, `INSERT INTO messages_fts_trigram(messages_fts_trigram) VALUES ('delete-all')`)
		},
		"a session that lost its parent": func(t *testing.T, s *store) {
			change(t, s, `UPDATE sessions SET parent_session_id = NULL WHERE id = '`+busyNewest+`'`)
		},
		"a session that changed": func(t *testing.T, s *store) {
			change(t, s, `UPDATE sessions SET end_reason = 'done' WHERE id = '`+busyNewest+`'`)
		},
		"a session that went": func(t *testing.T, s *store) {
			change(t, s, `PRAGMA foreign_keys = OFF`, `DELETE FROM sessions WHERE id = '`+busyNewest+`'`)
		},
		"a token count that went": func(t *testing.T, s *store) {
			change(t, s, `DELETE FROM session_model_usage WHERE session_id = '`+busyNewest+`'`)
		},
		"a lease that came": func(t *testing.T, s *store) {
			_, err := s.takeLease(t.Context(), busyRoot)
			require.NoError(t, err)
		},
		"a file that went": func(t *testing.T, s *store) {
			require.NoError(t, os.Remove(filepath.Join(s.home, "sessions", busyNewest+".json")))
		},
		"a file that came": func(t *testing.T, s *store) {
			require.NoError(t, os.WriteFile(filepath.Join(s.home, "sessions", ".cleanup_manifest_0.json"), nil, 0o600))
		},
		"a file that changed": func(t *testing.T, s *store) {
			require.NoError(t, os.WriteFile(filepath.Join(s.home, "sessions", busyNewest+".json"), nil, 0o600))
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			was := take(t, s)
			require.NoError(t, take(t, s).mustBe(was))
			fault(t, s)
			assert.Error(t, take(t, s).mustBe(was))
		})
	}
}

// Nothing went, so a store that should have lost the conversation is wrong.
func TestADeleteThatDidNothingIsSeen(t *testing.T) {
	s := newStore(t)
	was := take(t, s)
	assert.Error(t, was.mustBe(was.without(going())))
}

func TestAnIndexThatDoesNotFitIsSeen(t *testing.T) {
	for _, index := range indexes {
		s := newStore(t)
		require.NoError(t, s.mustBeSound(t.Context()))
		change(t, s, `DROP TRIGGER `+index+`_delete`, `DELETE FROM messages WHERE content LIKE '%bamboo%'`)
		assert.ErrorContains(t, s.mustBeSound(t.Context()), index)
	}
}

func newStore(t *testing.T) *store {
	t.Helper()
	s, err := makeStore(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.close()) })
	s.db.SetMaxOpenConns(1) // a PRAGMA must hold for the statement after it
	return s
}

func take(t *testing.T, s *store) *snapshot {
	t.Helper()
	shot, err := s.snapshot(t.Context())
	require.NoError(t, err)
	return shot
}

func change(t *testing.T, s *store, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := s.db.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
}
