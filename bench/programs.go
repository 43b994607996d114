package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// programs are those that are measured as processes. They are built when they are first asked for.
type programs struct {
	folder string
	built  map[string]string
}

const (
	sidecarProgram = "session-sidecar/cmd/sidecar"
	bareProgram    = "session-sidecar/bench/bare"
)

func (l *lab) program(ctx context.Context, name string) (path string, err error) {
	if name == sidecarProgram && l.sidecar != "" {
		return filepath.Abs(l.sidecar)
	}
	p := l.programs
	if path := p.built[name]; path != "" {
		return path, nil
	}
	if p.folder == "" {
		if p.folder, err = os.MkdirTemp(l.folder, "programs-"); err != nil {
			return "", err
		}
		p.built = map[string]string{}
	}
	path = filepath.Join(p.folder, filepath.Base(name))
	// As `make build` builds it.
	build := exec.CommandContext(ctx, "go", "build", "-tags", "sqlite_fts5", "-trimpath", "-ldflags", "-s -w", "-o", path, name)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, output)
	}
	p.built[name] = path
	return path, nil
}

func (p *programs) remove() {
	if p.folder != "" {
		_ = os.RemoveAll(p.folder)
	}
}
