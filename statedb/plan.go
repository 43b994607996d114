package statedb

import (
	"context"
	"errors"
	"slices"

	"session-sidecar/internal/faultpoint"
)

// Request is what a caller wants deleted (contract 4).
type Request struct {
	SessionID         string
	WithLineage       bool     // include_compression_lineage
	WholeConversation bool     // start at the first segment, with the lineage
	ExpectedIDs       []string // what was agreed to; nil where nobody was asked
	Circumstances
}

// Circumstances are what a delete or a sweep goes by that the store does not tell and nobody asks for.
type Circumstances struct {
	Agent Agent
	// OperationID names this delete, 32 hex digits: what it leaves to be done after its commit is noted under it.
	OperationID string
	// SharesRoutes tells whether the home's routes lie in a base home too, whose fence has to follow (contract 5d).
	SharesRoutes bool
	// Spilled are the files that tool output was spilled to, as paths inside the home (contract 5b.5).
	Spilled []string
}

// planPurpose is what a plan is made for, which decides how much of what stops a delete has to be found by it.
type planPurpose int

const (
	toExport  planPurpose = iota // nothing: whoever copies what would go does not mind what refuses a delete
	toPreview                    // all of it
	toRemove                     // what Remove, which follows, does not find as it goes
)

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

// newPlan is a plan of what goes on a path, as far as the graph around it tells.
func newPlan(path Path, s *schema, g *graph, request Request, targets []Target) *Plan {
	existed, found := g.rows[request.SessionID] != nil, g.holdsAny(targets)
	return &Plan{Path: path, Existed: existed, Targets: targets, found: found, schema: s}
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
	sorted := func(ids []string) []string { return sortedKeys(setOf(asSpelled(ids))) }
	return slices.Equal(sorted(p.IDs()), sorted(expected))
}

// Plan decides, under the write lock, which rows go, or refuses (contract 4, step 3). It changes nothing. Errors are *Error
// and carry the path once it is chosen.
func (t *Tx) Plan(ctx context.Context, request Request) (*Plan, error) {
	plan, err := t.conn.plan(ctx, request, toRemove)
	if err != nil {
		return nil, err
	}
	t.path = plan.Path
	if plan.Refusal != nil {
		if err := t.conn.describeChanged(ctx, plan.Refusal); err != nil {
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
		if plan, err = c.plan(ctx, request, toPreview); err != nil {
			return err
		}
		if err := c.describeChanged(ctx, plan.Refusal); err != nil {
			return err
		}
		return c.describe(ctx, plan)
	})
	return plan, err
}

// plan chooses the path, then decides the set of ids and what forbids the delete.
func (c *conn) plan(ctx context.Context, request Request, purpose planPurpose) (*Plan, error) {
	s, err := c.readSchema(ctx)
	if err != nil {
		return nil, err
	}
	path, err := choosePath(s, request.Agent)
	if err != nil {
		return nil, err
	}
	plan, err := c.planOn(ctx, path, s, request, purpose)
	if err != nil {
		return nil, onPath(path, err)
	}
	if plan.Refusal == nil && plan.found && purpose != toExport {
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

func (c *conn) planOn(ctx context.Context, path Path, s *schema, request Request, purpose planPurpose) (*Plan, error) {
	if path == PathCanonical {
		return c.planCanonical(ctx, s, request, purpose)
	}
	return c.planLegacy(ctx, s, request, purpose)
}

// refuse notes the first refusal. What is no refusal but a failure is returned.
func (p *Plan) refuse(checks ...func() error) error {
	for _, check := range checks {
		err := check()
		if ours, is := errors.AsType[*Error](err); is && slices.Contains(refusals, ours.Kind) {
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

// onPath notes the chosen path on an error of ours.
func onPath(path Path, err error) error {
	if ours, ok := err.(*Error); ok { //nolint:errorlint // only the outermost one answers the caller
		marked := *ours
		marked.Path = path
		return &marked
	}
	return err
}

// Found tells whether the plan takes any row.
func (p *Plan) Found() bool { return p.found }

// Title is what a human calls what goes: the title of what was asked for, else the first that one of the rows has.
func (p *Plan) Title() string {
	title := ""
	for _, t := range p.Targets {
		if t.Why == WhyRequested && t.Title != "" {
			return t.Title
		}
		if title == "" {
			title = t.Title
		}
	}
	return title
}

// Messages is how many messages go.
func (p *Plan) Messages() (n int) {
	for _, t := range p.Targets {
		n += t.MessageCount
	}
	return n
}
