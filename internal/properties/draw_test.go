package properties

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"session-sidecar/internal/sidecartest"
)

type (
	row    = sidecartest.Row
	tables = sidecartest.Tables
)

// word is a word that stands in one place of a store and nowhere else.
type word struct {
	text string
	of   []string // with any of these sessions it has to go
	kept bool     // in what a delete retains
	row  bool     // in a row of sessions or messages, and so gone on the legacy path too
	said bool     // in a message, where the full-text index finds it
}

// anyStore is a store that rapid made up, with the files beside it.
type anyStore struct {
	tables  tables
	files   []string
	configs map[string]config // every text that is a model_config here
	words   []word
	ids     []string // of the sessions that are there
	named   []string // those, and some that are not
	owner   string   // whom a local policy speaks of; empty where none was drawn
}

// draw is a rapid.T with the draws that a store is made of.
type draw struct{ *rapid.T }

// one picks; the earlier, the oftener.
func (d draw) one(label string, of ...any) any { return rapid.SampledFrom(of).Draw(d.T, label) }

func (d draw) text(label string, of ...string) string { return rapid.SampledFrom(of).Draw(d.T, label) }

// seldom is true once in 2^n.
func (d draw) seldom(label string, n int) bool {
	all := true
	for range n {
		all = rapid.Bool().Draw(d.T, label) && all
	}
	return all
}

func (s *anyStore) add(table string, r row) { s.tables[table] = append(s.tables[table], r) }

func (s *anyStore) meta(key string, value any) {
	s.tables["state_meta"] = slices.DeleteFunc(s.tables["state_meta"], func(r row) bool { return r["key"] == key })
	s.add("state_meta", row{"key": key, "value": value})
}

// say makes a word that goes with the sessions.
func (s *anyStore) say(w word, of ...string) string {
	w.text, w.of = fmt.Sprintf("zq%dqz", len(s.words)), of
	s.words = append(s.words, w)
	return w.text
}

// configured notes how a model_config reads.
func (s *anyStore) configured(text string, c config) string {
	s.configs[text] = c
	return text
}

func (s *anyStore) session(id string) row {
	for _, r := range s.tables["sessions"] {
		if r["id"] == id {
			return r
		}
	}
	return nil
}

// idPool holds ids whose files' names collide, derived ids of an API server, and one that is no name of a file.
var idPool = []string{
	"s", "s_1", "session_s", "S", "t.1", "u:2", "v", "w", "api-0123456789abcdef", "api-0123456789ABCDEF", "request_dump_s_1", "odd \u2028<&>é😀",
}

// drawStore makes up a store of the runtime schema.
func drawStore(rt *rapid.T) *anyStore {
	d := draw{rt}
	s := &anyStore{tables: tables{}, configs: map[string]config{"": {readable: true}}}
	policy := drawPolicy(d)
	ids := rapid.Permutation(idPool).Draw(rt, "ids")
	s.ids = ids[:rapid.IntRange(1, len(idPool)-3).Draw(rt, "sessions")]
	if policy != nil && policy.legacy == "" {
		s.ids = append([]string{policy.owner()}, s.ids...)
	}
	s.named = append(slices.Clone(s.ids), "gone", "stranger")
	for _, id := range s.ids {
		s.drawSession(d, id)
	}
	for _, id := range s.named {
		s.drawMessages(d, id)
		s.drawGuards(d, id)
		s.drawLedger(d, id)
		s.drawRecords(d, id)
		s.drawFiles(d, id)
	}
	if policy != nil {
		s.drawConversation(d, policy)
	}
	s.drawMutations(d)
	s.drawOthers(d)
	slices.Sort(s.files)
	s.files = slices.Compact(s.files)
	return s
}

func (s *anyStore) anyID(d draw, label string) string { return d.text(label, s.named...) }

func (s *anyStore) drawSession(d draw, id string) {
	in := word{row: true}
	r := row{
		"id":                 id,
		"source":             d.one("source", "cli", "cli", "telegram", "api_server", "bot_room", "subagent", "tool", " cli\u00a0", " "),
		"session_key":        d.one("session_key", nil, "agent:main:1", "agent:main:1", " agent:main:1\n", "agent:work:2", "  "),
		"chat_id":            d.one("chat_id", nil, nil, nil, "", "chat", s.anyID(d, "chat")),
		"chat_type":          d.one("chat_type", nil, "dm"),
		"thread_id":          d.one("thread_id", nil, "", "7"),
		"user_id":            d.one("user_id", nil, "user"),
		"title":              s.say(in, id),
		"display_name":       s.say(in, id),
		"origin_json":        `{"text": "` + s.say(in, id) + `"}`,
		"system_prompt":      s.say(in, id),
		"system_prompt_hash": d.one("prompt", nil, "h1", "h1", "h2", "h3"),
		"parent_session_id":  nil,
		"model_config":       s.drawConfig(d),
		"started_at":         d.one("started", 1.0, 5.0, 5.5, 6.0),
		"ended_at":           d.one("ended", nil, 5.0, 6.0, 7.5),
		"last_activity_at":   d.one("active", nil, 3.0, 9.0, 1e300),
		"end_reason":         d.one("end_reason", nil, "compression", "compression", "session_reset", "branched", "cli_close"),
		"runtime_revision":   int64(d.one("revision", 0, 3).(int)),
	}
	if !d.seldom("root", 2) {
		r["parent_session_id"] = s.anyID(d, "parent")
		if parent := s.session(textOf(r, "parent_session_id")); parent != nil && d.seldom("inherited", 2) {
			r["model_config"] = parent["model_config"] // as a continuation does: its markers name whom the parent's do
		}
	}
	s.add("sessions", r)
	s.add("session_model_usage", row{"session_id": id, "model": "m"})
	s.add("telegram_dm_topic_bindings", row{"chat_id": "c", "thread_id": id, "session_id": id})
}

