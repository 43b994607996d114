// Package rpc speaks newline-delimited JSON-RPC 2.0 over a pair of streams (contract 1): framing, dispatch, calls in
// flight, cancel, the limit on calls, and an orderly end. It knows no method but rpc.cancel's effect; whoever wires it
// brings the methods.
//
// The way of a request: lines.go reads a line, request.go decodes it, server.go finds its endpoint, calls.go enters it among
// those in flight, server.go makes the call, failure.go turns what went wrong into an error, wire.go puts the frame together,
// output.go writes it. What a running call may ask for is in control.go.
package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// The times of an orderly end (contract 1.8). With what it takes to see that the host has gone, and to write the last
// log lines, they stay under the seven seconds by which no sidecar outlives its host.
const (
	drainFor = 5 * time.Second // calls in flight may finish by themselves
	giveUpIn = time.Second     // after that, until cancelled calls have answered and the output is written
)

// DefaultMaxCalls is how many calls run at once (contract 1.5).
const DefaultMaxCalls = 64

// Endpoint is one method, ready to be called.
type Endpoint struct {
	// Inline runs it before the next line is read, in no slot: for what must be finished first, or must never wait.
	Inline bool
	// Brief says that it waits for nothing and takes no time. It takes its slot as any other, but need not be handed over to be run
	// beside the reading of the next line.
	Brief bool
	// Call does the work. An *Error is answered as it is; the context's own error, once the call was cancelled, as
	// cancelled; anything else is an unexpected failure.
	Call func(ctx context.Context, params json.RawMessage) (result any, err error)
}

// Router finds the endpoint for a method, or the error to answer.
type Router interface {
	Route(method string) (Endpoint, *Error)
}

// Server serves one host over one pair of streams. Use New, then Serve once.
type Server struct {
	router   Router
	log      *slog.Logger
	drainFor time.Duration
	giveUpIn time.Duration

	calls *calls
	out   *writer
}

// New makes a server. maxCalls of 0 is DefaultMaxCalls.
func New(router Router, log *slog.Logger, maxCalls int) *Server {
	if maxCalls == 0 {
		maxCalls = DefaultMaxCalls
	}
	s := &Server{router: router, log: log, drainFor: drainFor, giveUpIn: giveUpIn, calls: newCalls(maxCalls)}
	s.out = newWriter(func(err error) {
		log.Info("the host does not read any more", "error", err)
		s.End(0)
	})
	return s
}

// Serve reads requests from in and writes frames to out until the orderly end, and gives the exit code. The end begins
// when in ends, when out breaks, when the context ends, or when End is called.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) int {
	s.out.use(out)
	go s.out.run(out)
	// The calls' context lives on while they drain.
	calls, cancelCalls := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelCalls()
	go s.read(calls, in)
	select {
	case <-s.calls.end:
	case <-ctx.Done():
		s.End(0)
	}
	s.drain(cancelCalls)
	return s.calls.exit()
}

// End begins the orderly end with this exit code. Only the first call counts.
func (s *Server) End(exitCode int) { s.calls.beginEnd(exitCode) }

// Load is how busy a server is.
type Load struct {
	InFlight int    // calls that run now
	Limit    int    // how many may run at once
	Answered uint64 // calls answered since the start
}

// Load tells how busy the server is.
func (s *Server) Load() Load { return s.calls.load() }

// Notify sends a notification of ours (contract 1.3). It is a hint: a host that has gone away never sees it, and it never waits
// for one that does not read. The error tells only that the parameters cannot be encoded.
func (s *Server) Notify(method string, params any) error {
	name, encoded, err := encodeNamed(method, params)
	if err != nil {
		return err
	}
	s.out.sendNow(notificationFrame(name, encoded))
	return nil
}

// drain lets calls in flight finish, then cancels what has not passed its point of no return, then writes what is left.
func (s *Server) drain(cancelCalls context.CancelFunc) {
	deadline := time.Now().Add(s.drainFor + s.giveUpIn)
	if !wait(s.calls.idle, s.drainFor) {
		cancelCalls()
		wait(s.calls.idle, s.giveUpIn)
	}
	s.out.close()
	wait(s.out.done, time.Until(deadline)) // a host may take its time to read what it asked for
}

