package statedb

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// twoStores are alike. One is deleted from over a look that has surveyed it and is kept from one delete to the next, the other over a
// fresh connection each time, which passes over all tables under the lock.
type twoStores struct {
	rt              *rapid.T
	t               *testing.T
	surveyed, fresh *sidecartest.Home
	look            *Look
	mode            string
	odd             []string // texts of model_config
	n               int      // of what was written
	seen            map[string]int
	gone            string  // what was deleted last
	batch           []*conn // to both, while what is written belongs together
}

var surveyIDs = []string{"p", "q", "a", "b", "c", "é", "5", "d\xffe", "_delegate_from", "local-x", "a\x00b"}

// TestASurveyMissesNothing: whatever names a session, in whatever way, and whoever has written meanwhile, a delete over a connection that
// has surveyed the store decides and does what one does that has not.
func TestASurveyMissesNothing(t *testing.T) {
	newHome(t) // whose test ends when all connections are closed
	seen := map[string]int{}
	odd := oddConfigs()
	rapid.Check(t, func(rt *rapid.T) {
		s := &twoStores{rt: rt, t: t, odd: odd, seen: seen, surveyed: sidecartest.NewHome(t), fresh: sidecartest.NewHome(t)}
		defer func() { _, _ = os.RemoveAll(s.surveyed.Path), os.RemoveAll(s.fresh.Path) }()
		runtime := s.chance("runtime", 3, 4)
		s.create(runtime)
		look, err := StartLook(t.Context(), s.surveyed.Store(), LookPatience)
		require.NoError(rt, err)
		s.look = look
		defer look.Close()
		require.NoError(rt, look.Rest())
		for range rapid.IntRange(1, 6).Draw(rt, "deletes") {
			s.delete(runtime)
		}
	})
	t.Log(seen)
	for _, wanted := range []string{"deleted on the legacy path", "deleted on the canonical path", "by survey", "kept survey", "passed over", "refused", "undone"} {
		require.NotZero(t, seen[wanted], wanted)
	}
}

func (s *twoStores) chance(name string, of, in int) bool {
	return rapid.IntRange(1, in).Draw(s.rt, name) <= of
}

func (s *twoStores) id() string { return rapid.SampledFrom(surveyIDs).Draw(s.rt, "id") }

// both writes the same into both stores, as another process would.
func (s *twoStores) both(statement string, args ...any) {
	if s.batch == nil {
		defer s.together()()
	}
	for _, c := range s.batch {
		_, err := c.ExecContext(s.t.Context(), statement, args...)
		require.NoError(s.rt, err, statement)
	}
}

// together opens both stores, so that what is written until end is called is committed at once.
func (s *twoStores) together() (end func()) {
	all := func(statement string) {
		for _, c := range s.batch {
			_, err := c.ExecContext(s.t.Context(), statement)
			require.NoError(s.rt, err, statement)
		}
	}
	for _, home := range []*sidecartest.Home{s.surveyed, s.fresh} {
		c, err := openURI(s.t.Context(), storeURI(home.Store(), readWrite))
		require.NoError(s.rt, err)
		s.batch = append(s.batch, c)
	}
	all("PRAGMA foreign_keys = OFF")
	all("BEGIN IMMEDIATE")
	return func() {
		all("COMMIT")
		for _, c := range s.batch {
			c.close()
		}
		s.batch = nil
	}
}

func (s *twoStores) create(runtime bool) {
	schema := fixtures.LegacySchema
	if runtime {
		schema = fixtures.RuntimeSchema
	}
	s.mode = rapid.SampledFrom([]string{"wal", "wal", "delete"}).Draw(s.rt, "mode")
	for _, home := range []*sidecartest.Home{s.surveyed, s.fresh} {
		home.Exec("PRAGMA journal_mode = "+s.mode, schema)
	}
	defer s.together()()
	for i := range 5 {
		s.both("INSERT INTO system_prompts VALUES (?, 'be kind')", fmt.Sprintf("h%d", i))
	}
	for range rapid.IntRange(3, 10).Draw(s.rt, "sessions") {
		s.addSession()
	}
	for range rapid.IntRange(0, 8).Draw(s.rt, "records") {
		s.addRecord()
	}
}

// config names a session in a model_config, often the parent.
func (s *twoStores) config(parent any) any {
	var text string
	switch rapid.IntRange(0, 9).Draw(s.rt, "config") {
	case 0, 1:
		return nil
	case 2, 3, 4:
		text = rapid.SampledFrom(s.odd).Draw(s.rt, "odd")
	case 5, 6:
		if named, is := parent.(string); is {
			text = fmt.Sprintf(`{"_branched_from": %[1]s, "_delegate_from": %[1]s}`, s.spelled(named))
			break
		}
		fallthrough
	default:
		key := rapid.SampledFrom([]string{"_delegate_from", "_delegate_from", "_branched_from", "_reset_from"}).Draw(s.rt, "key")
		text = fmt.Sprintf(`{"%s": %s}`, key, s.spelled(s.id()))
	}
	if s.chance("blob", 1, 12) {
		return []byte(text)
	}
	return text
}

