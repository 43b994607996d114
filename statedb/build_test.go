package statedb

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A build without FTS5 could not delete one message row of an Agent's store, so there is none (contract 2).
func TestBuildWithoutFullTextSaysSo(t *testing.T) {
	command := exec.Command("go", "build", "-o", os.DevNull, ".")
	command.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "CGO_ENABLED=1")
	output, err := command.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(output), "The sidecar needs SQLite with FTS5")
	assert.Equal(t, 1, strings.Count(string(output), "error:"), "in one sentence: %s", output)
}

// The build that there is can index by words and by trigrams.
func TestThisBuildHasFullText(t *testing.T) {
	require.NoError(t, CheckBuild(t.Context()))
	require.NoError(t, probe(t.Context()), "CheckBuild takes this for granted")
	version := SQLiteVersion()
	assert.NotEmpty(t, version)
}
