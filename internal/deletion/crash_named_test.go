package deletion_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

// TestCrashWhereRowsNamedMore kills the real process where a delete, on either path, removes files that rows named and fences
// the routes of the base home. On the legacy path, which an Agent that is too old brings about, these are what a newer one has
// left, and come first. Never is a conversation half there, never is a file or a route forgotten, and the next start finishes
// both.
func TestCrashWhereRowsNamedMore(t *testing.T) {
	for _, w := range slices.Concat(ways, []way{
		{name: "sweep,legacy", method: "state_db.sweep_sessions", ids: []string{"Q", "P", "D"}, together: [][]string{{"Q", "P", "D"}}},
	}) {
		for _, point := range slices.Concat(faultpoint.OfMedia(), faultpoint.OfRoutes()) {
			t.Run(w.name+","+string(point), func(t *testing.T) {
				t.Parallel()
				w.crashWhereRowsNamedMore(t, point)
			})
		}
	}
}

// newerLeft is what a newer Agent's delete of P2 and Q2 has left in a store whose Agent is too old now.
const newerLeft = `
INSERT INTO state_meta VALUES
 ('sidecar.spill.v1.01', '{"files":["cache/spillover/of_P2.txt","cache/spillover/of_Q2.txt"],"session_ids":["P2","Q2"]}'),
 ('gateway.retired_session.v1.P2', '{"own":true,"retired_at":1790000000.0}'),
 ('gateway.retired_session.v1.Q2', '{"own":true,"retired_at":1790000000.0}'),
 ('sidecar.route_intent.v1.01', '{"session_ids":["P2","Q2"]}');`

// homeWhereRowsNamedMore gives the ids whose spilled files and routes follow a crash, too.
func (w way) homeWhereRowsNamedMore(t *testing.T) (p profile, follow []string) {
	t.Helper()
	statements := []string{fixtures.RuntimeSchema, family, another}
	if w.canonical {
		statements, follow = append(statements, history), slices.Concat(w.together...)
	} else {
		statements, follow = append(statements, newerLeft), []string{"P2", "Q2"}
	}
	p = profile{homeWith(t, false, []string{"P", "D", "Q", "LIVE"}, statements...), sidecartest.NewHome(t)}
	p.base.Create(fixtures.RuntimeSchema)
	for _, id := range append([]string{"LIVE"}, follow...) {
		name := "cache/spillover/of_" + id + ".txt"
		p.owner.Write(name, "spilled by "+id)
		if w.canonical || id == "LIVE" {
			p.owner.Exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('" + id + "', 'tool', '" + name + "', 2)")
		}
	}
	return p, follow
}

// startWhereRowsNamedMore starts a process for that profile.
func (w way) startWhereRowsNamedMore(t *testing.T, p profile, kind sidecartest.Build, environment ...string) *sidecartest.Process {
	t.Helper()
	if w.canonical {
		return p.start(t, kind, environment...)
	}
	process := sidecartest.Start(t, kind, sidecartest.Env(environment...))
	process.Handshake(fmt.Sprintf(`{"rpc_version":1,"base_home":%q,"agent_dir":%q}`, p.base.Path, t.TempDir()))
	return process
}

func (w way) crashWhereRowsNamedMore(t *testing.T, point faultpoint.Point) {
	t.Helper()
	p, follow := w.homeWhereRowsNamedMore(t)
	process := w.startWhereRowsNamedMore(t, p, sidecartest.FaultPoints, w.killWhereRowsNamedMore(point))
	process.Request(1, w.method, w.params(p.owner))
	if point != faultpoint.RoutesFenced { // which may be passed behind the call, where the base home was slow
		requireUnanswered(t, process)
	}
	require.Equal(t, -1, process.Wait(), "it was not killed: %s", process.Stderr())
	p.base.RequireSound()
	fates := w.requireAllOrNothing(t, p.owner)
	want := slices.Repeat([]fate{stands}, len(fates))
	if w.canonical {
		want = slices.Repeat([]fate{retired}, len(fates))
	}
	if point == faultpoint.RoutesFenced && strings.Contains(process.Stderr(), "will be fenced later") {
		want = fates // the base home was slow, and the point was met behind the call, whenever that was
	}
	require.Equal(t, want, fates, "what comes after the commit does not undo it, what comes first does not begin it")
	p.requireNothingForgotten(t)

	next := w.startWhereRowsNamedMore(t, p, sidecartest.Plain)
	require.True(t, next.Delete(p.owner, "unrelated").OK)
	p.settled(t)
	assert.Equal(t, []string{"of_LIVE.txt"}, spilledIn(t, p.owner))
	_, notes := noted(p.owner)
	assert.Empty(t, notes)
	var fences []string
	for _, id := range append(follow, "unrelated") {
		if w.canonical || id != "unrelated" { // which the canonical path fences too
			fences = append(fences, "home:"+id, "main:"+id)
		}
	}
	for _, fence := range p.fences() {
		assert.Contains(t, fences, strings.TrimSuffix(fence, " expires"))
	}
	assert.Len(t, p.fences(), len(fences))
	require.Equal(t, want, w.requireAllOrNothing(t, p.owner))
	p.base.RequireSound()
}

// killWhereRowsNamedMore lets the process end in the second of two deletes, where it comes to the point in each.
func (w way) killWhereRowsNamedMore(point faultpoint.Point) string {
	nth := 1
	if w.second && w.canonical {
		switch point {
		case faultpoint.MediaUnlinked:
			nth = len(w.together[0]) + 1
		case faultpoint.MediaDurable:
			nth = 2
		}
	}
	return fmt.Sprintf("SIDECAR_FAULT_KILL=%s#%d", point, nth)
}

// requireNothingForgotten: a spilled file whose session is gone is noted, and so are the routes that are not fenced yet.
func (p profile) requireNothingForgotten(t *testing.T) {
	t.Helper()
	_, notes := noted(p.owner)
	intents := strings.Join(p.owner.Query("SELECT value FROM state_meta WHERE key GLOB 'sidecar.route_intent.v1.*'"), " ")
	fences := strings.Join(p.fences(), " ")
	for _, id := range p.owner.Query("SELECT substr(key, 28) FROM state_meta WHERE key GLOB 'gateway.retired_session.v1.*'") {
		assert.True(t, strings.Contains(intents, `"`+id+`"`) || strings.Contains(fences, "main:"+id), "nobody will fence the routes of %s", id)
		if name := "of_" + id + ".txt"; slices.Contains(spilledIn(t, p.owner), name) {
			assert.Contains(t, strings.Join(notes, " "), name, "nobody will remove it")
		}
	}
}

func spilledIn(t *testing.T, home *sidecartest.Home) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(home.Path, "cache/spillover"))
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
