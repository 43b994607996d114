package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"session-sidecar/methods"
	"session-sidecar/rpc"
)

// client makes calls over a channel of its own inside this process: every command takes the very same way as an app.
type client struct {
	requests io.WriteCloser
	frames   chan frame
	flushLog func()
	calls    int
}

// frame is one line of the server.
type frame struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// answerError is an error answer.
type answerError struct {
	Code    int
	Message string
	Data    struct{ Condition, Detail string }
	raw     json.RawMessage
}

func (e *answerError) Error() string {
	if e.Data.Condition != "" {
		return fmt.Sprintf("%s (%s)", e.Message, e.Data.Condition)
	}
	return e.Message
}

// newClient starts a server and, where the calls need one, makes the handshake. The client is there, and has to be closed, where that
// fails too.
func newClient(ctx context.Context, host hostFlags, handshake bool) (*client, error) {
	log, flushLog := newLog(os.Stderr, logLevelOf(ctx, personLogLevel))
	toServer, requests := io.Pipe()
	replies, fromServer := io.Pipe()
	c := &client{requests: requests, frames: make(chan frame), flushLog: flushLog}
	go func() {
		registry := methods.New(log)
		rpc.New(registry, log, 1).Serve(context.WithoutCancel(ctx), toServer, fromServer)
		registry.Close()
		_ = fromServer.Close()
	}()
	go c.receive(replies)
	if !handshake {
		return c, nil
	}
	_, err := c.call(ctx, "runtime.handshake", host.params(), nil)
	return c, err
}

// endWithin is how long the server may take to close what it holds open, when all calls are answered.
const endWithin = 5 * time.Second

// close ends the server and waits for that, and for the last lines of the log.
func (c *client) close() {
	_ = c.requests.Close()
	late := time.After(endWithin)
	for open := true; open; {
		select {
		case _, open = <-c.frames:
		case <-late:
			open = false
		}
	}
	c.flushLog()
}

func (c *client) receive(replies io.Reader) {
	defer close(c.frames)
	lines := bufio.NewReader(replies)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var f frame
		if json.Unmarshal(line, &f) == nil {
			c.frames <- f
		}
	}
}

// call makes one call and waits for its answer. events sees its stream frames. A cancelled context cancels the call, which
// still answers: what it has done by then is its result.
func (c *client) call(
	ctx context.Context, method string, params any, events func(event string, data json.RawMessage),
) (json.RawMessage, error) {
	c.calls++
	id := strconv.Itoa(c.calls)
	if err := c.send(id, method, params); err != nil {
		return nil, err
	}
	interrupted := ctx.Done()
	for {
		select {
		case <-interrupted:
			interrupted = nil
			if err := c.send(`"cancel"`, "rpc.cancel", json.RawMessage(`{"id":`+id+`}`)); err != nil {
				return nil, err
			}
		case f, open := <-c.frames:
			if !open {
				return nil, errors.New("the call ended without an answer")
			}
			if f.Method == "stream" && events != nil {
				var stream struct {
					Event string
					Data  json.RawMessage
				}
				if err := json.Unmarshal(f.Params, &stream); err != nil {
					return nil, err
				}
				events(stream.Event, stream.Data)
			}
			if string(f.ID) == id || string(f.ID) == "null" {
				return f.answer()
			}
		}
	}
}

func (f *frame) answer() (json.RawMessage, error) {
	if f.Error == nil {
		return f.Result, nil
	}
	failure := &answerError{raw: f.Error}
	if err := json.Unmarshal(f.Error, failure); err != nil {
		return nil, err
	}
	return nil, failure
}

func (c *client) send(id, method string, params any) error {
	name, err := rpc.Encode(method)
	if err != nil {
		return err
	}
	line := `{"jsonrpc":"2.0","id":` + id + `,"method":` + string(name)
	if params != nil {
		encoded, err := rpc.Encode(params)
		if err != nil {
			return err
		}
		line += `,"params":` + string(encoded)
	}
	_, err = io.WriteString(c.requests, line+"}\n")
	return err
}
