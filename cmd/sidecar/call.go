package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"session-sidecar/methods"
	"session-sidecar/rpc"
)

// callRequest is one call from the command line.
type callRequest struct {
	method string
	params json.RawMessage
	host   hostFlags
}

func newCallCommand() *cobra.Command {
	var host hostFlags
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
			request := callRequest{method: args[0], host: host}
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
	host.add(cmd)
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

// call makes the call and prints its answer.
func call(ctx context.Context, request callRequest, out, errOut io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	c, err := newClient(ctx, request.host, methods.NeedsHandshake(request.method))
	defer c.close()
	var result json.RawMessage
	if err == nil {
		result, err = c.call(ctx, request.method, request.arguments(), nil)
	}
	if failure, is := errors.AsType[*answerError](err); is {
		_, _ = fmt.Fprintf(errOut, "%s\n", failure.raw)
		return exitCode(exitFailure)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", result)
	return err
}

// arguments are the parameters, or nothing where none were given.
func (r *callRequest) arguments() any {
	if r.params == nil {
		return nil
	}
	return r.params
}
