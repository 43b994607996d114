package statedb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRouteNamespace(t *testing.T) {
	for key, want := range map[string]string{
		"agent:work:cli:1":    "work",
		"agent:work:":         "work",
		"agent::telegram:1":   "main",
		"agent::":             "main",
		"agent:main:tg:0":     "main",
		"agent:main~:tg:0":    "main~",
		"agent: :x":           " ",
		"agent:Work:x":        "Work",
		"agent:ä\x00漢:x":      "ä\x00漢",
		"agent:work":          "main", // no third field
		"agent:":              "main",
		"agent":               "main",
		"":                    "main",
		":":                   "main",
		"::":                  "main",
		"AGENT:work:x":        "main",
		" agent:work:x":       "main",
		"agents:work:x":       "main",
		"telegram:agent:work": "main",
		"work":                "main",
	} {
		assert.Equal(t, want, routeNamespace(key), "%q", key)
	}
}

func TestProfileNamespace(t *testing.T) {
	long := strings.Repeat("漢", 128)
	for folder, want := range map[string]string{
		"work": "work", "main": "main~", "main~": "main~", "Main": "Main", ".hermes": ".hermes", "a b": "a b", long: long,
		"": "", "a:b": "", ":": "", long + "x": "", "\xff": "",
	} {
		assert.Equal(t, want, ProfileNamespace(folder, false), "%q", folder)
		assert.Equal(t, "main", ProfileNamespace(folder, true), "the base home, whatever it is called: %q", folder)
	}
}

func TestRouteSession(t *testing.T) {
	for entry, want := range map[string]string{
		`{"session_id":"x"}`:                       "x",
		` {"a":[1], "session_id" : "\u0078" }`:     "x",
		`{"session_id":"a","session_id":"b"}`:      "b",
		`{"n":NaN,"session_id":"x","i":-Infinity}`: "x",
		`{"session_id":"NaN"}`:                     "NaN",
		`{"Session_ID":"x"}`:                       "",
		`{"session_id":""}`:                        "",
		`{"session_id":null}`:                      "",
		`{"session_id":7}`:                         "",
		`{"session_id":["x"]}`:                     "",
		`{"entry":{"session_id":"x"}}`:             "",
		`{}`:                                       "",
		`["session_id","x"]`:                       "",
		`"x"`:                                      "",
		`null`:                                     "",
		`{"session_id":"x"`:                        "",
		`{"session_id":"x"} {}`:                    "",
		"{\"session_id\":\"x\xff\"}":               "",
		``:                                         "",
	} {
		assert.Equal(t, want, RouteSession(entry), "%q", entry)
	}
}

// TestRouteDecision is contract 5d, route_retired, as a truth table over everything that the decision sees.
func TestRouteDecision(t *testing.T) {
	const now = 1_790_000_000.0
	young, edge, old := now-1, now-fenceHorizon, now-fenceHorizon-1
	// Whether a tombstone alone retires, in main and elsewhere. How old it is does not matter: it is there until it is reclaimed.
	tombstones := map[string]struct {
		value       *tombstone
		main, other bool
	}{
		"none":          {nil, false, false},
		"own":           {&tombstone{own: true, retiredAt: &old}, true, false},
		"own, expiring": {&tombstone{own: true, expires: true, retiredAt: &old}, true, false},
		"no own":        {&tombstone{retiredAt: &young}, true, true},
		"no own, swept": {&tombstone{expires: true, retiredAt: &old}, true, true},
		"malformed":     {&tombstone{}, true, true},
	}
	// Whether a route's fence alone retires: in main with no live session, in main with one, elsewhere.
	fences := map[string]struct {
		value                 *tombstone
		main, mainLive, other bool
	}{
		"none":                  {nil, false, false, false},
		"permanent":             {&tombstone{retiredAt: &old}, true, false, true},
		"permanent with own":    {&tombstone{own: true, retiredAt: &old}, true, false, true},
		"malformed":             {&tombstone{}, true, false, true},
		"expiring":              {&tombstone{expires: true, retiredAt: &young}, true, false, true},
		"expiring, its last s":  {&tombstone{expires: true, retiredAt: &edge}, true, false, true},
		"expiring, past 7 days": {&tombstone{expires: true, retiredAt: &old}, false, false, false},
		"expiring, of no age":   {&tombstone{expires: true}, true, false, true},
	}
	for tombstoneName, ts := range tombstones {
		for fenceName, f := range fences {
			for _, live := range []bool{false, true} {
				for _, names := range []bool{false, true} {
					inMain, elsewhere := ts.main || f.main, ts.other || f.other
					if live {
						inMain = ts.main || f.mainLive
					}
					for namespace, want := range map[string]bool{"main": inMain, "work": elsewhere, "main~": elsewhere} {
						facts := routeFacts{namespace, names, ts.value, f.value, live}
						assert.Equal(t, names && want, facts.retired(now),
							"%s: tombstone %s, fence %s, live %v, names %v", namespace, tombstoneName, fenceName, live, names)
					}
				}
			}
		}
	}
}

// TestRouteFenceOver sets every kind of fence over every kind.
func TestRouteFenceOver(t *testing.T) {
	const now = 1_790_000_000.5
	at := now - 5
	permanent, expiring := `{"retired_at":1790000000.5}`, `{"expires":true,"retired_at":1790000000.5}`
	for name, test := range map[string]struct {
		older               *tombstone
		permanent, expiring string
	}{
		"nothing":          {nil, permanent, expiring},
		"a permanent one":  {&tombstone{retiredAt: &at}, "", ""},
		"a malformed one":  {&tombstone{}, "", ""},
		"an expiring one":  {&tombstone{expires: true, retiredAt: &at}, permanent, expiring},
		"one of no age":    {&tombstone{expires: true}, permanent, expiring},
		"a permanent, own": {&tombstone{own: true}, "", ""},
	} {
		for expires, want := range map[bool]string{false: test.permanent, true: test.expiring} {
			value, changes := newRouteFence(test.older, expires, now)
			assert.Equal(t, want, value, "over %s, expires %v", name, expires)
			assert.Equal(t, want != "", changes, "over %s, expires %v", name, expires)
		}
	}
}

func TestMergeFences(t *testing.T) {
	for _, fences := range [][]RouteFence{
		{{"a", true}, {"b", false}, {"a", false}, {"c", true}, {"c", true}},
		{{"a", false}, {"c", true}, {"b", false}, {"a", true}},
	} {
		assert.Equal(t, map[string]bool{"a": false, "b": false, "c": true}, mergeFences(fences))
	}
}

func TestWhereAnIDIsFenced(t *testing.T) {
	for _, test := range []struct {
		namespace string
		live      bool
		marked    []string
		dropped   []string
	}{
		{"work", false, []string{"work", "main"}, []string{"main", "work"}},
		{"work", true, []string{"work"}, []string{"work"}},
		{"main", false, []string{"main"}, []string{"main"}},
		{"main", true, []string{"main"}, nil},
		{"main~", false, []string{"main~", "main"}, []string{"main", "main~"}},
		{"", false, []string{"main"}, []string{"main"}},
		{"", true, nil, nil},
	} {
		t.Run(fmt.Sprintf("%s,live=%v", test.namespace, test.live), func(t *testing.T) {
			assert.Equal(t, test.marked, fencedNamespaces(test.namespace, test.live))
			var dropped []string
			for _, space := range []string{"", "main", "main~", "other", "work"} {
				if space != "" && dropsRoute(space, test.namespace, test.live) {
					dropped = append(dropped, space)
				}
			}
			assert.Equal(t, test.dropped, dropped)
		})
	}
}
