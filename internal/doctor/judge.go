package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/trash"
	"session-sidecar/locks"
	"session-sidecar/statedb"
)

// facts are what was seen of a home. What could not be seen is nil.
type facts struct {
	disk     statedb.Disk
	shape    *statedb.Shape
	refusal  refusal // why there is no path
	damage   string  // SQLite's words, where it could not read the store at all
	contents *statedb.Health
	checked  *statedb.Checked
	files    *cleanup.Inspection
	folder   string // why sessions/ cannot be used
	trash    trashFacts
	lock     locks.State
	full     bool
}

// trashFacts are what was seen of the trash.
type trashFacts struct {
	found    *trash.Inspection
	at       time.Time         // when it was looked
	unusable string            // why trash/ cannot be used
	failures []statedb.Failure // what there was too little time for
}

// refusal is why no path applies: the contract's word, and a line.
type refusal struct{ word, line string }

// largeWAL is a log that an Agent's own checkpoints would not let grow: they come every few megabytes.
const largeWAL = 64 << 20

// mostNames is how many names a finding has.
const mostNames = 5

// judge tells what the facts mean: what is wrong first, then what is left over, then what is only worth knowing.
func judge(f facts) []Finding {
	j := &judgement{}
	j.store(f)
	j.checks(f)
	j.contents(f.contents)
	if f.contents != nil {
		j.guards(f.contents.Guards)
	}
	j.leftovers(f)
	j.trash(f.trash, f.full)
	j.lock(f.lock)
	order := []Severity{Error, Warning, Note}
	slices.SortStableFunc(j.findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity))
	})
	return j.findings
}

type judgement struct{ findings []Finding }

func (j *judgement) find(word Word, names []string, format string, args ...any) {
	j.findings = append(j.findings, Finding{word, severities[word], fmt.Sprintf(format, args...), names[:min(len(names), mostNames)]})
}

