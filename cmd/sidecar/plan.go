package main

import (
	"fmt"
	"strconv"
	"strings"
)

// plan is the result of state_db.preview_delete.
type plan struct {
	Existed *bool
	IDs     []struct {
		ID           string
		Why          string
		Title        string
		MessageCount int `json:"message_count"`
	}
	Kept      []struct{ ID, Why string }
	Artifacts []struct {
		Name  string
		Bytes int64
	}
	Guards []struct {
		SessionID string   `json:"session_id"`
		Kind      string   `json:"kind"`
		Holder    string   `json:"holder"`
		ExpiresAt *float64 `json:"expires_at,omitempty"`
	}
	LeftBehind     []counted `json:"left_behind"`
	Retained       []counted
	Media          []struct{ Path string }
	Trash          *struct{ Bytes int64 }
	Reason, Detail string
}

// counted is something that a plan tells a number of.
type counted struct {
	Kind  string
	Count int
	Why   string
}

// show prints a plan: what goes, what stays, what is in the way.
func (pl *plan) show(p *paper, id string) {
	var rows [][]string
	for _, t := range pl.IDs {
		rows = append(rows, []string{"goes", t.ID, whyGoes[t.Why], strconv.Itoa(t.MessageCount), t.Title})
	}
	for _, k := range pl.Kept {
		rows = append(rows, []string{"stays", k.ID, whyStays[k.Why], "", ""})
	}
	p.columns([]string{"", "session", "why", "messages", "title"}, rows)
	for _, left := range pl.LeftBehind {
		p.say("left behind\t%s\t%d\t%s", left.Kind, left.Count, left.Why)
	}
	for _, g := range pl.Guards {
		who, until := g.Holder, "for ever"
		switch {
		case g.Kind == "admission":
			who, until = "request "+g.Holder, "until it is settled"
		case g.Kind == "worker":
			who, until = "worker "+g.Holder, "until it has ended"
		case g.ExpiresAt != nil:
			until = "until " + momentText(g.ExpiresAt)
		}
		p.say("in use\t%s\tby %s\t%s", g.SessionID, who, until)
	}
	for _, kept := range pl.Retained {
		p.say("stays\t%s\t%d\t%s", kept.Kind, kept.Count, kept.Why)
	}
	for _, m := range pl.Media {
		p.say("a file\t%s\tgoes too, unless somebody still needs it", m.Path)
	}
	if pl.Existed != nil && !*pl.Existed {
		p.say("there is no session %s; only what still names it would go", id)
	}
	if pl.Reason != "" {
		p.say("%s cannot be deleted: %s (%s)", id, pl.Detail, pl.Reason)
		return
	}
	if pl.Trash != nil && (pl.Existed == nil || *pl.Existed) {
		p.say("to the trash\tabout %s", bytesText(max(pl.Trash.Bytes, leastKept)))
	}
	p.say("%s", pl.summary())
}

// leastKept is about what an entry has of its own, be it of ever so little.
const leastKept = 1 << 10

// summary says in words what would go.
func (pl *plan) summary() string {
	messages, size := 0, int64(0)
	for _, t := range pl.IDs {
		messages += t.MessageCount
	}
	for _, a := range pl.Artifacts {
		size += a.Bytes
	}
	parts := []string{count(len(pl.IDs), "session"), count(messages, "message"), count(len(pl.Artifacts), "file")}
	return fmt.Sprintf("%s (%s)", strings.Join(parts, ", "), bytesText(size))
}

func (pl *plan) ids() []string {
	ids := []string{}
	for _, t := range pl.IDs {
		ids = append(ids, t.ID)
	}
	return ids
}

// whyGoes and whyStays put the method's words in a person's.
var (
	whyGoes = map[string]string{
		"requested": "you named it", "compression": "a segment of it", "delegate": "worked for it",
		"lineage": "a segment of it",
	}
	whyStays = map[string]string{
		"branch": "a branch", "continuation": "goes on from it", "delegate_of_compressed": "worked for an older segment",
		"after_branch": "began after it branched", "reset": "begun anew after it",
		"below_kept": "belongs to one that stays", "not_a_delegate": "a conversation of its own",
	}
)
