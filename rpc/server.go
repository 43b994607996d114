package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"session-sidecar/internal/randomhex"
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
	maxCalls int
	drainFor time.Duration
	giveUpIn time.Duration

	out *writer

	// mu guards all below: one state, so that no lock order can go wrong.
	mu       sync.Mutex
	calls    map[string]*call // in flight, by the bytes of their ids
	slots    int              // calls that count against maxCalls
	open     int              // calls whose answer is not queued yet
	ending   bool
	exitCode int
	answered uint64

	end  chan struct{} // closed when the end begins
	idle chan struct{} // closed when the end has begun and every call is answered
}

// call is one request in flight.
type call struct {
	id     id
	method string
	ctx    context.Context
	cancel context.CancelFunc
	inline bool
}

// New makes a server. maxCalls of 0 is DefaultMaxCalls.
func New(router Router, log *slog.Logger, maxCalls int) *Server {
	if maxCalls == 0 {
		maxCalls = DefaultMaxCalls
	}
	s := &Server{
		router: router, log: log, maxCalls: maxCalls, drainFor: drainFor, giveUpIn: giveUpIn,
		calls: map[string]*call{}, end: make(chan struct{}), idle: make(chan struct{}),
	}
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
	case <-s.end:
	case <-ctx.Done():
		s.End(0)
	}
	s.drain(cancelCalls)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exitCode
}

// End begins the orderly end with this exit code. Only the first call counts.
func (s *Server) End(exitCode int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return
	}
	s.ending = true
	s.exitCode = exitCode
	close(s.end)
	if s.open == 0 {
		close(s.idle)
	}
}

// Activity tells how many calls were answered since the start, and whether one is under way.
func (s *Server) Activity() (answered uint64, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered, s.open > 0
}

// drain lets calls in flight finish, then cancels what has not passed its point of no return, then writes what is left.
func (s *Server) drain(cancelCalls context.CancelFunc) {
	deadline := time.Now().Add(s.drainFor + s.giveUpIn)
	if !wait(s.idle, s.drainFor) {
		cancelCalls()
		wait(s.idle, s.giveUpIn)
	}
	s.out.close()
	wait(s.out.done, time.Until(deadline)) // a host may take its time to read what it asked for
}

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
	c, failure := s.begin(ctx, r, endpoint.Inline)
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

// begin enters a request among those in flight, or refuses it.
func (s *Server) begin(ctx context.Context, r *request, inline bool) (*call, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.calls[string(r.id)] != nil:
		return nil, &Error{Code: CodeInvalidRequest, Message: "this id is still in flight"}
	case s.ending && !inline:
		return nil, condition(ConditionShuttingDown, "the sidecar is shutting down")
	case s.slots >= s.maxCalls && !inline:
		return nil, condition(ConditionBusy, fmt.Sprintf("%d calls are running already", s.maxCalls))
	}
	c := &call{id: r.id, method: r.method, inline: inline}
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.ctx = context.WithValue(c.ctx, callKey{}, &Control{server: s, id: r.id})
	s.calls[string(r.id)] = c
	if !inline {
		s.slots++
	}
	s.open++
	return c, nil
}

// finish takes a call out of those in flight, before its answer goes out, so that a host may use the id again at once.
func (s *Server) finish(c *call) {
	s.mu.Lock()
	delete(s.calls, string(c.id))
	if !c.inline {
		s.slots--
	}
	s.answered++
	s.mu.Unlock()
	c.cancel()
}

// settle notes that a call's answer is queued.
func (s *Server) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.ending && s.open == 0 && !closed(s.idle) {
		close(s.idle)
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
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
		s.finish(c)
		s.out.sendNow(frame)
		s.settle()
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

func (s *Server) answerReserved(c *call, frame []byte) {
	s.finish(c)
	s.out.sendReserved(frame)
	s.settle()
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

// resultOf makes the call and encodes its result. It turns a panic, in the encoding too, into an error: it fails this
// call only.
func resultOf(ctx context.Context, endpoint Endpoint, params json.RawMessage) (encoded json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			encoded, err = nil, &panicked{p, debug.Stack()}
		}
	}()
	result, err := endpoint.Call(ctx, params)
	if err != nil {
		return nil, err
	}
	return Encode(result)
}

type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// wireError is the one way from a handler's error to an answer. An unexpected one is answered with an incident id alone;
// its detail goes to the log.
func (s *Server) wireError(ctx context.Context, err error) *Error {
	var ours *Error
	if errors.As(err, &ours) {
		return ours
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &Error{
			Code: CodeCancelled, Message: "the call was cancelled",
			Data: Condition{Condition: ConditionCancelled},
		}
	}
	incident := newIncident()
	var p *panicked
	if errors.As(err, &p) {
		s.log.Error("a call panicked", "incident", incident, "error", err, "stack", string(p.stack))
	} else {
		s.log.Error("a call failed unexpectedly", "incident", incident, "error", err)
	}
	return &Error{
		Code: CodeInternal, Message: "unexpected failure; the log has the details",
		Data: map[string]string{"incident": incident},
	}
}

func newIncident() string { return randomhex.New(4) }

func (s *Server) failureFrame(to id, failure *Error) []byte {
	encoded, err := Encode(failure)
	if err != nil {
		s.log.Error("an error's data could not be encoded", "error", err)
		encoded, _ = Encode(&Error{Code: failure.Code, Message: failure.Message})
	}
	return errorFrame(to, encoded)
}

// Notify sends a notification of ours (contract 1.3). It is a hint: a host that has gone away never sees it, and it never waits
// for one that does not read.
func (s *Server) Notify(method string, params any) error {
	name, err := Encode(method)
	if err != nil {
		return err
	}
	encoded, err := Encode(params)
	if err != nil {
		return err
	}
	s.out.sendNow(notificationFrame(name, encoded))
	return nil
}

func condition(word, detail string) *Error {
	return &Error{Code: CodeApplication, Message: detail, Data: Condition{Condition: word}}
}
