package deletion

import (
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/operationid"
	"session-sidecar/internal/trash"
	"session-sidecar/statedb"
)

// Request is one delete, as a caller asked for it.
type Request struct {
	ProfileHome       string // as given; it is resolved here, once
	SessionID         string
	WithLineage       bool
	WholeConversation bool
	ExpectedIDs       []string // what the user agreed to; nil where nobody was asked
	AgentDir          string   // empty where the host named none
	KeepDays          int      // how long what goes can be taken back; 0: not at all
	BaseHome          string   // the home whose routes all profiles share; empty where the host named none

	// Took is told how long the parts took, of a delete that fails too; nil where nobody asks.
	Took *Durations

	unasked bool // the watcher's: it waits for no lock, and comes back
	sweeps  bool // a sweep's, which names no conversation: what goes is what it decides under the write lock
}

// Provenance says who wanted a delete, and by which way it was asked for. It is no part of a request: only the handler of a
// user's call has one to give, so nothing that a caller sends can make one up (contract 8.4).
type Provenance struct {
	Reason  string
	Surface string
}

// toStore is what the store needs of a request.
func (r Request) toStore(agent statedb.Agent) statedb.Request {
	return statedb.Request{
		SessionID:         r.SessionID,
		WithLineage:       r.WithLineage,
		WholeConversation: r.WholeConversation,
		ExpectedIDs:       r.ExpectedIDs,
		Circumstances:     statedb.Circumstances{Agent: agent},
	}
}

// toDelete is that for a delete proper, which leaves work to be done after its commit.
func (r Request) toDelete(homePath string) statedb.Request {
	request := r.toStore(statedb.Agent{}) // which is looked at under the write lock
	request.OperationID = operationid.New()
	request.SharesRoutes = sharesRoutes(homePath, r.BaseHome)
	return request
}

// Outcome is a delete whose rows are gone for good. Its files may not be: see Stuck.
type Outcome struct {
	Home    string         // resolved
	Plan    *statedb.Plan  // what it did to the store
	Cleanup cleanup.Report // of the whole home, older manifests included
	// Stuck tells whether an artifact of this very delete is still there, or a file that its rows named and that had to go.
	Stuck bool
	// Entry is that in the trash; nil where none was asked for, or where no row was there.
	Entry *trash.Header
	// LockHeld is for how long other writers had to wait for the rows to go.
	LockHeld time.Duration
}
