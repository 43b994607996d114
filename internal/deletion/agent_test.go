package deletion_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// besideAgentFor lets TestBesideARunningAgent go on for so long; without it, for a number of deletes.
var besideAgentFor = flag.Duration("beside-agent", 0, "how long to delete beside a running Agent")

// deletesBesideAgent is how many deletes of other sessions there are beside a running Agent, unless a time is given.
const deletesBesideAgent = 100

// TestBesideARunningAgent deletes while another process holds the store open, appends to X and renews its lease on X ten times
// a second: X is refused, naming who holds it, everything else goes; once the Agent has stopped, or was killed, X goes too. Neither
// side ever meets a locked store, and nothing that the Agent wrote is lost.
func TestBesideARunningAgent(t *testing.T) {
	for _, store := range []struct{ name, schema string }{{"legacy", fixtures.LegacySchema}, {"canonical", fixtures.RuntimeSchema}} {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,killed=%v", store.name, killed), func(t *testing.T) {
				t.Parallel()
				besideAgent(t, store.schema, store.name, killed)
			})
		}
	}
}

func besideAgent(t *testing.T, schema, path string, killed bool) {
	home := sidecartest.NewHome(t)
	home.Create(schema, `INSERT INTO sessions (id, source, started_at) VALUES ('X', 'cli', 1)`)
	home.Artifacts("X")
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	agent := sidecartest.StartAgent(t, home.Store(), "X", 100*time.Millisecond)
	messages := func() int { return len(home.Query("SELECT id FROM messages WHERE session_id = 'X'")) }
	deletes := 0
	for begun := time.Now(); deletes < deletesBesideAgent || messages() == 0 || time.Since(begun) < *besideAgentFor; deletes++ {
		refused := p.Delete(home, "X")
		require.Equal(t, "active_turn", refused.Refused, refused.Detail)
		require.Equal(t, path, refused.Path)
		require.Equal(t, "turn_lease", refused.Guard.Kind)
		require.Equal(t, agent.Holder, refused.Guard.Holder)
		require.Greater(t, refused.Guard.ExpiresAt, float64(begun.Unix()))
		deleteAnother(t, p, home, fmt.Sprint("Y", deletes))
	}
	if killed {
		agent.Kill()
	} else {
		work := agent.Stop()
		require.Empty(t, work.Errors)
		require.NotZero(t, work.Renewals)
		require.Equal(t, work.Messages, messages(), "what the Agent wrote is there")
	}
	t.Logf("%d deletes beside %d messages of the Agent", deletes, messages())
	require.Len(t, home.Query("SELECT * FROM sessions"), 1)
	require.Len(t, artifactsOf(home, "X"), 4)
	result := p.Delete(home, "X")
	require.True(t, result.OK, result.Detail)
	require.Empty(t, home.Query("SELECT session_id FROM messages UNION ALL SELECT conversation_id FROM session_turn_leases"))
	require.Empty(t, artifactsOf(home, "X"))
	home.RequireSound()
}

// deleteAnother makes a session with messages, as the Agent would, and deletes it.
func deleteAnother(t *testing.T, p *sidecartest.Process, home *sidecartest.Home, id string) {
	t.Helper()
	home.Exec(fmt.Sprintf(`INSERT INTO sessions (id, source, started_at) VALUES ('%s', 'cli', 1)`, id),
		fmt.Sprintf(`INSERT INTO messages (session_id, role, content, timestamp) SELECT '%s', 'user', 'zarquon', 1 FROM json_each('[1,2,3]')`, id))
	home.Artifacts(id)
	result := p.Delete(home, id)
	require.True(t, result.OK, "%s: %s %s", id, result.Reason, result.Detail)
	require.True(t, *result.Existed)
}
