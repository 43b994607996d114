package statedb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"session-sidecar/internal/faultpoint"
)

// Request is what a caller wants deleted (contract 4).
type Request struct {
	SessionID         string
	WithLineage       bool // include_compression_lineage
	WholeConversation bool // start at the first segment, with the lineage
	Agent             Agent
}

// Plan is what a delete will do, decided under the write lock.
type Plan struct {
	Path    Path
	Existed bool     // the requested row was there
	Targets []Target // every id that goes, in the order of deleted_ids

	schema *schema
	stale  []Guard // guards that protect nothing any more and go with the delete
}

// IDs are the ids that go, in the order of deleted_ids.
func (p *Plan) IDs() []string {
	ids := make([]string, len(p.Targets))
	for i, t := range p.Targets {
		ids[i] = t.ID
	}
	return ids
}

// Plan chooses the path and decides which rows go, or refuses (contract 4, step 3): the path, the set of ids, foreign
// references, the downgrade fence, then the guards. It changes nothing. Errors are *Error and carry the path once it
// is chosen.
func (t *Tx) Plan(ctx context.Context, request Request) (*Plan, error) {
	s, err := t.conn.readSchema(ctx)
	if err != nil {
		return nil, err
	}
	path, err := choosePath(s, request.Agent)
	if err != nil {
		return nil, err
	}
	t.path = path
	plan, err := t.planOn(ctx, path, s, request)
	if err != nil {
		return nil, onPath(path, err)
	}
	faultpoint.Hit(faultpoint.PlanDecided)
	return plan, nil
}

func (t *Tx) planOn(ctx context.Context, path Path, s *schema, request Request) (*Plan, error) {
	if path == PathCanonical {
		return nil, unsupported("the canonical path is not built yet")
	}
	return t.planLegacy(ctx, s, request)
}

func (t *Tx) planLegacy(ctx context.Context, s *schema, request Request) (*Plan, error) {
	lineage, err := t.conn.readLineage(ctx, s)
	if err != nil {
		return nil, err
	}
	targets, err := lineage.resolve(ctx, request)
	if err != nil {
		return nil, err
	}
	plan := &Plan{
		Path:    PathLegacy,
		Existed: lineage.graph.rows[request.SessionID] != nil,
		Targets: targets,
		schema:  s,
	}
	ids := plan.IDs()
	if err := t.conn.refuseForeignRows(ctx, ids); err != nil {
		return nil, err
	}
	family, err := lineage.family(ctx, ids)
	if err != nil {
		return nil, err
	}
	if err := t.conn.refuseRuntimeHistory(ctx, s, family, lineage.chatIDs(family)); err != nil {
		return nil, err
	}
	plan.stale, err = t.conn.refuseLiveGuards(ctx, ids, lineage.graph)
	return plan, err
}

// resolve reads what surrounds the request and decides the whole set. A whole conversation whose set does not hold the
// requested id is ErrLineageAmbiguous.
func (r *lineageReader) resolve(ctx context.Context, request Request) ([]Target, error) {
	start := request.SessionID
	if request.WholeConversation {
		if err := r.ancestors(ctx, []string{start}); err != nil {
			return nil, err
		}
		start = r.graph.firstSegment(start)
	}
	if err := r.surroundings(ctx, []string{start, request.SessionID}); err != nil {
		return nil, err
	}
	targets := r.graph.targets(start, request.SessionID, request.WithLineage || request.WholeConversation)
	if !slices.ContainsFunc(targets, func(t Target) bool { return t.ID == request.SessionID }) {
		return nil, &Error{
			Kind:   ErrLineageAmbiguous,
			Detail: fmt.Sprintf("the conversation that starts with %s does not lead to %s alone", start, request.SessionID),
		}
	}
	return targets, nil
}

// family grows the ids to their logical family, reading on until nothing new can join.
func (r *lineageReader) family(ctx context.Context, ids []string) ([]string, error) {
	for {
		family := sortedKeys(r.graph.logicalFamily(ids))
		missing := slices.DeleteFunc(slices.Clone(family), func(id string) bool { return r.expanded[id] })
		if len(missing) == 0 {
			return family, nil
		}
		if err := r.surroundings(ctx, missing); err != nil {
			return nil, err
		}
	}
}

func (r *lineageReader) chatIDs(family []string) []string {
	var chats []string
	for _, id := range family {
		if row := r.graph.rows[id]; row != nil && row.chatID != nil && *row.chatID != "" {
			chats = append(chats, *row.chatID)
		}
	}
	return chats
}

// refuseLiveGuards is ErrActiveTurn, with the guard, where a turn runs in one of the ids; else it gives the stale guards.
func (c *conn) refuseLiveGuards(ctx context.Context, ids []string, g *graph) ([]Guard, error) {
	roots := map[string]string{}
	for _, id := range ids {
		roots[id] = g.leaseRoot(id)
	}
	guards, err := c.readGuards(ctx, ids, roots)
	if err != nil {
		return nil, err
	}
	live, stale := firstLive(guards, float64(time.Now().UnixNano())/1e9, holderDead)
	if live != nil {
		return nil, &Error{Kind: ErrActiveTurn, Guard: live, Detail: fmt.Sprintf("session %s is in use", live.SessionID)}
	}
	return stale, nil
}

// onPath notes the chosen path on an error of ours.
func onPath(path Path, err error) error {
	if ours, ok := err.(*Error); ok { //nolint:errorlint // only the outermost one answers the caller
		marked := *ours
		marked.Path = path
		return &marked
	}
	return err
}
