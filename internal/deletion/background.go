package deletion

import (
	"context"
	"errors"
	"sync"
	"time"

	"session-sidecar/internal/jitter"
	"session-sidecar/statedb"
)

// How routes that could not be fenced at once are tried again: pauses that double, and the patience of each try.
const (
	firstPause     = time.Second
	longestPause   = 5 * time.Second
	pursuePatience = time.Second
)

// background is what goes on behind the calls: one goroutine for each home whose routes could not be fenced at once.
type background struct {
	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	ended    bool
	seen     map[string]bool // see firstUse
	pursuits map[string]*pursuit
}

// pursuit is one such goroutine.
type pursuit struct {
	again bool // a call has failed since it last looked
}

func newBackground() *background {
	b := &background{seen: map[string]bool{}, pursuits: map[string]*pursuit{}}
	b.ctx, b.end = context.WithCancel(context.Background())
	return b
}

// firstUse tells whether this is asked for the first time in this process.
func (b *background) firstUse(of string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !b.seen[of]
	b.seen[of] = true
	return first
}

// begin tells whether a pursuit has to be started for a home. One that runs already hears that there is more to do.
func (b *background) begin(homePath string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return false
	}
	if p := b.pursuits[homePath]; p != nil {
		p.again = true
		return false
	}
	b.pursuits[homePath] = &pursuit{}
	b.running.Add(1)
	return true
}

// finish ends the pursuit of a home that has nothing left to do, unless it has been told of more.
func (b *background) finish(homePath string) (finished bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.pursuits[homePath]; p.again {
		p.again = false
		return false
	}
	delete(b.pursuits, homePath)
	return true
}

// pursueRoutes lets the route intents of a home be settled in the background, by one goroutine for each home, until nothing
// is left of them or the process ends; then they stay in the store and the next process finds them.
func (d *Deleter) pursueRoutes(homePath, baseHome string, cause error) {
	b := d.background
	if !b.begin(homePath) {
		return
	}
	d.log.Info("the routes of the base home will be fenced later", "home", homePath, "error", cause)
	d.warnOfRoutes(homePath, cause)
	go func() {
		defer b.running.Done()
		for pause := firstPause; jitter.Pause(b.ctx, pause, pause/4) == nil; pause = min(2*pause, longestPause) {
			err := d.settleIntents(b.ctx, homePath, baseHome, pursuePatience)
			d.warnOfRoutes(homePath, err) // who heard at first that the base home was busy learns what is wrong with it
			if err == nil && b.finish(homePath) {
				d.log.Info("the routes of the base home are fenced", "home", homePath)
				return
			}
		}
	}()
}

// warnOfRoutes logs why the base home of a home could not be fenced, where time alone will not mend it.
func (d *Deleter) warnOfRoutes(homePath string, err error) {
	if !mendsItself(err) {
		d.warnOnce("the routes of the base home cannot be fenced", homePath, err)
	}
}

// mendsItself tells whether time alone will mend an error.
func mendsItself(err error) bool {
	return err != nil && (errors.Is(err, statedb.ErrBusy) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled))
}
