package demo

import (
	"fmt"
)

// role says how a session belongs to the one that it hangs below.
type role string

const (
	roleStart    role = "" // of a conversation: it hangs below nothing
	roleSegment  role = "goes on"
	roleDelegate role = "delegate"
	roleBranch   role = "branch"
)

var roleStyles = map[role]style{roleSegment: dim, roleDelegate: cyan, roleBranch: yellow}

// tree draws the families of the sessions: ids in one column, so that they can be compared, and the shape beside the
// titles. The titles stand last in their lines: some terminals turn the order of what follows Arabic or Hebrew.
func (p *page) tree(rows []row) {
	children := map[string][]row{}
	for _, r := range rows {
		children[r.parent] = append(children[r.parent], r)
	}
	p.line(span{margin + padded("session", len(rows[0].id)) + "  messages  title", dim})
	p.branches(children, "", "")
}

// branches draws what hangs below a session; prefix is the shape to its left.
func (p *page) branches(children map[string][]row, below, prefix string) {
	for i, r := range children[below] {
		joint, further := "├─ ", "│  "
		switch {
		case below == "":
			joint, further = "", ""
		case i == len(children[below])-1:
			joint, further = "└─ ", "   "
		}
		spans := []span{
			{margin + r.id, plain},
			{fmt.Sprintf("  %8d  ", r.messages), dim},
			{prefix + joint, dim},
		}
		if r.role != roleStart {
			spans = append(spans, span{string(r.role) + ": ", roleStyles[r.role]})
		}
		p.line(append(spans, span{r.title, plain})...)
		p.branches(children, r.id, prefix+further)
	}
}

// families gives the rows of the families that hold one of the ids.
func families(rows []row, ids ...string) []row {
	parents := map[string]string{}
	for _, r := range rows {
		parents[r.id] = r.parent
	}
	root := func(id string) string {
		for parents[id] != "" {
			id = parents[id]
		}
		return id
	}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[root(id)] = true
	}
	var found []row
	for _, r := range rows {
		if wanted[root(r.id)] {
			found = append(found, r)
		}
	}
	return found
}

// roots counts the conversations.
func roots(rows []row) int {
	n := 0
	for _, r := range rows {
		if r.parent == "" || r.role == roleBranch {
			n++
		}
	}
	return n
}
