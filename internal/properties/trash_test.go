package properties

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"session-sidecar/internal/sidecartest"
)

// takenBack is one store in which a delete is taken back.
type takenBack struct {
	*world
	rt      *rapid.T
	kind    kind
	store   *anyStore
	home    *sidecartest.Home
	params  map[string]any
	renamed map[string]string
}

// TestTakingBackInAnyStore makes up families and ledgers, deletes in each with keep_days, and takes it back: all rows are there under
// new ids and nothing else has changed, an export equals the one before but for ids, routing and the runtime's counters, both indexes
// find the words again, and a second delete works, with a tombstone of its own.
func TestTakingBackInAnyStore(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		d := draw{rt}
		k := rapid.SampledFrom([]kind{canonical, canonical, legacy, downgraded}).Draw(rt, "kind")
		s := drawStore(rt)
		c := &takenBack{world: w, rt: rt, kind: k, store: s, home: w.home(k, s)}
		defer func() { _ = os.RemoveAll(c.home.Path) }()
		c.params = map[string]any{"profile_home": c.home.Path, "session_id": d.text("requested", safeOf(s.named)...)}
		for _, option := range []string{"include_compression_lineage", "whole_conversation"} {
			if d.seldom(option, 1) {
				c.params[option] = true
			}
		}
		before := c.home.Tables()
		copied := c.export("before")
		found := map[string][]string{"messages_fts": c.found("messages_fts"), "messages_fts_trigram": c.found("messages_fts_trigram")}
		var result struct {
			sidecartest.DeleteResult
			Trash *struct {
				OperationID string `json:"operation_id"`
			}
		}
		c.call(rt, k, "state_db.delete_cli_session", c.with("keep_days", 3), &result)
		if result.DeletedIDs == nil {
			left, err := filepath.Glob(filepath.Join(c.home.Path, "trash", "*"))
			require.NoError(rt, err)
			require.Empty(rt, left, "%s", result.Reason)
			w.outcomes["refused"]++
			return
		}
		if result.Trash == nil {
			require.Empty(rt, c.rowsOf(before, "sessions", "id", result.DeletedIDs), "nothing was there")
			w.outcomes["nothing there"]++
			return
		}
		between := c.home.Tables()
		var restored struct{ Restored map[string]string }
		c.call(rt, k, "trash.restore", map[string]any{"profile_home": c.home.Path, "operation_id": result.Trash.OperationID}, &restored)
		c.renamed = restored.Restored
		var were []string
		for _, r := range c.rowsOf(before, "sessions", "id", result.DeletedIDs) {
			were = append(were, r["id"].(string))
		}
		require.ElementsMatch(rt, were, slices.Collect(maps.Keys(c.renamed)), "each that was there comes back")
		w.outcomes["restored "+k.name]++
		c.requireBack(before, between, result.DeletedIDs)
		c.requireFound(before, found)
		c.requireAlike(copied, c.exportBack())
		c.deleteAgain()
	})
	t.Log(w.outcomes)
	require.NotZero(t, w.outcomes["restored canonical"])
	require.NotZero(t, w.outcomes["restored legacy"])
}

// tablesBack are the tables of the store whose rows come back.
func (c *takenBack) tablesBack() []hangingTable {
	return slices.DeleteFunc(slices.Clone(hanging), func(t hangingTable) bool { return !t.back || !c.kind.has(t.table) })
}

func (c *takenBack) with(name string, value any) map[string]any {
	params := maps.Clone(c.params)
	params[name] = value
	return params
}

func (c *takenBack) rowsOf(in tables, table, column string, ids []string) (rows []row) {
	for _, r := range in[table] {
		if slices.Contains(ids, textOf(r, column)) {
			rows = append(rows, r)
		}
	}
	return rows
}

