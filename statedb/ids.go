package statedb

import "slices"

// Lists and sets of ids, and of other texts.

func setOf(ids []string) map[string]bool {
	set := map[string]bool{}
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// distinct gives each of the ids once, in their order.
func distinct(ids []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		before := seen[id]
		seen[id] = true
		return before
	})
}

func values(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}
