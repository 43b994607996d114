package statedb

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func TestMain(m *testing.M) {
	// The race detector makes every process of ours that ends wait for a second.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	sidecartest.Main(m)
}

// newHome makes a home whose connections must all be closed when the test ends.
func newHome(t *testing.T) *sidecartest.Home {
	t.Helper()
	// database/sql keeps a goroutine for each open store. This looks after everything that the test closes later.
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	return sidecartest.NewHome(t)
}

// newStore makes a home with a store from before the runtime ledger.
func newStore(t *testing.T, statements ...string) *sidecartest.Home {
	t.Helper()
	home := newHome(t)
	home.Create(append([]string{fixtures.LegacySchema}, statements...)...)
	return home
}

// connect opens a connection as a delete does.
func connect(t *testing.T, home *sidecartest.Home) *conn {
	t.Helper()
	c, err := open(t.Context(), home.Store(), readWrite)
	require.NoError(t, err)
	t.Cleanup(c.close)
	return c
}

// begin takes a store's write lock, which nobody else holds for long.
func begin(t *testing.T, home *sidecartest.Home) *Tx {
	t.Helper()
	tx, err := Begin(t.Context(), home.Store(), Patience)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

// remove deletes one session without its lineage, as far as the commit.
func remove(t *testing.T, tx *Tx, id string) (*Plan, error) {
	t.Helper()
	plan, err := tx.Plan(t.Context(), Request{SessionID: id})
	if err != nil {
		return nil, err
	}
	if err := tx.Remove(t.Context(), plan); err != nil {
		return nil, err
	}
	return plan, nil
}

// requireFree shows that nobody holds the store's write lock: another process gets it.
func requireFree(t *testing.T, home *sidecartest.Home) {
	t.Helper()
	sidecartest.HoldWriteLock(t, home.Store(), 0).Release()
}

// requireDetail checks an error's sentinel and that its one line names what it speaks of.
func requireDetail(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	var failure *Error
	require.ErrorAs(t, err, &failure)
	for _, word := range words {
		require.Contains(t, failure.Error(), word)
	}
}

// cancelled is a context that has already ended.
func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// soon is a patience that a test can afford to lose.
const soon = 30 * time.Millisecond