// asRestored is a row as it has to come back.
func (c *takenBack) asRestored(t hangingTable, r row) row {
	r = maps.Clone(r)
	switch t.table {
	case "sessions":
		r["id"] = c.renamed[r["id"].(string)]
		parent := textOf(r, "parent_session_id")
		if r["parent_session_id"] = nil; c.renamed[parent] != "" {
			r["parent_session_id"] = c.renamed[parent]
		}
		for _, column := range []string{"session_key", "chat_id", "chat_type", "thread_id", "user_id", "origin_json"} {
			r[column] = nil
		}
		for _, column := range []string{"runtime_generation", "runtime_revision"} {
			if _, has := r[column]; has {
				r[column] = int64(0)
			}
		}
		r["model_config"] = c.configRead(r["model_config"], c.renamed)
	default:
		delete(r, t.number)
		r[t.id] = c.renamed[r[t.id].(string)]
	}
	return r
}

// asFound is a row that came back, in the form of asRestored: whoever reads JSON knows no whole numbers.
func (c *takenBack) asFound(t hangingTable, r row) row {
	r = maps.Clone(r)
	delete(r, t.number)
	if t.table == "sessions" {
		for _, column := range []string{"runtime_generation", "runtime_revision"} {
			if n, has := r[column].(float64); has {
				r[column] = int64(n)
			}
		}
		itself := map[string]string{}
		for _, id := range c.renamed {
			itself[id] = id
		}
		r["model_config"] = c.configRead(r["model_config"], itself)
	}
	return r
}

// configRead is a model_config as it reads, its markers mapped. What is no JSON stays text.
func (c *takenBack) configRead(value any, renamed map[string]string) any {
	text, _ := value.(string)
	object := map[string]any{}
	if json.Unmarshal([]byte(strings.NewReplacer("NaN", "0", "Infinity", "0").Replace(text)), &object) != nil {
		return value
	}
	for _, name := range []string{"_delegate_from", "_branched_from", "_reset_from"} {
		if named, _ := object[name].(string); renamed[named] != "" {
			object[name] = renamed[named]
		} else {
			delete(object, name)
		}
	}
	return object
}

// requireBack holds every row of the store against what it was before the delete, and between it and the restore.
func (c *takenBack) requireBack(before, between tables, deleted []string) {
	after := c.home.Tables()
	ids := slices.Collect(maps.Values(c.renamed))
	for _, t := range c.tablesBack() {
		want, got := map[any][]row{}, map[any][]row{}
		for _, r := range c.rowsOf(before, t.table, t.id, deleted) {
			if c.renamed[r[t.id].(string)] != "" { // a message without its session does not come back
				r = c.asRestored(t, r)
				want[r[t.id]] = append(want[r[t.id]], r)
			}
		}
		for _, r := range c.rowsOf(after, t.table, t.id, ids) {
			got[r[t.id]] = append(got[r[t.id]], c.asFound(t, r))
		}
		require.Equal(c.rt, want, got, t.table)
		after[t.table] = slices.DeleteFunc(after[t.table], func(r row) bool { return slices.Contains(ids, textOf(r, t.id)) })
	}
	for table := range after {
		if !shadow.MatchString(table) && table != "system_prompts" {
			require.ElementsMatch(c.rt, between[table], after[table], "%s: nothing else changes", table)
		}
	}
	require.Subset(c.rt, before["system_prompts"], after["system_prompts"])
	requireSound(c.rt, c.home, c.store, nil)
}

// found tells which words an index finds in which sessions.
func (c *takenBack) found(index string) []string {
	var words []string
	for _, word := range c.store.words {
		if word.said {
			words = append(words, word.text)
		}
	}
	return c.home.Query(`SELECT DISTINCT w.value, m.session_id FROM json_each(?) w CROSS JOIN `+index+` f JOIN messages m ON m.id = f.rowid
		WHERE `+index+` MATCH '"' || w.value || '"' ORDER BY 1, 2`, jsonOf(words))
}

// requireFound holds that the indexes find each word where they found it before, in the session that it came back in.
func (c *takenBack) requireFound(rows tables, before map[string][]string) {
	for index, lines := range before {
		var want []string
		for _, line := range lines {
			word, id, _ := strings.Cut(line, "|")
			if to, back := c.renamed[id]; back {
				id = to
				c.outcomes["words found"]++
			}
			want = append(want, word+"|"+id)
		}
		slices.Sort(want)
		require.Subset(c.rt, want, c.found(index))
		require.Empty(c.rt, c.lost(rows, want, c.found(index)), "what is gone is a message without its session alone")
	}
}

