package methods

import "sync/atomic"

type countersInfo struct {
	Answered       uint64 `json:"answered" jsonschema:"calls answered since the start"`
	Deletes        uint64 `json:"deletes" jsonschema:"deletes whose rows are gone"`
	Refused        uint64 `json:"refused" jsonschema:"deletes that were refused or failed and changed nothing"`
	SessionsGone   uint64 `json:"sessions_deleted" jsonschema:"ids deleted or swept"`
	CleanupPending uint64 `json:"cleanup_pending" jsonschema:"deletes that left a file of their own"`
	CleanupRuns    uint64 `json:"cleanup_runs" jsonschema:"runs over what deletes left, before and after each delete, asked for, and unasked"`
}

// counters count since the start, for runtime.status.
type counters struct{ deletes, refused, sessions, pending atomic.Uint64 }

// count counts a delete that was answered.
func (c *counters) count(result deleteResult) {
	if result.DeletedIDs == nil {
		c.refused.Add(1)
	} else {
		c.deletes.Add(1)
		c.sessions.Add(uint64(len(result.DeletedIDs)))
		if !result.OK {
			c.pending.Add(1)
		}
	}
}
