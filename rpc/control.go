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

type controlKey struct{}

// withControl is the context of a call, with its Control.
func withControl(ctx context.Context, server *Server, of id) context.Context {
	return context.WithValue(ctx, controlKey{}, &Control{server: server, id: of})
}

// FromContext gives the Control of the call that runs in this context, which must be one that Endpoint.Call was given.
func FromContext(ctx context.Context) *Control { return ctx.Value(controlKey{}).(*Control) }

// Stream sends a stream frame of this call; seq counts from 1 (contract 1.3). It never waits for the host to read: the call
// may hold locks. The error tells only that the data cannot be encoded, and then no number is used up.
func (c *Control) Stream(event string, data any) error {
	name, encoded, err := encodeNamed(event, data)
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
	return c.server.calls.cancel(target)
}

// End begins the orderly end once this call is answered (contract 2, runtime.shutdown).
func (c *Control) End(exitCode int) { c.server.End(exitCode) }

// Load tells how busy the server is, this call included.
func (c *Control) Load() Load { return c.server.Load() }
