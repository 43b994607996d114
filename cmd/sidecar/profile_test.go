package main

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func withProfile(folder string) sidecartest.Option {
	return func(c *exec.Cmd) { c.Args = append(c.Args, "--profile-dir", folder) }
}

func TestAServerLeavesItsProfiles(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	folder := filepath.Join(t.TempDir(), "new", "profiles")
	p := sidecartest.Start(t, sidecartest.Plain, withProfile(folder))
	p.Send(handshake + "\n" + deletion(t, `1`, home, "s1") + "\n")
	p.Reply()
	require.Nil(t, p.Reply().Error)
	p.CloseStdin()
	require.Equal(t, 0, p.Wait())
	for name, kind := range map[string]string{cpuProfile: "nanoseconds", heapProfile: "inuse_space"} {
		file, err := os.Open(filepath.Join(folder, name))
		require.NoError(t, err)
		defer func() { _ = file.Close() }()
		text, err := gzip.NewReader(file)
		require.NoError(t, err, name)
		profile, err := io.ReadAll(text)
		require.NoError(t, err, name)
		require.Contains(t, string(profile), kind)
		require.NotContains(t, string(profile), home.Path)
	}
}

func TestAProfileThatCannotBeWrittenIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	output, err := exec.Command(sidecartest.Binary(t, sidecartest.Plain), "call", "rpc.methods", "--profile-dir", file).CombinedOutput()
	require.Equal(t, exitFailure, exitCodeOf(t, err))
	require.Regexp(t, `^sidecar: profile: .*\n$`, string(output))
}

func TestHelpDoesNotShowTheProfiles(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"delete", "--help"}, {"call", "--help"}} {
		output, err := exec.Command(sidecartest.Binary(t, sidecartest.Plain), args...).CombinedOutput()
		require.NoError(t, err)
		require.NotContains(t, string(output), "profile-dir")
	}
}
