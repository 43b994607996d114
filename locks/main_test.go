package locks

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come; it only ever runs out when something is broken.
const patience = 30 * time.Second

func newHome(t *testing.T) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return path
}

// lockNow takes a home's locks, which nobody else holds.
func lockNow(t *testing.T, h *Homes, home string) (unlock func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	unlock, err := h.Lock(ctx, home)
	require.NoError(t, err)
	return unlock
}

// attempt is a call of Lock in a goroutine of its own.
type attempt struct {
	unlock func()
	err    error
}

func lockLater(ctx context.Context, h *Homes, home string) <-chan attempt {
	done := make(chan attempt, 1)
	go func() {
		unlock, err := h.Lock(ctx, home)
		done <- attempt{unlock, err}
	}()
	return done
}

func (h *Homes) usersOf(home string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if lock := h.threads[home]; lock != nil {
		return lock.users
	}
	return 0
}

func (h *Homes) remembered() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.threads)
}

// requireUsers waits until so many hold the home's thread lock or wait for it.
func requireUsers(t *testing.T, h *Homes, home string, want int) {
	t.Helper()
	require.Eventually(t, func() bool { return h.usersOf(home) == want }, patience, time.Millisecond)
}

// end waits for an attempt to end.
func end(t *testing.T, done <-chan attempt) attempt {
	t.Helper()
	select {
	case a := <-done:
		return a
	case <-time.After(patience):
		require.Fail(t, "the wait for the lock does not end")
		return attempt{}
	}
}

func lockFileOf(t *testing.T, home string) os.FileInfo {
	t.Helper()
	info, err := os.Lstat(filepath.Join(home, FileName))
	require.NoError(t, err)
	return info
}
