package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// megabytes is the unit of resident memory: a million bytes, as its targets say.
const megabytes = " MB"

const (
	deletesForMemory = 10
	lookEvery        = 100 * time.Millisecond
)

// measureMemory lets the program delete, list and preview, and asks the system how much of it was resident at most, and how
// much is once it has nothing to do.
func measureMemory(ctx context.Context, t *testbed) (r result, err error) {
	h, made := t.homes[0], t.made
	sidecar, err := t.sidecar(ctx)
	if err != nil {
		return r, err
	}
	defer sidecar.end()
	var deletes, all, idle, own float64
	count := min(deletesForMemory, made.families()-1)
	for n := range count {
		if err := sidecar.remove(h.path, made.family(n)[0]); err != nil {
			return r, err
		}
	}
	if deletes, err = sidecar.resident("VmHWM"); err != nil {
		return r, err
	}
	if err := sidecar.preview(h.path, made.family(count)[0]); err != nil {
		return r, err
	}
	if err := sidecar.list(h.path); err != nil {
		return r, err
	}
	if all, err = sidecar.resident("VmHWM"); err != nil {
		return r, err
	}
	for began := time.Now(); ; time.Sleep(lookEvery) {
		now, err := sidecar.resident("VmRSS")
		if err != nil {
			return r, err
		}
		if idle == 0 || now < idle {
			idle = now
			if own, err = sidecar.resident("RssAnon"); err != nil {
				return r, err
			}
		}
		if time.Since(began) >= t.calm {
			break
		}
	}
	peak := 40.0
	if made.sessions >= sparseFrom {
		peak = 60
	}
	return result{Figures: []figure{
		{Name: "peak in deletes", Value: deletes, Unit: megabytes, Target: peak},
		{Name: "peak with a list and a preview", Value: all, Unit: megabytes, Target: peak},
		{Name: "idle", Value: idle, Unit: megabytes, Target: 25},
		{Name: "idle, without files", Value: own, Unit: megabytes},
	}}, nil
}

// resident reads one of the sizes that Linux tells of a process, in megabytes.
func (p *process) resident(name string) (float64, error) {
	path := fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("resident memory is read on Linux alone: %w", err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 3 && fields[0] == name+":" {
			kilobytes, err := strconv.ParseFloat(fields[1], 64)
			return kilobytes * 1024 / 1e6, err
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}
