package statedb

import (
	"cmp"
	"slices"
	"strings"
)

// This file decides in which order conversations are listed, where a page ends, and what the segments tell of a conversation (contract
// 5d). It is all functions of rows that were read before.

// ListRequest is what a caller wants to see of the conversations.
type ListRequest struct {
	Limit  int
	Before *Position // where the page before ended; nil for the first page
	Query  string    // words that one message must hold; blank for all conversations
	Agent  Agent     // which decides what a conversation is, as it decides what a delete takes
}

// Page is one page of conversations, newest activity first.
type Page struct {
	Conversations []Conversation
	Next          *Position // nil on the last page
}

// Position is a conversation's place in the order of the list. It stays where it is while others come and go.
type Position struct {
	Activity *float64 // seconds since 1970; nil where nobody knows, which comes last
	Root     string
}

// compare orders by latest activity, then by root, both descending.
func (p Position) compare(other Position) int {
	switch {
	case p.Activity == nil && other.Activity != nil:
		return 1
	case p.Activity != nil && other.Activity == nil:
		return -1
	case p.Activity != nil && *p.Activity != *other.Activity:
		return cmp.Compare(*other.Activity, *p.Activity)
	}
	return cmp.Compare(other.Root, p.Root)
}

// conversation is what makes one up, and its place in the list.
type conversation struct {
	Position
	group
}

// place gives every conversation its place in the list, by the latest activity of any of its rows. Where some rows match
// a query, it leaves out the conversations without one.
func (f *grouping) place(activity map[*session]float64, matches map[*session]bool) []conversation {
	f.spread(activity, matches)
	placed := make([]conversation, 0, len(f.conversations))
	for _, k := range f.conversations {
		one := conversation{Position{Root: k.segments[0].id}, k}
		matched := matches == nil
		for _, row := range slices.Concat(k.segments, k.others) {
			if at, known := activity[row]; known && (one.Activity == nil || at > *one.Activity) {
				one.Activity = &at
			}
			matched = matched || matches[row]
		}
		if matched {
			placed = append(placed, one)
		}
	}
	slices.SortFunc(placed, func(a, b conversation) int { return a.compare(b.Position) })
	return placed
}

// cut gives the conversations after a position, limit of them at most, and where the page ended if there are more.
func cut(placed []conversation, before *Position, limit int) (page []conversation, next *Position) {
	if before != nil {
		first, found := slices.BinarySearchFunc(placed, *before, func(c conversation, p Position) int { return c.compare(p) })
		if found {
			first++
		}
		placed = placed[first:]
	}
	if len(placed) <= limit {
		return placed, nil
	}
	last := placed[limit-1].Position
	return placed[:limit], &last
}

// Conversation is what a list shows of a conversation.
type Conversation struct {
	Root         string // its first segment
	Newest       string // its last one
	Title        string // of the newest segment that has one
	Source       string // of the root
	Segments     int
	MessageCount int // with those of its delegates
	Bytes        int64
	LastActivity *float64 // seconds since 1970; nil where nobody knows
	InUse        bool     // a guard protects it, or something that goes along with it
}

// shown is what the segments alone tell.
func (one *conversation) shown(titles map[string]string) Conversation {
	last := len(one.segments) - 1
	shown := Conversation{
		Root: one.Root, Newest: one.segments[last].id, Segments: len(one.segments), LastActivity: one.Activity,
	}
	if source := one.segments[0].source; source != nil {
		shown.Source = *source
	}
	for i := last; i >= 0 && shown.Title == ""; i-- {
		if title := titles[one.segments[i].id]; strings.TrimSpace(title) != "" {
			shown.Title = title
		}
	}
	return shown
}
