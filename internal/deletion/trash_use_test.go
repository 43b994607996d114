package deletion_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
	"session-sidecar/internal/trash"
	"session-sidecar/locks"
)

// putEntry makes an entry of X, as one of an earlier year, that is kept until some second.
func putEntry(t *testing.T, home *sidecartest.Home, operation string, until int) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(home.Path, trash.FolderName), 0o700))
	file, err := os.Create(trash.Path(home.Path, operation))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	out := gzip.NewWriter(file)
	_, err = fmt.Fprintf(out, `{"format":1,"operation_id":"%s","deleted_at":1,"keep_until":%d,"deleted_ids":["X"],"title":"","message_count":0}
{"table":"sessions","row":{"id":"X","source":"cli","started_at":1.0}}
{"lines":2}
`, operation, until)
	require.NoError(t, err)
	require.NoError(t, out.Close())
}

const (
	past   = 2
	future = 4102444800
)

// listing asks what can be restored, and what cannot be read.
func listing(t *testing.T, p *sidecartest.Process, home *sidecartest.Home) (entries, unreadable []string) {
	t.Helper()
	p.Request("list", "trash.list", map[string]any{"profile_home": home.Path})
	reply := p.Reply()
	require.Nil(t, reply.Error, p.Stderr())
	var result struct {
		Entries []struct {
			OperationID string `json:"operation_id"`
		}
		Unreadable []string
	}
	require.NoError(t, json.Unmarshal(reply.Result, &result))
	for _, e := range result.Entries {
		entries = append(entries, e.OperationID)
	}
	return entries, result.Unreadable
}

// TestAListIsAUseOfTheHome: what is due goes, where nobody is at work there; nobody is waited for.
func TestAListIsAUseOfTheHome(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	entries, _ := listing(t, p, home)
	require.Empty(t, entries)
	assert.NoFileExists(t, filepath.Join(home.Path, locks.FileName), "there is nothing to be kept in order")

	old, new := strings.Repeat("0", 32), strings.Repeat("1", 32)
	putEntry(t, home, old, past)
	putEntry(t, home, new, future)
	home.Write("trash/"+old+".ndjson.gz.01234567.tmp", "half")
	var others locks.Homes
	unlock, err := others.Lock(t.Context(), home.Path)
	require.NoError(t, err)
	entries, _ = listing(t, p, home)
	unlock()
	assert.Equal(t, []string{new}, entries)
	assert.Len(t, trashFiles(t, home), 3, "somebody was at work there")
	entries, _ = listing(t, p, home)
	assert.Equal(t, []string{new}, entries)
	assert.Equal(t, []string{trash.Name(new)}, trashFiles(t, home))
}

// TestAnEntryInABackupOfLinks is as good as any other: it comes back, and goes when its time is over.
func TestAnEntryInABackupOfLinks(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, keptSession)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	require.True(t, p.Delete(home, "P", map[string]any{"keep_days": 30}).OK)
	putEntry(t, home, strings.Repeat("0", 32), past)
	require.NoError(t, os.Mkdir(filepath.Join(home.Path, "backup"), 0o700))
	for _, name := range trashFiles(t, home) {
		require.NoError(t, os.Link(filepath.Join(home.Path, "trash", name), filepath.Join(home.Path, "backup", name)))
	}
	_, why := restored(t, p, home, entriesOf(t, p, home)["P"])
	require.Empty(t, why)
	assert.Empty(t, trashFiles(t, home))
	left, err := os.ReadDir(filepath.Join(home.Path, "backup"))
	require.NoError(t, err)
	assert.Len(t, left, 2)
}

// TestTheEstimateOfWhatIsKept is of the order of what is kept, whatever of a conversation is large.
func TestTheEstimateOfWhatIsKept(t *testing.T) {
	const many = `WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)`
	const large = `(` + many + ` SELECT group_concat(hex(randomblob(40)) || ' some words that are said again and again') FROM n)`
	for name, more := range map[string]string{
		"nothing":          ``,
		"a message":        `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('P', 'user', 'zarquon', 1)`,
		"many messages":    many + ` INSERT INTO messages (session_id, role, content, timestamp) SELECT 'P', 'user', 'words and ' || hex(randomblob(30)), i FROM n`,
		"a large session":  `UPDATE sessions SET system_prompt = ` + large,
		"a large prompt":   `INSERT INTO system_prompts VALUES ('h', ` + large + `); UPDATE sessions SET system_prompt_hash = 'h'`,
		"a large argument": `INSERT INTO messages (session_id, role, tool_calls, timestamp) VALUES ('P', 'tool', ` + large + `, 1)`,
		"some models":      many + ` INSERT INTO session_model_usage (session_id, model) SELECT 'P', 'model ' || i FROM n WHERE i < 9`,
	} {
		home := sidecartest.NewHome(t)
		home.Create(fixtures.LegacySchema, `INSERT INTO sessions (id, source, started_at) VALUES ('P', 'cli', 1)`, more)
		p := sidecartest.Start(t, sidecartest.Plain)
		p.Handshake()
		p.Request("preview", "state_db.preview_delete", map[string]any{"profile_home": home.Path, "session_id": "P", "keep_days": 1})
		var preview struct{ Trash struct{ Bytes int64 } }
		require.NoError(t, json.Unmarshal(p.Reply().Result, &preview))
		require.True(t, p.Delete(home, "P", map[string]any{"keep_days": 1}).OK)
		info, err := os.Stat(filepath.Join(home.Path, "trash", trashFiles(t, home)[0]))
		require.NoError(t, err)
		t.Logf("%s: %d of %d bytes", name, preview.Trash.Bytes, info.Size())
		assert.Less(t, preview.Trash.Bytes, 5*info.Size(), name)
		assert.Greater(t, preview.Trash.Bytes, info.Size()/5, name)
	}
}
