package statedb

import (
	"context"
	"slices"
)

// A delete has to know who names a session, in tables that have no index for it. A survey passes over them before the write lock is
// taken and remembers where to look: under the lock only the rows are read that may name what goes. It counts for as long as no other
// connection has committed, which PRAGMA data_version proves (Look), and what this connection changes itself is noted (contract 4,
// step 3). Where somebody has committed in between, the tables are passed over under the lock, as if there had been no survey.
type survey struct {
	found map[nameSource]*nameIndex
}

// nameSource is a place where rows name sessions.
type nameSource string

const (
	markersAsPython  nameSource = "markers as Python reads them"
	markersAsSQLite  nameSource = "markers as SQLite reads them"
	mutationReceipts nameSource = "mutation receipts"
	policyEntries    nameSource = "entries of local policies"
	apiConversations nameSource = "conversations of the API"
	routingEntries   nameSource = "routing entries"
	historyValues    nameSource = "values of the runtime's history"
	unusedPrompts    nameSource = "system prompts" // which name nobody: all that may be unused
)

// places are where each source is: the table, and the columns that it is read from.
var places = map[nameSource]struct {
	table   string
	columns []string
}{
	markersAsPython:  {"sessions", []string{"id", "parent_session_id", "model_config"}},
	markersAsSQLite:  {"sessions", []string{"id", "parent_session_id", "model_config"}},
	mutationReceipts: {"state_meta", []string{"key", "value"}},
	policyEntries:    {"state_meta", []string{"key", "value"}},
	apiConversations: {"state_meta", []string{"key", "value"}},
	routingEntries:   {"gateway_routing", []string{"entry_json"}},
	historyValues:    {"state_meta", []string{"key", "value"}},
	unusedPrompts:    {promptsTable, []string{"hash"}},
}

// sourcesOf lists what a delete looks through on a path, as far as the store has it and numbers its rows.
func (s *schema) sourcesOf(path Path) []nameSource {
	sources := []nameSource{routingEntries, markersAsPython, historyValues}
	if path == PathCanonical {
		sources = []nameSource{routingEntries, markersAsSQLite, mutationReceipts, policyEntries, apiConversations, unusedPrompts}
	}
	return slices.DeleteFunc(sources, func(of nameSource) bool {
		at := places[of]
		return !s.has(at.table, at.columns...) || !s.hasRowid(at.table) || of == unusedPrompts && !s.has("sessions", "system_prompt_hash")
	})
}

// mostCandidates bounds how many rows are asked for by their numbers, in the text of a statement that is kept.
const mostCandidates = 1000

// candidates are the rows of a source that may name one of the ids, for a connection that has surveyed it. few is false where that does
// not tell them, or they are too many: then all rows have to be passed over.
func (c *conn) candidates(of nameSource, ids []string) (rows []int64, few bool) {
	x := c.surveyOf(of)
	if x == nil {
		return nil, false
	}
	rows = x.candidates(ids)
	return rows, len(rows) <= mostCandidates
}

// narrow is SQL that holds a pass over a source to the candidates; it is empty where all rows have to be passed over.
func (c *conn) narrow(of nameSource, ids []string) string {
	rows, few := c.candidates(of, ids)
	if !few {
		return ""
	}
	return onlyRows(rows)
}

func (c *conn) surveyOf(of nameSource) *nameIndex {
	if c.survey == nil {
		return nil
	}
	return c.survey.found[of]
}

// forgetSurvey has a source passed over anew when it is needed.
func (c *conn) forgetSurvey(of nameSource) {
	if c.survey != nil {
		delete(c.survey.found, of)
	}
}

// Survey passes over what a delete would have to pass over under the write lock, unless an earlier survey still holds. Only a cancel is
// an error: whatever else goes wrong is met, and told, under the lock. held tells whether all of an earlier one still holds.
func (l *Look) Survey(ctx context.Context, agent Agent) (held bool, err error) {
	held, err = l.conn.takeSurvey(ctx, agent)
	if err != nil {
		l.conn.survey = nil
	}
	return held, ctx.Err()
}

// WarmUp decides on a delete before the write lock is taken, only so that all that decides has been read and prepared once: what is
// decided under the lock counts. Only a cancel is an error.
func (l *Look) WarmUp(ctx context.Context, request Request) error {
	_, _ = l.conn.plan(ctx, request, toRemove)
	return ctx.Err()
}

func (c *conn) takeSurvey(ctx context.Context, agent Agent) (held bool, err error) {
	s, err := c.readSchema(ctx)
	if err != nil {
		return false, err
	}
	path, err := choosePath(s, agent)
	if err != nil {
		return false, err
	}
	if !s.canBeSurveyed() {
		c.survey = nil
		return false, nil
	}
	if c.survey == nil {
		c.survey = &survey{found: map[nameSource]*nameIndex{}}
	}
	held = true
	for _, of := range s.sourcesOf(path) {
		if x := c.survey.found[of]; x != nil {
			if err := c.readNoted(ctx, of, x); err != nil {
				return false, err
			}
			continue
		}
		x, err := c.surveySource(ctx, of)
		if err != nil {
			return false, err
		}
		c.survey.found[of], held = x, false
	}
	return held, nil
}
