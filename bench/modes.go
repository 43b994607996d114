package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mode is one thing that is measured.
type mode struct {
	name    string
	about   string
	sizes   bool // once for each size, on a store of that size
	schemas bool // once for each schema
	measure func(context.Context, *lab, history) (result, error)
}

// modes are in the order of the report.
func modes() []mode {
	return []mode{
		{"delete", "a family of two: floor, scan, ours, and a plain Python script", true, true, measureDelete},
		{"again", "a second delete where nobody else wrote since the first", true, true, measureAgain},
		{"bulk", "many conversations in one call", true, true, measureBulk},
		{"long", "a conversation of very many messages", false, true, measureLong},
		{"memory", "what the program holds of it, at work and idle (Linux)", true, true, measureMemory},
		{"start", "from spawn to the handshake, and a round trip", false, false, measureStart},
		{"list", "the first page of a list, and a preview", true, true, measureList},
		{"writer", "an Agent that writes beside a run of deletes", true, true, measureWriter},
	}
}

func describeModes() string {
	var lines []string
	for _, m := range modes() {
		lines = append(lines, fmt.Sprintf("  %-7s %s", m.name, m.about))
	}
	return strings.Join(lines, "\n")
}

func chooseModes(names []string) (chosen []mode, err error) {
	known := modes()
	if slices.Equal(names, []string{"all"}) {
		return known, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(known, func(m mode) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is nothing that can be measured; there are\n%s", name, describeModes())
		}
		chosen = append(chosen, known[i])
	}
	return chosen, nil
}

// lab is where things are measured: a folder for stores and copies, and the programs that are needed.
type lab struct {
	options
	say      func(string, ...any)
	programs *programs
}

// store is the path of a kept store with this history.
func (l *lab) store(ctx context.Context, h history) (path string, bytes int64, err error) {
	if path, err = h.keep(ctx, l.folder, l.say); err != nil {
		return "", 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, err
	}
	return path, info.Size(), nil
}

// bench gives a folder for copies, and what removes it.
func (l *lab) bench() (folder string, remove func(), err error) {
	folder, err = os.MkdirTemp(l.folder, "run-")
	return folder, func() { _ = os.RemoveAll(folder) }, err
}

func measureAll(ctx context.Context, o options, show func(result) error, progress io.Writer) (results []result, err error) {
	if o.rounds < 1 {
		return nil, errors.New("there is nothing to measure in no rounds")
	}
	for _, schema := range o.schemas {
		if schema != legacySchema && schema != runtimeSchema {
			return nil, fmt.Errorf("%q is no schema; there are %s and %s", schema, legacySchema, runtimeSchema)
		}
	}
	chosen, err := chooseModes(o.modes)
	if err != nil {
		return nil, err
	}
	if o.kept > 0 {
		chosen = []mode{{"kept", "", false, true, measureKept}}
	}
	if o.folder, err = filepath.Abs(o.folder); err != nil { // a relative path would be another one in a URI
		return nil, err
	}
	if err := os.MkdirAll(o.folder, 0o700); err != nil {
		return nil, err
	}
	l := &lab{options: o, programs: &programs{}, say: func(format string, args ...any) { _, _ = fmt.Fprintf(progress, format+"\n", args...) }}
	defer l.programs.remove()
	for _, m := range chosen {
		for _, h := range m.histories(o) {
			l.say("measuring %s", h.label(m.name))
			at := *l
			if h.sparse {
				at.rounds = min(at.rounds, fewRounds) // each takes long
			}
			r, err := m.measure(ctx, &at, h)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", h.label(m.name), err)
			}
			r.describe(m.name, h)
			if err := show(r); err != nil {
				return nil, err
			}
			results = append(results, r)
		}
	}
	return results, nil
}

// histories are the stores that a mode is measured with.
func (m mode) histories(o options) (made []history) {
	schemas, sizes := o.schemas, o.sizes
	if !m.schemas {
		schemas = schemas[:1]
	}
	if !m.sizes {
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
