package deletion_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"session-sidecar/fixtures"
	"session-sidecar/internal/deletion"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

// What a canonical delete of these left in a profile: tombstones, and the intent to fence the base home's routes.
const leftByADelete = `
INSERT INTO state_meta VALUES
 ('gateway.retired_session.v1.gone', '{"own":true,"retired_at":1790000000.0}'),
 ('gateway.retired_session.v1.swept', '{"expires":true,"own":true,"retired_at":1790000000.0}'),
 ('sidecar.route_intent.v1.0123456789abcdef0123456789abcdef', '{"session_ids":["gone","swept","reclaimed"]}');`

const baseRoutes = `
INSERT INTO gateway_routing VALUES ('', 'agent:work:1', '{"session_id":"gone"}', 1), ('', 'agent:main:1', '{"session_id":"swept"}', 1),
 ('', 'agent:work:2', '{"session_id":"other"}', 1), ('', 'agent:work:3', '{"session_id":"reclaimed"}', 1);`

// profile is a home whose routes lie in a base home.
type profile struct{ owner, base *sidecartest.Home }

func newProfile(t *testing.T, name string) profile {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := profile{sidecartest.NewHomeAt(t, filepath.Join(root, name)), sidecartest.NewHomeAt(t, filepath.Join(root, "base"))}
	p.owner.Create(fixtures.LegacySchema, leftByADelete)
	p.base.Create(fixtures.RuntimeSchema, baseRoutes)
	return p
}

func (p profile) start(t *testing.T, kind sidecartest.Build, environment ...string) *sidecartest.Process {
	t.Helper()
	process := sidecartest.Start(t, kind, sidecartest.Env(environment...))
	process.Handshake(`{"rpc_version":1,"base_home":"` + filepath.ToSlash(p.base.Path) + `"}`)
	return process
}

func (p profile) intents() []string {
	return p.owner.Query("SELECT key FROM state_meta WHERE key GLOB 'sidecar.route_intent.v1.*'")
}

func (p profile) fences() []string {
	return p.base.Query(`SELECT substr(key, length('gateway.retired_route.v1.') + 1) || CASE WHEN value ->> 'expires' THEN ' expires' ELSE '' END
		FROM state_meta WHERE key GLOB 'gateway.retired_route.v1.*' ORDER BY key`)
}

func (p profile) routes() []string {
	return p.base.Query("SELECT session_key FROM gateway_routing ORDER BY session_key")
}

// settled waits until nothing is left to be done.
func (p profile) settled(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(p.intents()) == 0 }, time.Minute, 5*time.Millisecond)
}

var (
	workFences = []string{"main:gone", "main:swept expires", "work:gone", "work:swept expires"}
	leftRoutes = []string{"agent:work:2", "agent:work:3"}
)

func (p profile) requireFenced(t *testing.T) {
	t.Helper()
	assert.Equal(t, workFences, p.fences())
	assert.Equal(t, leftRoutes, p.routes())
	p.base.RequireSound()
	p.owner.RequireSound()
}

func (p profile) requireUntouched(t *testing.T) {
	t.Helper()
	assert.Len(t, p.intents(), 1)
	assert.Empty(t, p.fences())
	assert.Len(t, p.routes(), 4)
}

// TestRoutesWhileTheBaseIsBusy: the delete is answered at once; the fence follows when the base home lets us.
func TestRoutesWhileTheBaseIsBusy(t *testing.T) {
	p := newProfile(t, "work")
	holder := sidecartest.HoldWriteLock(t, p.base.Store(), 0)
	process := p.start(t, sidecartest.Plain)
	for range 3 {
		require.True(t, process.Delete(p.owner, "another").OK, "it is answered while the lock is held")
	}
	p.requireUntouched(t)
	holder.Release()
	p.settled(t)
	p.requireFenced(t)
	require.Eventually(t, func() bool { return strings.Contains(process.Stderr(), "are fenced") }, time.Minute, time.Millisecond)
	assert.Equal(t, 1, strings.Count(process.Stderr(), "will be fenced later"), "one goroutine for the home")
}

// leavesAnIntent lets the delete of V leave an intent in its own transaction, as the canonical path does.
const leavesAnIntent = `
DELETE FROM state_meta WHERE key GLOB 'sidecar.*';
INSERT INTO sessions (id, source, started_at) VALUES ('V', 'cli', 1);
CREATE TRIGGER canonical AFTER DELETE ON sessions BEGIN
 INSERT INTO state_meta VALUES ('sidecar.route_intent.v1.v', '{"session_ids":["gone","swept"]}');
END;`

