package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mode is one thing that is measured, and what it is measured on.
type mode struct {
	name    string
	about   string
	schemas bool // once for each schema
	on      source
	copies  []string // the homes that have a copy of the store each
	rounds  func(o options, h history) (int, error)
	measure func(context.Context, *testbed) (result, error)
}

// modes are in the order of the report.
func modes() []mode {
	return []mode{
		{
			name: "delete", about: "a family of two: floor, scan, ours, and a plain Python script",
			schemas: true, on: storesOfEachSize, copies: []string{"floor", "delete", "plain"},
			rounds: everyRound, measure: measureDelete,
		},
		{
			name: "again", about: "a second delete where nobody else wrote since the first",
			schemas: true, on: storesOfEachSize, copies: []string{"floor", "delete"},
			rounds: roundsThatFit(2), measure: measureAgain,
		},
		{
			name: "bulk", about: "many conversations in one call",
			schemas: true, on: storesOfEachSize, copies: []string{"floor", "delete"},
			rounds: once, measure: measureBulk,
		},
		{
			name: "long", about: "a conversation of very many messages",
			schemas: true, on: longConversations, copies: []string{"floor", "delete"},
			rounds: fewOfThem, measure: measureLong,
		},
		{
			name: "memory", about: "what the program holds of it, at work and idle (Linux)",
			schemas: true, on: storesOfEachSize, copies: []string{"memory"},
			rounds: once, measure: measureMemory,
		},
		{
			name: "start", about: "from spawn to the handshake, and a round trip",
			on:     oneMessage,
			rounds: asAsked, measure: measureStart,
		},
		{
			name: "list", about: "the first page of a list, and a preview",
			schemas: true, on: storesOfEachSize, copies: []string{"list"},
			rounds: roundsThatFit(1), measure: measureList,
		},
		{
			name: "writer", about: "an Agent that writes beside a run of deletes",
			schemas: true, on: storesOfEachSize, copies: []string{"floor", "delete"},
			rounds: roundsThatFit(1), measure: measureWriter,
		},
	}
}

// keptMode is measured alone, where it is asked for by the flag that says how long its conversations are.
func keptMode() mode {
	return mode{
		name: "kept", about: "deletes with keep_days and without",
		schemas: true, on: keptConversations, copies: []string{"plain", "kept"},
		rounds: asAsked, measure: measureKept,
	}
}

// everyMode are all of which there may be results.
func everyMode() []mode { return append(modes(), keptMode()) }

func describeModes() string {
	var lines []string
	for _, m := range modes() {
		lines = append(lines, fmt.Sprintf("  %-7s %s", m.name, m.about))
	}
	return strings.Join(lines, "\n")
}

func chooseModes(o options) (chosen []mode, err error) {
	known := modes()
	switch {
	case o.kept > 0:
		return []mode{keptMode()}, nil
	case slices.Equal(o.modes, []string{"all"}):
		return known, nil
	}
	for _, name := range o.modes {
		i := slices.IndexFunc(known, func(m mode) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is nothing that can be measured; there are\n%s", name, describeModes())
		}
		chosen = append(chosen, known[i])
	}
	return chosen, nil
}

// histories are the stores that a mode is measured with.
func (m mode) histories(o options) (made []history) {
	schemas, sizes := o.schemas, o.sizes
	if !m.schemas {
		schemas = schemas[:1]
	}
	if !m.on.sizes {
		sizes = []int{0}
	}
	for _, schema := range schemas {
		for _, sessions := range sizes {
			made = append(made, history{schema: schema, sessions: sessions, sparse: sessions >= sparseFrom})
		}
	}
	return made
}

// sparseFrom is from how many sessions on only one in a hundred has messages.
const sparseFrom = 1_000_000

func (h history) label(of string) string {
	if h.sessions == 0 {
		return of + ", " + h.schema
	}
	return fmt.Sprintf("%s, %s, %d sessions", of, h.schema, h.sessions)
}

// How often a mode measures. One round more goes before them, which is not counted: it fills the system's caches.

// fewRounds is how often something is measured that takes seconds.
const fewRounds = 5

var errTooSmall = errors.New("the store is too small")

// everyRound needs a family for each.
func everyRound(o options, h history) (int, error) {
	if o.rounds+1 > h.families() {
		return 0, fmt.Errorf("%d sessions are too few for %d rounds; %d are enough", h.sessions, o.rounds, (o.rounds+1)*h.between())
	}
	return o.rounds, nil
}

// roundsThatFit are those that the store has families enough for.
func roundsThatFit(families int) func(options, history) (int, error) {
	return func(o options, h history) (int, error) {
		rounds := min(o.rounds, h.families()/families-1)
		if rounds < 1 {
			return 0, errTooSmall
		}
		return rounds, nil
	}
}

// once is for what measures many at once.
func once(_ options, h history) (int, error) {
	if h.families() < 1 {
		return 0, errTooSmall
	}
	return 1, nil
}

func fewOfThem(o options, _ history) (int, error) { return min(o.rounds, fewRounds), nil }

func asAsked(o options, _ history) (int, error) { return o.rounds, nil }
