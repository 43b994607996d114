package methods

import (
	"log/slog"
	"time"

	"session-sidecar/internal/deletion"
)

// service is what the methods of all namespaces share.
type service struct {
	// log never holds a title, a message or a config.
	log      *slog.Logger
	started  time.Time
	host     *host
	deleter  *deletion.Deleter
	counters *counters
	// pages has room for the pages of receipts that may be put together at once.
	pages chan struct{}
	// receiptCommitted is the notification receipts.committed.
	receiptCommitted func(committedReceipt)
}

// New registers every method of this build over one deleter. End it with Registry.Close, when no call is made any more.
func New(log *slog.Logger) *Registry {
	s := &service{
		log: log, started: time.Now(), host: &host{}, deleter: deletion.New(log), counters: &counters{}, pages: make(chan struct{}, pagesAtOnce),
	}
	r := &Registry{methods: map[string]*method{}, gate: s.host.gate, close: s.deleter.Close}
	registerRPC(r)
	for _, add := range []func(*Registry, *service){
		registerRuntime,
		registerDelete, registerPreview, registerBulk, registerSweep, registerExport, registerFeatures, registerCompact, registerConversations,
		registerFence, registerGenerations, registerMutations, registerRoutes,
		registerCleanup, registerReceipts, registerTrash,
	} {
		add(r, s)
	}
	return r
}
