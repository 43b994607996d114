package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// lab is where things are measured: a folder for stores and copies, and the programs that are needed.
type lab struct {
	options
	say      func(string, ...any)
	programs *programs
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
	chosen, err := chooseModes(o)
	if err != nil {
		return nil, err
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
			r, err := l.measure(ctx, m, h)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", h.label(m.name), err)
			}
			if err := show(r); err != nil {
				return nil, err
			}
			results = append(results, r)
		}
	}
	return results, nil
}

// measure measures one mode on one store.
func (l *lab) measure(ctx context.Context, m mode, h history) (r result, err error) {
	o := l.options
	if h.sparse {
		o.rounds = min(o.rounds, fewRounds) // each takes long
	}
	rounds, err := m.rounds(o, h)
	if err != nil {
		return r, err
	}
	t, err := l.setUp(ctx, m, h, rounds)
	if err != nil {
		return r, err
	}
	defer t.remove()
	if r, err = m.measure(ctx, t); err != nil {
		return r, err
	}
	r.describe(m.name, h)
	if m.on.sizes {
		r.StoreBytes = t.bytes
	}
	return r, nil
}