// TestRoutesHoldNoLock: while a delete fences the base home, another one in its home may go on.
func TestRoutesHoldNoLock(t *testing.T) {
	p := newProfile(t, "work")
	p.owner.Exec(leavesAnIntent)
	held := t.TempDir()
	process := p.start(t, sidecartest.FaultPoints, "SIDECAR_FAULT_WAIT=routes_fenced", "SIDECAR_FAULT_DIR="+held)
	process.Request(1, "state_db.delete_cli_session", map[string]any{"profile_home": p.owner.Path, "session_id": "V"})
	waitFor(t, filepath.Join(held, "routes_fenced.reached"))
	p.requireFenced(t)
	assert.Len(t, p.intents(), 1)
	assert.Empty(t, p.owner.Query("SELECT id FROM sessions"))

	other := sidecartest.Start(t, sidecartest.Plain)
	other.Handshake()
	require.True(t, other.Delete(p.owner, "another").OK)
	require.NoError(t, os.WriteFile(filepath.Join(held, "routes_fenced.go"), nil, 0o600))
	reply := process.Reply()
	assert.Contains(t, string(reply.Result), `"ok":true`)
	p.settled(t)
}

// TestRoutesBeforeTheFirstDelete: what earlier deletes left is done before this one gets the home's locks (contract 6.5).
func TestRoutesBeforeTheFirstDelete(t *testing.T) {
	p := newProfile(t, "work")
	holder := sidecartest.HoldFileLock(t, filepath.Join(p.owner.Path, ".session_cleanup.lock"))
	process := p.start(t, sidecartest.Plain)
	process.Request(1, "state_db.delete_cli_session", map[string]any{"profile_home": p.owner.Path, "session_id": "another"})
	p.settled(t)
	p.requireFenced(t)
	_, answered := process.TryLine(0)
	require.False(t, answered)
	holder.Release()
	reply := process.Reply()
	assert.Contains(t, string(reply.Result), `"ok":true`)
}

// TestRoutesOfManyDeletes: a bulk delete settles its routes once, at its end.
func TestRoutesOfManyDeletes(t *testing.T) {
	p := newProfile(t, "work")
	p.owner.Exec(strings.ReplaceAll(leavesAnIntent, "'sidecar.route_intent.v1.v'", "'sidecar.route_intent.v1.' || old.id"),
		"INSERT INTO sessions (id, source, started_at) VALUES ('W', 'cli', 1), ('X', 'cli', 1)")
	process := p.start(t, sidecartest.FaultPoints, "SIDECAR_FAULT_KILL=routes_fenced")
	process.Request(1, "state_db.delete_sessions", map[string]any{"profile_home": p.owner.Path, "session_ids": []string{"V", "W", "X"}})
	require.Equal(t, -1, process.Wait(), process.Stderr())
	assert.Empty(t, p.owner.Query("SELECT id FROM sessions"))
	assert.Len(t, p.intents(), 3)
	p.requireFenced(t)
}

// TestRoutesOfAnEndedProcess: a process that ends in order, or is killed, leaves the intent for the next one.
func TestRoutesOfAnEndedProcess(t *testing.T) {
	for name, end := range map[string]func(*sidecartest.Process){
		"in order": func(process *sidecartest.Process) {
			process.CloseStdin()
			require.Zero(t, process.Wait())
		},
		"killed": func(process *sidecartest.Process) {
			process.Kill()
			process.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProfile(t, "work")
			holder := sidecartest.HoldWriteLock(t, p.base.Store(), 0)
			process := p.start(t, sidecartest.Plain)
			require.True(t, process.Delete(p.owner, "another").OK)
			end(process)
			p.requireUntouched(t)
			holder.Release()
			p.requireUntouched(t)

			next := p.start(t, sidecartest.Plain)
			require.True(t, next.Delete(p.owner, "another").OK)
			p.settled(t)
			p.requireFenced(t)
		})
	}
}

// TestRoutesCrashAtEveryPoint kills the process between the two stores: the next one does it again, with the same end.
func TestRoutesCrashAtEveryPoint(t *testing.T) {
	for _, point := range faultpoint.OfRoutes() {
		t.Run(string(point), func(t *testing.T) {
			p := newProfile(t, "work")
			process := p.start(t, sidecartest.FaultPoints, "SIDECAR_FAULT_KILL="+string(point))
			process.Request(1, "state_db.delete_cli_session", map[string]any{"profile_home": p.owner.Path, "session_id": "another"})
			require.Equal(t, -1, process.Wait(), process.Stderr())
			assert.Len(t, p.intents(), 1)
			p.requireFenced(t)
			kept := p.base.Query("SELECT key, value FROM state_meta WHERE key LIKE '%gone'")

			next := p.start(t, sidecartest.Plain)
			require.True(t, next.Delete(p.owner, "another").OK)
			p.settled(t)
			p.requireFenced(t)
			assert.Equal(t, kept, p.base.Query("SELECT key, value FROM state_meta WHERE key LIKE '%gone'"))
		})
	}
}

// inProcess makes one call of this very process in a profile.
func inProcess(t *testing.T, p profile, baseHome string) (log string) {
	t.Helper()
	var text strings.Builder
	d := deletion.New(sidecartest.Log(t, &text))
	for range 2 {
		_, err := d.Delete(t.Context(), deletion.Provenance{}, deletion.Request{ProfileHome: p.owner.Path, SessionID: "another", BaseHome: baseHome})
		require.NoError(t, err)
	}
	d.Close()
	return text.String()
}

