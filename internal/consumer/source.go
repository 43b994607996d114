package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// rpcVersion is the version of the protocol that this program speaks.
const rpcVersion = 1

const (
	callPatience = time.Minute     // the sidecar answers sooner, or is broken
	endPatience  = 8 * time.Second // a little more than the sidecar allows itself
)

// errNoSidecar says that this sidecar answers nothing any more.
var errNoSidecar = errors.New("the sidecar does not answer")

// sidecar is a child process that reads the stores for us. It is asked for one thing at a time.
type sidecar struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  chan []byte
	lastID int
}

// startSidecar starts the program with pipes and introduces itself. When this process dies, however it does, the pipe of the
// sidecar's standard input is closed, and the sidecar ends by itself.
func startSidecar(ctx context.Context, program string, log io.Writer) (*sidecar, error) {
	s := &sidecar{cmd: exec.Command(program), lines: make(chan []byte)}
	s.cmd.Stderr = log
	stdout, err := s.cmd.StdoutPipe()
	if err == nil {
		s.stdin, err = s.cmd.StdinPipe()
	}
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the sidecar: %w", err)
	}
	go s.collect(stdout)
	var hello struct {
		Version int `json:"rpc_version"`
	}
	err = s.call(ctx, "runtime.handshake", map[string]any{"rpc_version": rpcVersion}, &hello)
	if err == nil && hello.Version != rpcVersion {
		err = fmt.Errorf("the sidecar speaks version %d", hello.Version)
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (s *sidecar) collect(stdout io.Reader) {
	defer close(s.lines)
	reader := bufio.NewReader(stdout) // a page may be megabytes long
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return // half a line is no answer
		}
		s.lines <- line
	}
}

// end closes the sidecar's input and waits for its end.
func (s *sidecar) end() {
	_ = s.stdin.Close()
	timer := time.AfterFunc(endPatience, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	for range s.lines { // until its output ends
		continue
	}
	_ = s.cmd.Wait() // it has written nothing that could be lost
}

// page is the answer to receipts.list.
type page struct {
	Receipts []struct {
		Sequence int64           `json:"sequence"`
		Deletion json.RawMessage `json:"deletion"` // kept byte for byte
	} `json:"receipts"`
	NextAfter int64 `json:"next_after"`
	Head      int64 `json:"head"`
}

// list asks for the receipts of a home's store behind a cursor.
func (s *sidecar) list(ctx context.Context, home string, after int64, limit int) (p page, err error) {
	err = s.call(ctx, "receipts.list", map[string]any{"profile_home": home, "after_sequence": after, "limit": limit}, &p)
	return p, err
}

// refusal is an answer that has a condition. Any other error of a call is a failure that says nothing of the store.
type refusal struct {
	Message string `json:"message"`
	Data    struct {
		Condition string `json:"condition"`
		Detail    string `json:"detail"`
		Head      int64  `json:"head"`
	} `json:"data"`
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (%s)", r.Message, r.Data.Condition) }

func (s *sidecar) call(ctx context.Context, method string, params, result any) error {
	s.lastID++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.lastID, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	if _, err := s.stdin.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errNoSidecar, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callPatience, fmt.Errorf("%w for %s", errNoSidecar, callPatience))
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", method, context.Cause(ctx))
		case line, open := <-s.lines:
			if !open {
				return fmt.Errorf("%w: it has ended", errNoSidecar)
			}
			if answered, err := s.answer(line, result); answered || err != nil {
				return err
			}
		}
	}
}

// answer reads a line. One without our id is a notification, which is nothing to us.
func (s *sidecar) answer(line []byte, result any) (answered bool, err error) {
	var reply struct {
		ID     *int            `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *refusal        `json:"error"`
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return false, fmt.Errorf("%w: it wrote something else than an answer: %w", errNoSidecar, err)
	}
	switch {
	case reply.Error != nil:
		return true, reply.Error
	case reply.ID == nil || *reply.ID != s.lastID:
		return false, nil
	}
	return true, json.Unmarshal(reply.Result, result)
}
