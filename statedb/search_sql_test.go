package statedb

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnyTextCanBeSearchedFor puts together queries from all that means something to a full-text index, to SQL or to a
// reader of UTF-8. None is an error, in no kind of store.
func TestAnyTextCanBeSearchedFor(t *testing.T) {
	pieces := []string{
		`"`, `""`, `'`, `*`, `:`, `^`, `-`, `+`, `(`, `)`, `{`, `}`, `[`, `]`, `,`, `;`, `\`, `/`, `%`, `_`, `?`, `?1`, `$x`, `@x`, `--`, `/*`,
		"AND", "OR", "NOT", "NEAR", "NEAR(", "content:", "rowid", "messages_fts", "a", "fox", "0", " ", "  ", "\t", "\n", "\u00a0",
		"\u3000", "\x00", "\x01", "\x7f", "\ufffd", "\uffff", "\ufeff", "\u0301", "\u200d", "語", "東京タワー", "한", "🎉", "\U00013000",
		"\U0010ffff", "\ue000", "\xff", "\xc3", "\xed\xa0\x80",
	}
	whole := newStore(t, someWords)
	words := newStore(t, someWords, "DROP TABLE messages_fts_trigram")
	trigrams := newStore(t, someWords, "DROP TABLE messages_fts")
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		var query strings.Builder
		for range 1 + random.IntN(6) {
			query.WriteString(pieces[random.IntN(len(pieces))])
		}
		for _, home := range []string{whole.Store(), words.Store(), trigrams.Store()} {
			_, err := Conversations(t.Context(), home, ListRequest{Limit: 1, Query: query.String()})
			require.NoError(t, err, "%q", query.String())
		}
	}
}

const someWords = `INSERT INTO sessions (id, source, started_at) VALUES ('s', 'cli', 1);
	INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'a fox AND "東京タワー" -- 🎉 100%', 1)`

// TestEachWayToSearch names what finds which word.
func TestEachWayToSearch(t *testing.T) {
	const (
		word    = `m.rowid IN (SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?)`
		trigram = `m.rowid IN (SELECT rowid FROM messages_fts_trigram WHERE messages_fts_trigram MATCH ?)`
		content = `instr(m.content, ?) > 0`
	)
	everything := searchable{words: true, trigrams: true, content: true}
	noTrigrams := searchable{words: true, content: true}
	noWords := searchable{trigrams: true, content: true}
	for _, c := range []struct {
		with searchable
		word string
		last bool
		want string
		args []any
	}{
		{everything, "fox", false, "(" + word + " OR " + trigram + ")", []any{`"fox"`, `"fox"`}},
		{everything, "fox", true, "(" + word + " OR " + trigram + ")", []any{`"fox"*`, `"fox"`}},
		{everything, "go", true, "(" + word + ")", []any{`"go"*`}},
		{everything, `g"`, false, "(" + word + ")", []any{`"g"""`}},
		{everything, "---", true, "(" + trigram + ")", []any{`"---"`}},
		{everything, "--", true, "(" + content + ")", []any{"--"}},
		{everything, "語", false, "(" + word + " OR " + content + ")", []any{`"語"`, "語"}},
		{everything, "日本語", false, "(" + word + " OR " + trigram + " OR " + content + ")", []any{`"日本語"`, `"日本語"`, "日本語"}},
		{noTrigrams, "日本語", false, "(" + word + " OR " + content + ")", []any{`"日本語"`, "日本語"}},
		{noTrigrams, "fox", false, "(" + word + ")", []any{`"fox"`}},
		{noWords, "fox", true, "(" + trigram + ")", []any{`"fox"`}},
		{noWords, "go", true, "(" + content + ")", []any{"go"}},
		{searchable{trigrams: true}, "go", true, "0", nil},
		{searchable{words: true}, "語", true, "(" + word + ")", []any{`"語"*`}},
	} {
		got, args := c.with.condition(c.word, c.last)
		assert.Equal(t, c.want, got, c.word)
		assert.Equal(t, c.args, args, c.word)
	}
}

// TestOtherIndexesAreNotSearched leaves alone what only bears the name.
func TestOtherIndexesAreNotSearched(t *testing.T) {
	for _, statement := range []string{
		"CREATE VIRTUAL TABLE messages_fts USING fts4(content)", "CREATE TABLE messages_fts (content)",
		"CREATE VIEW messages_fts AS SELECT content FROM messages", "SELECT 1",
	} {
		home := newStore(t, "DROP TABLE messages_fts", "DROP TABLE messages_fts_trigram", statement)
		_, err := Conversations(t.Context(), home.Store(), ListRequest{Limit: 1, Query: "fox"})
		assert.ErrorIs(t, err, ErrNotSearchable, statement)
		_, err = Conversations(t.Context(), home.Store(), ListRequest{Limit: 1})
		assert.NoError(t, err, statement)
	}
}
