package cleanup

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

var mediaHash = strings.Repeat("0123456789abcdef", 4)

// old ages a file of the home beyond any limit.
func old(t *testing.T, home *sidecartest.Home, name string) {
	t.Helper()
	require.NoError(t, os.Chtimes(filepath.Join(home.Path, name), longAgo, longAgo))
}

// putMedia makes an old media file of the home and gives its path.
func putMedia(t *testing.T, home *sidecartest.Home, folder string) string {
	t.Helper()
	name := filepath.Join(folder, "native-inputs", mediaHash, "a b.png")
	home.Write(name, "content")
	old(t, home, name)
	return filepath.Join(home.Path, name)
}

func mediaAt(path string) Named { return Named{Path: path, SHA256: mediaHash} }

// requireStays shows that a file is none that may go, asked or told.
func requireStays(t *testing.T, home *sidecartest.Home, path string) {
	t.Helper()
	folder := open(t, home)
	assert.Equal(t, NamedStays, folder.State(mediaAt(path)), path)
	state, err := folder.Unlink(mediaAt(path))
	require.NoError(t, err, path)
	assert.Equal(t, NamedStays, state, path)
	gone, failed := folder.Sync(t.Context(), []Named{mediaAt(path)})
	assert.Empty(t, gone, path)
	assert.Empty(t, failed, path)
}

func TestMediaGoes(t *testing.T) {
	home := sidecartest.NewHome(t)
	for _, folder := range []string{"", "gateway/data"} {
		path := putMedia(t, home, folder)
		f := open(t, home)
		assert.Equal(t, NamedRemovable, f.State(mediaAt(path)))
		gone, failed := f.Sync(t.Context(), []Named{mediaAt(path)})
		assert.Empty(t, gone, "it is still there")
		assert.Empty(t, failed)
		for range 2 {
			state, err := f.Unlink(mediaAt(path))
			require.NoError(t, err)
			assert.Equal(t, NamedGone, state)
			assert.NoFileExists(t, path)
			assert.DirExists(t, filepath.Dir(path))
			assert.Equal(t, NamedGone, f.State(mediaAt(path)))
		}
		gone, failed = f.Sync(t.Context(), []Named{mediaAt(path)})
		assert.Equal(t, []Named{mediaAt(path)}, gone)
		assert.Empty(t, failed)
	}
}

func TestMediaWhoseFolderIsGone(t *testing.T) {
	home := sidecartest.NewHome(t)
	f := open(t, home)
	files := []Named{
		mediaAt(filepath.Join(home.Path, "native-inputs", mediaHash, "x")),
		mediaAt(filepath.Join(home.Path, "a/b/native-inputs", mediaHash, "x")),
	}
	for _, file := range files {
		assert.Equal(t, NamedGone, f.State(file))
	}
	gone, failed := f.Sync(t.Context(), files)
	assert.Equal(t, files, gone)
	assert.Empty(t, failed)
}

// A caller that goes away waits for no disk.
func TestSyncHearsACancel(t *testing.T) {
	home := sidecartest.NewHome(t)
	ended, end := context.WithCancel(t.Context())
	end()
	gone, failed := open(t, home).Sync(ended, []Named{mediaAt(filepath.Join(home.Path, "native-inputs", mediaHash, "x"))})
	assert.Empty(t, gone)
	assert.Empty(t, failed)
}

func TestYoungMediaStays(t *testing.T) {
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "")
	for age, want := range map[time.Duration]NamedState{
		-24 * time.Hour: NamedStays, 0: NamedStays, 59 * time.Minute: NamedStays, 61 * time.Minute: NamedRemovable,
	} {
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, then, then))
		assert.Equal(t, want, open(t, home).State(mediaAt(path)), "%v old", age)
	}
}

// Whatever is not …/native-inputs/<its hash>/<name> of this home, letter by letter.
func TestOtherPathsAreNoMedia(t *testing.T) {
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "")
	other := sidecartest.NewHome(t)
	foreign := putMedia(t, other, "")
	folder := filepath.Dir(path)
	home.Write("sessions/LIVE.json", "x")
	home.Write("native-inputs/short/x.png", "x")
	for _, p := range []string{
		foreign, filepath.Join(other.Path, "native-inputs", mediaHash, "absent"),
		filepath.Join(other.Path, "absent/native-inputs", mediaHash, "absent"), "", ".", "native-inputs/" + mediaHash + "/a b.png",
		folder + "/../" + mediaHash + "/a b.png", folder + "/./a b.png", folder + "//a b.png", path + "/", folder, folder + "/..",
		home.Path + "/sessions/../native-inputs/" + mediaHash + "/a b.png", path + "\x00", path + "/x",
		filepath.Join(home.Path, "sessions/LIVE.json"), filepath.Join(home.Path, mediaHash, "a b.png"),
		filepath.Join(home.Path, "Native-Inputs", mediaHash, "a b.png"),
		strings.Replace(path, home.Path, home.Path+"/../"+filepath.Base(home.Path), 1),
	} {
		requireStays(t, home, p)
	}
	f := open(t, home)
	for _, hash := range []string{"", "short", strings.ToUpper(mediaHash), strings.Repeat("1", 64), mediaHash + "\n"} {
		assert.Equal(t, NamedStays, f.State(Named{path, hash}), hash)
	}
	assert.Equal(t, NamedStays, f.State(Named{filepath.Join(home.Path, "native-inputs/short/x.png"), "short"}))
	assert.FileExists(t, path)
	assert.FileExists(t, foreign)
}

