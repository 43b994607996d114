// Helper plays the other process of a test (sidecartest.PlayIfAsked) where a test binary may not: without the race detector.
package main

import (
	"fmt"
	"os"

	"session-sidecar/internal/sidecartest"
)

func main() {
	sidecartest.PlayIfAsked()
	fmt.Fprintln(os.Stderr, "helper is a part of tests and does nothing by itself")
	os.Exit(2)
}
