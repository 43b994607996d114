package statedb

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"session-sidecar/internal/agentjson"
)

// A route intent is a row of state_meta in the store of a home that was deleted from: the ids whose routes in the base home's
// store are still to be fenced (contract 5d). It names no path and no namespace: a row of one store must never choose what
// is written into another. Which store that is the handshake says, and which namespace the home's own path.

// RouteIntent is one of them.
type RouteIntent struct {
	OperationID string // of the delete that left it
	SessionIDs  []string
	// Damaged is set for one that cannot be read. Nobody knows what it asks for, so it stays as it is, as a manifest does
	// that cannot be read, and holds nothing else up.
	Damaged bool
}

// writeRouteIntent notes, in the transaction of a delete, that the routes to these ids are to be fenced in the base home. An
// id that JSON cannot spell is left out: no routing entry can name it.
func (c *conn) writeRouteIntent(ctx context.Context, operationID string, ids []string) error {
	list := []any{}
	for _, id := range ids {
		if utf8.ValidString(id) {
			list = append(list, id)
		}
	}
	if len(list) == 0 {
		return nil
	}
	value, err := agentjson.Encode(agentjson.Object{"session_ids": list})
	if err != nil {
		return fmt.Errorf("note the routes to be fenced: %w", err)
	}
	return c.addRecord(ctx, "note the routes to be fenced", routeIntentPrefix+operationID, value)
}

// RouteIntents lists a store's route intents, in the order of their operation ids. A store without state_meta has none.
func RouteIntents(ctx context.Context, path string) (intents []RouteIntent, err error) {
	err = read(ctx, path, "read the route intents", func(c *conn) error {
		intents = nil
		s, err := c.readSchema(ctx)
		if err != nil || !s.hasRecords() {
			return err
		}
		return c.eachUnder(ctx, routeIntentPrefix, func(key, value string) {
			ids, ok := readRouteIntent(value)
			intents = append(intents, RouteIntent{strings.TrimPrefix(key, routeIntentPrefix), ids, !ok})
		})
	})
	return intents, err
}

// readRouteIntent reads the value of an intent: an object with a list of texts as session_ids.
func readRouteIntent(value string) (ids []string, ok bool) {
	fields, _ := readObject(value)
	var list []*string // so that a null is no text
	if json.Unmarshal(fields["session_ids"], &list) != nil || list == nil || slices.Contains(list, nil) {
		return nil, false
	}
	for _, id := range list {
		ids = append(ids, *id)
	}
	return ids, true
}

// DropRouteIntents removes the intents of these operations, when all that they ask for is done for good. ErrBusy where the write lock
// could not be had within patience.
func DropRouteIntents(ctx context.Context, path string, patience time.Duration, operationIDs []string) error {
	return write(ctx, path, patience, "remove the route intents", func(c *conn) error {
		return c.removeRecords(ctx, prefixed(routeIntentPrefix, operationIDs))
	})
}
