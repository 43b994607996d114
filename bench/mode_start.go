package main

import (
	"context"
	"fmt"
	"time"
)

// roundTrips is how many calls are measured for each start.
const roundTrips = 50

// measureStart spawns the program until it has answered the handshake, beside a bare program until it has opened a store and
// printed a line; then it asks for the status, beside an echo over pipes just like these.
func measureStart(ctx context.Context, t *testbed) (r result, err error) {
	program, err := t.program(ctx, sidecarProgram)
	if err != nil {
		return r, err
	}
	bare, err := t.program(ctx, bareProgram)
	if err != nil {
		return r, err
	}
	handshake, line := series{Name: "handshake", About: "from spawn to its answer"}, series{Name: "bare", About: "from spawn to its line"}
	status, echo := series{Name: "status", About: "a round trip"}, series{Name: "echo", About: "over the same pipes"}
	for round := range t.rounds + 1 {
		start := time.Now()
		other, err := spawn(ctx, bare, uri(t.store, "mode=rw"))
		if err != nil {
			return r, err
		}
		_, err = other.out.ReadBytes('\n')
		opened := time.Since(start)
		other.end()
		if err != nil {
			return r, fmt.Errorf("the bare program printed nothing: %w", err)
		}
		start = time.Now()
		sidecar, err := spawn(ctx, program)
		if err != nil {
			return r, err
		}
		err = sidecar.handshake()
		ready := time.Since(start)
		if err == nil && round > 0 {
			handshake.add(ready)
			line.add(opened)
			err = roundTripsOf(ctx, sidecar, bare, &status, &echo)
		}
		sidecar.end()
		if err != nil {
			return r, err
		}
	}
	r.Series = []series{handshake, line, status, echo}
	r.compare(figure{Name: "handshake / bare", Target: 1.5}, func(p picked) float64 { return p["handshake"] / p["bare"] })
	r.compare(figure{Name: "status / echo", Target: 3}, func(p picked) float64 { return p["status"] / p["echo"] })
	return r, nil
}

func roundTripsOf(ctx context.Context, sidecar *process, bare string, status, echo *series) error {
	other, err := spawn(ctx, bare, "echo")
	if err != nil {
		return err
	}
	defer other.end()
	request := []byte(`{"jsonrpc":"2.0","id":"status","method":"runtime.status"}` + "\n")
	for n := range roundTrips + 1 {
		start := time.Now()
		if _, err := other.exchange(request); err != nil {
			return err
		}
		back := time.Since(start)
		start = time.Now()
		if _, err := sidecar.exchange(request); err != nil {
			return err
		}
		if answered := time.Since(start); n > 0 {
			status.add(answered)
			echo.add(back)
		}
	}
	return nil
}
