package doctor

import (
	"session-sidecar/cleanup"
	"session-sidecar/statedb"
)

// Report is how a home is. Its JSON is for programs that help people: names are added to it, and none is taken away. It never holds what a
// conversation says, nor a title, nor a config.
type Report struct {
	Home    string `json:"home"`
	Store   string `json:"store"`
	Looked  bool   `json:"looked"`
	Healthy bool   `json:"healthy"` // nothing was found but notes
	Full    bool   `json:"full"`

	Findings []Finding `json:"findings"`

	Kind          statedb.StoreKind `json:"kind,omitempty"`
	SchemaVersion *int64            `json:"schema_version,omitempty"`
	Path          statedb.Path      `json:"path,omitempty"`
	Reason        string            `json:"reason,omitempty"` // why there is no path
	Detail        string            `json:"detail,omitempty"`
	JournalMode   string            `json:"journal_mode,omitempty"`
	Missing       []string          `json:"missing,omitempty"`

	Bytes     int64  `json:"bytes"`
	WALBytes  int64  `json:"wal_bytes"`
	FreeBytes *int64 `json:"free_bytes,omitempty"` // of the bytes, those in pages that hold nothing
	Sessions  *int64 `json:"sessions,omitempty"`
	Messages  *int64 `json:"messages,omitempty"`

	// What could not be asked is absent.
	Checked     *Checked   `json:"checked,omitempty"`
	Guards      *Guards    `json:"guards,omitempty"`
	Unsettled   *Unsettled `json:"unsettled,omitempty"`
	Tombstones  *Fences    `json:"tombstones,omitempty"`
	RouteFences *Fences    `json:"route_fences,omitempty"`
	Receipts    *Receipts  `json:"receipts,omitempty"`
	Intents     *int       `json:"route_intents,omitempty"`
	FilesNoted  *int       `json:"files_noted,omitempty"`
	Files       *Files     `json:"files,omitempty"`
	Trash       *Trash     `json:"trash,omitempty"`
	Lock        Lock       `json:"lock"`
}

// Checked is how far the checks came.
type Checked struct {
	Tables  int     `json:"tables"`
	Of      int     `json:"of"`
	Damage  int     `json:"damage"` // lines of SQLite
	Indexes []Index `json:"indexes"`
}

// Index is one full-text index.
type Index struct {
	Name      string `json:"name"`
	Tokenizer string `json:"tokenizer"`
	Usable    bool   `json:"usable"`
	Checked   bool   `json:"checked"`
	Damaged   bool   `json:"damaged"`
	Extra     *int   `json:"extra,omitempty"`   // entries of messages that are not there
	Missing   *int   `json:"missing,omitempty"` // messages without an entry
}

// Guards are the leases and locks.
type Guards struct {
	Count int     `json:"count"`
	First []Guard `json:"first"` // a hundred of them at most
}

// Unsettled counts what the runtime has not settled.
type Unsettled struct {
	Requests int `json:"requests"`
	Workers  int `json:"workers"`
}

// Guard is one mark that protects a session, or did.
type Guard struct {
	Kind      statedb.GuardKind   `json:"kind"`
	SessionID string              `json:"session_id"`
	Holder    string              `json:"holder"`
	State     statedb.HolderState `json:"holder_state"`
	Stale     bool                `json:"stale"`
	ExpiresAt *float64            `json:"expires_at,omitempty"`
}

// Fences counts fences.
type Fences struct {
	All      int `json:"all"`
	Expiring int `json:"expiring"`
	RunOut   int `json:"run_out"`
}

// Receipts are the deletion receipts.
type Receipts struct {
	There bool  `json:"there"` // the first delete makes their table
	Count int64 `json:"count"`
	Head  int64 `json:"head"` // the newest sequence ever given
}

// Files are those in sessions/.
type Files struct {
	Artifacts  int       `json:"artifacts"` // of live sessions, or named by a manifest
	Orphans    int       `json:"orphans"`
	Manifests  int       `json:"manifests"`
	Unreadable int       `json:"manifests_unreadable"` // of those
	Pending    []Pending `json:"pending"`
}

// Trash is what deletes have kept in trash/.
type Trash struct {
	Entries    int   `json:"entries"`
	Bytes      int64 `json:"bytes"`      // of all of them
	Overdue    int   `json:"overdue"`    // of those, the ones whose time is over
	Unreadable int   `json:"unreadable"` // of those, the ones that cannot be restored
	Unfinished int   `json:"unfinished"` // temporary files
}

