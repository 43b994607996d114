package statedb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"session-sidecar/internal/faultpoint"
)

// Request is what a caller wants deleted (contract 4).
type Request struct {
	SessionID         string
	WithLineage       bool     // include_compression_lineage
	WholeConversation bool     // start at the first segment, with the lineage
	ExpectedIDs       []string // what was agreed to; nil where nobody was asked
	Agent             Agent
	// setOnly asks for nothing but what would go: whoever copies it does not mind what refuses a delete.
	setOnly bool
	// carriedOut says that Remove follows, which retires the ledger as it goes.
	carriedOut bool
	// OperationID names this delete, 32 hex digits: what it leaves to be done after its commit is noted under it.
	OperationID string
	// SharesRoutes tells whether the home's routes lie in a base home too, whose fence has to follow (contract 5d).
	SharesRoutes bool
	// Spilled are the files that tool output was spilled to, as paths inside the home (contract 5b.5).
	Spilled []string
}

// Plan is what a delete would do to the store, and whether it may. Preview and delete make it alike.
type Plan struct {
	Path       Path
	Existed    bool     // the requested row was there
	Targets    []Target // every id that goes, in the order of deleted_ids
	Kept       []Kept   // rows that hang on those and stay
	Guards     []Guard  // live guards
	LeftBehind []Counted
	Retained   []Counted // what the canonical path keeps on purpose
	Media      []Media   // files that the rows named and that may go after them
	// StaleIndexes are full-text indexes that the delete sets aside; the Agent has to rebuild them (fts_stale).
	StaleIndexes []string
	// Receipt is what proves that a user asked; nil where nobody did, or where no row was there (contract 8).
	Receipt *Receipt
	// Refusal is why the delete may not be done: an *Error, or nil.
	Refusal error

	schema     *schema
	retirement *retirement // on the canonical path
	found      bool        // one of the rows is there, so that there is something to leave a receipt of
	stale      []Guard     // guards that protect nothing any more and go with the delete
}

// IDs are the ids that go, in the order of deleted_ids.
func (p *Plan) IDs() []string {
	ids := make([]string, len(p.Targets))
	for i, t := range p.Targets {
		ids[i] = t.ID
	}
	return ids
}

// is tells whether exactly these ids would go, whatever their order.
func (p *Plan) is(expected []string) bool {
	// As the wire spells them: it cannot carry an id that is no UTF-8 as it is.
	sorted := func(ids []string) []string {
		spelled := map[string]bool{}
		for _, id := range ids {
			spelled[string([]rune(id))] = true
		}
		return sortedKeys(spelled)
	}
	return slices.Equal(sorted(p.IDs()), sorted(expected))
}

// Plan decides, under the write lock, which rows go, or refuses (contract 4, step 3). It changes nothing. Errors are *Error
// and carry the path once it is chosen.
func (t *Tx) Plan(ctx context.Context, request Request) (*Plan, error) {
	request.carriedOut = true
	plan, err := t.conn.plan(ctx, request)
	if err != nil {
		return nil, err
	}
	t.path = plan.Path
	if plan.Refusal != nil {
		if plan.Refusal, err = t.conn.withDescription(ctx, plan.Refusal); err != nil {
			return nil, err
		}
		return nil, onPath(plan.Path, plan.Refusal)
	}
	faultpoint.Hit(faultpoint.PlanDecided)
	return plan, nil
}

// Preview tells what a delete would do now, from one snapshot, without the write lock (contract 5d). A plan that may not
// be done has its Refusal; an error means that there is no plan.
func Preview(ctx context.Context, path string, request Request) (*Plan, error) {
	var plan *Plan
	err := read(ctx, path, "look at what would go", func(c *conn) (err error) {
		if plan, err = c.plan(ctx, request); err != nil {
			return err
		}
		if plan.Refusal, err = c.withDescription(ctx, plan.Refusal); err != nil {
			return err
		}
		return c.describe(ctx, plan)
	})
	return plan, err
}

