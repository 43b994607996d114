package rpc

import (
	"context"
	"encoding/json"
	"sync"
)

// Control is what a running call may do to its server. FromContext finds it.
type Control struct {
	server *Server
	id     id

	mu  sync.Mutex
	seq int
}

type callKey struct{}

// FromContext gives the Control of the call that runs in this context.
func FromContext(ctx context.Context) *Control { return ctx.Value(callKey{}).(*Control) }

// Stream sends a stream frame of this call; seq counts from 1 (contract 1.3). It never waits for the host to read: the call
// may hold locks.
func (c *Control) Stream(event string, data any) error {
	name, err := Encode(event)
	if err != nil {
		return err
	}
	encoded, err := Encode(data)
	if err != nil {
		return err
	}
	// The number is given and the frame queued in one step, or two of them could change places.
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	c.server.out.sendNow(streamFrame(c.id, c.seq, name, encoded))
	return nil
}

// Cancel cancels the call in flight that has this id, compared byte for byte, and tells whether there was one. A call
// does not find itself.
func (c *Control) Cancel(target json.RawMessage) bool {
	if string(target) == string(c.id) {
		return false
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	found := c.server.calls[string(target)]
	if found == nil {
		return false
	}
	found.cancel()
	return true
}

// End begins the orderly end once this call is answered (contract 2, runtime.shutdown).
func (c *Control) End(exitCode int) { c.server.End(exitCode) }

// Load is how busy the server is.
type Load struct {
	InFlight int    // calls that run now, this one included
	Limit    int    // how many may run at once
	Answered uint64 // calls answered since the start
}

// Load tells how busy the server is.
func (c *Control) Load() Load {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return Load{InFlight: len(c.server.calls), Limit: c.server.maxCalls, Answered: c.server.answered}
}