// found is find for what was counted, if there is any.
func (j *judgement) found(word Word, what *statedb.Sampled, one, many string) {
	if what != nil && what.Count > 0 {
		j.find(word, what.IDs, "%s", counted(what.Count, one, many))
	}
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (j *judgement) store(f facts) {
	if f.disk.JournalBytes > 0 {
		j.find(WordJournalLeft, nil, "there is a rollback journal: somebody writes just now, or has ended half-way and is rolled back by whoever writes next")
	}
	if f.disk.WALBytes > largeWAL {
		j.find(WordWALLarge, nil, "the write-ahead log has %d MiB: somebody has read for long, or ended without emptying it", f.disk.WALBytes>>20)
	}
	if f.damage != "" {
		j.find(WordCorrupt, nil, "the store cannot be read: %s", f.damage)
	}
	s := f.shape
	if s == nil {
		return
	}
	switch {
	case s.Kind == statedb.KindEmpty:
		j.find(WordUnsupported, nil, "state.db is there and empty: no Agent has written to it")
	case f.refusal.word != "":
		j.find(Word(f.refusal.word), nil, "no delete is possible: %s", f.refusal.line)
	}
	if s.SchemaVersion != nil && *s.SchemaVersion > statedb.NewestSchema {
		j.find(WordSchemaNewer, nil, "the store is of schema version %d; this program knows those up to %d", *s.SchemaVersion, statedb.NewestSchema)
	}
	if s.IndexFault != nil {
		j.find(WordIndexUnavailable, nil, "no delete is possible: %s", lineOf(s.IndexFault))
	}
	if len(s.SetAside) > 0 {
		j.find(WordIndexSetAside, s.SetAside, "the next delete sets aside %s, which this build cannot write; the Agent rebuilds it",
			strings.Join(s.SetAside, ", "))
	}
	if s.JournalMode != "wal" && s.Kind != statedb.KindEmpty {
		j.find(WordNoWAL, nil, "the store has no write-ahead log (journal mode %s), so readers and writers wait for each other", s.JournalMode)
	}
}

func (j *judgement) checks(f facts) {
	k := f.checked
	if k == nil {
		return
	}
	if len(k.Damage) > 0 {
		j.find(WordCorrupt, nil, "the store is damaged: %s", strings.Join(k.Damage, "; "))
	}
	for _, l := range k.LostReferences {
		j.find(WordLostReferences, []string{l.Table}, "%s of %s of a row of %s that is not there",
			counted(l.Count, "row", "rows"), l.Table, l.Parent)
	}
	for _, index := range k.Indexes {
		name := []string{index.Name}
		if index.Damage != "" {
			j.find(WordIndexDamaged, name, "the full-text index %s is damaged: %s", index.Name, index.Damage)
		}
		if index.Extra != nil && *index.Extra > 0 {
			j.find(WordIndexKeepsDeleted, name, "the full-text index %s still has %s that are not there", index.Name,
				counted(*index.Extra, "entry of messages", "entries of messages"))
		}
		if index.Missing != nil && *index.Missing > 0 {
			j.find(WordIndexIncomplete, name, "the full-text index %s lacks %s: search does not find them", index.Name,
				counted(*index.Missing, "message", "messages"))
		}
	}
	j.failures(k.Failures, f.full)
}

// failures are questions without an answer: too little time is no fault of the store.
func (j *judgement) failures(failures []statedb.Failure, full bool) {
	var unfinished, damaged []string
	for _, failure := range failures {
		switch {
		case failure.Unfinished():
			unfinished = append(unfinished, failure.What)
		case failure.Damaged():
			damaged = append(damaged, failure.What)
		default:
			j.find(WordUnread, nil, "%s cannot be read: %s", failure.What, failure.Line())
		}
	}
	if len(damaged) > 0 {
		j.find(WordCorrupt, nil, "the store is damaged: SQLite cannot read %s", strings.Join(damaged, ", "))
	}
	if len(unfinished) > 0 && !full {
		j.find(WordCheckUnfinished, nil, "there was too little time for %s; --full takes all it needs", strings.Join(unfinished, ", "))
	}
}

func (j *judgement) contents(h *statedb.Health) {
	if h == nil {
		return
	}
	j.failures(h.Failures, false)
	j.found(WordLooseMessages, h.LooseMessages, "session is not there, but messages of it are", "sessions are not there, but messages of them are")
	j.found(WordLostParents, h.LostParents, "session has a parent that is not there", "sessions have a parent that is not there")
	j.found(WordUndead, h.Undead, "session is there though its id was retired", "sessions are there though their ids were retired")
	j.found(WordEmptySessions, h.EmptySessions, "session has no message", "sessions have no message")
	j.receipts(h.Receipts)
	j.intents(h.Intents)
	j.fences(h.Fences)
	if h.Notes != nil && *h.Notes > 0 {
		j.find(WordFilesNoted, nil, "%s to be removed once nobody names it", counted(*h.Notes, "note is there of a file", "notes are there of files"))
	}
	if len(h.StaleIndexes) > 0 {
		j.find(WordIndexStale, h.StaleIndexes, "the Agent has to rebuild %s before it searches in it", strings.Join(h.StaleIndexes, ", "))
	}
	if u := h.Unsettled; u != nil && u.Requests+u.Workers > 0 {
		j.find(WordUnsettled, nil, "%s and %s are not settled", counted(u.Requests, "request", "requests"), counted(u.Workers, "worker", "workers"))
	}
}

func (j *judgement) receipts(r *statedb.ReceiptHealth) {
	if r == nil {
		return
	}
	if r.Unfit != nil {
		j.find(WordReceiptsUnfit, nil, "deletion receipts cannot be written, so no delete is possible: %s", lineOf(r.Unfit))
	}
	if r.Damaged > 0 {
		j.find(WordReceiptsDamaged, nil, "%s no JSON object", counted(int(r.Damaged), "deletion receipt is", "deletion receipts are"))
	}
}

func (j *judgement) intents(i *statedb.IntentHealth) {
	if i == nil {
		return
	}
	if n := i.Count - i.Damaged; n > 0 {
		j.find(WordIntentPending, nil, "%s for the base home", counted(n, "route intent waits", "route intents wait"))
	}
	if i.Damaged > 0 {
		j.find(WordIntentDamaged, nil, "%s be read", counted(i.Damaged, "route intent cannot", "route intents cannot"))
	}
}

func (j *judgement) fences(f *statedb.FenceHealth) {
	if f == nil {
		return
	}
	if n := f.Sessions.RunOut + f.Routes.RunOut; n > 0 {
		j.find(WordFencesRunOut, nil, "%s no longer and can be reclaimed", counted(n, "expiring fence holds", "expiring fences hold"))
	}
	if n := f.Sessions.Garbled + f.Routes.Garbled; n > 0 {
		j.find(WordFencesGarbled, nil, "%s no JSON; an id that has one is retired for good", counted(n, "fence is", "fences are"))
	}
}

func (j *judgement) guards(all *statedb.GuardsHealth) {
	if all == nil {
		return
	}
	byWord := map[Word]*statedb.Sampled{}
	for _, g := range all.First {
		word := WordGuardLive
		switch {
		case g.Stale:
			word = WordGuardStale
		case g.ExpiresAt == nil && g.State == statedb.HolderUnknown:
			word = WordGuardEndless
		}
		if byWord[word] == nil {
			byWord[word] = &statedb.Sampled{}
		}
		byWord[word].Count++
		byWord[word].IDs = append(byWord[word].IDs, g.SessionID)
	}
	lines := map[Word][2]string{
		WordGuardLive:    {"guard keeps its session from being deleted", "guards keep their sessions from being deleted"},
		WordGuardStale:   {"guard protects nothing any more; the next delete there removes it", "guards protect nothing any more; the next delete there removes them"},
		WordGuardEndless: {"guard never runs out, and nobody can tell whether its holder lives", "guards never run out, and nobody can tell whether their holders live"},
	}
	for _, word := range slices.Sorted(maps.Keys(byWord)) {
		j.found(word, byWord[word], lines[word][0], lines[word][1])
	}
}

func (j *judgement) leftovers(f facts) {
	if f.folder != "" {
		j.find(WordFolderUnusable, nil, "sessions/ cannot be used: %s", f.folder)
	}
	if f.files == nil {
		return
	}
	if len(f.files.Unreadable) > 0 {
		j.find(WordManifestBad, f.files.Unreadable, "%s be read", counted(len(f.files.Unreadable), "manifest cannot", "manifests cannot"))
	}
	var ids []string
	causes := map[string]int{}
	for _, p := range f.files.Pending {
		if len(f.lock.Holders) == 0 || !mayBeUnderWay(p.Cause) {
			ids = append(ids, p.SessionID)
			causes[causeText(p.Cause)]++
		}
	}
	if len(ids) > 0 {
		var parts []string
		for _, cause := range slices.Sorted(maps.Keys(causes)) {
			parts = append(parts, fmt.Sprintf("%d %s", causes[cause], cause))
		}
		j.find(WordManifestPending, ids, "%s of deleted sessions: %s", counted(len(ids), "id waits for the files", "ids wait for the files"),
			strings.Join(parts, ", "))
	}
	if len(f.files.Orphans) > 0 {
		var names []string
		bytes := int64(0)
		for _, o := range f.files.Orphans {
			names = append(names, o.Name)
			bytes += o.Bytes
		}
		j.find(WordOrphans, names, "%s named as a session's that is not there (%d bytes)", counted(len(names), "file is", "files are"), bytes)
	}
	if len(f.files.Abandoned) > 0 {
		j.find(WordAbandoned, f.files.Abandoned, "%s never finished; the next clean-up removes it",
			counted(len(f.files.Abandoned), "manifest was", "manifests were"))
	}
}

func (j *judgement) trash(f trashFacts, full bool) {
	if f.unusable != "" {
		j.find(WordTrashUnusable, nil, "nothing can be kept or restored: %s", f.unusable)
	}
	j.failures(f.failures, full)
	t := f.found
	if t == nil {
		return
	}
	if n := len(t.Unreadable); n > 0 {
		j.find(WordTrashDamaged, t.Unreadable, "%s of the trash cannot be restored", counted(n, "entry", "entries"))
	}
	if len(t.Exposed) > 0 {
		j.find(WordTrashExposed, t.Exposed, "the trash is open to others than its owner")
	}
	if overdue := overdueOf(f); len(overdue) > 0 {
		j.find(WordTrashOverdue, overdue, "%s been kept for as long as was asked; the next use of the home removes it",
			counted(len(overdue), "entry has", "entries have"))
	}
	if n := t.Entries - len(t.Unreadable); n > 0 { // those that there was no time for too
		j.find(WordTrashKept, nil, "the trash keeps what %s took (%d bytes)", counted(n, "delete", "deletes"), t.Bytes)
	}
	if n := len(t.Unfinished); n > 0 {
		j.find(WordTrashUnfinished, t.Unfinished, "%s being written, or was never finished and goes with the next use of the home",
			counted(n, "entry is", "entries are"))
	}
}

// overdueOf are the entries that have been kept for as long as was asked.
func overdueOf(f trashFacts) (operations []string) {
	for _, h := range f.found.Headers {
		if h.Expired(f.at) {
			operations = append(operations, h.OperationID)
		}
	}
	return operations
}

// waiting is the cause of what nothing is in the way of.
const waiting = "waiting"

// mayBeUnderWay tells whether a delete that is under way may be all that an id waits for. It names its ids while their rows are there.
func mayBeUnderWay(c cleanup.Cause) bool {
	return c == cleanup.CauseNone || c == cleanup.CauseSessionLive
}

func causeText(c cleanup.Cause) string { return cmp.Or(string(c), waiting) }

func (j *judgement) lock(l locks.State) {
	if l.Unusable != nil {
		j.find(WordLockUnusable, nil, "the clean-up lock cannot be used, so no delete is possible: %s", lineOf(l.Unusable))
	}
	if len(l.Holders) > 0 {
		j.find(WordLockHeld, nil, "the clean-up lock is held by %s: a delete is under way", holdersText(l.Holders))
	}
}

func holdersText(holders []locks.Holder) string {
	var all []string
	for _, h := range holders {
		text := fmt.Sprintf("process %d", h.PID)
		if h.Name != "" {
			text += " (" + h.Name + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}
