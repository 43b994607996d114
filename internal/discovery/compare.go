package discovery

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// comparison collects what differs between a baseline and what the wire offers now.
type comparison struct{ broken, added []string }

func (c *comparison) breaks(format string, args ...any) {
	c.broken = append(c.broken, fmt.Sprintf(format, args...))
}

func (c *comparison) adds(format string, args ...any) {
	c.added = append(c.added, fmt.Sprintf(format, args...))
}

// Compare tells what a host that was written for the baseline would miss, and what may be added and was. Both are lines for a human.
func Compare(baseline, now Promise) (broken, added []string) {
	c := &comparison{}
	if baseline.RPCVersion != now.RPCVersion {
		c.breaks("rpc_version was %d and is %d: it needs a baseline of its own", baseline.RPCVersion, now.RPCVersion)
	}
	compareWords(c, "the error code", texts(baseline.ErrorCodes), texts(now.ErrorCodes))
	compareWords(c, "the capability", baseline.Capabilities, now.Capabilities)
	for word, retryable := range sorted(baseline.Retryable) {
		is, there := now.Retryable[word]
		switch {
		case !there:
			c.breaks("the reason %s is gone", word)
		case is != retryable:
			c.breaks("the reason %s was retryable: %t, and is not so any more", word, retryable)
		}
	}
	compareWords(c, "the reason", nil, without(now.Retryable, baseline.Retryable))
	compareShapes(c, "the notification", baseline.Notifications, now.Notifications)
	for name, old := range sorted(baseline.Methods) {
		if method, there := now.Methods[name]; there {
			compareMethods(c, name, old, method)
		} else {
			c.breaks("the method %s is gone", name)
		}
	}
	compareWords(c, "the method", nil, without(now.Methods, baseline.Methods))
	return c.broken, c.added
}

func compareMethods(c *comparison, name string, old, now MethodPromise) {
	if old.Lenient && !now.Lenient {
		c.breaks("%s refuses unknown parameters, which it ignored", name)
	}
	compareShape(c, name+": the parameter", old.Params, now.Params, paramBreaks)
	compareShape(c, name+": the field", old.Result, now.Result, answerBreaks)
	for path, spelled := range sorted(now.Params) {
		if _, there := old.Params[path]; !there && readValue(spelled).always && isField(path) && old.takes(parent(path)) {
			c.breaks("%s: the new parameter %s is required", name, path)
		}
	}
	compareWords(c, name+": the condition", old.Conditions, now.Conditions)
	compareShapes(c, name+": the event", old.Events, now.Events)
}

// isField tells whether a path ends with a name: elements of a list or map are never required.
func isField(path string) bool {
	return !strings.HasSuffix(path, "[]") && !strings.HasSuffix(path, "{}")
}

// parent is the path of the object that a field is in: none for a parameter itself.
func parent(path string) string { return path[:max(strings.LastIndex(path, "."), 0)] }

// takes tells whether a method takes an object of that path; its parameters themselves are one.
func (m MethodPromise) takes(path string) bool { return path == "" || m.Params[path] != "" }

func compareShapes(c *comparison, what string, old, now map[string]Shape) {
	for name, shape := range sorted(old) {
		if _, there := now[name]; there {
			compareShape(c, what+" "+name+": the field", shape, now[name], answerBreaks)
		}
	}
	compareWords(c, what, slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(now)))
}

// compareShape compares the values of an object; breaks says what is wrong with one that is there still.
func compareShape(c *comparison, what string, old, now Shape, breaks func(old, now value) string) {
	for path, spelled := range sorted(old) {
		is, there := now[path]
		if !there {
			c.breaks("%s %s is gone", what, path)
		} else if why := breaks(readValue(spelled), readValue(is)); why != "" {
			c.breaks("%s %s was %q and is %q: %s", what, path, spelled, is, why)
		} else if is != spelled {
			c.adds("%s %s is %q", what, path, is)
		}
	}
	for path := range sorted(now) {
		if _, there := old[path]; !there {
			c.adds("%s %s", what, path)
		}
	}
}

// paramBreaks tells why a host's call would be refused that was taken before.
func paramBreaks(old, now value) string {
	switch {
	case now.always && !old.always:
		return "it is required"
	case !holds(now.types, old.types):
		return "a type is refused"
	}
	for name, limit := range sorted(now.limits) {
		before, limited := old.limits[name]
		wider := limited && (limit == before ||
			(name == "least" || name == "shortest") && number(limit) <= number(before) ||
			(name == "most" || name == "longest") && number(limit) >= number(before) ||
			name == "words" && holds(strings.Split(limit, ","), strings.Split(before, ",")))
		if !wider {
			return "fewer values are taken: " + name
		}
	}
	return ""
}

// answerBreaks tells why a host could not read an answer that it read before.
func answerBreaks(old, now value) string {
	switch {
	case old.always && !now.always:
		return "it may be absent"
	case !holds(old.types, now.types):
		return "it may be of another type"
	}
	for name, limit := range sorted(old.limits) {
		if is := now.limits[name]; is != limit && !(name == "words" && holds(strings.Split(is, ","), strings.Split(limit, ","))) {
			return "what it kept to is another: " + name
		}
	}
	return ""
}

// holds tells whether values of all types of the second list fit the first, which takes any where it is empty.
func holds(types, others []string) bool {
	if len(types) == 0 {
		return true
	}
	return len(others) > 0 && !slices.ContainsFunc(others, func(t string) bool {
		return !slices.Contains(types, t) && !(t == "integer" && slices.Contains(types, "number"))
	})
}

func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err) // valueOf has spelled it
	}
	return n
}

// compareWords compares two lists of words, whatever their order.
func compareWords(c *comparison, what string, old, now []string) {
	for _, word := range slices.Sorted(slices.Values(old)) {
		if !slices.Contains(now, word) {
			c.breaks("%s %s is gone", what, word)
		}
	}
	for _, word := range slices.Sorted(slices.Values(now)) {
		if !slices.Contains(old, word) {
			c.adds("%s %s", what, word)
		}
	}
}

func texts(numbers []int) []string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	return words
}

// without lists the keys of one map that another one lacks.
func without[V any](now, old map[string]V) []string {
	var words []string
	for word := range now {
		if _, there := old[word]; !there {
			words = append(words, word)
		}
	}
	return words
}

// sorted goes through a map in the order of its keys, so that lines come in the same order each time.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
