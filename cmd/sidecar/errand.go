package main

import (
	"context"
	"encoding/json"
	"maps"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// errand is one run of a command for people: whom it asks, about which home, and where it prints.
type errand struct {
	*homeFlags
	client *client
	paper  *paper
}

// run runs a command with a context that an interrupt ends.
func (h *homeFlags) run(cmd *cobra.Command, do func(context.Context, *errand) error) error {
	if h.home == "" {
		return errHomeMissing
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	c, err := newClient(ctx, h.hostFlags, true)
	defer c.close()
	if err != nil {
		return err
	}
	return do(ctx, &errand{h, c, newPaper(cmd.OutOrStdout())})
}

// about is the parameters of a call about the errand's home.
func (e *errand) about(params map[string]any) map[string]any {
	all := map[string]any{"profile_home": e.home}
	maps.Copy(all, params)
	return all
}

// askAbout makes a call about the errand's home. Its result comes decoded, and as the method spelled it.
func askAbout[R any](ctx context.Context, e *errand, method string, params map[string]any) (result R, raw json.RawMessage, err error) {
	return askTelling[R](ctx, e, method, params, nil)
}

// askTelling is askAbout for a call that tells on its way how far it is: events sees its stream frames.
func askTelling[R any](
	ctx context.Context, e *errand, method string, params map[string]any, events func(event string, data json.RawMessage),
) (result R, raw json.RawMessage, err error) {
	raw, err = e.client.call(ctx, method, e.about(params), events)
	if err == nil {
		err = json.Unmarshal(raw, &result)
	}
	return result, raw, err
}

// print prints a result: as the method spelled it with --json, for people without.
func (e *errand) print(raw json.RawMessage, forPeople func(*paper)) error {
	if e.json {
		e.paper.raw(string(raw))
	} else {
		forPeople(e.paper)
	}
	return e.paper.err
}