func TestMediaThatIsNoPlainFileStays(t *testing.T) {
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "")
	folder := filepath.Dir(path)
	require.NoError(t, os.Symlink(path, folder+"/link"))
	require.NoError(t, os.Mkdir(folder+"/folder", 0o700))
	require.NoError(t, os.Chtimes(folder+"/folder", longAgo, longAgo))
	requireStays(t, home, folder+"/link")
	requireStays(t, home, folder+"/folder")
	assert.Equal(t, NamedRemovable, open(t, home).State(mediaAt(path)))
}

// A second name may be anything, the store too; there the file lives on anyway.
func TestMediaWithASecondNameStays(t *testing.T) {
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "")
	require.NoError(t, os.Link(path, filepath.Join(home.Path, "second")))
	requireStays(t, home, path)
}

func TestMediaBehindLinks(t *testing.T) {
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "real")
	outside := sidecartest.NewHome(t)
	away := putMedia(t, outside, "")
	inputs := filepath.Dir(filepath.Dir(path))
	for link, target := range map[string]string{
		"inside":     filepath.Join(home.Path, "real"),
		"chain":      "inside",
		"around":     "here/../chain/../real",
		"slashes":    home.Path + "//./real/",
		"out":        outside.Path,
		"nowhere":    filepath.Join(outside.Path, "absent"),
		"dangling":   "absent/deeper",
		"loop":       "loop",
		"up":         "..",
		"back":       "../" + filepath.Base(home.Path) + "/real",
		"again":      filepath.Join(outside.Path, "in"),
		"climbing":   home.Path + "/../" + filepath.Base(home.Path) + "/real",
		"here/again": inputs,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(home.Path, link)), 0o700))
		require.NoError(t, os.Symlink(target, filepath.Join(home.Path, link)))
	}
	below := func(parts ...string) string {
		return filepath.Join(append([]string{home.Path}, append(parts, "native-inputs", mediaHash, "a b.png")...)...)
	}
	require.NoError(t, os.Symlink(filepath.Join(home.Path, "real"), filepath.Join(outside.Path, "in")))
	// What leads out is not followed, though it may lead back in. A disk that is not there now may come back.
	for _, link := range []string{"out", "nowhere", "dangling", "loop", "up", "back", "again", "climbing"} {
		requireStays(t, home, below(link))
	}
	// A folder of the right name that leads to one with another.
	require.NoError(t, os.MkdirAll(filepath.Join(home.Path, "fake/native-inputs"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(home.Path, "sessions"), filepath.Join(home.Path, "fake/native-inputs", mediaHash)))
	home.Write("sessions/a b.png", "x")
	old(t, home, "sessions/a b.png")
	requireStays(t, home, below("fake"))

	f := open(t, home)
	for _, link := range []string{"inside", "chain", "around", "slashes"} {
		assert.Equal(t, NamedRemovable, f.State(mediaAt(below(link))), link)
	}
	state, err := f.Unlink(mediaAt(below("chain")))
	require.NoError(t, err)
	assert.Equal(t, NamedGone, state)
	assert.NoFileExists(t, path)
	assert.FileExists(t, away)
	assert.FileExists(t, filepath.Join(home.Path, "sessions/a b.png"))
}

// The Agent may spell its home as a link to where it is: that is looked at only if the host spells it so too.
func TestMediaOfAHomeThatIsSpelledAsALink(t *testing.T) {
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "")
	alias := filepath.Join(t.TempDir(), "alias")
	require.NoError(t, os.Symlink(home.Path, alias))
	named := mediaAt(filepath.Join(alias, "native-inputs", mediaHash, "a b.png"))
	absent := mediaAt(filepath.Join(alias, "native-inputs", mediaHash, "absent"))
	requireStays(t, home, named.Path)
	requireStays(t, home, absent.Path)

	t.Chdir(filepath.Dir(alias))
	for _, as := range []string{alias, alias + "//./", "alias"} {
		f, err := Open(home.Path, as)
		require.NoError(t, err)
		defer f.Close()
		assert.Equal(t, NamedRemovable, f.State(named), as)
		assert.Equal(t, NamedRemovable, f.State(mediaAt(path)), as)
		assert.Equal(t, NamedGone, f.State(absent), as)
	}
	f, err := Open(home.Path, alias+"/../alias")
	require.NoError(t, err)
	defer f.Close()
	assert.Equal(t, NamedStays, f.State(named), "only the system knows which folder that is")
}

// A row's path is compared before anything is asked of the system: one that leads here over a link elsewhere is not followed.
func TestMediaThatIsNamedOverALinkElsewhere(t *testing.T) {
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "")
	elsewhere := t.TempDir()
	require.NoError(t, os.Symlink(home.Path, filepath.Join(elsewhere, "in")))
	requireStays(t, home, filepath.Join(elsewhere, "in/native-inputs", mediaHash, "a b.png"))
	require.NoError(t, os.Symlink(filepath.Join(home.Path, "native-inputs"), filepath.Join(elsewhere, "native-inputs")))
	requireStays(t, home, filepath.Join(elsewhere, "native-inputs", mediaHash, "a b.png"))
	for _, p := range []string{
		home.Path + "2/native-inputs/" + mediaHash + "/x", "//server/share/native-inputs/" + mediaHash + "/x",
		`\\server\share\native-inputs\` + mediaHash + `\x`, `Z:\native-inputs\` + mediaHash + `\x`,
	} {
		requireStays(t, home, p)
	}
	assert.FileExists(t, path)
}

func TestReportTellsWhatIsPendingOnce(t *testing.T) {
	r := Report{Pending: []Pending{{"b", CauseSessionLive}}}
	r.Add(Pending{"b", CauseMediaFailed}, Pending{"", CauseMediaFailed}, Pending{"b", CauseMediaFailed})
	assert.Equal(t, []Pending{{"", CauseMediaFailed}, {"b", CauseMediaFailed}, {"b", CauseSessionLive}}, r.Pending)
	assert.False(t, r.Complete())
}