// plan chooses the path, then decides the set of ids and what forbids the delete.
func (c *conn) plan(ctx context.Context, request Request) (*Plan, error) {
	s, err := c.readSchema(ctx)
	if err != nil {
		return nil, err
	}
	path, err := choosePath(s, request.Agent)
	if err != nil {
		return nil, err
	}
	plan, err := c.planOn(ctx, path, s, request)
	if err != nil {
		return nil, onPath(path, err)
	}
	if plan.Refusal == nil && plan.found && !request.setOnly {
		if err := plan.refuse(func() error { return c.refuseOtherReceipts(ctx, s) }); err != nil {
			return nil, err
		}
	}
	if request.ExpectedIDs != nil && !plan.is(request.ExpectedIDs) {
		changed := *plan
		plan.Refusal = &Error{Kind: ErrPlanChanged, Plan: &changed}
	}
	return plan, nil
}

func (c *conn) planOn(ctx context.Context, path Path, s *schema, request Request) (*Plan, error) {
	if path == PathCanonical {
		return c.planCanonical(ctx, s, request)
	}
	return c.planLegacy(ctx, s, request)
}

// planLegacy decides in the order of contract 4, step 3: the set, then foreign references, the downgrade fence, the guards,
// and the indexes.
func (c *conn) planLegacy(ctx context.Context, s *schema, request Request) (*Plan, error) {
	lineage, err := c.readLineage(ctx, s, asPython)
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
		Kept:    lineage.graph.kept(targets),
		found:   lineage.graph.holdsAny(targets),
		schema:  s,
	}
	if request.setOnly {
		return plan, nil
	}
	ids := plan.IDs()
	if plan.LeftBehind, err = c.leftBehind(ctx, s, ids); err != nil {
		return nil, err
	}
	family, err := lineage.family(ctx, ids)
	if err != nil {
		return nil, err
	}
	guards, err := c.guardsOf(ctx, ids, lineage.graph)
	if err != nil {
		return nil, err
	}
	plan.Guards, plan.stale = guards.live, guards.stale
	return plan, plan.refuse(
		func() error { return c.refuseForeignRows(ctx, ids, !request.carriedOut) },
		func() error { return c.refuseRuntimeHistory(ctx, s, family, lineage.graph.chatIDs(family)) },
		plan.refuseLiveGuards,
		func() (err error) { plan.StaleIndexes, err = c.indexesToSetAside(ctx, s); return err },
	)
}

// refuse notes the first refusal. What is no refusal but a failure is returned.
func (p *Plan) refuse(checks ...func() error) error {
	for _, check := range checks {
		err := check()
		var ours *Error
		if err != nil && errors.As(err, &ours) && slices.Contains(refusals, ours.Kind) {
			p.Refusal = onPath(p.Path, err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refusals are the kinds of errors that are a decision about a plan, and no failure to make one.
var refusals = []error{ErrUnsupported, ErrRuntimeHistory, ErrActiveTurn, ErrFullTextUnwritable}

func (p *Plan) refuseLiveGuards() error {
	if len(p.Guards) == 0 {
		return nil
	}
	return inUseBy(p.Guards[0])
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
	targets, err := r.graph.targets(ctx, start, request.SessionID, request.WithLineage || request.WholeConversation)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(targets, func(t Target) bool { return t.ID == request.SessionID }) {
		return nil, doesNotLeadTo(start, request.SessionID)
	}
	return targets, nil
}

// doesNotLeadTo is ErrLineageAmbiguous for a whole conversation that does not hold the requested id.
func doesNotLeadTo(root, requested string) error {
	return &Error{
		Kind:   ErrLineageAmbiguous,
		Detail: fmt.Sprintf("the conversation that starts with %s does not lead to %s alone", root, requested),
	}
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

// chatIDs are those that the rows of some ids belong to.
func (g *graph) chatIDs(ids []string) []string {
	var chats []string
	for _, id := range ids {
		if row := g.rows[id]; row != nil && row.chatID != nil && *row.chatID != "" {
			chats = append(chats, *row.chatID)
		}
	}
	return chats
}

// guardsOf reads the guards of the ids and tells the live ones from the stale ones.
func (c *conn) guardsOf(ctx context.Context, ids []string, g *graph) (guards judged, err error) {
	all, err := c.readGuards(ctx, ids, g.leaseRoots(ids))
	if err != nil {
		return judged{}, err
	}
	return judge(all, now(), holderDead), nil
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