func (s *anyStore) drawMessages(d draw, id string) {
	there := slices.Contains(s.ids, id)
	if !there && !d.seldom("left", 2) {
		return
	}
	for i := range rapid.IntRange(0, 2).Draw(d.T, "messages") {
		s.add("messages", row{
			"session_id":    id,
			"role":          d.text("role", "user", "assistant", "tool"),
			"content":       s.say(word{row: true, said: true}, id),
			"tool_calls":    `[{"arguments": "` + s.say(word{row: true, said: true}, id) + `"}]`,
			"tool_name":     s.say(word{row: true, said: true}, id),
			"reasoning":     s.say(word{row: true}, id),
			"media_content": s.say(word{row: true}, id),
			"timestamp":     d.one("timestamp", 2.0, 8.0, 1e300).(float64) + float64(i),
		})
	}
}

func (s *anyStore) drawGuards(d draw, id string) {
	for _, g := range guardTables {
		if d.seldom(g.table, 5) {
			s.add(g.table, row{
				g.key: id, "holder": d.text("holder", "someone", "{LIVE}", "{DEAD}"), "acquired_at": 1.0,
				"expires_at": d.one("expires", 4102444800.0, 1.0),
			})
		}
	}
}

var guardTables = []struct{ table, key string }{
	{"compression_locks", "session_id"}, {"session_turn_leases", "conversation_id"},
}

func (s *anyStore) drawFiles(d draw, id string) {
	if strings.Contains(id, " ") {
		return
	}
	for _, name := range []string{id + ".json", "session_" + id + ".json", "request_dump_" + id + "_1.json", id + ".jsonl"} {
		if d.seldom(name, 1) {
			s.files = append(s.files, name)
		}
	}
}

// reading is one way to read the markers of a model_config: nil is a marker that is not there, "" one that names no row.
type reading struct{ delegate, branch, reset *string }

// config is what a model_config says, to SQLite's JSON functions and to Python.
type config struct {
	readable       bool // NULL, empty, or a JSON object, to Python
	unread         bool // no JSON to SQLite
	sqlite, python reading
}

func (s *anyStore) drawConfig(d draw) any {
	if d.seldom("unset", 1) {
		return nil
	}
	a, b := s.anyID(d, "names"), s.anyID(d, "names")
	value, named := quote(a), &a
	if d.seldom("odd", 3) {
		nobody := ""
		value, named = d.text("value", "null", "7", `["s"]`, `{"s": 1}`), &nobody
		if value == "null" {
			named = nil
		}
	}
	// plain is how both read it.
	plain := func(text string, r reading) any {
		return s.configured(text, config{readable: true, sqlite: r, python: r})
	}
	switch d.one("config", 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) {
	case 0:
		return plain(`{"_delegate_from": `+value+`}`, reading{delegate: named})
	case 1:
		return plain(`{"_branched_from": `+value+`}`, reading{branch: named})
	case 2:
		return plain(`{"_reset_from": `+value+`}`, reading{reset: named})
	case 3:
		return plain(`{"_delegate_from": `+value+`, "_branched_from": `+quote(b)+`}`, reading{delegate: named, branch: &b})
	case 4:
		return plain(`{"x": "é<\u2028", "\u005fdelegate_from": `+value+`}`, reading{delegate: named})
	case 5:
		return plain(`{"_delegate": `+value+`, "x": {"_delegate_from": `+value+`}}`, reading{})
	case 6: // SQLite takes the first, Python the last
		return s.configured(`{"_delegate_from": `+value+`, "_delegate_from": `+quote(b)+`}`,
			config{readable: true, sqlite: reading{delegate: named}, python: reading{delegate: &b}})
	case 7: // no JSON to SQLite
		return s.configured(`{"x": NaN, "_delegate_from": `+value+`}`, config{readable: true, unread: true, python: reading{delegate: named}})
	case 8:
		return s.configured("{broken _delegate_from", config{})
	case 9:
		return s.configured(`[1, "_delegate_from"]`, config{})
	}
	return ""
}

// quote spells an id as JSON; those here need no escapes.
func quote(id string) string { return `"` + id + `"` }
