package sidecartest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests and removes what Binary built. No goroutine may outlive them. It also is the other process that many of
// them start. Once all tests have passed, the checks look at what they have done together.
func Main(m *testing.M, checks ...func() error) {
	PlayIfAsked()
	if os.Getenv("GORACE") == "" {
		// A program with the race detector else waits a second at its end, each of the many that the tests start.
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	drawAlikeInCI()
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "a goroutine outlives the tests:", err)
			code = 1
		}
		for _, check := range checks {
			if err := check(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	endings.Lock()
	for _, end := range slices.Backward(endings.all) {
		end()
	}
	os.Exit(code)
}

// endings are left to the end of all tests of this process.
var endings struct {
	sync.Mutex
	all []func()
}

func atTheEnd(end func()) {
	endings.Lock()
	defer endings.Unlock()
	endings.all = append(endings.all, end)
}

// drawAlikeInCI gives the property tests one seed there: a landing stands or falls with its own change, and a draw that nobody
// has met is looked for where somebody can look into it (docs/reference/testing.md). A seed on the command line wins.
func drawAlikeInCI() {
	flag.Parse()
	seed := flag.Lookup("rapid.seed") // only where a package draws
	if os.Getenv("CI") == "" || seed == nil || seed.Value.String() != seed.DefValue {
		return
	}
	if err := flag.Set("rapid.seed", "20261129"); err != nil {
		fmt.Fprintln(os.Stderr, "the seed of the property tests cannot be set:", err)
		os.Exit(1)
	}
}
