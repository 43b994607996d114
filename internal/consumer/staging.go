package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"
	"unicode/utf8"
)

var (
	// errReconcile says that a store was restored, replaced or copied, or has lost receipts: what the ledger holds of it is not
	// its history any more. Nothing goes on there before a person has compared.
	errReconcile = errors.New("needs reconciliation")

	errHome = errors.New("not every home could be read")
)

// consumer stages receipts.
type consumer struct {
	ledger  *ledger
	sidecar *sidecar
	limit   int
	out     io.Writer
	said    map[string]string // of each home, so that following does not repeat itself
}

// follow looks again and again, until ctx ends. It polls, since the notification receipts.committed goes to the host of the
// sidecar that deleted, which is not us, and is only a hint even there.
func (c *consumer) follow(ctx context.Context, homes []string, every time.Duration) error {
	for {
		err := c.look(ctx, homes)
		if ctx.Err() == nil && errors.Is(err, errNoSidecar) {
			return err
		}
		select {
		case <-ctx.Done():
			if errors.Is(err, errReconcile) {
				return err
			}
			return nil // what is staged is durable
		case <-time.After(every):
		}
	}
}

// look stages what there is in each home, and says how it went. One home stops no other.
func (c *consumer) look(ctx context.Context, homes []string) (result error) {
	for _, home := range homes {
		said, err := c.stageHome(ctx, home)
		if errors.Is(err, errNoSidecar) || ctx.Err() != nil {
			return errors.Join(result, err)
		}
		if err != nil {
			said = err.Error()
		}
		if said != c.said[home] {
			fmt.Fprintf(c.out, "%s: %s\n", home, said)
			c.said[home] = said
		}
		switch {
		case errors.Is(err, errReconcile): // of all that can be, a person has to see this
			result = errReconcile
		case err != nil && result == nil:
			result = errHome
		}
	}
	return result
}

// stageHome is the core of a consumer: read a page behind the cursor, make it durable together with the next cursor, and so on
// until there is no more. It may be killed anywhere: a page is staged as a whole or not at all, and is read again then.
func (c *consumer) stageHome(ctx context.Context, path string) (said string, err error) {
	home, err := findHome(path)
	if err != nil {
		return "", err
	}
	for {
		at, err := c.ledger.position(ctx, home.store)
		if err != nil {
			return "", err
		}
		if at.doubt != "" {
			return "", fmt.Errorf("%w: %s", errReconcile, at.doubt)
		}
		p, err := c.sidecar.list(ctx, home.path, at.cursor, c.limit)
		v, err := judge(home.store, at, p, err)
		if err != nil {
			return "", err
		}
		if v.next != at {
			err = c.ledger.stage(ctx, home.store, at, v)
		}
		switch {
		case errors.Is(err, errOvertaken):
			continue
		case err != nil:
			return "", err
		case v.next.doubt != "":
			return "", fmt.Errorf("%w: %s", errReconcile, v.next.doubt)
		case v.unknown:
			return "unknown yet: the store has no deletion receipts, which is not to say that nothing was deleted", nil
		case v.end:
			return fmt.Sprintf("staged up to %d", v.next.cursor), nil
		}
	}
}

// home is an Agent profile's folder.
type home struct {
	path  string // resolved
	store string // the resolved path of its database, as receipts name it
}

// findHome follows links without opening anything: only the sidecar opens a store.
func findHome(path string) (h home, err error) {
	if h.path, err = filepath.Abs(path); err != nil {
		return h, err
	}
	if h.path, err = filepath.EvalSymlinks(h.path); err != nil {
		return h, err
	}
	if h.store, err = filepath.EvalSymlinks(filepath.Join(h.path, "state.db")); err != nil {
		return h, err
	}
	if !utf8.ValidString(h.store) {
		return h, errors.New("no JSON can hold its path")
	}
	return h, nil
}
