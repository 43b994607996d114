package methods

import (
	"log/slog"
	"time"

	"session-sidecar/internal/deletion"
)

// New registers every method of this build over one deleter. A log line never holds a title, a message or a config. End it
// with Close.
func New(log *slog.Logger) *Registry {
	host := &session{}
	deleter := deletion.New(log)
	count := &counters{}
	r := &Registry{methods: map[string]*method{}, gate: host.gate, close: deleter.Close}
	registerRPC(r)
	registerRuntime(r, &runtime{log: log, started: time.Now(), session: host, deleter: deleter, counters: count})
	db := &stateDB{pages: make(chan struct{}, pagesAtOnce), log: log, session: host, deleter: deleter, counters: count}
	registerStateDB(r, db)
	registerCleanup(r, &cleaner{log: log, session: host, deleter: deleter})
	registerSweep(r, db)
	registerExport(r, db)
	registerFeatures(r, db)
	registerCompact(r, db)
	registerConversations(r, db)
	registerFence(r, db)
	registerRoutes(r, db)
	registerReceipts(r, db)
	registerTrash(r, db)
	return r
}
