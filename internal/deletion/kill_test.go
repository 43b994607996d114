package deletion_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// kills is how often TestKilledAtAnyTime kills.
const kills = 30

// TestKilledAtAnyTime kills the real process at random instants of a bulk delete in a profile's home, while an Agent writes:
// never is a conversation half deleted, never is one gone whose routes nobody will fence, never is a message of the Agent
// lost, and the next start finishes the files and the fence. Unlike the named points of TestCrashAtEveryPoint, an instant may
// lie within a statement, a write or a sync.
func TestKilledAtAnyTime(t *testing.T) {
	t.Parallel()
	profile := profile{sidecartest.NewHomeAt(t, filepath.Join(t.TempDir(), "work")), sidecartest.NewHome(t)}
	home := profile.owner
	home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('LIVE', 'cli', 1)`)
	home.Artifacts("LIVE")
	profile.base.Create(fixtures.RuntimeSchema)
	agent := sidecartest.StartAgent(t, home.Store(), "LIVE", 20*time.Millisecond)

	// The one that is not killed tells how long it takes.
	all, took := killed(t, profile, 0, nil)
	cut := 0
	for n := range kills {
		after := time.Duration(rand.Int64N(int64(took)))
		conversations, _ := killed(t, profile, n+1, &after)
		home.RequireSound()
		require.Empty(t, home.Query(`SELECT session_id FROM messages WHERE session_id <> 'LIVE' GROUP BY 1 HAVING count(*) <> 8`))
		var fates []fate
		for _, ids := range conversations {
			f := fateOf(t, home, true, ids...)
			require.False(t, f == retired && slices.Contains(fates, stands), "a later one is gone before an earlier one")
			fates = append(fates, f)
			requireFilesFit(t, home, f, ids...)
			requireRoutesFit(t, profile, f, ids...)
			requireReceiptFits(t, home, true, f, ids...)
		}
		if slices.Contains(fates, stands) {
			cut++
		}
		all = append(all, conversations...)
	}
	work := agent.Stop()
	require.Empty(t, work.Errors)
	require.Len(t, home.Query("SELECT id FROM messages WHERE session_id = 'LIVE'"), work.Messages, "what the Agent wrote is there")
	t.Logf("%d of %d kills cut a bulk off; %d messages beside", cut, kills, work.Messages)
	requireRestDeletes(t, profile, all)
}

// killed makes three conversations, deletes all of them in one call, and kills the process after a while, if one is given. It
// tells how long the process was at it.
func killed(t *testing.T, profile profile, n int, after *time.Duration) (conversations [][]string, took time.Duration) {
	t.Helper()
	home := profile.owner
	var asked []string
	for i := range 3 {
		ids := []string{fmt.Sprintf("P%d-%d", n, i), fmt.Sprintf("D%d-%d", n, i)}
		conversations, asked = append(conversations, ids), append(asked, ids[0])
	}
	makeConversations(t, home, slices.Concat(conversations...))
	p := profile.start(t, sidecartest.Plain)
	begun := time.Now()
	p.Request(1, "state_db.delete_sessions", map[string]any{"profile_home": home.Path, "session_ids": asked})
	if after != nil {
		time.Sleep(*after) // nothing is expected of the instant
	} else {
		for p.Reply().Result == nil {
		}
		took = time.Since(begun)
	}
	p.Kill()
	p.Wait()
	return conversations, took
}

// requireRoutesFit checks that the routes to what is gone are fenced in the base home, or will be; and no others.
func requireRoutesFit(t *testing.T, profile profile, f fate, ids ...string) {
	t.Helper()
	fences := strings.Join(profile.fences(), "\n") + "\n"
	intents := strings.Join(profile.owner.Query("SELECT value FROM state_meta WHERE key GLOB 'sidecar.route_intent.v1.*'"), "\n")
	for _, id := range ids {
		fenced := strings.Contains(fences, "work:"+id+"\n") && strings.Contains(fences, "main:"+id+"\n")
		if f == retired {
			require.True(t, fenced || strings.Contains(intents, `"`+id+`"`), "%s is gone, and nobody will fence its routes", id)
		} else {
			require.NotContains(t, fences+intents, id, "its routes are in use")
		}
	}
}

// requireRestDeletes lets the next process delete what still stands, and finds every file gone but LIVE's, and every fence.
func requireRestDeletes(t *testing.T, profile profile, conversations [][]string) {
	t.Helper()
	home := profile.owner
	p := profile.start(t, sidecartest.Plain)
	for _, ids := range conversations {
		if fateOf(t, home, true, ids...) == stands {
			result := p.Delete(home, ids[0])
			require.True(t, result.OK, result.Detail)
		}
	}
	require.True(t, p.Delete(home, "unrelated").OK)
	profile.settled(t)
	requireRoutesFit(t, profile, retired, slices.Concat(conversations...)...)
	require.Equal(t, retired, fateOf(t, home, true, slices.Concat(conversations...)...))
	require.Empty(t, home.Manifests())
	require.Empty(t, artifactsOf(home, slices.Concat(conversations...)...))
	requireArtifacts(t, home, "LIVE")
	home.RequireSound()
}

// makeConversations makes sessions in pairs: one, and its delegate, with all that the runtime keeps of them.
func makeConversations(t *testing.T, home *sidecartest.Home, ids []string) {
	t.Helper()
	var rows []string
	for i, id := range ids {
		config := "NULL"
		if i%2 == 1 {
			config = `'{"_delegate_from": "` + ids[i-1] + `"}'`
		}
		rows = append(rows, fmt.Sprintf("('%s', 'cli', %s, 1)", id, config))
	}
	these := "(SELECT * FROM sessions WHERE id IN ('" + strings.Join(ids, "','") + "'))"
	home.Exec(`INSERT INTO sessions (id, source, model_config, started_at) VALUES `+strings.Join(rows, ","),
		`INSERT INTO messages (session_id, role, content, timestamp) SELECT s.id, 'user', 'zarquon of ' || s.id || ' ' || n.value, 1
			FROM `+these+` s, json_each('[1,2,3,4,5,6,7,8]') n`,
		strings.ReplaceAll(history, "FROM sessions", "FROM "+these))
	home.Artifacts(ids...)
}
