package statedb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// No name is read as anything but a name: not as an escape, a parameter, a fragment, or a store in memory.
func TestOddPathsOpenTheirOwnFile(t *testing.T) {
	for _, name := range []string{
		"with space", "100%", "%41", "a?mode=rwc", "a#b", "a&b=c;d", "new\nline", "\xff\xfe", "ä", `quote'"`, "*[x]", "~", ":memory:",
		"file:x", "a//b", "back\\slash", "+", "$HOME", "-rf", "?vfs=none", "tab\t",
	} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			folder := filepath.Join(home.Path, name)
			plain := sidecartest.NewHomeAt(t, filepath.Join(home.Path, "plain"))
			plain.Create(fixtures.LegacySchema, "INSERT INTO sessions (id, source, started_at) VALUES ('"+`here`+"', 'cli', 1)")
			require.NoError(t, os.Rename(plain.Path, folderFor(t, folder)))
			before := tree(t, home.Path)

			live, err := LiveIDs(t.Context(), folder, []string{"here"})
			require.NoError(t, err)
			assert.Equal(t, map[string]bool{"here": true}, live)
			tx, err := Begin(t.Context(), filepath.Join(folder, FileName), soon)
			require.NoError(t, err)
			require.NoError(t, tx.Rollback())
			path := filepath.Join(folder, FileName)
			assert.ElementsMatch(t, append(before, path+"-wal", path+"-shm"), tree(t, home.Path), "no other file came up")
		})
	}
}

// folderFor makes the folders above a path.
func folderFor(t *testing.T, path string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	return path
}

func tree(t *testing.T, root string) []string {
	t.Helper()
	var paths []string
	require.NoError(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}))
	return paths
}

func TestStoreURI(t *testing.T) {
	const query = "?_busy_timeout=0&_foreign_keys=on&_secure_delete=on&_stmt_cache_size=128&_synchronous=extra&mode="
	assert.Equal(t, "file:///home/a%20b/100%25/%3Fx%23y/state.db"+query+"rw", storeURI("/home/a b/100%/?x#y/state.db", readWrite))
	assert.Equal(t, "file:///C:/home/state.db"+query+"ro", storeURI("C:/home/state.db", readOnly), "Windows")
}

func TestPragmas(t *testing.T) {
	home := newStore(t)
	for _, mode := range []access{readOnly, readWrite} {
		c, err := open(t.Context(), home.Store(), mode)
		require.NoError(t, err)
		t.Cleanup(c.close)
		for pragma, want := range map[string]string{
			"foreign_keys": "1", "synchronous": "3", "secure_delete": "1", "busy_timeout": "0", "journal_mode": "wal",
		} {
			var got string
			require.NoError(t, c.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got))
			assert.Equal(t, want, got, "%s, %s", pragma, mode)
		}
		require.NoError(t, c.checkPragmas(t.Context()))
	}
}

// A pragma that SQLite does not take is no error in SQLite.
func TestPragmasAreReadBack(t *testing.T) {
	for _, pragma := range []string{"foreign_keys", "synchronous", "secure_delete"} {
		c := connect(t, newStore(t))
		_, err := c.ExecContext(t.Context(), "PRAGMA "+pragma+" = 0")
		require.NoError(t, err)
		requireDetail(t, c.checkPragmas(t.Context()), ErrIO, pragma)
	}
}

func TestReadOnlyMeansReadOnly(t *testing.T) {
	home := newStore(t)
	c, err := open(t.Context(), home.Store(), readOnly)
	require.NoError(t, err)
	t.Cleanup(c.close)
	_, err = c.ExecContext(t.Context(), "INSERT INTO state_meta VALUES ('a', 'b')")
	require.ErrorIs(t, classify("write", err), ErrIO)
	assert.Empty(t, home.Query("SELECT * FROM state_meta"))
}

func TestOpeningCreatesNothing(t *testing.T) {
	home := newHome(t)
	for _, path := range []string{home.Store(), filepath.Join(home.Path, "missing", FileName)} {
		_, err := Begin(t.Context(), path, soon)
		require.ErrorIs(t, err, ErrMissing)
		assert.NoFileExists(t, path)
	}
	assert.Equal(t, []string{home.Path, filepath.Join(home.Path, "sessions")}, tree(t, home.Path))
}

// The WAL and its index belong to a running Agent as much as to us.
func TestWALStaysWhenWeClose(t *testing.T) {
	home := newStore(t, "INSERT INTO sessions (id, source, started_at) VALUES ('x', 'cli', 1)")
	for name, use := range map[string]func(){
		"a commit": func() {
			tx := begin(t, home)
			_, err := remove(t, tx, "x")
			require.NoError(t, err)
			require.NoError(t, tx.Commit())
		},
		"a rollback": func() { require.NoError(t, begin(t, home).Rollback()) },
		"a question": func() {
			_, err := LiveIDs(t.Context(), home.Path, []string{"x"})
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			agent := home.Open()
			_, err := agent.Exec("INSERT INTO state_meta VALUES (?, '')", name)
			require.NoError(t, err)
			require.NoError(t, agent.Close()) // the last one to close takes them away
			assert.NoFileExists(t, home.Store()+"-wal")
			use()
			assert.FileExists(t, home.Store()+"-wal")
			assert.FileExists(t, home.Store()+"-shm")
		})
	}
}
