package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"session-sidecar/internal/doctor"
)

// showReport prints the facts, then what was found.
func showReport(p *paper, r *doctor.Report) {
	p.columns([]string{"", ""}, factsOf(r))
	if r.Guards != nil && len(r.Guards.First) > 0 {
		var rows [][]string
		for _, g := range r.Guards.First {
			rows = append(rows, guardRow(g))
		}
		p.withoutKind(rows)
		p.columns(make([]string, len(rows[0])), rows)
	}
	var rows [][]string
	wrong := 0
	for _, f := range r.Findings {
		if f.Severity != doctor.Note {
			wrong++
		}
		rows = append(rows, []string{"finding", string(f.Severity), string(f.Word), withNames(f)})
	}
	if len(rows) > 0 {
		p.withoutKind(rows)
		p.columns(make([]string, len(rows[0])), rows)
	}
	if wrong == 0 {
		p.say("healthy")
		return
	}
	p.say("%s", count(wrong, "thing")+" to look at; docs/reference/doctor.md says what to do")
}

// withoutKind takes away on a terminal what tells programs the kinds of rows apart: people see it.
func (p *paper) withoutKind(rows [][]string) {
	for i := range rows {
		if p.terminal {
			rows[i] = rows[i][1:]
		}
	}
}

// withNames is a finding's sentence with the names that are not in it already.
func withNames(f doctor.Finding) string {
	names := slices.DeleteFunc(slices.Clone(f.Names), func(name string) bool { return strings.Contains(f.Line, name) })
	if len(names) == 0 {
		return f.Line
	}
	return f.Line + ": " + strings.Join(names, ", ")
}

func guardRow(g doctor.Guard) []string {
	until := "for ever"
	if g.ExpiresAt != nil {
		until = "until " + momentText(g.ExpiresAt)
	}
	state := "holder " + string(g.State)
	if g.Stale {
		state += ", stale"
	}
	return []string{"guard", string(g.Kind), g.SessionID, state, until, g.Holder}
}

// factSheet are the facts as rows. What nobody knows has none.
type factSheet [][]string

func (s *factSheet) add(name, format string, args ...any) {
	*s = append(*s, []string{name, fmt.Sprintf(format, args...)})
}

func (s *factSheet) addNumber(name string, n *int64) {
	if n != nil {
		s.add(name, "%d", *n)
	}
}

func (s *factSheet) addFences(name string, f *doctor.Fences) {
	if f != nil {
		s.add(name, "%d, of which %d expire", f.All, f.Expiring)
	}
}

func factsOf(r *doctor.Report) [][]string {
	var s factSheet
	if r.Kind != "" {
		s.add("kind of store", "%s", r.Kind)
		s.addNumber("schema version", r.SchemaVersion)
		s.add("path", "%s", cmp.Or(string(r.Path), "none"))
	}
	s.addNumber("sessions", r.Sessions)
	s.addNumber("messages", r.Messages)
	size := bytesText(r.Bytes)
	if r.FreeBytes != nil {
		size += ", of which " + bytesText(*r.FreeBytes) + " free"
	}
	s.add("size", "%s", size)
	s.add("write-ahead log", "%s", bytesText(r.WALBytes))
	if r.JournalMode != "" {
		s.add("journal mode", "%s", r.JournalMode)
	}
	if k := r.Checked; k != nil {
		s.add("tables checked", "%d of %d", k.Tables, k.Of)
		for _, index := range k.Indexes {
			s.add("index "+index.Name, "%s", indexText(index))
		}
	}
	s.addContents(r)
	if f := r.Files; f != nil {
		s.add("files of sessions", "%d, and %d of none", f.Artifacts, f.Orphans)
		s.add("manifests", "%d, of which %d cannot be read", f.Manifests, f.Unreadable)
		for _, pending := range f.Pending {
			s.add("pending "+pending.SessionID, "%s", pending.Cause)
		}
	}
	if t := r.Trash; t != nil {
		s.add("kept in the trash", "%d (%s), of which %d cannot be restored", t.Entries, bytesText(t.Bytes), t.Unreadable)
	}
	s.add("clean-up lock", "%s", lockText(r.Lock))
	return s
}

func (s *factSheet) addContents(r *doctor.Report) {
	if r.Guards != nil {
		s.add("guards", "%d", r.Guards.Count)
	}
	if r.Unsettled != nil {
		s.add("requests, workers not settled", "%d, %d", r.Unsettled.Requests, r.Unsettled.Workers)
	}
	s.addFences("tombstones", r.Tombstones)
	s.addFences("route fences", r.RouteFences)
	if r.Intents != nil {
		s.add("route intents", "%d", *r.Intents)
	}
	if r.FilesNoted != nil {
		s.add("files noted", "%d", *r.FilesNoted)
	}
	switch receipts := r.Receipts; {
	case receipts == nil:
	case receipts.There:
		s.add("deletion receipts", "%d, the newest ever is %d", receipts.Count, receipts.Head)
	default:
		s.add("deletion receipts", "none was ever written")
	}
}

func indexText(index doctor.Index) string {
	switch {
	case !index.Usable:
		return "this build cannot read it, " + index.Tokenizer
	case index.Damaged:
		return "damaged, " + index.Tokenizer
	case !index.Checked:
		return "not checked, " + index.Tokenizer
	}
	return "sound, " + index.Tokenizer
}

func lockText(l doctor.Lock) string {
	switch {
	case !l.There:
		return "free: no delete was ever made here"
	case !l.Known:
		return "this system does not tell who holds it"
	case len(l.Holders) == 0:
		return "free"
	}
	text := "held by"
	for _, h := range l.Holders {
		text += strings.TrimRight(fmt.Sprintf(" process %d %s", h.PID, h.Name), " ") // one that has ended meanwhile has no name
	}
	return text
}
