package cleanup

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sessionid"
	"session-sidecar/internal/sidecartest"
)

// everything lists every file below a folder, with what it says.
func everything(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		found[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return found
}

// FuzzManifest works through a manifest of any content in a real folder that holds a file of any name, beside a session that
// lives. Nothing outside sessions/ changes; in it, only files of ids that the manifest names and that do not live go; and a
// manifest that is none stays byte for byte.
func FuzzManifest(f *testing.F) {
	for _, text := range unreadable {
		f.Add([]byte(text), "orphan.json", "x")
	}
	for _, name := range []string{
		"x.json", "x.jsonl", "session_x.json", "request_dump_x_y_1.json", "sessions.json", "...json", "keep", "..jsonl", "*.json", "x\n.json",
	} {
		f.Add([]byte(`["x","..","../keep","sessions","/","x/../../keep","*","\u0000","`+strings.Repeat("i", 200)+`"]`), name, "x_y")
		f.Add([]byte(`["x", "\u0078", "x_y", "../outside", "session_x"]`), name, "x")
		f.Add([]byte(`["y"]`), name, "")
	}
	f.Fuzz(func(t *testing.T, text []byte, name, live string) {
		if strings.ContainsAny(name, "/\x00") || name == "." || name == ".." || len(name) > 200 || strings.HasPrefix(name, manifestPrefix) {
			return // no folder holds such a name, or it is another manifest
		}
		root := t.TempDir()
		home := sidecartest.NewHomeAt(t, filepath.Join(root, "home"))
		for _, file := range []string{"keep", "keep.json", "x.json", "state.db", "sessions/sub/x.json", "sessions/keep", "../outside.json", "../keep.json"} {
			home.Write(file, "of somebody else")
		}
		if name != "" && name != "sub" {
			home.Write(filepath.Join(FolderName, name), "a file")
		}
		manifest := put(home, "1", string(text))
		before := everything(t, root)
		report := process(t, home, live)
		after := everything(t, root)

		var ids []string
		isManifest := json.Unmarshal(text, &ids) == nil
		entries, err := parseManifest(text)
		if err != nil {
			require.Equal(t, before, after)
			require.Equal(t, []string{manifest}, report.Unreadable)
			return
		}
		require.True(t, isManifest)
		for path, said := range before {
			now, there := after[path]
			switch {
			case path == "home/sessions/"+manifest: // goes, or says what is pending
			case there:
				require.Equal(t, said, now, path)
			default:
				require.Equal(t, "home/sessions/"+name, path)
				require.True(t, slices.ContainsFunc(ids, func(id string) bool { return id != live && isOf(name, id) }), "%q went for %q", name, ids)
			}
		}
		require.LessOrEqual(t, len(after), len(before), "nothing comes")
		for _, p := range report.Pending {
			require.Contains(t, ids, p.SessionID)
			require.Contains(t, []Cause{CauseSessionLive, CauseUnsafeID, CauseArtifactStuck}, p.Cause)
			require.Equal(t, p.SessionID == live, p.Cause == CauseSessionLive)
		}
		require.NoError(t, report.Failed)
		require.Empty(t, report.Unreadable)
		left, err := os.ReadFile(filepath.Join(home.Path, FolderName, manifest))
		if len(report.Pending) == 0 {
			require.ErrorIs(t, err, fs.ErrNotExist)
			return
		}
		require.NoError(t, err)
		rest, err := parseManifest(left)
		require.NoError(t, err)
		pending := slices.DeleteFunc(entries, func(e entry) bool {
			return !slices.ContainsFunc(report.Pending, func(p Pending) bool { return p.SessionID == e.id })
		})
		assert.Equal(t, pending, rest, "in its order")
	})
}

// isOf tells whether a name is one of an id's, by the contract alone (6.1).
func isOf(name, id string) bool {
	dump, isDump := strings.CutPrefix(name, "request_dump_"+id+"_")
	return sessionid.Safe(id) && name != indexName &&
		(name == id+".json" || name == id+".jsonl" || name == "session_"+id+".json" || isDump && strings.HasSuffix(dump, ".json"))
}