// wait waits for done, and tells whether it came within the limit.
func wait(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// read handles line after line. It never waits for the host to read, or it would not see the host's cancel or its end.
func (s *Server) read(ctx context.Context, in io.Reader) {
	lines := newLineReader(in)
	for {
		line, err := lines.next()
		if errors.Is(err, errLineTooLong) {
			tooLong := &Error{Code: CodeParse, Message: fmt.Sprintf("a line is at most %d bytes", MaxLine)}
			s.out.sendNow(s.failureFrame(nullID, tooLong))
			continue
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.log.Info("the input broke", "error", err)
			}
			s.End(0)
			return
		}
		s.handle(ctx, line)
		if s.out.broken() {
			return // nobody reads what else would be answered
		}
	}
}

// handle answers one line, or starts the call that will.
func (s *Server) handle(ctx context.Context, line []byte) {
	r, answerTo, failure := decodeRequest(line)
	if failure != nil {
		s.out.sendNow(s.failureFrame(answerTo, failure))
		return
	}
	if r.id == nil {
		return // a notification: never answered, and none of ours does anything unasked
	}
	endpoint, failure := s.router.Route(r.method)
	if failure != nil {
		endpoint = failing(failure) // it still may not use an id that is in flight
	}
	c, failure := s.calls.begin(withControl(ctx, s, r.id), r, endpoint.Inline)
	if failure != nil {
		s.out.sendNow(s.failureFrame(r.id, failure))
		return
	}
	if endpoint.Inline || endpoint.Brief {
		s.runHere(c, endpoint, r.params)
		return
	}
	go s.run(c, endpoint, r.params)
}

// failing is an endpoint that only ever answers this.
func failing(failure *Error) Endpoint {
	return Endpoint{Inline: true, Call: func(context.Context, json.RawMessage) (any, error) { return nil, failure }}
}

// run makes the call and answers it.
func (s *Server) run(c *call, endpoint Endpoint, params json.RawMessage) {
	s.answer(c, s.frameOf(c, endpoint, params))
}

// runHere is run for the one who reads, who waits for nobody.
func (s *Server) runHere(c *call, endpoint Endpoint, params json.RawMessage) {
	frame := s.frameOf(c, endpoint, params)
	switch {
	case c.inline:
		s.calls.finish(c)
		s.out.sendNow(frame)
		s.calls.settle()
	case s.out.tryReserve(frame):
		s.answerReserved(c, frame)
	default:
		go s.answer(c, frame)
	}
}

// answer waits for room for a frame and sends it.
func (s *Server) answer(c *call, frame []byte) {
	s.out.reserve(frame) // in its slot still, or a host that does not read could start calls without end
	s.answerReserved(c, frame)
}

// answerReserved sends a frame for which there is room.
func (s *Server) answerReserved(c *call, frame []byte) {
	s.calls.finish(c)
	s.out.sendReserved(frame)
	s.calls.settle()
}

// frameOf makes the call and puts its answer together.
func (s *Server) frameOf(c *call, endpoint Endpoint, params json.RawMessage) []byte {
	begun := time.Now()
	result, err := resultOf(c.ctx, endpoint, params)
	var failure *Error
	if err != nil {
		failure = s.wireError(c.ctx, err)
	}
	s.logCall(c, failure, time.Since(begun))
	if failure != nil {
		return s.failureFrame(c.id, failure)
	}
	return resultFrame(c.id, result)
}

// logCall tells of each call to who looks for what a host asks, and how long it waits. What it asks with, and what it gets, may be text
// of a conversation, and an error's message may quote that.
func (s *Server) logCall(c *call, failure *Error, took time.Duration) {
	if !s.log.Enabled(c.ctx, slog.LevelDebug) {
		return
	}
	code, condition := 0, ""
	if failure != nil {
		code = failure.Code
		if told, is := failure.Data.(Condition); is {
			condition = told.Condition
		}
	}
	s.log.Debug("call", "method", shortened(c.method), "id", shortened(string(c.id)), "code", code, "condition", condition,
		"total_ms", float64(took.Microseconds())/1e3)
}
