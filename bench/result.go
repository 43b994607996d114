package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// result is one mode, measured on one store.
type result struct {
	Mode       string   `json:"mode"`
	Schema     string   `json:"schema"`
	Sessions   int      `json:"sessions,omitempty"` // 0 where the size of the store plays no part
	StoreBytes int64    `json:"store_bytes,omitempty"`
	CPUs       int      `json:"cpus"`
	Series     []series `json:"series,omitempty"`
	Figures    []figure `json:"figures"`
	Notes      []string `json:"notes,omitempty"`
}

// series are the durations of one kind, one for each round.
type series struct {
	Name  string          `json:"name"`
	About string          `json:"about,omitempty"`
	Took  []time.Duration `json:"nanoseconds"`
}

func (s *series) add(took time.Duration) { s.Took = append(s.Took, took) }

// count adds what a round took, but for the first one, which fills the system's caches.
func (s *series) count(round int, took time.Duration) {
	if round > 0 {
		s.add(took)
	}
}

// figure is a number that a target speaks of. Ratios mean the same on every machine.
type figure struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`             // of the medians
	Fastest float64 `json:"fastest,omitempty"` // of the fastest rounds, for a ratio of durations
	Unit    string  `json:"unit,omitempty"`
	Target  float64 `json:"target,omitempty"` // 0 where nothing is asked for
	AtLeast bool    `json:"at_least,omitempty"`
}

// targetFrom is the size that the targets speak of. Below it a delete is its fixed costs, and what it is to be compared
// with is next to nothing.
const targetFrom = 100_000

func (r *result) describe(mode string, h history) {
	r.Mode, r.Schema, r.Sessions, r.CPUs = mode, h.schema, h.sessions, runtime.NumCPU()
}

// judged tells whether the targets speak of this store.
func (r *result) judged() bool { return r.Sessions == 0 || r.Sessions >= targetFrom }

func (f figure) missed() bool {
	if f.Target == 0 {
		return false
	}
	if f.AtLeast {
		return f.Value < f.Target
	}
	return f.Value > f.Target
}

func (f figure) target() string {
	switch {
	case f.Target == 0:
		return ""
	case f.AtLeast:
		return fmt.Sprintf("≥ %g%s", f.Target, f.Unit)
	}
	return fmt.Sprintf("≤ %g%s", f.Target, f.Unit)
}

// number is a value to three digits.
func number(value float64) string {
	switch {
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

func (r *result) took(name string) []time.Duration {
	for _, s := range r.Series {
		if s.Name == name {
			return s.Took
		}
	}
	return nil
}

// picked is what one function picks from each series.
type picked map[string]float64

// compare adds a figure that is a function of the series: once of their medians, once of their fastest.
func (r *result) compare(f figure, of func(picked) float64) {
	by := func(pick func([]time.Duration) time.Duration) float64 {
		seconds := picked{}
		for _, s := range r.Series {
			seconds[s.Name] = pick(s.Took).Seconds()
		}
		return of(seconds)
	}
	f.Value, f.Fastest = by(median), by(slices.Min[[]time.Duration])
	r.Figures = append(r.Figures, f)
}

// median is the middle one; of two middle ones the larger.
func median(of []time.Duration) time.Duration { return quantile(of, 0.5) }

// quantile is the first that at least this part of them is not above.
func quantile(of []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// readResults reads what -json printed. Of one mode on one store the last result counts.
func readResults(paths ...string) (results []result, err error) {
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for decoder := json.NewDecoder(bytes.NewReader(text)); decoder.More(); {
			var r result
			if err := decoder.Decode(&r); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			results = slices.DeleteFunc(results, func(older result) bool { return older.label() == r.label() })
			results = append(results, r)
		}
	}
	slices.SortStableFunc(results, func(a, b result) int {
		return cmp.Or(place(a.Mode)-place(b.Mode), strings.Compare(a.Schema, b.Schema), a.Sessions-b.Sessions)
	})
	return results, nil
}

func place(name string) int {
	return slices.IndexFunc(everyMode(), func(m mode) bool { return m.name == name })
}
