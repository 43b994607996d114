package main

import "fmt"

// deleted is one item of the result of state_db.delete_sessions.
type deleted struct {
	SessionID  string `json:"session_id"`
	OK         bool
	TakenBy    string   `json:"taken_by"`
	DeletedIDs []string `json:"deleted_ids"`
	Existed    *bool
	Trash      *struct {
		OperationID string  `json:"operation_id"`
		KeepUntil   float64 `json:"keep_until"`
	}
	Reason string
	Detail string
	Erase  *erased
}

// erased is what a result tells of the words that the store's files may still hold.
type erased struct{ Indexes, WAL string }

func (d *deleted) say(p *paper, keep bool) {
	switch {
	case keep && d.OK && d.Trash == nil && d.Existed != nil && !*d.Existed:
		p.say("deleted\t%s\tit was not there; nothing is in the trash", d.SessionID)
	case d.TakenBy != "":
		p.say("deleted\t%s\twith %s", d.SessionID, d.TakenBy)
	case d.OK:
		p.say("deleted\t%s\t%s%s", d.SessionID, count(len(d.DeletedIDs), "session"), d.inTrash())
	case d.DeletedIDs != nil:
		p.say("deleted\t%s\t%s (%s)%s", d.SessionID, d.Detail, d.Reason, d.inTrash())
	default:
		p.say("not deleted\t%s\t%s (%s)", d.SessionID, d.Detail, d.Reason)
	}
}

// inTrash tells how to take the delete back, if that can be done.
func (d *deleted) inTrash() string {
	if d.Trash == nil {
		return ""
	}
	return fmt.Sprintf(", in the trash until %s as %s", dayText(&d.Trash.KeepUntil), d.Trash.OperationID)
}

// whole tells whether nothing is left that was to be erased.
func (e *erased) whole() bool { return e.Indexes == "purged" && e.WAL == "truncated" }

func (e *erased) say(p *paper) {
	indexes := "erased\tsearch indexes\tno deleted word is left in them"
	if e.Indexes != "purged" {
		indexes = "left\tsearch indexes\tthey may still hold deleted words; delete the same session again to go on, or ask sidecar doctor (" + e.Indexes + ")"
	}
	log := "erased\tlog\tit is empty"
	if e.WAL != "truncated" {
		log = "left\tlog\tit may still hold deleted text, for somebody uses the history (" + e.WAL + ")"
	}
	p.raw(indexes)
	p.raw(log)
}
