package layers

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheProgramHasNoNetwork holds that nothing of ours in the program can open a connection or a port, and that no library in it brings
// what speaks HTTP or TLS. (One for flags names addresses, so net itself is linked.)
func TestTheProgramHasNoNetwork(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-tags", "sqlite_fts5", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./cmd/sidecar")
		list.Dir = "../.."
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=1")
		output, err := list.Output()
		require.NoError(t, err)
		seen := false
		for line := range strings.Lines(string(output)) {
			names := strings.Fields(line)
			assert.NotContains(t, []string{"net/http", "net/rpc", "net/smtp", "crypto/tls"}, names[0], system)
			if strings.HasPrefix(names[0], module) {
				seen = true
				assert.NotContains(t, names[1:], "net", "%s, on %s", names[0], system)
			}
		}
		require.True(t, seen, system)
	}
}
