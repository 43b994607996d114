package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"session-sidecar/internal/sidecartest"
)

// openTerminal gives the two ends of a new terminal: what a person sees and types, and what a program gets.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// read gives all that was written to a terminal, once no program has it open any more.
func read(t *testing.T, person *os.File) string {
	t.Helper()
	text, err := io.ReadAll(person)
	if !errors.Is(err, syscall.EIO) { // which is how a terminal says that it is over
		require.NoError(t, err)
	}
	return string(text)
}

func TestAPersonAtATerminalGetsHelp(t *testing.T) {
	t.Parallel()
	_, program := openTerminal(t)
	cmd := exec.Command(sidecartest.Binary(t, sidecartest.Plain))
	cmd.Stdin = program
	output, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(output), "sidecar call rpc.methods")
}

func TestTheLogIsTextOnATerminal(t *testing.T) {
	t.Parallel()
	person, program := openTerminal(t)
	p := sidecartest.Start(t, sidecartest.Plain, func(cmd *exec.Cmd) { cmd.Stderr = program })
	require.NoError(t, program.Close())
	p.Handshake()
	p.CloseStdin()
	require.Equal(t, 0, p.Wait())
	log := read(t, person)
	require.Contains(t, log, "level=INFO msg=serving")
	require.Contains(t, log, "level=INFO msg=ended")
}
