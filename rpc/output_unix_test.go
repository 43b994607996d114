//go:build unix

package rpc

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// ends are the two ends of what a host may have given us as standard output: as it is after a start, where writes wait.
func pipeEnds(t *testing.T) (read, write *os.File) {
	t.Helper()
	var fds [2]int
	require.NoError(t, unix.Pipe(fds[:]))
	return files(t, fds)
}

func socketEnds(t *testing.T) (read, write *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	return files(t, fds)
}

func files(t *testing.T, fds [2]int) (read, write *os.File) {
	read, write = os.NewFile(uintptr(fds[0]), "read"), os.NewFile(uintptr(fds[1]), "write")
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
	return read, write
}

func immediateKinds() map[string]func(*testing.T) (read, write *os.File) {
	kinds := map[string]func(*testing.T) (read, write *os.File){"socket": socketEnds}
	if runtime.GOOS == "linux" {
		kinds["pipe"] = pipeEnds
	}
	return kinds
}

func TestWhatFindsNoRoomAtOnceIsLeft(t *testing.T) {
	for kind, ends := range immediateKinds() {
		t.Run(kind, func(t *testing.T) {
			read, write := ends(t)
			shared, err := unix.Dup(int(write.Fd())) // as the host and our standard error may have it
			require.NoError(t, err)
			defer func() { require.NoError(t, unix.Close(shared)) }()
			output := TakeOutput(write)
			defer func() { _ = output.Close() }()
			now, ok := output.(Immediate)
			require.True(t, ok)
			line := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
			var sent bytes.Buffer
			for full := false; !full; {
				n, err := now.WriteNow(line)
				require.NoError(t, err)
				sent.Write(line[:n])
				full = n < len(line)
			}
			n, err := now.WriteNow(make([]byte, 8192))
			require.NoError(t, err)
			require.Zero(t, n)
			flags, err := unix.FcntlInt(uintptr(shared), unix.F_GETFL, 0)
			require.NoError(t, err)
			require.Zero(t, flags&unix.O_NONBLOCK, "whoever shares the output must not find that its writes fail now")
			got := make([]byte, sent.Len())
			_, err = io.ReadFull(read, got)
			require.NoError(t, err)
			require.True(t, bytes.Equal(sent.Bytes(), got))
			n, err = now.WriteNow([]byte("again"))
			require.NoError(t, err)
			require.Equal(t, 5, n)
		})
	}
}

func TestAnImmediateOutputWritesWholeLinesTooAndBreaks(t *testing.T) {
	for kind, ends := range immediateKinds() {
		t.Run(kind, func(t *testing.T) {
			read, write := ends(t)
			output := TakeOutput(write)
			defer func() { _ = output.Close() }()
			line := bytes.Repeat([]byte("x"), 1<<20)
			written := make(chan error, 1)
			go func() {
				_, err := output.Write(line)
				written <- err
			}()
			got := make([]byte, len(line))
			_, err := io.ReadFull(read, got)
			require.NoError(t, err)
			require.NoError(t, receive(t, written))
			require.NoError(t, read.Close())
			_, err = output.(Immediate).WriteNow(line)
			require.ErrorIs(t, err, unix.EPIPE)
			require.NoError(t, output.Close())
			_, err = output.(Immediate).WriteNow(line)
			require.Error(t, err, "it is closed")
		})
	}
}

// A file takes all at once, or waits for the disk: nobody can tell before.
func TestAFileIsAPlainOutput(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "frames"))
	require.NoError(t, err)
	output := TakeOutput(file)
	defer func() { _ = output.Close() }()
	require.NotImplements(t, (*Immediate)(nil), output)
}
