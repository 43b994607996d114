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
	requireStreamed(t, home)
}

// TestExportOfALedgerIsStreamed does so with 50 MB of requests, stored results and receipts of workers.
func TestExportOfALedgerIsStreamed(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('P', 'cli', 1), ('LIVE', 'cli', 1);
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 900)
		INSERT INTO session_admissions (admission_id, request_id, principal_id, target_session_id, lineage_json, payload_json,
		payload_digest, intent, status, owner_epoch)
		SELECT 'a' || i, i, 'u', 'P', '[]', '{"text":"' || hex(zeroblob(10000)) || '"}', '', '', 'terminal', 1 FROM n;
		INSERT INTO state_meta SELECT 'gateway.admission.result.v1.' || admission_id, payload_json FROM session_admissions;
		INSERT INTO worker_executions VALUES ('w', 'P', 1, 1, 'k', '', 'terminal');
		INSERT INTO worker_receipts SELECT 'w', seq, '', payload_json FROM session_admissions`)
	requireStreamed(t, home)
}

// requireStreamed exports P, which is over 50 MB, and then shows that memory did not grow with it.
func requireStreamed(t *testing.T, home *sidecartest.Home) {
	t.Helper()
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
