package statedb

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oddConfigs are texts in which a _delegate_from stands in many ways: spelled with escapes, twice, deeper down, inside a
// string, in text that only one of SQLite and Python reads, and as a part of another word.
func oddConfigs() []string {
	keys := []string{
		`_delegate_from`, `\u005fdelegate_from`, `_delegate\u005Ffrom`, `_deleg\u0061te_from`, `_Delegate_from`, `x_delegate_from`,
		`_delegate_fromx`, `_delegate_from\u0000`, `_branched_from`,
	}
	values := []string{`"p"`, `"q"`, `"\u0070"`, `"\u0071"`, `null`, `5`, `true`, `""`, `"q\/"`, `NaN`, `"_delegate_from"`}
	frames := []string{
		`{"K":V}`, ` { "K" : V } `, `{"K":V,"_delegate_from":"q"}`, `{"_delegate_from":"q","K":V}`, `{"_delegate_from":"p","K":V}`,
		`{"K":V,"_delegate_from":"p"}`, `{"n":{"K":V}}`, `{"n":{"K":V},"_delegate_from":"p"}`, `{"n":[{"K":V}],"\u005fdelegate_from":"q"}`,
		`{"t":"\"K\":V\""}`, `{"t":NaN,"K":V}`, `{"K":V,"t":-Infinity}`, `{"K":V`, `[{"K":V}]`, `{"K":V} x`, `{'K':V}`, `{"K":V,}`, `{K:V}`,
		"{\"K\":V,\"t\":\"\xff\"}", "{\"K\":V,\"t\":\"line\nbreak\"}", "{\"K\":V,\"t\":\"a\\qb\"}", "{\"K\":V}\x00",
		"\x00{\"K\":V}", "{\"t\":\"\x00\",\"K\":V}", "{\"t\":\"\xc3\",\"K\":V}", "{\"t\":\"\xf0\x9f\",\"K\":V}", `{"K":V,"t":1e999}`,
		`{"K":V,"t":01}`, `{"K":V/**/}`, "\ufeff{\"K\":V}",
	}
	texts := []string{"", "{}", "null", `"_delegate_from"`, "_delegate_from", `\u005f`, `[]`, "{\"_delegate_from\":\"" + strings.Repeat("q", 5000) + `"}`}
	for _, frame := range frames {
		for _, key := range keys {
			for _, value := range values {
				texts = append(texts, strings.NewReplacer("K", key, "V", value).Replace(frame))
			}
		}
	}
	return texts
}

var oddParents = []any{nil, "p", "q", "", "_delegate_from"}

// insertConfigs fills a store with a row for each config below each parent, and gives what a reading of every row finds.
func insertConfigs(t *testing.T, db *sql.DB, configs []any) map[string][]string {
	t.Helper()
	want := map[string][]string{}
	transaction, err := db.Begin()
	require.NoError(t, err)
	insert, err := transaction.Prepare("INSERT INTO sessions (id, source, started_at, parent_session_id, model_config) VALUES (?, 'cli', 1, ?, ?)")
	require.NoError(t, err)
	defer func() { _ = insert.Close() }()
	for i, config := range configs {
		for j, parent := range oddParents {
			id := fmt.Sprintf("%05d-%d", i, j)
			_, err := insert.Exec(id, parent, config)
			require.NoError(t, err)
			target, ok := readMarkers(asText(config)).delegate.target()
			if ok && parent != any(target) {
				want[target] = append(want[target], id)
			}
		}
	}
	require.NoError(t, transaction.Commit())
	return want
}

// asText is a config as the driver hands it over.
func asText(config any) *string {
	switch c := config.(type) {
	case string:
		return &c
	case []byte:
		return new(string(c))
	}
	return nil
}

// The one pass over the store, with all that SQL leaves out, finds what reading every row finds.
func TestForeignMarkersAreAllFound(t *testing.T) {
	home := newStore(t)
	configs := []any{nil}
	for _, text := range oddConfigs() {
		configs = append(configs, text)
	}
	for _, text := range []string{`{"_delegate_from":"q"}`, `{"_delegate_from":"p"}`, `{"\u005fdelegate_from":"q"}`, `{}`} {
		configs = append(configs, []byte(text)) // a blob
	}
	want := insertConfigs(t, home.Open(), configs)
	home.Exec(`INSERT INTO sessions (id, source, started_at, model_config) VALUES
		(NULL, 'cli', 1, '{"_delegate_from":"q"}'), (x'41', 'cli', 1, '{"_delegate_from":"q"}')`) // no text, so no session
	require.Greater(t, len(want["q"]), 500)
	require.NotEmpty(t, want["p"])

	c := connect(t, home)
	s, err := c.readSchema(t.Context())
	require.NoError(t, err)
	reader, err := c.readLineage(t.Context(), s, asPython)
	require.NoError(t, err)
	for _, ids := range reader.foreign {
		slices.Sort(ids)
	}
	assert.Equal(t, want, reader.foreign)
}

// So does the one of the canonical path, where SQLite reads the markers.
func TestForeignNamesAreAllFound(t *testing.T) {
	home := newStore(t)
	configs := []any{nil, []byte(`{"_delegate_from":"q"}`), []byte(`{"\u005fdelegate_from":"q"}`)}
	for _, text := range oddConfigs() {
		configs = append(configs, text)
	}
	insertConfigs(t, home.Open(), configs)
	want := home.Query(`SELECT id, target FROM (SELECT id, parent_session_id AS parent, ` + markerColumn(keyDelegate) + ` AS target FROM sessions)
		WHERE typeof(id) = 'text' AND typeof(target) = 'text' AND NOT (typeof(parent) = 'text' AND target = parent)`)
	require.Greater(t, len(want), 500)
	assert.Equal(t, want, home.Query(foreignNames("id", "")))
}

