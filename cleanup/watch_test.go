package cleanup

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

var discard = slog.New(slog.NewTextHandler(io.Discard, nil))

// passesOver is a pass over a home in which nobody lives, told of when it is done.
func passesOver(home *sidecartest.Home, passed chan<- struct{}) Pass {
	return func(ctx context.Context, homePath string) (Report, error) {
		folder, err := Open(homePath)
		if err != nil {
			return Report{}, err
		}
		defer folder.Close()
		report := folder.Process(ctx, alive("LIVE"))
		select {
		case passed <- struct{}{}:
		default:
		}
		return report, nil
	}
}

// watching is a watcher that has made its first pass over a home with a store.
func watching(t *testing.T) (*sidecartest.Home, *Watcher, <-chan struct{}) {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Write(storeName, "a store")
	w := NewWatcher(discard)
	t.Cleanup(w.Close)
	passed := make(chan struct{}, 1)
	<-w.Watch(home.Path, passesOver(home, passed))
	<-passed
	return home, w, passed
}

func eventuallyGone(t *testing.T, home *sidecartest.Home, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := os.Lstat(filepath.Join(home.Path, FolderName, name))
		return os.IsNotExist(err)
	}, time.Minute, time.Millisecond, "%s is still there", name)
}

// This holds on every system, whether it tells of events or the home is polled.
func TestAManifestThatComesIsWorkedThrough(t *testing.T) {
	home, w, _ := watching(t)
	home.Artifacts("renamed", "written", "LIVE")
	home.Write("sessions/x", `["renamed","LIVE"]`)
	require.NoError(t, os.Rename(filepath.Join(home.Path, "sessions/x"), filepath.Join(home.Path, FolderName, manifestName("1"))))
	eventuallyGone(t, home, "renamed.json")
	half := put(home, "2", `["wri`)
	put(home, "2", `["written"]`)
	eventuallyGone(t, home, half)
	assert.NoFileExists(t, filepath.Join(home.Path, "sessions/written.json"))
	assert.FileExists(t, filepath.Join(home.Path, "sessions/LIVE.json"))
	assert.Len(t, w.Watches(), 1)
}

func TestAFolderThatIsReplacedIsWatchedAnew(t *testing.T) {
	home, _, _ := watching(t)
	for _, number := range []string{"1", "2", "3"} {
		require.NoError(t, os.RemoveAll(filepath.Join(home.Path, FolderName)))
		files(home, "V.json")
		eventuallyGone(t, home, put(home, number, `["V"]`))
		assert.NoFileExists(t, filepath.Join(home.Path, "sessions/V.json"))
	}
}

// The system's own watch goes with the folder: it is of no use to know the folder by its number.
func TestAFolderThatIsMovedAwayAndBackIsWatchedAnew(t *testing.T) {
	home, _, _ := watching(t)
	folder := filepath.Join(home.Path, FolderName)
	for _, number := range []string{"1", "2"} {
		require.NoError(t, os.Rename(folder, folder+"_away"))
		require.NoError(t, os.Rename(folder+"_away", folder))
		eventuallyGone(t, home, put(home, number, `[]`)) // which is seen by the look that the moves made
		eventuallyGone(t, home, put(home, number, `[]`))
	}
}

// Nobody tells of a folder above that is moved away: the watch goes with it, and is renewed at the next look.
func TestAHomeThatIsReplacedFromAboveIsWatchedAnew(t *testing.T) {
	above := filepath.Join(t.TempDir(), "above")
	home := sidecartest.NewHomeAt(t, filepath.Join(above, "home"))
	w := NewWatcher(discard)
	defer w.Close()
	passed := make(chan struct{}, 1)
	<-w.Watch(home.Path, passesOver(home, passed))
	<-passed
	require.NoError(t, os.Rename(above, above+"_away"))
	home = sidecartest.NewHomeAt(t, home.Path)
	w.Nudge(home.Path)
	<-passed
	for _, number := range []string{"1", "2"} {
		eventuallyGone(t, home, put(home, number, `[]`))
	}
}

func TestAHomeThatComesLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "home")
	w := NewWatcher(discard)
	defer w.Close()
	<-w.Watch(path, passesOver(nil, nil))
	assert.Equal(t, []Watch{{Path: path, How: ByPolling, Why: "there is no such home"}}, w.Watches())
	home := sidecartest.NewHomeAt(t, path)
	files(home, "V.json")
	eventuallyGone(t, home, put(home, "1", `["V"]`))
	require.NoError(t, os.RemoveAll(filepath.Dir(path)))
	require.Eventually(t, func() bool { return w.Watches()[0].Why == "there is no such home" }, time.Minute, time.Millisecond)
	home = sidecartest.NewHomeAt(t, path)
	eventuallyGone(t, home, put(home, "1", `["V"]`))
}

// By whatever names a home is asked for, it is watched once, under its resolved path.
func TestAHomeOfManyNames(t *testing.T) {
	home, w, passed := watching(t)
	alias, later := filepath.Join(t.TempDir(), "alias"), filepath.Join(t.TempDir(), "later")
	require.NoError(t, os.Symlink(home.Path, alias))
	second := func(context.Context, string) (Report, error) {
		t.Error("one home is worked through by two")
		return Report{}, nil
	}
	for range 2 {
		for _, name := range []string{alias, home.Path, home.Path + "/", filepath.Join(home.Path, "sessions", ".."), later} {
			<-w.Watch(name, second)
		}
	}
	paths := func() (paths []string) {
		for _, watch := range w.Watches() {
			paths = append(paths, watch.Path)
		}
		return paths
	}
	assert.ElementsMatch(t, []string{home.Path, later}, paths())
	require.NoError(t, os.Symlink(home.Path, later))
	require.Eventually(t, func() bool { return len(paths()) == 1 }, time.Minute, time.Millisecond, "it is the same home")
	assert.Equal(t, []string{home.Path}, paths())

	w.Unwatch(alias)
	assert.Empty(t, paths())

	// First by a link, which has been followed by the time that its true name is given.
	<-w.Watch(alias, passesOver(home, nil))
	<-w.Watch(home.Path, second)
	w.Unwatch(home.Path)
	assert.Empty(t, paths())
	w.running.Wait() // no watch is left that nobody could end
	select {         // what has begun before may have ended just now
	case <-passed:
	default:
	}
	files(home, "V.json")
	put(home, "1", `["V"]`)
	w.Nudge(home.Path)
	<-w.Watch(filepath.Join(t.TempDir(), "another"), passesOver(home, nil))
	assert.Empty(t, passed, "nobody watches it")
	<-w.Watch(alias, passesOver(home, nil))
	eventuallyGone(t, home, "V.json")
}

func TestANudgeIsAPass(t *testing.T) {
	home, w, passed := watching(t)
	w.Nudge(home.Path)
	<-passed
	w.Nudge(filepath.Join(home.Path, "nowhere"))
}

func TestNothingIsWatchedAfterTheEnd(t *testing.T) {
	home, w, _ := watching(t)
	w.Close()
	<-w.Watch(filepath.Join(home.Path, "another"), passesOver(home, nil))
	w.Close()
}
