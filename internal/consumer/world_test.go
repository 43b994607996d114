package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// consumerVariable makes the test binary a consumer.
const consumerVariable = "BE_A_CONSUMER"

func TestMain(m *testing.M) {
	if os.Getenv(consumerVariable) != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // which ends with the test, however that does
			os.Exit(exitFailure)
		}()
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	sidecartest.Main(m)
}

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// process is a running consumer.
type process struct {
	t           testing.TB
	cmd         *exec.Cmd
	out, errOut output
}

// output is what a process has written by now.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func start(t testing.TB, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p := &process{t: t, cmd: exec.Command(self, args...)}
	p.cmd.Env = append(os.Environ(), consumerVariable+"=1")
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errOut
	p.cmd.WaitDelay = patience
	_, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	})
	return p
}

// wait gives the exit status once the consumer has ended, and its sidecar: that writes to the same standard error, whose end comes
// when nobody has it open any more.
func (p *process) wait() int {
	p.t.Helper()
	err := p.cmd.Wait()
	require.NotErrorIs(p.t, err, exec.ErrWaitDelay, "the consumer has ended and its sidecar has not: %s", &p.errOut)
	if _, is := errors.AsType[*exec.ExitError](err); !is {
		require.NoError(p.t, err)
	}
	sidecartest.RequireSilent(p.t, p.errOut.String())
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(s))
}

// world is some homes and one ledger.
type world struct {
	t      *testing.T
	ledger string
	homes  []*sidecartest.Home
}

// newWorld makes a home for each schema, all with the same sessions s0, s1, … that are reached in another way in each.
func newWorld(t *testing.T, sessions int, schemas ...string) *world {
	t.Helper()
	w := &world{t: t, ledger: filepath.Join(t.TempDir(), "ledger.db")}
	for n, schema := range schemas {
		home := sidecartest.NewHome(t)
		home.Create(schema, fmt.Sprintf(`INSERT INTO sessions (id, source, chat_id, started_at)
			WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d)
			SELECT 's' || i, 'telegram', 'chat of s' || i || ' in home %d', 1 FROM n`, sessions, n))
		w.homes = append(w.homes, home)
	}
	return w
}

// args are those that stage from some homes.
func (w *world) args(homes []*sidecartest.Home, more ...string) []string {
	args := []string{"-ledger", w.ledger, "-sidecar", sidecartest.Binary(w.t, sidecartest.Plain)}
	for _, home := range homes {
		args = append(args, "-home", home.Path)
	}
	return append(args, more...)
}

// consume lets a consumer look at all homes once, and gives its exit status and what it said.
func (w *world) consume(more ...string) (status int, said string) {
	w.t.Helper()
	return w.run(w.args(w.homes, more...)...)
}

func (w *world) run(args ...string) (status int, said string) {
	w.t.Helper()
	p := start(w.t, args...)
	status = p.wait()
	return status, p.out.String()
}

// requireConsumed lets a consumer stage all there is.
func (w *world) requireConsumed() {
	w.t.Helper()
	status, said := w.consume()
	require.Zero(w.t, status, said)
}

// delete deletes sessions of a home, over a sidecar that has ended afterwards.
func (w *world) delete(home *sidecartest.Home, ids ...string) {
	w.t.Helper()
	p := sidecartest.Start(w.t, sidecartest.Plain)
	p.Handshake()
	for _, id := range ids {
		result := p.Delete(home, id)
		require.True(w.t, result.OK && *result.Existed, "%s: %s", id, result.Detail)
	}
	p.CloseStdin()
	require.Zero(w.t, p.Wait())
}

// forget forgets a home's receipts up to a sequence.
func (w *world) forget(home *sidecartest.Home, through int64) {
	w.t.Helper()
	p := sidecartest.Start(w.t, sidecartest.Plain)
	p.Handshake()
	p.Request(1, "receipts.forget", map[string]any{"profile_home": home.Path, "through_sequence": through})
	reply := p.Reply()
	require.Nil(w.t, reply.Error)
	p.CloseStdin()
	require.Zero(w.t, p.Wait())
}

// copyStore copies a home's store to a file, as an administrator would.
func copyStore(t *testing.T, home *sidecartest.Home) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "copy.db")
	home.Query("VACUUM INTO ?", path)
	return path
}

// putBack replaces a home's store, while nobody has it open.
func putBack(t *testing.T, home *sidecartest.Home, from string) {
	t.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(home.Store() + suffix); !errors.Is(err, os.ErrNotExist) {
			require.NoError(t, err)
		}
	}
	require.NoError(t, os.Rename(from, home.Store()))
}

// pending is the work that the consumer lists, in its order.
func (w *world) pending() (pending []work) {
	w.t.Helper()
	status, lines := w.run("-ledger", w.ledger, "-work")
	require.Zero(w.t, status)
	for line := range strings.Lines(lines) {
		var next work
		require.NoError(w.t, json.Unmarshal([]byte(line), &next))
		pending = append(pending, next)
	}
	return pending
}

// sequences are those of a home's pending work, in the order of the ledger.
func (w *world) sequences(home *sidecartest.Home) []int64 {
	w.t.Helper()
	sequences := []int64{}
	for _, p := range w.pending() {
		if p.Store == home.Store() {
			sequences = append(sequences, p.Sequence)
		}
	}
	return sequences
}

// requireStaged checks that what is pending of each home is, in order and to the byte, what its store has, and that it is of that
// home; and that no session is there of which a receipt says that it is gone. It gives the ids of each home.
func (w *world) requireStaged() (ids [][]string) {
	w.t.Helper()
	pending := w.pending()
	staged := 0
	for n, home := range w.homes {
		var there, ours, gone []string
		there = home.Query("SELECT sequence || ' ' || operation_id || ' ' || deletion_json FROM session_deletion_receipts ORDER BY sequence")
		for _, p := range pending {
			if p.Store != home.Store() {
				continue
			}
			ours = append(ours, fmt.Sprintf("%d %s %s", p.Sequence, p.OperationID, p.Deletion))
			var says struct {
				ProfileHome string `json:"profile_home"`
				Identities  []struct {
					ID     string `json:"id"`
					ChatID string `json:"chat_id"`
				} `json:"identities"`
			}
			require.NoError(w.t, json.Unmarshal(p.Deletion, &says))
			require.Equal(w.t, home.Path, says.ProfileHome)
			require.Len(w.t, says.Identities, 1)
			id := says.Identities[0].ID
			require.Equal(w.t, fmt.Sprintf("chat of %s in home %d", id, n), says.Identities[0].ChatID)
			gone = append(gone, id)
		}
		require.Equal(w.t, there, ours)
		staged += len(ours)
		for _, id := range home.Query("SELECT id FROM sessions") {
			require.NotContains(w.t, gone, id, "it has a receipt and is there")
		}
		ids = append(ids, gone)
	}
	require.Len(w.t, pending, staged, "what is staged is of one of the homes")
	return ids
}

// sortedIDs are the ids of some sessions, sorted.
func sortedIDs(numbers []int) []string {
	ids := make([]string, len(numbers))
	for i, n := range numbers {
		ids[i] = fmt.Sprintf("s%d", n)
	}
	return slices.Sorted(slices.Values(ids))
}

var (
	legacy = fixtures.LegacySchema
	newer  = fixtures.RuntimeSchema
	term   = syscall.SIGTERM
)
