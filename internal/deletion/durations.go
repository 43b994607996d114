package deletion

import "time"

// Durations tell how long the parts of a delete took, for whoever has to say why one was slow. A part that was not come to took none.
type Durations struct {
	HomeLock    time.Duration // waiting for the home's locks
	WriteLock   time.Duration // waiting for the store's write lock
	Decision    time.Duration // reading and deciding who goes, before the write lock and under it; a copy for the trash is not among it
	Transaction time.Duration // the write lock was held: other writers had to wait
	Cleanup     time.Duration // removing the files afterwards
}

// durations is where a request's durations are noted, which nobody may have asked for.
func (r Request) durations() *Durations {
	if r.Took == nil {
		return &Durations{}
	}
	return r.Took
}

// spend adds the time since then to a part.
func spend(part *time.Duration, since time.Time) { *part += time.Since(since) }
