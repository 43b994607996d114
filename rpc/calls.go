package rpc

import (
	"context"
	"fmt"
	"sync"
)

// call is one request in flight.
type call struct {
	id     id
	method string
	ctx    context.Context
	cancel context.CancelFunc
	inline bool
}

// calls are those in flight, and the end at which they are waited for: one state under one lock, so that no lock order can go wrong.
type calls struct {
	limit int // how many may run at once (contract 1.5)

	mu         sync.Mutex
	inFlight   map[string]*call // by the bytes of their ids
	slots      int              // calls that count against the limit
	unanswered int              // calls whose answer is not queued yet
	answered   uint64
	ending     bool
	exitCode   int

	end  chan struct{} // closed when the end begins
	idle chan struct{} // closed when the end has begun and every call is answered
}

func newCalls(limit int) *calls {
	return &calls{limit: limit, inFlight: map[string]*call{}, end: make(chan struct{}), idle: make(chan struct{})}
}

// begin enters a request among those in flight, or refuses it: its id is in flight already, the end has begun, or there are as many as
// may be (contract 1.5). An inline call takes no slot, and begins at the end too.
func (c *calls) begin(ctx context.Context, r *request, inline bool) (*call, *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.inFlight[string(r.id)] != nil:
		return nil, &Error{Code: CodeInvalidRequest, Message: "this id is still in flight"}
	case c.ending && !inline:
		return nil, condition(ConditionShuttingDown, "the sidecar is shutting down")
	case c.slots >= c.limit && !inline:
		return nil, condition(ConditionBusy, fmt.Sprintf("%d calls are running already", c.limit))
	}
	begun := &call{id: r.id, method: r.method, inline: inline}
	begun.ctx, begun.cancel = context.WithCancel(ctx)
	c.inFlight[string(r.id)] = begun
	if !inline {
		c.slots++
	}
	c.unanswered++
	return begun, nil
}

// finish takes a call out of those in flight, before its answer goes out, so that a host may use the id again at once.
func (c *calls) finish(done *call) {
	c.mu.Lock()
	delete(c.inFlight, string(done.id))
	if !done.inline {
		c.slots--
	}
	c.answered++
	c.mu.Unlock()
	done.cancel()
}

// settle notes that the answer of a finished call is queued.
func (c *calls) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unanswered--
	if c.ending && c.unanswered == 0 {
		c.becomeIdle()
	}
}

// cancel cancels the call that has an id, and tells whether there was one (contract 1.4).
func (c *calls) cancel(target id) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.inFlight[string(target)]
	if found == nil {
		return false
	}
	found.cancel()
	return true
}

// beginEnd begins the end (contract 1.8) with an exit code. Only the first one counts.
func (c *calls) beginEnd(exitCode int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return
	}
	c.ending, c.exitCode = true, exitCode
	close(c.end)
	if c.unanswered == 0 {
		c.becomeIdle()
	}
}

// becomeIdle tells who waits for the end that no call is left. An inline call may come after that, and end once more. c.mu is held.
func (c *calls) becomeIdle() {
	select {
	case <-c.idle:
	default:
		close(c.idle)
	}
}

// exit is the exit code with which the end began.
func (c *calls) exit() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exitCode
}

func (c *calls) load() Load {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Load{InFlight: len(c.inFlight), Limit: c.limit, Answered: c.answered}
}
