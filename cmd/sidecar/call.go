package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"session-sidecar/methods"
	"session-sidecar/rpc"
)

// callRequest is one call from the command line.
type callRequest struct {
	method             string
	params             json.RawMessage
	agentDir, baseHome string
}

func newCallCommand() *cobra.Command {
	var agentDir, baseHome string
	cmd := &cobra.Command{
		Use:   "call METHOD [JSON]",
		Short: "Make one call and print its result",
		Long: `Makes one call and prints its result as one line of JSON. JSON is the object of
the parameters; '-' reads it from standard input. The handshake is made for you.

Exit status: 0 for a result, 1 for an error answer (printed on standard error),
2 for a wrong command line.`,
		Example: `  sidecar call rpc.methods
  sidecar call state_db.delete_cli_session \
      '{"profile_home":"/path/to/profile","session_id":"20260101_120000_abc123"}'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usageError{errors.New("call takes a method and, where it has any, its parameters as JSON")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			request := callRequest{method: args[0], agentDir: agentDir, baseHome: baseHome}
			if len(args) == 2 {
				params, err := paramsArgument(args[1], cmd.InOrStdin())
				if err != nil {
					return usageError{err}
				}
				request.params = params
			}
			return call(cmd.Context(), request, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&agentDir, "agent-dir", "", "folder of the installed Agent")
	cmd.Flags().StringVar(&baseHome, "base-home", "", "home of the base profile")
	return cmd
}

// paramsArgument reads the parameters as one line of JSON, spelled as they were given.
func paramsArgument(argument string, stdin io.Reader) (json.RawMessage, error) {
	text := []byte(argument)
	if argument == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(stdin, rpc.MaxLine)); err != nil {
			return nil, fmt.Errorf("read the parameters: %w", err)
		}
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil || !strings.HasPrefix(line.String(), "{") {
		return nil, errors.New("the parameters must be one JSON object")
	}
	return line.Bytes(), nil
}

// call serves itself over pipes in this process, so that a call from the command line takes the very same way.
func call(ctx context.Context, request callRequest, out, errOut io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log, flushLog := newLog(os.Stderr, slog.LevelWarn)
	defer flushLog()
	toServer, requests := io.Pipe()
	replies, fromServer := io.Pipe()
	go func() {
		rpc.New(methods.New(log), log, 1).Serve(context.WithoutCancel(ctx), toServer, fromServer)
		_ = fromServer.Close()
	}()
	go send(ctx, requests, request)
	return printAnswer(replies, out, errOut)
}

const (
	handshakeID = `"handshake"`
	callID      = `"call"`
)

// send writes the requests: a handshake where the method needs one, then the call, and a cancel if the user interrupts.
func send(ctx context.Context, requests io.WriteCloser, request callRequest) {
	if !strings.HasPrefix(request.method, "rpc.") && !strings.HasPrefix(request.method, "runtime.") {
		handshake := map[string]any{"rpc_version": methods.RPCVersion}
		if request.agentDir != "" {
			handshake["agent_dir"] = request.agentDir
		}
		if request.baseHome != "" {
			handshake["base_home"] = request.baseHome
		}
		params, _ := rpc.Encode(handshake) // a map of numbers and strings
		writeRequest(requests, handshakeID, "runtime.handshake", params)
	}
	writeRequest(requests, callID, request.method, request.params)
	<-ctx.Done()
	writeRequest(requests, `"cancel"`, "rpc.cancel", json.RawMessage(`{"id":`+callID+`}`))
}

func writeRequest(to io.Writer, id, method string, params json.RawMessage) {
	name, _ := rpc.Encode(method) // a string
	line := `{"jsonrpc":"2.0","id":` + id + `,"method":` + string(name)
	if params != nil {
		line += `,"params":` + string(params)
	}
	_, _ = io.WriteString(to, line+"}\n") // a server that has ended answers nothing, which the reader sees
}

// printAnswer waits for the answer to the call, or to a handshake that failed.
func printAnswer(replies io.Reader, out, errOut io.Writer) error {
	lines := bufio.NewReader(replies)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return errors.New("the call ended without an answer")
		}
		var reply struct {
			ID            json.RawMessage
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(line, &reply); err != nil {
			return fmt.Errorf("the answer cannot be read: %w", err)
		}
		switch {
		case reply.Error != nil && reply.ID != nil:
			_, _ = fmt.Fprintf(errOut, "%s\n", reply.Error)
			return exitCode(exitFailure)
		case string(reply.ID) == callID:
			_, err := fmt.Fprintf(out, "%s\n", reply.Result)
			return err
		}
	}
}
