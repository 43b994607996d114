package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

var seed = flag.Uint64("consumer.seed", 0, "what the kills are drawn from; 0 draws anew, but in CI")

// kills is how often TestKilledConsumersStageEachReceiptOnce kills a consumer.
const kills = 50

// TestKilledConsumersStageEachReceiptOnce kills sidecars right after the commit of a delete, of which their hosts never hear, and
// consumers at random instants, while more is deleted beside: in the end each receipt of each store is staged once, in its order,
// none is missing, and none is in the work of another profile. The profiles have the same session ids.
func TestKilledConsumersStageEachReceiptOnce(t *testing.T) {
	t.Parallel()
	draw, killed := newDraw(t), 0
	const sessions = kills * 4
	w := newWorld(t, sessions, legacy, newer)
	rest := [][]int{draw.Perm(sessions), draw.Perm(sessions)} // which still stand, in each home
	gone := make([][]int, len(w.homes))
	next := func(home int) string {
		n := rest[home][0]
		rest[home], gone[home] = rest[home][1:], append(gone[home], n)
		return fmt.Sprintf("s%d", n)
	}
	host := sidecartest.Start(t, sidecartest.Plain)
	host.Handshake()

	// An instant is drawn up to a limit, which goes after how long a consumer needs here to get through one home.
	limit := 100 * time.Millisecond
	for round := range kills {
		for home := range w.homes {
			if round == 0 || draw.IntN(4) == 0 { // both have a receipt when the first consumer comes
				deleteAndDie(t, w.homes[home], next(home))
			}
		}
		asked := 0
		for range draw.IntN(6) {
			home := draw.IntN(len(w.homes))
			host.Request(asked, "state_db.delete_cli_session", map[string]any{"profile_home": w.homes[home].Path, "session_id": next(home)})
			asked++
		}
		args := []string{"-limit", fmt.Sprint(1 + draw.IntN(3))}
		if draw.IntN(2) == 0 {
			args = append(args, "-follow", "-poll", "1ms")
		}
		c := start(t, w.args(w.homes, args...)...)
		time.Sleep(time.Duration(draw.Int64N(int64(limit)))) // nothing is expected of the instant
		c.signal(os.Kill)
		if c.wait() < 0 {
			killed++
		}
		if strings.Contains(c.out.String(), "staged") {
			limit = limit * 9 / 10
		} else {
			limit = limit * 11 / 10
		}
		for range asked {
			reply := host.Reply()
			require.Nil(t, reply.Error)
			require.Contains(t, string(reply.Result), `"receipt"`)
		}
	}
	t.Logf("%d consumers were killed before their end, the last within %s", killed, limit)
	require.Positive(t, killed)

	w.requireConsumed()
	for home, ids := range w.requireStaged() {
		require.Equal(t, sortedIDs(gone[home]), slices.Sorted(slices.Values(ids)), "each delete has its receipt")
		require.Len(t, w.homes[home].Query("SELECT id FROM sessions"), len(rest[home]))
	}
}

// newDraw draws as the seed says, which it prints.
func newDraw(t *testing.T) *rand.Rand {
	t.Helper()
	from := *seed
	if from == 0 && os.Getenv("CI") == "" {
		from = rand.Uint64()
	}
	t.Logf("-consumer.seed=%d", from)
	return rand.New(rand.NewPCG(from, 8))
}

// deleteAndDie deletes a session over a sidecar that is killed when that is committed.
func deleteAndDie(t *testing.T, home *sidecartest.Home, id string) {
	t.Helper()
	p := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env("SIDECAR_FAULT_KILL="+string(faultpoint.AfterCommit)))
	p.Handshake()
	p.Request(1, "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": id})
	require.Equal(t, -1, p.Wait(), "it was not killed: %s", p.Stderr())
	_, answered := p.TryLine(patience)
	require.False(t, answered, "its host has heard of the delete")
}
