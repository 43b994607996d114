package statedb

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// bytesOf reads a store that no connection of this process has open.
func bytesOf(t *testing.T, home *sidecartest.Home) []byte {
	t.Helper()
	data, err := os.ReadFile(home.Store())
	require.NoError(t, err)
	return data
}

func TestGarbageIsNoStore(t *testing.T) {
	for name, content := range map[string]string{
		"text":            strings.Repeat("this is no database\n", 500),
		"a short text":    "SQLite format 3",
		"two bytes":       "xx",
		"zeroes":          strings.Repeat("\x00", 8192),
		"another program": "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 4096),
	} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			home.Write(FileName, content)
			tx, err := Begin(t.Context(), home.Store(), soon)
			require.ErrorIs(t, err, ErrCorrupt)
			assert.Nil(t, tx)
			_, err = LiveIDs(t.Context(), home.Path, []string{"x"})
			require.ErrorIs(t, err, ErrCorrupt)
			assert.Equal(t, content, string(bytesOf(t, home)))
		})
	}
}

// SQLite takes an empty file for a store without tables.
func TestAnEmptyFileIsNoStore(t *testing.T) {
	home := newHome(t)
	home.Write(FileName, "")
	tx := begin(t, home)
	_, err := tx.Plan(t.Context(), Request{SessionID: "x"})
	require.ErrorIs(t, err, ErrUnsupported)
	require.NoError(t, tx.Rollback())
	_, err = LiveIDs(t.Context(), home.Path, []string{"x"})
	require.ErrorIs(t, err, ErrUnsupported)
	assert.Empty(t, bytesOf(t, home), "it stays empty")
}

// filled is a store with many pages, all of them in the main file.
func filled(t *testing.T) *sidecartest.Home {
	t.Helper()
	home := newStore(t, sessionX, fmt.Sprintf(`WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 400)
		INSERT INTO messages (session_id, role, content, timestamp)
		SELECT iif(i %% 2, 'x', 'y'), 'user', 'text no. ' || i || ' ' || '%s', i FROM n`, strings.Repeat("words, ", 100)))
	require.NoFileExists(t, home.Store()+"-wal")
	return home
}

// overwrite damages the head of the page that holds a text.
func overwrite(t *testing.T, home *sidecartest.Home, text string) {
	t.Helper()
	data := bytesOf(t, home)
	at := bytes.Index(data, []byte(text))
	require.Positive(t, at)
	page := at / 4096 * 4096
	copy(data[page:page+16], bytes.Repeat([]byte{0xff}, 16))
	require.NoError(t, os.WriteFile(home.Store(), data, 0o600))
}

func TestADamagedPageOfMessages(t *testing.T) {
	home := filled(t)
	overwrite(t, home, "text no. 201 ")
	before := bytesOf(t, home)
	tx := begin(t, home)
	_, err := remove(t, tx, "x")
	require.ErrorIs(t, err, ErrCorrupt)
	require.NoError(t, tx.Rollback())
	assert.Equal(t, []string{"x", "y"}, home.Query("SELECT id FROM sessions ORDER BY 1"))
	assert.True(t, bytes.Equal(before, bytesOf(t, home)), "nothing changed")
	requireFree(t, home)
}

func TestADamagedPageOfSessions(t *testing.T) {
	home := filled(t)
	home.Exec("UPDATE sessions SET title = 'a title of x' WHERE id = 'x'")
	overwrite(t, home, "a title of x")
	before := bytesOf(t, home)
	tx := begin(t, home)
	_, err := tx.Plan(t.Context(), Request{SessionID: "x"})
	require.ErrorIs(t, err, ErrCorrupt)
	require.NoError(t, tx.Rollback())
	assert.True(t, bytes.Equal(before, bytesOf(t, home)))
}

func TestAStoreThatWasCutOff(t *testing.T) {
	home := filled(t)
	whole := bytesOf(t, home)
	require.NoError(t, os.Truncate(home.Store(), int64(len(whole)/2)))
	tx, err := Begin(t.Context(), home.Store(), soon)
	if err == nil {
		_, err = remove(t, tx, "x")
		require.NoError(t, tx.Rollback())
	}
	require.ErrorIs(t, err, ErrCorrupt)
	assert.True(t, bytes.Equal(whole[:len(whole)/2], bytesOf(t, home)))
}

// A damaged index of the Agent is a damaged store and no missing tokenizer, wherever it is found out.
func TestADamagedFullTextIndex(t *testing.T) {
	for _, damage := range []string{
		"UPDATE messages_fts_data SET block = x'ff00ff00'", // when a row goes
		"DELETE FROM messages_fts_data",                    // when the index is looked at
	} {
		home := filled(t)
		home.Exec(damage)
		tx := begin(t, home)
		_, err := remove(t, tx, "x")
		require.ErrorIs(t, err, ErrCorrupt, damage)
		require.NoError(t, tx.Rollback())
		assert.Len(t, home.Query("SELECT id FROM messages"), 400)
	}
}
