package statedb

import (
	"slices"

	"session-sidecar/internal/lazyregexp"
)

// This file decides, for a sweep, which sessions stand or fall together, and whose tombstone must stay (contract 5d,
// sweep_sessions): all functions of data.

// Skipped is a session that a sweep left alone, with the reason: an *Error.
type Skipped struct {
	SessionID string
	Why       error
}

// Unit is what a sweep takes whole or not at all: the sessions of one local conversation, or one session alone.
type Unit struct {
	SessionIDs []string
	Work       int    // how much there is to do: sessions, their messages and rows of the ledger, and a share for the length of those
	missing    string // an id of the conversation that the sweep does not name; empty where it names all
}

// unitsOf puts the ids together that the policies make one conversation, in the order of the ids. Policies that share an id
// are one conversation.
func unitsOf(ids []string, policies []policy) []Unit {
	named := setOf(ids)
	group := map[string]string{} // an id -> another one of its conversation, up to one that stands for all
	find := func(id string) string {
		for group[id] != "" && group[id] != id {
			id = group[id]
		}
		return id
	}
	missing := map[string]string{}
	for _, p := range policies {
		for _, id := range p.ids() {
			if a, b := find(p.ids()[0]), find(id); a != b {
				group[b] = a
			}
		}
	}
	for _, p := range policies {
		for _, id := range p.ids() {
			if root := find(id); !named[id] && missing[root] == "" {
				missing[root] = id
			}
		}
	}
	at := map[string]int{}
	var units []Unit
	for _, id := range ids {
		root := find(id)
		i, known := at[root]
		if !known {
			i = len(units)
			at[root] = i
			units = append(units, Unit{missing: missing[root]})
		}
		units[i].SessionIDs = append(units[i].SessionIDs, id)
	}
	return units
}

// bytesOfWork is how much text costs about as much as one more row.
const bytesOfWork = 4096

// weigh notes how much there is to do for each unit. sizes are of the messages, and of the ledger.
func weigh(units []Unit, sizes ...map[string]size) {
	for i := range units {
		u := &units[i]
		u.Work = len(u.SessionIDs)
		for _, id := range u.SessionIDs {
			for _, of := range sizes {
				u.Work += of[id].rows + int(of[id].bytes/bytesOfWork)
			}
		}
	}
}

// derivedID is the form of an id that the Agent's API server makes from what a client sends.
var derivedID = lazyregexp.New(`^api-[0-9a-f]{16}$`)

// derived lists the ids that somebody can come to again by computing them: their tombstone never expires. sources are those
// of the rows that are there.
func derived(ids []string, sources map[string]string, policies []policy) map[string]bool {
	must := map[string]bool{}
	for _, p := range policies {
		if p.derived() {
			for _, id := range p.ids() {
				must[id] = true
			}
		}
	}
	for _, id := range ids {
		switch source := sources[id]; {
		case source == "bot_room", source == "api_server" && derivedID().MatchString(id):
			must[id] = true
		}
	}
	return must
}

// skipWhole leaves out every unit with a skipped member, and gives the ids that remain. The members beside the skipped one
// are incomplete.
func skipWhole(units []Unit, why map[string]error) (rest []string, skipped []Skipped) {
	for _, u := range units {
		blocked := u.missing != "" || slices.ContainsFunc(u.SessionIDs, func(id string) bool { return why[id] != nil })
		for _, id := range u.SessionIDs {
			switch {
			case !blocked:
				rest = append(rest, id)
			case why[id] != nil:
				skipped = append(skipped, Skipped{id, why[id]})
			default:
				skipped = append(skipped, Skipped{id, &Error{Kind: ErrIncomplete, Path: PathCanonical}})
			}
		}
	}
	return rest, skipped
}