// Pending is an id of a manifest, and why its files are still there; "waiting" where nothing is in the way.
type Pending struct {
	SessionID string `json:"session_id"`
	Cause     string `json:"cause"`
}

// mostPending bounds how many are told one by one.
const mostPending = 100

// Lock is the home's clean-up lock.
type Lock struct {
	There   bool     `json:"there"`
	Known   bool     `json:"known"` // this system tells who holds it
	Holders []Holder `json:"holders"`
}

// Holder is a process that holds it.
type Holder struct {
	PID  int    `json:"pid"`
	Name string `json:"name,omitempty"`
}

// newReport spells the facts and what they mean.
func newReport(homePath, store string, f facts) *Report {
	r := &Report{Home: homePath, Store: store, Looked: true, Full: f.full, Findings: judge(f)}
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	r.Healthy = true
	for _, finding := range r.Findings {
		r.Healthy = r.Healthy && finding.Severity == Note
	}
	r.Bytes, r.WALBytes = f.disk.Bytes, f.disk.WALBytes
	r.Lock = Lock{There: f.lock.There, Known: f.lock.Known, Holders: []Holder{}}
	for _, h := range f.lock.Holders {
		r.Lock.Holders = append(r.Lock.Holders, Holder(h))
	}
	if f.shape != nil {
		r.Kind, r.SchemaVersion, r.Path, r.JournalMode = f.shape.Kind, f.shape.SchemaVersion, f.shape.Path, f.shape.JournalMode
		r.Reason, r.Detail = f.refusal.word, f.refusal.line
		r.Missing = f.shape.Missing
	}
	if f.contents != nil {
		r.addContents(f.contents)
	}
	if f.checked != nil {
		r.addChecked(f.shape, f.checked)
	}
	if f.files != nil {
		r.Files = filesOf(f.files)
	}
	if t := f.trash.found; t != nil {
		r.Trash = &Trash{t.Entries, t.Bytes, len(overdueOf(f.trash)), len(t.Unreadable), len(t.Unfinished)}
	}
	return r
}

func (r *Report) addContents(h *statedb.Health) {
	r.Sessions, r.Messages, r.FilesNoted = h.Sessions, h.Messages, h.Notes
	if h.Pages != nil {
		free := h.Pages.Free * h.Pages.Size
		r.FreeBytes = &free
	}
	if h.Guards != nil {
		r.Guards = &Guards{Count: h.Guards.Count, First: []Guard{}}
		for _, g := range h.Guards.First {
			r.Guards.First = append(r.Guards.First, Guard{g.Kind, g.SessionID, g.Holder, g.State, g.Stale, g.ExpiresAt})
		}
	}
	if h.Unsettled != nil {
		r.Unsettled = &Unsettled{h.Unsettled.Requests, h.Unsettled.Workers}
	}
	if h.Fences != nil {
		r.Tombstones, r.RouteFences = fencesOf(h.Fences.Sessions), fencesOf(h.Fences.Routes)
	}
	if h.Receipts != nil {
		r.Receipts = &Receipts{h.Receipts.There, h.Receipts.Count, h.Receipts.Head}
	}
	if h.Intents != nil {
		r.Intents = &h.Intents.Count
	}
}

func fencesOf(f statedb.FenceCounts) *Fences { return &Fences{f.All, f.Expiring, f.RunOut} }

func (r *Report) addChecked(shape *statedb.Shape, k *statedb.Checked) {
	r.Checked = &Checked{Tables: k.Tables, Of: k.Of, Damage: len(k.Damage), Indexes: []Index{}}
	for _, index := range shape.Indexes {
		i := Index{Name: index.Name, Tokenizer: index.Tokenizer, Usable: index.Usable}
		for _, c := range k.Indexes {
			if c.Name == index.Name {
				i.Checked, i.Damaged, i.Extra, i.Missing = c.Checked, c.Damage != "", c.Extra, c.Missing
			}
		}
		r.Checked.Indexes = append(r.Checked.Indexes, i)
	}
}

func filesOf(found *cleanup.Inspection) *Files {
	files := &Files{Artifacts: found.Artifacts, Orphans: len(found.Orphans), Unreadable: len(found.Unreadable), Pending: []Pending{}}
	files.Manifests = found.Manifests + files.Unreadable
	for _, p := range found.Pending[:min(len(found.Pending), mostPending)] {
		files.Pending = append(files.Pending, Pending{p.SessionID, causeText(p.Cause)})
	}
	return files
}
