package deletion_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// TestExportIsStreamed writes out a conversation of 50 MB with a release build, whose memory must not show it.
func TestExportIsStreamed(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, family, `INSERT INTO messages (session_id, role, content, timestamp)
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
		SELECT 'P', 'tool', 'x' || hex(zeroblob(10000)), i FROM n`)
	p := sidecartest.Start(t, sidecartest.Release)
	p.Handshake()
	exported(t, p, home, "LIVE", filepath.Join(t.TempDir(), "small.json"))
	before := peak(t, p)
	result := exported(t, p, home, "P", filepath.Join(t.TempDir(), "export.json"))
	require.Greater(t, result.Bytes, int64(50_000_000))
	after := peak(t, p)
	t.Logf("resident at most: %d MB before, %d MB after", before>>20, after>>20)
	assert.Less(t, after-before, int64(16<<20))
	assert.Less(t, after, int64(48<<20))
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak is the most memory that the process ever had, in bytes.
func peak(t *testing.T, p *sidecartest.Process) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	require.NoError(t, err)
	m := highWater.FindSubmatch(status)
	require.NotNil(t, m)
	kilobytes, err := strconv.ParseInt(string(m[1]), 10, 64)
	require.NoError(t, err)
	return kilobytes << 10
}
