//go:build unix

package cleanup

import (
	"path/filepath"
	"testing"

	"session-sidecar/internal/sidecartest"
)

func TestAFIFOIsNoMedia(t *testing.T) {
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "")
	name := filepath.Join("native-inputs", mediaHash, "pipe")
	fifo(t, home, name)
	old(t, home, name)
	requireStays(t, home, filepath.Join(filepath.Dir(path), "pipe"))
}
