package deletion_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// memoryLimit is what the process may have.
const memoryLimit = 32 << 20

// memoryGroup starts a process in a control group of its own that has no more, where this machine lets the test make one. Where
// it does not, as in most containers, the test looks at what the process has had.
func memoryGroup(t *testing.T) sidecartest.Option {
	t.Helper()
	var files unix.Statfs_t
	require.NoError(t, unix.Statfs(t.TempDir(), &files))
	if files.Type == unix.TMPFS_MAGIC {
		t.Log("not held to it: what is written to tmpfs is memory of the group")
		return func(*exec.Cmd) {}
	}
	for _, group := range []struct{ of, limit string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"},
	} {
		if _, err := os.Stat(filepath.Join(group.of, "cgroup.procs")); err != nil {
			continue
		}
		path := filepath.Join(group.of, fmt.Sprintf("sidecar-test-%d", os.Getpid()))
		if os.Mkdir(path, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { assert.NoError(t, os.Remove(path)) })
		limit, err := os.OpenFile(filepath.Join(path, group.limit), os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		_, err = fmt.Fprint(limit, memoryLimit)
		if err = errors.Join(err, limit.Close()); err == nil {
			return sidecartest.Shell(fmt.Sprintf(`echo $$ >'%s/cgroup.procs' && exec "$0"`, path))
		}
	}
	t.Log("not held to it: no control group can be made here")
	return func(*exec.Cmd) {}
}

// TestAStoreTenTimesTheMemory looks at one conversation of 340 MB, exports it, deletes it and gives its space back.
func TestAStoreTenTimesTheMemory(t *testing.T) {
	t.Parallel()
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, family, `INSERT INTO messages (session_id, role, content, timestamp)
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3400)
		SELECT 'P', 'tool', 'x' || hex(zeroblob(50000)), i FROM n`, history)
	home.Artifacts("P", "D", "LIVE")
	info, err := os.Stat(home.Store())
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(10*memoryLimit))

	p := sidecartest.Start(t, sidecartest.Release, memoryGroup(t))
	p.Handshake()
	p.Request(1, "state_db.preview_delete", map[string]any{"profile_home": home.Path, "session_id": "P"})
	assert.Contains(t, string(p.Reply().Result), `"message_count":3401`)
	p.Request(2, "state_db.list_conversations", map[string]any{"profile_home": home.Path, "limit": 10, "query": "zarquon"})
	assert.Contains(t, string(p.Reply().Result), `"message_count":3402`)
	assert.Greater(t, exported(t, p, home, "P", filepath.Join(t.TempDir(), "export.json")).Bytes, int64(10*memoryLimit))
	result := p.Delete(home, "P")
	require.True(t, result.OK, result.Detail)
	assert.Equal(t, []string{"P", "D"}, result.DeletedIDs)
	compacted, _ := compact(t, p, home)
	assert.Less(t, compacted.BytesAfter, int64(1<<20))
	after := peak(t, p)
	t.Logf("resident at most: %d MB", after>>20)
	assert.Less(t, after, int64(memoryLimit))
	p.CloseStdin()
	require.Zero(t, p.Wait(), p.Stderr())
	assert.Equal(t, retired, fateOf(t, home, true, "P", "D"))
	assert.Empty(t, artifactsOf(home, "P", "D"))
	requireArtifacts(t, home, "LIVE")
	home.RequireSound()
}