// A mutation receipt that names a session is found however its JSON spells the name, though most texts are not read as JSON.
func TestMutationReceiptsAreFoundHoweverTheySpellTheName(t *testing.T) {
	home := newStore(t)
	var values []any
	for _, name := range []string{"q", `\u0071`, `\u0051`, "Q", "qq", "xq", `q\u0000`, `q\n`, "other", "a.b:c_d-1", `a.b\u003ac_d-1`, "aXb:c_d-1", `s\/1`, "s/1", "*"} {
		for _, frame := range []string{
			`{"result":{"session_id":"V"}}`, `{"result":{"target_message":{"session_id":"V","t":"line\nbreak"}}}`, `{"t":"V"}`, `{"result":{"title":"q","session_id":"V"}}`,
			`{"result":{"session_id":"V"}`, "{\"result\":{\"session_id\":\"V\"}}\x00", "\x00{\"result\":{\"session_id\":\"V\"}}", "{\"t\":\"\xff\",\"result\":{\"session_id\":\"V\"}}",
		} {
			values = append(values, strings.ReplaceAll(frame, "V", name))
		}
	}
	db := home.Open()
	for i, value := range append(values, []byte(`{"result":{"session_id":"q"}}`), nil, 5) {
		_, err := db.Exec("INSERT INTO state_meta (key, value) VALUES (?, ?)", fmt.Sprintf("%s%04d", mutationPrefix, i), value)
		require.NoError(t, err)
	}
	c := connect(t, home)
	found := func(ids []string, narrow string, patterns []any) (keys []string) {
		require.NoError(t, c.eachPartOf(t.Context(), sizedMutations(narrow), ids, func(part []string) error {
			keys = append(keys, part...)
			return nil
		}, patterns...))
		return keys
	}
	for _, ids := range [][]string{{"q"}, {"Q"}, {"a.b:c_d-1", "q"}, {"a.b:c_d-1"}} {
		narrow, patterns := mayName("value", ids)
		require.NotEmpty(t, narrow, ids)
		want := found(ids, "", nil)
		require.Greater(t, len(want), 5, ids)
		assert.Equal(t, want, found(ids, narrow, patterns), ids)
	}
	for _, ids := range [][]string{{"s/1"}, {"*"}, {"q", ""}, {"naïve"}, {"a", "b", "c", "d", "e"}, {"q\n"}} {
		narrow, _ := mayName("value", ids)
		assert.Empty(t, narrow, ids)
	}
}

// And it leaves out what most rows are, or it would read a large store into memory.
func TestPlainRowsAreLeftOut(t *testing.T) {
	home := newStore(t)
	insertConfigs(t, home.Open(), []any{nil, "", "{}", `{"model":"m","t":"text \u00e4"}`, `{"_branched_from":"q"}`})
	home.Exec(`INSERT INTO sessions (id, source, started_at, parent_session_id, model_config) VALUES
		('child', 'cli', 1, 'p', '{"_delegate_from":"p"}'), ('nested', 'cli', 1, 'p', '{"_delegate_from":"p","n":{"t":"\u00e4"}}')`)
	assert.Empty(t, home.Query(foreignMarkers("", "")))
}

func TestCompoundMarkersRefuseTheStore(t *testing.T) {
	home := newStore(t, sessionX)
	s, err := connect(t, home).readSchema(t.Context())
	require.NoError(t, err)
	for _, config := range []string{
		`{"_delegate_from":[]}`, `{"_delegate_from":{}}`, `{"_delegate_from":["p"]}`, `{"_delegate_from":{"id":"p"}}`,
		`{"\u005fdelegate_from":["p"]}`, `{"_delegate_from":"p","_delegate_from":[]}`, `{"t":NaN,"_delegate_from":{"a":1}}`,
		`{"_delegate_from":[1e999]}`, `{"_delegate_from":[NaN]}`, `{"_delegate_from":{},"t":"_delegate_from"}`,
	} {
		for _, parent := range oddParents {
			tx := begin(t, home)
			_, err := tx.conn.ExecContext(t.Context(), "PRAGMA defer_foreign_keys = ON")
			require.NoError(t, err)
			_, err = tx.conn.ExecContext(t.Context(),
				"INSERT INTO sessions (id, source, started_at, parent_session_id, model_config) VALUES ('odd', 'cli', 1, ?, ?)", parent, config)
			require.NoError(t, err)
			_, err = tx.conn.readLineage(t.Context(), s, asPython)
			requireDetail(t, err, ErrUnsupported, "odd")
			_, err = tx.Plan(t.Context(), Request{SessionID: "x"})
			require.ErrorIs(t, err, ErrUnsupported, "in any row, whatever is deleted")
			require.NoError(t, tx.Rollback())
		}
	}
	for _, config := range []string{
		`{"_branched_from":[]}`, `{"_reset_from":{}}`, `{"n":{"_delegate_from":[]}}`, `{"_delegate_from":[],"_delegate_from":"p"}`,
		`{"_delegate_from":[]`, `{"_delegate_from":[],}`, `[{"_delegate_from":[]}]`,
	} {
		tx := begin(t, home)
		_, err := tx.conn.ExecContext(t.Context(), "UPDATE sessions SET model_config = ?", config)
		require.NoError(t, err)
		_, err = tx.conn.readLineage(t.Context(), s, asPython)
		require.NoError(t, err, config)
		require.NoError(t, tx.Rollback())
	}
}
