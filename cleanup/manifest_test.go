package cleanup

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

var longAgo = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// requireUntouched runs over a home with one manifest that cannot be read beside one that can.
func requireUntouched(t *testing.T, home *sidecartest.Home, name string) {
	t.Helper()
	home.Artifacts("orphan")
	files(home, "x.json")
	put(home, "f", `["x"]`)
	before := info(t, home, name)
	report := process(t, home)
	assert.Equal(t, Report{Removed: []string{"x"}, Unreadable: []string{name}}, report)
	assert.False(t, report.Complete())
	after := info(t, home, name)
	assert.True(t, os.SameFile(before, after))
	assert.Equal(t, before.ModTime(), after.ModTime())
	assert.Equal(t, before.Mode(), after.Mode())
	assert.Len(t, home.Sessions(), 5, "the orphan's files stay, the other manifest is done")
}

func TestUnreadableManifestsStayByteForByte(t *testing.T) {
	for name, text := range unreadable {
		t.Run(name, func(t *testing.T) {
			home := sidecartest.NewHome(t)
			manifest := put(home, "1", text)
			requireUntouched(t, home, manifest)
			assert.Equal(t, text, content(t, home, manifest))
		})
	}
}

func TestALinkIsNoManifest(t *testing.T) {
	home := sidecartest.NewHome(t)
	name := manifestName("1")
	home.Write("list.json", `["orphan"]`)
	require.NoError(t, os.Symlink("../list.json", filepath.Join(home.Path, FolderName, name)))
	requireUntouched(t, home, name)
	assert.Equal(t, `["orphan"]`, content(t, home, name))
}

func TestALinkToAManifestIsNoManifest(t *testing.T) {
	home := sidecartest.NewHome(t)
	require.NoError(t, os.Symlink(manifestName("f"), filepath.Join(home.Path, FolderName, manifestName("1"))))
	requireUntouched(t, home, manifestName("1"))
}

func TestAFolderIsNoManifest(t *testing.T) {
	home := sidecartest.NewHome(t)
	require.NoError(t, os.Mkdir(filepath.Join(home.Path, FolderName, manifestName("1")), 0o700))
	requireUntouched(t, home, manifestName("1"))
}

func TestAHugeFileIsNoManifest(t *testing.T) {
	home := sidecartest.NewHome(t)
	name := put(home, "1", `["orphan"]`)
	require.NoError(t, os.Truncate(filepath.Join(home.Path, FolderName, name), maxManifestBytes+1)) // it takes no space
	requireUntouched(t, home, name)
}

func TestManifestsOfOtherProgramsAreRead(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Artifacts("x", "y")
	home.Write(filepath.Join(FolderName, ".cleanup_manifest_python.json"), "[\n  \"x\"\n]\n")
	put(home, "1", `[]`)
	put(home, "2", " [ ] \n")
	assert.Equal(t, Report{Removed: []string{"x"}}, process(t, home))
	assert.Equal(t, []string{"request_dump_y_1.json", "session_y.json", "y.json", "y.jsonl"}, home.Sessions())
}

func TestWhatIsLeftKeepsItsOrderAndItsBytes(t *testing.T) {
	home := sidecartest.NewHome(t)
	name := put(home, "1", "[ \"z\",\"gone\" , \"\\u0041\" ,\"a\\/b\", \"gone\",\n\"\\u00e4\"]\n")
	before := info(t, home, name)
	report := process(t, home, "z", "A")
	assert.Equal(t, Report{
		Removed: []string{"gone"},
		Pending: []Pending{{"A", CauseSessionLive}, {"a/b", CauseUnsafeID}, {"z", CauseSessionLive}, {"ä", CauseUnsafeID}},
	}, report)
	assert.Equal(t, `["z","\u0041","a\/b","\u00e4"]`, content(t, home, name))
	assert.Equal(t, []string{name}, home.Sessions(), "no temporary file is left")
	after := info(t, home, name)
	assert.False(t, os.SameFile(before, after), "a crash in between would leave the old one whole")
	assert.Equal(t, os.FileMode(0o600), after.Mode())
}

func TestAManifestThatStaysTheSameIsNotRewritten(t *testing.T) {
	home := sidecartest.NewHome(t)
	text := "[ \"b\",\"a\" ,\"b\"]\n"
	name := put(home, "1", text)
	path := filepath.Join(home.Path, FolderName, name)
	require.NoError(t, os.Chtimes(path, longAgo, longAgo))
	before := info(t, home, name)
	report := process(t, home, "a", "b")
	assert.Equal(t, []Pending{{"a", CauseSessionLive}, {"b", CauseSessionLive}}, report.Pending)
	assert.Equal(t, text, content(t, home, name))
	assert.True(t, os.SameFile(before, info(t, home, name)))
	assert.True(t, longAgo.Equal(info(t, home, name).ModTime()))
}

func TestTemporaryFiles(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Artifacts("orphan")
	age := func(name string, age time.Duration) string {
		home.Write(filepath.Join(FolderName, name), `["orphan"]`)
		path := filepath.Join(home.Path, FolderName, name)
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, at, at))
		return name
	}
	kept := []string{
		age(manifestName("1")+".00000000.tmp", 0),
		age(manifestName("2")+".00000000.tmp", 55*time.Minute),
		age(manifestName("3")+".00000000.tmp", -24*time.Hour),
		age("of another.tmp", 24*time.Hour),
		age("x.json.tmp", 24*time.Hour),
	}
	age(manifestName("4")+".00000000.tmp", 65*time.Minute)
	age(".cleanup_manifest_of_another.tmp", 24*time.Hour)
	folder := manifestName("5") + ".tmp"
	require.NoError(t, os.Mkdir(filepath.Join(home.Path, FolderName, folder), 0o700))
	require.NoError(t, os.Chtimes(filepath.Join(home.Path, FolderName, folder), longAgo, longAgo))

	report := process(t, home)

	assert.Equal(t, Report{}, report, "they are never read")
	want := append(kept, folder, "orphan.json", "orphan.jsonl", "session_orphan.json", "request_dump_orphan_1.json")
	assert.ElementsMatch(t, want, home.Sessions())
}
