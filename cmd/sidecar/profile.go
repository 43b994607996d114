package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// The files of a profile (docs/reference/performance.md says how to read them).
const (
	cpuProfile  = "cpu.pprof"
	heapProfile = "heap.pprof"
)

// profileFlag names the folder for the profiles of a run. It is for those who work on the program, so help does not show it.
type profileFlag struct{ folder string }

func (p *profileFlag) add(root *cobra.Command) {
	const name = "profile-dir"
	flags := root.PersistentFlags()
	flags.StringVar(&p.folder, name, "", "folder that cpu.pprof and heap.pprof are written to at the end")
	flags.Lookup(name).Hidden = true
}

// begin starts the profile of the processor's time. finish, which is never nil, ends it and writes that of the memory.
// Profiles name functions and lines of this program and nothing of a store.
func (p *profileFlag) begin() (finish func() error, err error) {
	nothing := func() error { return nil }
	if p.folder == "" {
		return nothing, nil
	}
	if err := os.MkdirAll(p.folder, 0o700); err != nil {
		return nothing, fmt.Errorf("profile: %w", err)
	}
	cpu, err := os.OpenFile(filepath.Join(p.folder, cpuProfile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nothing, fmt.Errorf("profile: %w", err)
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		_ = cpu.Close()
		return nothing, fmt.Errorf("profile: %w", err)
	}
	return func() error {
		pprof.StopCPUProfile()
		if err := errors.Join(cpu.Close(), p.writeHeap()); err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		return nil
	}, nil
}

func (p *profileFlag) writeHeap() error {
	file, err := os.OpenFile(filepath.Join(p.folder, heapProfile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	runtime.GC() // what is in use is told as of the last collection
	return errors.Join(pprof.WriteHeapProfile(file), file.Close())
}
