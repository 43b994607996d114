//go:build faultpoints

package faultpoint

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Enabled tells whether this build can be stopped at a point.
const Enabled = true

// The environment of a build with the tag faultpoints:
//
//	SIDECAR_FAULT_KILL=<point>[#n]  the process kills itself at the n-th passing of the point (n counts from 1)
//	SIDECAR_FAULT_WAIT=<point>[#n]  the process writes the file <point>.reached into SIDECAR_FAULT_DIR and waits there
//	                                until a file <point>.go appears beside it
const (
	killVariable = "SIDECAR_FAULT_KILL"
	waitVariable = "SIDECAR_FAULT_WAIT"
	dirVariable  = "SIDECAR_FAULT_DIR"
)

var (
	mu     sync.Mutex
	passed = map[Point]int{}
)

// Hit ends or holds the process if its environment asks for that at this passing of the point.
func Hit(p Point) {
	watchOverlap(p)
	mu.Lock()
	passed[p]++
	nth := passed[p]
	mu.Unlock()
	if matches(os.Getenv(killVariable), p, nth) {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			_ = self.Kill()
		}
		select {} // the signal may take a moment to arrive: nothing after the point may run
	}
	if matches(os.Getenv(waitVariable), p, nth) {
		hold(p)
	}
}

func matches(setting string, p Point, nth int) bool {
	name, count, counted := strings.Cut(setting, "#")
	if name != string(p) {
		return false
	}
	if !counted {
		return nth == 1
	}
	n, err := strconv.Atoi(count)
	return err == nil && n == nth
}

func hold(p Point) {
	base := filepath.Join(os.Getenv(dirVariable), string(p))
	if err := os.WriteFile(base+".reached", nil, 0o600); err != nil {
		panic(err)
	}
	for {
		if _, err := os.Lstat(base + ".go"); err == nil {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}
