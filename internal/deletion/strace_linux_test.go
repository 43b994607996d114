package deletion_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// call is one system call of a process that ran under strace. It lies between two lines of the trace: another thread's call may
// begin before it ends.
type call struct {
	name, args string
	failed     bool
	begin, end int
}

// in tells whether the call is one of these, on this file or folder, by descriptor or by name.
func (c call) in(path string, names ...string) bool {
	for _, name := range names {
		if c.name == name && strings.Contains(c.args, path) {
			return true
		}
	}
	return false
}

var (
	wholeCall    = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (.*)$`)
	callBegins   = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	callGoesOn   = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (.*)$`)
	noCall       = regexp.MustCompile(`^\d+ +(\+\+\+|---|\?\?\?\( <detached)`)
	tracedByName = "trace=mkdirat,openat,open,renameat,renameat2,rename,unlinkat,unlink,fsync,fdatasync,write,pwrite64,ftruncate"
)

// tracedProcess starts a release build under strace. trace gives its calls once it has ended.
func tracedProcess(t *testing.T) (p *sidecartest.Process, trace func() calls) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	file := filepath.Join(t.TempDir(), "trace")
	p = sidecartest.Start(t, sidecartest.Release, sidecartest.Shell(`exec strace -f -y -qq -o "$TRACE" -e `+tracedByName+` "$0"`),
		sidecartest.Env("TRACE="+file))
	return p, func() calls {
		p.CloseStdin()
		require.Zero(t, p.Wait(), p.Stderr())
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return parseTrace(t, string(text))
	}
}

func parseTrace(t *testing.T, text string) (all calls) {
	t.Helper()
	begun := map[string]call{} // by thread
	for at, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if m := callBegins.FindStringSubmatch(line); m != nil {
			begun[m[1]] = call{name: m[2], args: m[3], begin: at}
		} else if m := callGoesOn.FindStringSubmatch(line); m != nil {
			c, ok := begun[m[1]]
			require.True(t, ok && c.name == m[2], line)
			delete(begun, m[1])
			c.args += m[3]
			c.failed, c.end = strings.HasPrefix(m[4], "-1"), at
			all = append(all, c)
		} else if m := wholeCall.FindStringSubmatch(line); m != nil {
			all = append(all, call{name: m[2], args: m[3], failed: strings.HasPrefix(m[4], "-1"), begin: at, end: at})
		} else {
			require.Regexp(t, noCall, line)
		}
	}
	return all
}
