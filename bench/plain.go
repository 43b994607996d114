package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

//go:embed plain.py
var plainSource string

// plainScript is the script that stands for what users have without us, in a process that goes on: what its start costs is
// not part of a delete.
type plainScript struct {
	*process
	complaints *lastLines
}

func startPlain(ctx context.Context) (*plainScript, error) {
	cmd := exec.CommandContext(ctx, "python3", "-c", plainSource)
	complaints := &lastLines{}
	cmd.Stderr = complaints
	p, err := start(cmd)
	if err != nil {
		return nil, fmt.Errorf("the plain script: %w", err)
	}
	return &plainScript{p, complaints}, nil
}

// plain is the script's delete, as the script itself takes its time: from before it opens the store until the files are gone.
func (h *home) plain(script *plainScript, ids []string) (time.Duration, error) {
	if err := h.writeFiles(ids...); err != nil {
		return 0, err
	}
	request, err := json.Marshal(map[string]string{"home": h.path, "id": ids[0]})
	if err != nil {
		return 0, err
	}
	answer, err := script.exchange(append(request, '\n'))
	if err != nil {
		return 0, errors.Join(err, script.complaint())
	}
	var done struct {
		IDs     []string
		Seconds float64
		Error   string
	}
	if err := json.Unmarshal(answer, &done); err != nil {
		return 0, err
	}
	if done.Error != "" {
		return 0, errors.New(done.Error)
	}
	if !slices.Equal(done.IDs, ids) {
		return 0, fmt.Errorf("%q went, not %q", done.IDs, ids)
	}
	return time.Duration(done.Seconds * float64(time.Second)), nil
}

// complaint is what the script said before it ended.
func (p *plainScript) complaint() error {
	p.end()
	return errors.New(p.complaints.String())
}

// lastLines keeps the end of what a program complains.
type lastLines struct{ text []byte }

func (l *lastLines) Write(p []byte) (int, error) {
	const most = 2000
	l.text = append(l.text, p...)
	l.text = l.text[max(0, len(l.text)-most):]
	return len(p), nil
}

func (l *lastLines) String() string { return string(l.text) }
