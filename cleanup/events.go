package cleanup

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// errOpensFiles is why there are no events on a system whose events of a folder come from descriptors of every file in it: to
// close the one of state.db would take SQLite's locks away.
var errOpensFiles = errors.New("on this system the events of a folder would open every file in it, the store too")

// events tells homes of what happens in their folders. There is one for all of them: a system allows a user few of these.
type events struct {
	lost func(error) // some events did not come, or none come any more

	// changing is held while folders are entered and left. mu, which who hears of an event takes, never is: on some systems
	// that waits for an event to be taken.
	changing sync.Mutex
	watcher  *fsnotify.Watcher
	reading  sync.WaitGroup

	mu      sync.Mutex
	folders map[string]*watchedFolder
}

type watchedFolder struct {
	info  fs.FileInfo
	homes map[*watchedHome]bool
}

func newEvents(lost func(error)) *events {
	return &events{lost: lost, folders: map[string]*watchedFolder{}}
}

// subscribe makes these the folders that a home hears of, or says why it hears of none. It may be called again at any time: what is
// watched already stays so, and a folder that has been replaced since is watched anew. fresh says that a folder is watched which
// was not before: what happened in it until now nobody heard of.
func (e *events) subscribe(h *watchedHome, paths ...string) (fresh bool, err error) {
	if !eventsOpenNothing {
		return false, errOpensFiles
	}
	e.changing.Lock()
	defer e.changing.Unlock()
	e.unsubscribe(h, paths)
	for _, path := range paths {
		added, err := e.add(h, path)
		if err != nil {
			e.unsubscribe(h, nil)
			return false, err
		}
		fresh = fresh || added
	}
	return fresh, nil
}

// unsubscribe lets a home hear of no other folders than these. e.changing is held.
func (e *events) unsubscribe(h *watchedHome, but []string) {
	var unheard []string
	e.mu.Lock()
	for path, folder := range e.folders {
		if slices.Contains(but, path) {
			continue
		}
		delete(folder.homes, h)
		if len(folder.homes) == 0 {
			delete(e.folders, path)
			unheard = append(unheard, path)
		}
	}
	e.mu.Unlock()
	for _, path := range unheard {
		if e.watcher != nil {
			_ = e.watcher.Remove(path) // it may have gone by itself, with its folder
		}
	}
}

// add lets a home hear of a folder. e.changing is held.
func (e *events) add(h *watchedHome, path string) (fresh bool, err error) {
	if err := e.start(); err != nil {
		return false, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	e.mu.Lock()
	folder := e.folders[path]
	e.mu.Unlock()
	if folder == nil || !os.SameFile(folder.info, info) || !slices.Contains(e.watcher.WatchList(), path) {
		fresh = true
		_ = e.watcher.Remove(path) // the watch may be on what was here before
		if err := e.watcher.Add(path); errors.Is(err, syscall.ENOSPC) {
			return false, fmt.Errorf("the system allows no more watches: %w", err)
		} else if err != nil {
			return false, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if folder == nil {
		folder = &watchedFolder{homes: map[*watchedHome]bool{}}
		e.folders[path] = folder
	}
	folder.info = info
	fresh = fresh || !folder.homes[h]
	folder.homes[h] = true
	return fresh, nil
}

// start asks the system for events, if that has not been done or has failed. e.changing is held.
func (e *events) start() (err error) {
	if e.watcher != nil {
		return nil
	}
	if e.watcher, err = fsnotify.NewWatcher(); err != nil {
		e.watcher = nil
		return fmt.Errorf("the system gives no events: %w", err)
	}
	source := e.watcher
	e.reading.Go(func() { e.read(source) })
	return nil
}

// letRepeat is how long nothing is read after an event that was no news the second time, as those of a log that is written all
// the time. The system keeps one of them meanwhile, so that they cost no more than this.
const letRepeat = 50 * time.Millisecond

// read hands events on until their source is closed, or fails: that is closed then, and every home is told.
func (e *events) read(from *fsnotify.Watcher) {
	var last fsnotify.Event
	for {
		select {
		case event, open := <-from.Events:
			if !open {
				return
			}
			if matters := e.dispatch(event.Name); !matters && event == last {
				time.Sleep(letRepeat)
			}
			last = event
		case err, open := <-from.Errors:
			if !open {
				return
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				e.reading.Go(func() { e.stop(from) }) // which waits for this loop
			}
			e.lost(err)
		}
	}
}

// dispatch tells who hears of the folder that this name is in, or is. It tells whether that is news to anybody.
func (e *events) dispatch(path string) (matters bool) {
	folder, name := filepath.Dir(path), filepath.Base(path)
	e.mu.Lock()
	defer e.mu.Unlock()
	if f := e.folders[folder]; f != nil {
		for h := range f.homes {
			matters = h.happened(folder, name) || matters
		}
	}
	if f := e.folders[path]; f != nil {
		for h := range f.homes {
			matters = h.happened(path, "") || matters
		}
	}
	return matters
}

// stop ends a source of events, if it still is the one.
func (e *events) stop(source *fsnotify.Watcher) {
	e.changing.Lock()
	defer e.changing.Unlock()
	if e.watcher != source || source == nil {
		return
	}
	e.watcher = nil
	_ = source.Close()
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.folders, func(string, *watchedFolder) bool { return true })
}

// close ends the events and waits until nobody is told of any.
func (e *events) close() {
	e.changing.Lock()
	source := e.watcher
	e.changing.Unlock()
	e.stop(source)
	e.reading.Wait()
}
