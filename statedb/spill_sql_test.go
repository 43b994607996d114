package statedb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const spilledMessages = `INSERT INTO messages (session_id, role, content, tool_calls, timestamp) VALUES
 ('a', 'tool', 'Full output saved to: /h/cache/spillover/tool-results/call_1.txt', NULL, 1),
 ('a', 'assistant', 'call_3.txt', '{"path":"\/h\/cache\/spillover\/call_2.txt"}', 1),
 ('a', 'tool', NULL, CAST('C:\cache\spillover\call_5.txt' AS BLOB), 1),
 ('b', 'tool', 'spillover/call_4.txt', NULL, 1);`

var spilledFiles = []string{
	"cache/spillover/call_1.txt", "cache/spillover/call_2.txt", "cache/spillover/call_3.txt", "cache/spillover/call_4.txt",
	"cache/spillover/call_5.txt", "cache/spillover/tool-results/call_1.txt", "cache/spillover/odd \"name\".txt",
}

func TestWhichSpilledFilesMessagesName(t *testing.T) {
	home := runtimeStore(t, twoSessions, spilledMessages)
	c := connect(t, home)
	s, err := c.readSchema(t.Context())
	require.NoError(t, err)
	ask := func(ids, files []string) []string {
		named, err := c.spilledBy(t.Context(), s, ids, files)
		require.NoError(t, err)
		return named
	}
	ofA := []string{"cache/spillover/call_2.txt", "cache/spillover/call_5.txt", "cache/spillover/tool-results/call_1.txt"}
	assert.Equal(t, ofA, ask([]string{"a"}, spilledFiles))
	assert.Equal(t, []string{"cache/spillover/call_4.txt"}, ask([]string{"b"}, spilledFiles))
	assert.Empty(t, ask([]string{"absent"}, spilledFiles))
	assert.Empty(t, ask([]string{"a"}, nil))
	many := []string{"a", "b"}
	for i := range 1000 {
		many = append(many, fmt.Sprintf("absent-%d", i))
	}
	assert.Len(t, ask(many, spilledFiles), 4)
}

// A delete as the canonical path does it: asked before the messages go, noted after. Who else names a file is asked later.
func TestNoteOfSpilledFiles(t *testing.T) {
	home := runtimeStore(t, twoSessions, spilledMessages, `UPDATE messages SET content = 'it is in call_2.txt' WHERE session_id = 'b'`)
	tx := begin(t, home)
	s, err := tx.conn.readSchema(t.Context())
	require.NoError(t, err)
	named, err := tx.conn.spilledBy(t.Context(), s, []string{"a"}, spilledFiles)
	require.NoError(t, err)
	_, err = tx.conn.ExecContext(t.Context(), "DELETE FROM messages WHERE session_id = 'a'")
	require.NoError(t, err)
	require.NoError(t, tx.conn.noteSpilled(t.Context(), "0122", []string{"a"}, nil))
	require.NoError(t, tx.conn.noteSpilled(t.Context(), "0123", []string{"a", "d"}, named))
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{`sidecar.spill.v1.0123|{"files":["cache/spillover/call_2.txt","cache/spillover/call_5.txt",` +
		`"cache/spillover/tool-results/call_1.txt"],"session_ids":["a","d"]}`}, home.Query("SELECT key, value FROM state_meta"))
}

// Who still names a spilled file: by its bare name, in any case, and however an encoding spells it.
func TestWhoMentionsSpilledFiles(t *testing.T) {
	const plain, spaced, accented, percent = "cache/spillover/call_1.txt", "cache/spillover/a b.txt", "cache/spillover/\u00e9\U0001F600.txt", "cache/spillover/100%.txt"
	all := []string{plain, spaced, accented, percent, "cache/spillover/call:0.txt", "cache/spillover/.hid", "cache/spillover/tool-results/call_1.txt"}
	for text, want := range map[string][]string{
		"":                               nil,
		"it is in xCALL_1.TXTx":          {plain, "cache/spillover/tool-results/call_1.txt"},
		"a b.txt":                        {spaced},
		`cat a\ b.txt`:                   {spaced},
		`"cat a\\ b.txt"`:                {spaced},
		"file:///a%20b.txt":              {spaced},
		"a  b.txt":                       nil,
		"\u00e9\U0001F600.txt":           {accented},
		`{"x":"\u00e9\ud83d\ude00.txt"}`: {accented},
		`"{\"x\":\"\\u00E9\\uD83D\\uDE00.txt\"}"`: {accented},
		"%C3%A9%F0%9F%98%80.txt":                  {accented},
		"100%.txt":                                {percent},
		"100%25.txt":                              {percent},
		"%":                                       nil,
		"100%2":                                   nil,
		"call:0.txt .hid":                         {"cache/spillover/.hid", "cache/spillover/call:0.txt"},
	} {
		t.Run(text, func(t *testing.T) {
			home := runtimeStore(t, twoSessions)
			_, err := home.Open().Exec("INSERT INTO messages (session_id, role, tool_calls, timestamp) VALUES ('a', 'tool', ?, 1)", text)
			require.NoError(t, err)
			m, err := startLook(t, home).Mentioned(t.Context(), nil, all, nil)
			require.NoError(t, err)
			assert.ElementsMatch(t, want, sortedKeys(m.Spilled))
		})
	}
}

func TestSpillNotesAreListedAndRewritten(t *testing.T) {
	home := runtimeStore(t, `INSERT INTO state_meta VALUES
		('sidecar.spill.v1.02', '{"session_ids":["b"],"files":["cache/spillover/x"]}'),
		('sidecar.spill.v1.01', '{"session_ids":["a"],"files":["cache/spillover/y","cache/spillover/z"]}'),
		('gateway.retired_session.v1.a', '{}'), ('gateway.retired_session.v1.b', '{}'),
		('sidecar.spill.v1.00', '{"session_ids":["nobody deleted this"],"files":["cache/spillover/x"]}'),
		('sidecar.spill.v1.03', '{"session_ids":["a"],"files":["state.db"]}'), ('sidecar.spill.v1x', '{}')`)
	tx := begin(t, home)
	notes, err := tx.NotedFiles(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []SpillNote{
		{"01", []string{"cache/spillover/y", "cache/spillover/z"}, []string{"a"}},
		{"02", []string{"cache/spillover/x"}, []string{"b"}},
	}, notes.Spilled)
	notes.Spilled[0].Files = notes.Spilled[0].Files[1:]
	notes.Spilled[1].Files = nil
	for _, note := range notes.Spilled {
		require.NoError(t, tx.RewriteSpillNote(t.Context(), note))
	}
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{
		`sidecar.spill.v1.01|{"files":["cache/spillover/z"],"session_ids":["a"]}`,
		`sidecar.spill.v1.03|{"session_ids":["a"],"files":["state.db"]}`, `sidecar.spill.v1x|{}`,
	}, home.Query("SELECT key, value FROM state_meta WHERE key LIKE 'sidecar%' AND key <> 'sidecar.spill.v1.00' ORDER BY key"))
}
