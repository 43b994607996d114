package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	replyPatience = 10 * time.Second // how long an answer may take before the demo gives up
	endPatience   = 8 * time.Second  // a little more than the sidecar allows itself (contract 1.8)
)

// sidecar is the child process and the conversation with it, which it writes down on a page as it goes.
type sidecar struct {
	page   *page
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  chan string
	log    bytes.Buffer // read only once the process has ended
	lastID int

	exited  chan struct{}
	waitErr error // how the process ended, once exited is closed
}

// startSidecar starts this very program as a desktop app would: no arguments, pipes for its input and output.
func startSidecar(p *page) (*sidecar, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program itself: %w", err)
	}
	s := &sidecar{page: p, cmd: exec.Command(program), lines: make(chan string), exited: make(chan struct{})}
	s.cmd.Stderr = &s.log
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
	return s, nil
}

// collect hands over every line of the output, then waits for the end of the process.
func (s *sidecar) collect(stdout io.Reader) {
	reader := bufio.NewReader(stdout)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			break
		}
		s.lines <- line[:len(line)-1]
	}
	close(s.lines)
	s.waitErr = s.cmd.Wait()
	close(s.exited)
}

// request has its fields in the order in which people read them.
type request struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// call makes one call, shows both lines and reads the result into result.
func (s *sidecar) call(ctx context.Context, method string, params, result any) error {
	s.lastID++
	line, err := json.Marshal(request{"2.0", s.lastID, method, params})
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	s.page.frame("->", cyan, string(line))
	if _, err := s.stdin.Write(append(line, '\n')); err != nil {
		return s.endedEarly()
	}
	answer, err := s.answer(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	s.page.blank()
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("read the answer to %s: %w", method, err)
	}
	return nil
}

// answer waits for the result of the last call. What comes before it is a notification: shown, and no answer.
func (s *sidecar) answer(ctx context.Context) (json.RawMessage, error) {
	limit := time.After(replyPatience)
	for {
		var line string
		select {
		case <-ctx.Done():
			s.cancel()
			return nil, ctx.Err()
		case <-limit:
			return nil, errors.New("no answer came")
		case next, ok := <-s.lines:
			if !ok {
				return nil, s.endedEarly()
			}
			line = next
		}
		s.page.frame("<-", green, line)
		var reply struct {
			ID     *int            `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &reply); err != nil {
			return nil, fmt.Errorf("the sidecar wrote something else than an answer: %w", err)
		}
		switch {
		case reply.Error != nil:
			return nil, fmt.Errorf("the sidecar answered with an error: %s", reply.Error.Message)
		case reply.ID != nil && *reply.ID == s.lastID:
			return reply.Result, nil
		}
	}
}

// cancel calls the last call off, so that the sidecar can end at once. Nobody waits for what it says to that.
func (s *sidecar) cancel() {
	params := map[string]int{"id": s.lastID}
	line, err := json.Marshal(request{"2.0", s.lastID + 1, "rpc.cancel", params})
	if err == nil {
		_, _ = s.stdin.Write(append(line, '\n')) // a sidecar that has ended needs no cancel
	}
}

// endedEarly tells how a sidecar ended that was to answer, with the first thing that it said to people.
func (s *sidecar) endedEarly() error {
	err := s.end()
	if err == nil {
		err = errors.New("the sidecar ended with exit status 0")
	}
	for line := range strings.Lines(s.log.String()) {
		if !strings.HasPrefix(line, "{") { // no line of its log
			return fmt.Errorf("%w, saying: %s", err, strings.TrimPrefix(strings.TrimSpace(line), "sidecar: "))
		}
	}
	return err
}

// end closes the input, which asks the sidecar to finish what it does and to exit, and waits for that. Only one that
// does not is killed. It may be called again.
func (s *sidecar) end() error {
	_ = s.stdin.Close()
	go func() {
		for range s.lines { // nobody waits for these any more, but the reader must get to the end
			continue
		}
	}()
	select {
	case <-s.exited:
	case <-time.After(endPatience):
		_ = s.cmd.Process.Kill()
		<-s.exited
		return errors.New("the sidecar did not end by itself")
	}
	if s.waitErr != nil {
		return fmt.Errorf("the sidecar ended with %w", s.waitErr)
	}
	return nil
}