// spelled is an id in one of the ways in which JSON can have it.
func (s *twoStores) spelled(id string) string {
	switch rapid.IntRange(0, 7).Draw(s.rt, "spelling") {
	case 0:
		if first := []rune(id)[0]; first < 0x80 {
			return fmt.Sprintf(`"\u%04x%s"`, first, id[1:])
		}
		encoded, _ := json.Marshal(id)
		return string(encoded)
	case 1:
		return `"` + id + `"` // with bytes that are no UTF-8, where it has some
	case 2:
		if s.chance("oddly", 1, 3) {
			return rapid.SampledFrom([]string{"'" + id + "'", "5", "null", "[]", "NaN", `{"session_id":"` + id + `"}`, `["` + id + `"]`}).Draw(s.rt, "value")
		}
	}
	encoded, _ := json.Marshal(id)
	return string(encoded)
}

func (s *twoStores) addSession() {
	id := any(s.id())
	if s.chance("no session", 1, 30) {
		id = []byte("a")
	}
	maybe := func(name string, of ...any) any { return rapid.SampledFrom(append(of, nil)).Draw(s.rt, name) }
	s.n++
	parent := maybe("parent", "p", "q", "a", "b", "d\xffe")
	s.both(`INSERT OR REPLACE INTO sessions (id, source, session_key, chat_id, model_config, system_prompt_hash, parent_session_id, started_at, ended_at, end_reason)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, rapid.SampledFrom([]string{"cli", "tool", "subagent", "cron"}).Draw(s.rt, "source"),
		maybe("key", "k1", "k2"), maybe("chat", "local-x", "c1"), s.config(parent), maybe("prompt", "h0", "h1", "h2"),
		parent, float64(s.n), maybe("ended", float64(s.n+1)), maybe("why", "compression", "branched"))
	s.both("INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'zarquon', 1)", id)
}

// frames are the ways in which a record names ids.
var recordFrames = []string{
	`{"session_id":X}`, `{"target_session_id":X,"session_id":Y}`, `{"session_id":Y,"session_id":X}`, `{"session_id":X,"session_id":Y}`,
	`{"lineage":[Y,X]}`, `{"lineage":[Y,{"a":X},[X]]}`, `{"lineage":[1e999,X]}`, `{"lineage":[Y],"lineage":[X]}`, `{"lineage":{"0":X}}`,
	`{"entry":{"session_id":X}}`, `{"entry":{"session_id":Y,"session_id":X}}`, `{"entry":{"session_id":X,"session_id":Y}}`, `{"entry":{"x":{"session_id":X}}}`,
	`{"entry":{"target_session_id":X}}`, `{"entry":{"session_id":Y},"entry":{"session_id":X}}`, `{"entry":[X]}`, `{"entry":{"sessi\u006fn_id":X}}`,
	`{"result":{"session_id":X,"title":"t"}}`, `{"result":{"target_session_id":X,"title":"t"}}`, `{"result":{"previous_target_session_id":X,"session_id":Y}}`,
	`{"result":{"target_message":{"session_id":X}}}`, `{"result":{"session_id":Y},"result":{"session_id":X}}`, `{"result":{"session_id":Y,"session_id":X}}`,
	`{"sess\u0069on_id":X}`, `{"\u006cineage":[X]}`, `[X]`, `X`, `{"session_id":X,"n":NaN}`, `{"lineage":[X],"n":-Infinity}`, `{"session_id":X`, `{session_id:X}`,
	`{"session_id":X,}`, ` { "session_id" : X } `, "{\"session_id\":X}\x00", "{\"session_id\":X,\"t\":\"a\nb\"}", `{"n":{"session_id":X}}`, `null`, `7`,
	`{"entry":{"session_id":X},"session_id":"local-x","lineage":["local-x"],"source":"local"}`,
	`{"t":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `,"session_id":X}`,
}

func (s *twoStores) addRecord() {
	frame := rapid.SampledFrom(recordFrames).Draw(s.rt, "frame")
	var value any = strings.NewReplacer("X", s.spelled(s.id()), "Y", s.spelled(s.id())).Replace(frame)
	s.n++
	if s.chance("route", 1, 5) {
		s.both("INSERT OR REPLACE INTO gateway_routing (session_key, entry_json, updated_at) VALUES (?, ?, 1)", fmt.Sprintf("k%d", s.n%4), value)
		return
	}
	if s.chance("plain", 1, 4) {
		value = s.id()
	}
	if s.chance("blob", 1, 15) {
		value = []byte(value.(string))
	}
	prefix := rapid.SampledFrom([]string{
		mutationPrefix, mutationPrefix, apiConversationPrefix, apiConversationPrefix, localPolicyPrefix, settingsPrefix, bindingPrefix, retiredSessionPrefix,
		"gateway.", "gateway.x.", "gateway", "gateway/", "sidecar.x.", admissionResultPrefix, terminalWorkerPrefix,
	}).Draw(s.rt, "prefix")
	name := fmt.Sprint(s.n % 7)
	if s.chance("of an id", 1, 8) {
		name = s.id()
	}
	s.both("INSERT OR REPLACE INTO state_meta VALUES (?, ?)", prefix+name, value)
}

// meddle is what another connection commits meanwhile.
func (s *twoStores) meddle() {
	switch rapid.IntRange(0, 5).Draw(s.rt, "meddle") {
	case 0, 1, 2:
		defer s.together()()
		s.addSession()
		s.addRecord()
	case 3, 4:
		s.both("UPDATE sessions SET model_config = ?, parent_session_id = ? WHERE id = ?", s.config(nil), s.id(), s.id())
	case 5:
		s.surveyed.Exec("VACUUM")
		s.fresh.Exec("VACUUM")
	}
}

// delete deletes in both, and holds what was decided and done in one against the other.
func (s *twoStores) delete(runtime bool) {
	request := Request{
		SessionID: s.id(), WithLineage: s.chance("lineage", 1, 2), WholeConversation: s.chance("whole", 1, 5),
		Circumstances: Circumstances{OperationID: fmt.Sprintf("%032x", s.n)},
	}
	if s.gone != "" && s.chance("again", 1, 4) {
		request.SessionID = s.gone
	}
	s.gone = request.SessionID
	if runtime && s.chance("old Agent", 1, 3) {
		request.Agent = Agent{Known: true}
	}
	if s.chance("before", 1, 3) {
		s.meddle()
	}
	ctx := s.t.Context()
	require.NoError(s.rt, s.look.Again(ctx))
	if s.look.conn.survey != nil {
		s.seen["kept survey"]++
	}
	takeSurvey(s.rt, s.look, request.Agent)
	require.NotNil(s.rt, s.look.conn.survey, "every such store can be surveyed")
	if s.chance("between", 1, 3) {
		if s.mode != "wal" || s.chance("rested", 1, 2) { // without a WAL nobody commits while somebody reads
			require.NoError(s.rt, s.look.rest())
		}
		s.meddle()
	}
	undone := s.chance("undone", 1, 4)

	tx, holds, err := s.look.Begin(ctx, time.Second)
	require.NoError(s.rt, err)
	require.Equal(s.rt, holds, s.look.conn.survey != nil)
	got := s.carryOut(tx, request, undone)
	require.NoError(s.rt, s.look.Rest())
	tx, err = Begin(ctx, s.fresh.Store(), time.Second)
	require.NoError(s.rt, err)
	require.Equal(s.rt, s.carryOut(tx, request, undone), got)
	require.Equal(s.rt, s.tables(s.fresh), s.tables(s.surveyed))

	s.seen[map[bool]string{true: "by survey", false: "passed over"}[holds]]++
}

// decided is a plan as it can be compared.
type decided struct {
	Existed      bool
	Path         Path
	Targets      []Target
	Kept         []Kept
	Guards       []Guard
	LeftBehind   []Counted
	Retained     []Counted
	Media        []Media
	StaleIndexes []string
	Error        string
}

func (s *twoStores) carryOut(tx *Tx, request Request, undone bool) (d decided) {
	ctx := s.t.Context()
	defer func() { require.NoError(s.rt, tx.Rollback()) }()
	plan, err := tx.Plan(ctx, request)
	if err == nil {
		err = tx.Remove(ctx, plan)
	}
	if err == nil {
		d = decided{
			plan.Existed, plan.Path, plan.Targets, plan.Kept, plan.Guards, plan.LeftBehind, plan.Retained, plan.Media, plan.StaleIndexes, "",
		}
		if undone {
			s.seen["undone"]++
			return d
		}
		s.seen["deleted on the "+string(plan.Path)+" path"]++
		require.NoError(s.rt, tx.Commit())
		return d
	}
	_, is := errors.AsType[*Error](err)
	require.True(s.rt, is, "%v", err)
	s.seen["refused"]++
	d.Error = err.Error()
	return d
}

// atSomeTime is a time of now in a record.
var atSomeTime = regexp.MustCompile(`"retired_at":\s*[0-9.e+]+`)

func (s *twoStores) tables(home *sidecartest.Home) sidecartest.Tables {
	tables := home.Tables()
	for _, row := range tables["state_meta"] {
		if text, is := row["value"].(string); is {
			row["value"] = atSomeTime.ReplaceAllString(text, `"retired_at":0`)
		}
	}
	return tables
}