// TestCloseEndsThePursuit: nothing goes on once the deleter is closed.
func TestCloseEndsThePursuit(t *testing.T) {
	p := newProfile(t, "work")
	sidecartest.HoldWriteLock(t, p.base.Store(), 0)
	before := goleak.IgnoreCurrent()
	assert.Contains(t, inProcess(t, p, p.base.Path), "will be fenced later")
	goleak.VerifyNone(t, before)
	p.requireUntouched(t)
}

// TestWhereRoutesAreFenced changes what surrounds an intent.
func TestWhereRoutesAreFenced(t *testing.T) {
	odd := `INSERT INTO state_meta VALUES ('sidecar.route_intent.v1.odd', '{"session_ids":["gone"],"namespace":"other","base_home":"/"}')`
	for name, test := range map[string]struct {
		folder  string
		change  func(*testing.T, profile) (baseHome string)
		fences  []string
		intents int
		log     string
	}{
		"a profile": {folder: "work", fences: workFences},
		"a profile named main": {
			folder: "main", fences: []string{"main:gone", "main:swept expires", "main~:gone", "main~:swept expires"},
		},
		"a folder that is no namespace": {folder: "a:b", fences: []string{"main:gone", "main:swept expires"}},
		"a session of the base home": {
			folder: "work", fences: []string{"main:swept expires", "work:gone", "work:swept expires"},
			change: func(_ *testing.T, p profile) string {
				p.base.Exec("INSERT INTO sessions (id, source, started_at) VALUES ('gone', 'cli', 1)")
				return p.base.Path
			},
		},
		"no base home": {folder: "work", intents: 1, change: func(*testing.T, profile) string { return "" }},
		"the base home itself": {
			folder: "work", intents: 1,
			change: func(t *testing.T, p profile) string {
				link := filepath.Join(t.TempDir(), "link")
				require.NoError(t, os.Symlink(p.owner.Path, link))
				return link
			},
		},
		"a base home that is not there": {
			folder: "work", change: func(_ *testing.T, p profile) string { return p.base.Path + "-not" },
		},
		"a base home without a store": {folder: "work", change: func(t *testing.T, p profile) string { return t.TempDir() }},
		"a base home without routes": {
			folder: "work", change: func(t *testing.T, p profile) string {
				other := sidecartest.NewHome(t)
				other.Create(fixtures.LegacySchema, "DROP TABLE gateway_routing")
				return other.Path
			},
		},
		"a base home whose store is damaged": {
			folder: "work", intents: 1, log: "will be fenced later",
			change: func(t *testing.T, p profile) string {
				other := sidecartest.NewHome(t)
				other.Write("state.db", strings.Repeat("no database ", 1000))
				return other.Path
			},
		},
		"no tombstones any more": {
			folder: "work", fences: []string{},
			change: func(_ *testing.T, p profile) string {
				p.owner.Exec("DELETE FROM state_meta WHERE key GLOB 'gateway.*'")
				return p.base.Path
			},
		},
		"an intent that cannot be read": {
			folder: "work", intents: 2, fences: workFences, log: "cannot be read",
			change: func(_ *testing.T, p profile) string {
				p.owner.Exec(`INSERT INTO state_meta VALUES ('sidecar.route_intent.v1.0', '{"session_ids":"gone"}'), ('sidecar.route_intent.v1.z', '[]')`)
				return p.base.Path
			},
		},
		"an intent that asks for more": {
			folder: "work", fences: workFences,
			change: func(_ *testing.T, p profile) string {
				p.owner.Exec(odd)
				return p.base.Path
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProfile(t, test.folder)
			baseHome := p.base.Path
			if test.change != nil {
				baseHome = test.change(t, p)
			}
			log := inProcess(t, p, baseHome)
			for range 5 { // a slow machine may have cut the first one off
				if len(p.intents()) > test.intents {
					log += inProcess(t, p, baseHome)
				}
			}
			assert.Len(t, p.intents(), test.intents)
			if test.fences != nil {
				assert.Equal(t, test.fences, p.fences())
			} else {
				assert.Empty(t, p.fences())
				assert.Len(t, p.routes(), 4)
			}
			assert.Contains(t, log, test.log)
			if test.log == "" {
				assert.NotContains(t, log, "level=WARN")
			}
		})
	}
}

// TestManyIntents settles more ids than go into one transaction.
func TestManyIntents(t *testing.T) {
	p := newProfile(t, "work")
	p.owner.Exec(`WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
		INSERT INTO state_meta SELECT 'gateway.retired_session.v1.s' || i, '{"own":true}' FROM n`,
		`WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
		INSERT INTO state_meta SELECT 'sidecar.route_intent.v1.' || i, json_object('session_ids', json_array('s' || i)) FROM n`)
	d := deletion.New(sidecartest.Log(t))
	t.Cleanup(d.Close)
	_, err := d.Delete(t.Context(), deletion.Provenance{}, deletion.Request{ProfileHome: p.owner.Path, SessionID: "another", BaseHome: p.base.Path})
	require.NoError(t, err)
	p.settled(t)
	assert.Len(t, p.fences(), 2*5002)
}
