package properties

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func TestMain(m *testing.M) { sidecartest.Main(m) }

// liveHolder and deadHolder are what holds a guard: a process that lives, and one that has ended.
var liveHolder, deadHolder = holders()

func holders() (live, dead string) {
	link, _ := os.Readlink("/proc/self/ns/pid")
	namespace := strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]")
	ended := exec.Command("true")
	if ended.Run() != nil {
		return "", "" // not on the systems that these run on
	}
	holder := func(pid int) string { return "pid=" + strconv.Itoa(pid) + ":pidns=" + namespace }
	return holder(os.Getpid()), holder(ended.Process.Pid)
}

// kind is a kind of store: which schema, and beside which Agent.
type kind struct {
	name, schema string
	path         string
	oldAgent     bool // the Agent's folder is there and cannot retire
}

var kinds = []kind{
	{name: "canonical", schema: fixtures.RuntimeSchema, path: "canonical"},
	{name: "legacy", schema: fixtures.LegacySchema, path: "legacy"},
	{name: "downgraded", schema: fixtures.RuntimeSchema, path: "legacy", oldAgent: true},
}

// world is what the checks of one test share.
type world struct {
	t         *testing.T
	processes map[bool]*sidecartest.Process // by oldAgent
	folder    string
	homes     int
	outcomes  map[string]int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, folder: t.TempDir(), outcomes: map[string]int{}, processes: map[bool]*sidecartest.Process{}}
	for _, oldAgent := range []bool{false, true} {
		w.processes[oldAgent] = sidecartest.Start(t, sidecartest.Plain)
	}
	w.processes[false].Handshake()
	w.processes[true].Handshake(fmt.Sprintf(`{"rpc_version":1,"agent_dir":%q}`, t.TempDir()))
	return w
}

// home makes a home with the store that was made up.
func (w *world) home(k kind, s *anyStore) *sidecartest.Home {
	w.homes++
	home := sidecartest.NewHomeAt(w.t, filepath.Join(w.folder, fmt.Sprint(w.homes)))
	home.Create(k.schema)
	home.Insert(s.fit(k))
	for _, name := range s.files {
		home.Write(filepath.Join("sessions", name), strings.Repeat("x", len(name)))
	}
	return home
}

// fit puts holders in, and leaves out what an older store has no place for.
func (s *anyStore) fit(k kind) tables {
	fitting := tables{}
	for table, rows := range s.tables {
		if k.schema == fixtures.LegacySchema && slices.Contains([]string{
			"session_admissions", "worker_executions", "worker_receipts", "conversation_generations",
		}, table) {
			continue
		}
		for _, r := range rows {
			r = maps.Clone(r)
			if holder, ok := r["holder"].(string); ok {
				r["holder"] = strings.NewReplacer("{LIVE}", liveHolder, "{DEAD}", deadHolder).Replace(holder)
			}
			if k.schema == fixtures.LegacySchema {
				delete(r, "runtime_revision")
			}
			fitting[table] = append(fitting[table], r)
		}
	}
	return fitting
}

// call makes one call and reads its result.
func (w *world) call(rt *rapid.T, k kind, method string, params map[string]any, result any) {
	p := w.processes[k.oldAgent]
	p.Request(method, method, params)
	reply := p.Reply()
	require.Nil(rt, reply.Error, "%s %v: %s", method, params, p.Stderr())
	require.NoError(rt, json.Unmarshal(reply.Result, result))
}

var shadow = regexp.MustCompile(`^messages_fts|^sqlite_`)

// requireStore compares every table, those of the indexes aside. since is when the first of the calls began.
func requireStore(rt *rapid.T, want, got tables, since time.Time) {
	isNow := func(at string) bool {
		seconds, err := strconv.ParseFloat(at, 64)
		begun := float64(since.UnixMicro()) / 1e6
		return err == nil && seconds >= begun-0.001 && seconds <= float64(time.Now().UnixMicro())/1e6
	}
	for table := range got {
		if !shadow.MatchString(table) {
			wanted, found := spelled(want[table], isNow), spelled(got[table], isNow)
			require.Empty(rt, without(wanted, found), "%s lacks these rows", table)
			require.Empty(rt, without(found, wanted), "%s has these rows too many", table)
		}
	}
}

// without leaves out of one list what another has, as often as it has it.
func without(list, other []string) (rest []string) {
	count := map[string]int{}
	for _, line := range other {
		count[line]++
	}
	for _, line := range list {
		if count[line]--; count[line] < 0 {
			rest = append(rest, line)
		}
	}
	return rest
}

// requireSound checks that the store's indexes fit its messages: no term of what is gone, each term of what stays.
func requireSound(rt *rapid.T, home *sidecartest.Home, s *anyStore, gone map[string]bool) {
	require.Equal(rt, []string{"ok"}, home.Query("PRAGMA integrity_check"))
	require.Empty(rt, home.Query("SELECT id FROM messages WHERE session_id IN (SELECT value FROM json_each(?))", jsonOf(sorted(gone))))
	for _, index := range []string{"messages_fts", "messages_fts_trigram"} {
		home.Exec(fmt.Sprintf("INSERT INTO %[1]s(%[1]s, rank) VALUES ('integrity-check', 1)", index))
		var words []string
		for _, word := range s.words {
			if word.said && gone[word.of[0]] {
				words = append(words, `"`+word.text+`"`)
			}
		}
		if len(words) > 0 {
			require.Empty(rt, home.Query("SELECT rowid FROM "+index+" WHERE "+index+" MATCH ?", strings.Join(words, " OR ")))
		}
	}
}

// requireForgotten looks for the words of what is gone in every text of every table: only what is retained may have some, and
// keeps tells whether it has.
func requireForgotten(rt *rapid.T, s *anyStore, left tables, gone map[string]bool, rowsOnly bool) (keeps bool) {
	var texts strings.Builder
	for table, rows := range left {
		if shadow.MatchString(table) {
			continue // requireSound asks these
		}
		for _, r := range rows {
			for _, value := range r {
				if text, ok := value.(string); ok {
					texts.WriteString(text + "\n")
				}
			}
		}
	}
	all := texts.String()
	for _, word := range s.words {
		goes := slices.ContainsFunc(word.of, func(id string) bool { return gone[id] })
		switch {
		case goes && word.kept:
			keeps = keeps || strings.Contains(all, word.text)
		case goes && (word.row || !rowsOnly):
			require.NotContains(rt, all, word.text, "a word of %v", word.of)
		}
	}
	return keeps
}
