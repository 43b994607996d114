package properties

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func TestMain(m *testing.M) { sidecartest.Main(m) }

// liveHolder and deadHolder are what holds a guard; they have no names on the systems that these tests do not run on.
var liveHolder, deadHolder, _ = sidecartest.Holders()

// kind is a kind of store: which schema, and beside which Agent.
type kind struct {
	name, schema string
	path         string
	oldAgent     bool // the Agent's folder is there and cannot retire
}

var (
	canonical  = kind{name: "canonical", schema: fixtures.RuntimeSchema, path: "canonical"}
	legacy     = kind{name: "legacy", schema: fixtures.LegacySchema, path: "legacy"}
	downgraded = kind{name: "downgraded", schema: fixtures.RuntimeSchema, path: "legacy", oldAgent: true}
)

// has tells whether stores of that kind have a table.
func (k kind) has(table string) bool { return strings.Contains(k.schema, "CREATE TABLE "+table+" (") }

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
		if !k.has(table) {
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
