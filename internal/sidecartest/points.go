package sidecartest

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"

	"session-sidecar/internal/faultpoint"
)

var (
	killsMu  sync.Mutex
	killedAt = map[faultpoint.Point]bool{}
)

// noteKill remembers the crash point at which a process with this environment has killed itself.
func noteKill(environment []string) {
	for _, assignment := range environment {
		if setting, ok := strings.CutPrefix(assignment, "SIDECAR_FAULT_KILL="); ok {
			point, _, _ := strings.Cut(setting, "#")
			killsMu.Lock()
			killedAt[faultpoint.Point(point)] = true
			killsMu.Unlock()
		}
	}
}

// EveryPointHadItsCase is a check for Main: a real process was killed at each point of internal/faultpoint in the tests that
// have run. It asks nothing of a run of some of the tests.
func EveryPointHadItsCase() error {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return nil
		}
	}
	killsMu.Lock()
	defer killsMu.Unlock()
	missing := slices.DeleteFunc(faultpoint.Every(), func(p faultpoint.Point) bool { return killedAt[p] })
	if len(missing) > 0 {
		return fmt.Errorf("no process was killed at the crash points %v (internal/faultpoint): each needs a case", missing)
	}
	return nil
}
