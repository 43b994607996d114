package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// process is a program that answers lines with lines.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	calls int
}

// spawn starts a program that says on our standard error nothing of what goes wrong: its answers tell.
func spawn(ctx context.Context, program string, args ...string) (*process, error) {
	return start(exec.CommandContext(ctx, program, args...))
}

func start(cmd *exec.Cmd) (*process, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd: cmd, in: in, out: bufio.NewReader(out)}, nil
}

// end closes the input, at which the program ends.
func (p *process) end() {
	_ = p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	_ = p.cmd.Wait()
}

// exchange writes a line and reads one.
func (p *process) exchange(line []byte) ([]byte, error) {
	if _, err := p.in.Write(line); err != nil {
		return nil, err
	}
	return p.out.ReadBytes('\n')
}

// handshake makes a sidecar ready for calls.
func (p *process) handshake() error {
	return p.call("runtime.handshake", map[string]any{"rpc_version": 1}, nil)
}

// call makes one call of a sidecar, and passes over what it says besides.
func (p *process) call(method string, params, result any) error {
	p.calls++
	request := map[string]any{"jsonrpc": "2.0", "id": p.calls, "method": method}
	if params != nil {
		request["params"] = params
	}
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	answer, err := p.exchange(append(line, '\n'))
	for ; err == nil; answer, err = p.out.ReadBytes('\n') {
		var reply struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(answer, &reply); err != nil {
			return err
		}
		switch {
		case reply.Method != "" || reply.ID != p.calls:
			continue
		case reply.Error != nil:
			return fmt.Errorf("%s: %s", method, reply.Error)
		case result == nil:
			return nil
		}
		return json.Unmarshal(reply.Result, result)
	}
	return errors.Join(fmt.Errorf("%s has no answer", method), err)
}

// remove deletes a conversation by a call.
func (p *process) remove(home, id string) error {
	var done struct {
		OK     bool
		Reason string
		Detail string
	}
	if err := p.call("state_db.delete_cli_session", map[string]any{"profile_home": home, "session_id": id}, &done); err != nil {
		return err
	}
	if !done.OK {
		return fmt.Errorf("%s: %s (%s)", id, done.Detail, done.Reason)
	}
	return nil
}

func (p *process) list(home string) error {
	var page struct{ Conversations []json.RawMessage }
	err := p.call("state_db.list_conversations", map[string]any{"profile_home": home, "limit": 50}, &page)
	if err == nil && len(page.Conversations) == 0 {
		err = errors.New("the list is empty")
	}
	return err
}

func (p *process) preview(home, id string) error {
	var plan struct{ IDs []json.RawMessage }
	err := p.call("state_db.preview_delete", map[string]any{"profile_home": home, "session_id": id}, &plan)
	if err == nil && len(plan.IDs) != 2 {
		err = fmt.Errorf("a preview of %d sessions", len(plan.IDs))
	}
	return err
}
