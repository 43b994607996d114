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
	r := &Registry{
		methods: map[string]*method{}, notifications: map[string]notification{},
		notify: func(string, any) error { return nil }, gate: host.gate, close: deleter.Close,
	}
	registerRPC(r)
	registerRuntime(r, &runtime{log: log, started: time.Now(), session: host, deleter: deleter, counters: count})
	db := &stateDB{notify: func(method string, params any) error { return r.notify(method, params) }, log: log, session: host, deleter: deleter, counters: count}
	registerStateDB(r, db)
	registerSweep(r, db)
	registerExport(r, db)
	registerFeatures(r, db)
	registerCompact(r, db)
	registerConversations(r, db)
	registerFence(r, db)
	registerRoutes(r, db)
	registerReceipts(r, db)
	return r
}