// lost are the words that are found no more, those aside that were said in no session.
func (c *takenBack) lost(rows tables, before, after []string) []string {
	return slices.DeleteFunc(without(before, after), func(line string) bool {
		_, id, _ := strings.Cut(line, "|")
		return !strings.HasPrefix(id, "restored-") && c.rowsOf(rows, "sessions", "id", []string{id}) == nil
	})
}

// export writes out what the delete takes; nil where that is refused.
func (c *takenBack) export(name string) map[string]any {
	path := filepath.Join(c.home.Path, "..", filepath.Base(c.home.Path)+name)
	p := c.processes[c.kind.oldAgent]
	p.Request("export", "state_db.export_conversation", c.with("to", path))
	if p.Reply().Error != nil {
		return nil
	}
	defer func() { _ = os.Remove(path) }()
	text, err := os.ReadFile(path)
	require.NoError(c.rt, err)
	document := map[string]any{}
	require.NoError(c.rt, json.Unmarshal(text, &document))
	return document
}

// rootFirst are the new ids, that of what was asked for first.
func (c *takenBack) rootFirst() []string {
	ids := slices.Sorted(maps.Values(c.renamed))
	if root, existed := c.renamed[c.params["session_id"].(string)]; existed {
		ids = append([]string{root}, without(ids, []string{root})...)
	}
	return ids
}

// exportBack exports what came back. What only the ledger held together, or a row that had never been there, is several conversations now.
func (c *takenBack) exportBack() map[string]any {
	all := map[string]any{}
	seen := map[any]bool{}
	for _, id := range c.rootFirst() {
		if seen[id] {
			continue
		}
		c.params["session_id"] = id
		document := c.export("after")
		require.NotNil(c.rt, document, id)
		fresh := map[any]bool{}
		for _, id := range document["ids"].([]any) {
			fresh[id] = !seen[id]
			seen[id] = true
		}
		for _, t := range c.tablesBack() {
			rows, _ := all[t.table].([]any)
			for _, r := range document[t.table].([]any) {
				if fresh[r.(map[string]any)[t.id]] {
					rows = append(rows, r)
				}
			}
			all[t.table] = rows
		}
	}
	all["ids"] = slices.Collect(maps.Keys(seen))
	return all
}

// requireAlike compares two exports: the same rows in the same order, but for what a restore changes.
func (c *takenBack) requireAlike(before, after map[string]any) {
	ids := []any{}
	for _, id := range before["ids"].([]any) {
		if to, back := c.renamed[id.(string)]; back {
			ids = append(ids, to)
		}
	}
	require.ElementsMatch(c.rt, ids, after["ids"])
	for _, t := range c.tablesBack() {
		want, got := map[any][]row{}, map[any][]row{}
		for _, r := range before[t.table].([]any) {
			if r := r.(map[string]any); c.renamed[textOf(r, t.id)] != "" {
				r := c.asRestored(t, r)
				want[r[t.id]] = append(want[r[t.id]], r)
			}
		}
		for _, r := range after[t.table].([]any) {
			r := c.asFound(t, r.(map[string]any))
			got[r[t.id]] = append(got[r[t.id]], r)
		}
		require.Equal(c.rt, want, got, t.table)
	}
}

// deleteAgain deletes what came back.
func (c *takenBack) deleteAgain() {
	gone := map[string]bool{}
	for _, id := range c.rootFirst() {
		if gone[id] {
			continue
		}
		c.params["session_id"] = id
		var result sidecartest.DeleteResult
		c.call(c.rt, c.kind, "state_db.delete_cli_session", c.params, &result)
		require.NotNil(c.rt, result.DeletedIDs, "%s: %s", result.Reason, result.Detail)
		require.NotEmpty(c.rt, result.Receipt)
		for _, id := range result.DeletedIDs {
			gone[id] = true
			if c.kind.path == "canonical" {
				require.Len(c.rt, c.home.Query("SELECT 1 FROM state_meta WHERE key = 'gateway.retired_session.v1.' || ?", id), 1)
			}
		}
	}
	require.Equal(c.rt, slices.Sorted(maps.Values(c.renamed)), sorted(gone))
	requireSound(c.rt, c.home, c.store, gone)
	c.outcomes["deleted again"]++
}
