package statedb

import "slices"

// Lists and sets of ids, and of other texts.

// setOf gives the ids as a set.
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

// values gives texts as what is bound to a statement, or written as JSON.
func values(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// asSpelled gives ids as JSON, and so the wire, spells them: it has no word for one that is no UTF-8.
func asSpelled(ids []string) []string {
	spelled := make([]string, len(ids))
	for i, id := range ids {
		spelled[i] = string([]rune(id))
	}
	return spelled
}
