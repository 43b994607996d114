// Package locks keeps two deletes of one home apart: a thread lock between the calls of this process, then an
// exclusive file lock between processes (contract 7). Homes never wait for each other.
//
// The order is fixed: first the thread lock, then the file lock. Whoever holds both may take SQLite's write lock; nobody
// takes a home's locks while holding SQLite's.
package locks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/jitter"
	"session-sidecar/internal/links"
)

// FileName is the lock file inside a home. Other programs lock the same file. It is never unlinked: waiters would be
// split over two files.
const FileName = ".session_cleanup.lock"

// Patience is how long the file lock is tried (contract 7).
const Patience = 30 * time.Second

var (
	// ErrTimeout says that another process held the lock for all of the patience.
	ErrTimeout = errors.New("another process holds the home's cleanup lock")
	// ErrHeld says that somebody holds one of the locks right now, to a caller who did not want to wait.
	ErrHeld = errors.New("something else is going on in the home")
	// ErrUnusable says that the lock file cannot serve as one: it is a folder, a link, or may not be written.
	ErrUnusable = errors.New("the home's cleanup lock file cannot be used")
)

// Error tells which lock file failed, and why. Unwrap gives the sentinel and the cause.
type Error struct {
	Kind  error // ErrTimeout, ErrHeld or ErrUnusable
	Path  string
	Cause error // nil but for ErrUnusable
}

func (e *Error) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("%v: %s", e.Kind, e.Path)
	}
	return fmt.Sprintf("%v: %s: %v", e.Kind, e.Path, e.Cause)
}

func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// Homes hands out the locks of homes. The zero value is ready.
type Homes struct {
	// FilePatience replaces Patience where it is not zero.
	FilePatience time.Duration

	mu      sync.Mutex
	threads map[string]*threadLock
}

// threadLock is held by whoever could put its token in. users counts holders and waiters, so that a home that nobody
// uses takes no memory.
type threadLock struct {
	token chan struct{}
	users int
}

// Lock takes both locks of a resolved home and returns the one function that releases them. A cancelled context ends
// either wait with the context's error. Errors of the file lock are *Error.
func (h *Homes) Lock(ctx context.Context, home string) (unlock func(), err error) {
	releaseThread, err := h.lockThread(ctx, home)
	if err != nil {
		return nil, err
	}
	patience := h.FilePatience
	if patience == 0 {
		patience = Patience
	}
	return lockBoth(ctx, home, releaseThread, patience)
}

// TryLock is Lock for a caller who does not wait: ErrHeld at once where either lock is held.
func (h *Homes) TryLock(ctx context.Context, home string) (unlock func(), err error) {
	held := &Error{Kind: ErrHeld, Path: filepath.Join(home, FileName)}
	noWait, cancel := context.WithCancel(ctx)
	cancel()
	releaseThread, err := h.lockThread(noWait, home)
	if err != nil {
		return nil, errors.Join(held, ctx.Err())
	}
	unlock, err = lockBoth(ctx, home, releaseThread, 0)
	if errors.Is(err, ErrTimeout) {
		return nil, held
	}
	return unlock, err
}

// lockBoth adds the file lock to the thread lock, which it lets go again where it fails.
func lockBoth(ctx context.Context, home string, releaseThread func(), patience time.Duration) (unlock func(), err error) {
	releaseFile, err := lockFile(ctx, filepath.Join(home, FileName), patience)
	if err != nil {
		releaseThread()
		return nil, err
	}
	faultpoint.Hit(faultpoint.LockHeld)
	return func() {
		releaseFile()
		releaseThread()
	}, nil
}

func (h *Homes) lockThread(ctx context.Context, home string) (release func(), err error) {
	h.mu.Lock()
	if h.threads == nil {
		h.threads = map[string]*threadLock{}
	}
	lock := h.threads[home]
	if lock == nil {
		lock = &threadLock{token: make(chan struct{}, 1)}
		h.threads[home] = lock
	}
	lock.users++
	h.mu.Unlock()

	leave := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if lock.users--; lock.users == 0 {
			delete(h.threads, home)
		}
	}
	release = func() { <-lock.token; leave() }
	select {
	case lock.token <- struct{}{}: // a free lock is taken even by a caller who may not wait
		return release, nil
	default:
	}
	select {
	case lock.token <- struct{}{}:
		return release, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

func lockFile(ctx context.Context, path string, patience time.Duration) (release func(), err error) {
	if err := checkPath(path); err != nil {
		return nil, &Error{Kind: ErrUnusable, Path: path, Cause: err}
	}
	file := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
	deadline := time.Now().Add(patience)
	for {
		if err := ctx.Err(); err != nil {
			_ = file.Close()
			return nil, err
		}
		locked, err := file.TryLock()
		switch {
		case err != nil:
			_ = file.Close()
			return nil, &Error{Kind: ErrUnusable, Path: path, Cause: err}
		case locked:
			return func() { _ = file.Close() }, nil
		case !time.Now().Before(deadline):
			_ = file.Close()
			return nil, &Error{Kind: ErrTimeout, Path: path}
		}
		_ = jitter.Pause(ctx, 2*time.Millisecond, 8*time.Millisecond) // the next round looks at the context
	}
}

// checkPath refuses what is no plain file before it is opened, so that a lock never goes to what a link points to.
func checkPath(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case links.Several(info):
		return links.ErrSeveral
	}
	return nil
}
