package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAShellCompletes(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		o := runLine(t, "", "completion", shell)
		require.Equal(t, 0, o.code, o.stderr)
		require.Empty(t, o.stderr)
		require.Contains(t, o.stdout, "sidecar", shell)
	}
	o := runLine(t, "", "__complete", "do")
	require.Equal(t, 0, o.code)
	assert.Contains(t, o.stdout, "doctor\tTell what is wrong with a history")
	o = runLine(t, "", "__complete", "doctor", "--f")
	assert.Contains(t, o.stdout, "--full\t")
	o = runLine(t, "", "__complete", "doctor", "--home", "")
	assert.Contains(t, o.stdout, ":16\n", "a folder")
	o = runLine(t, "", "__complete", "preview", "")
	assert.Equal(t, ":4\n", o.stdout, "an id is no file")
	for _, command := range [][]string{{}, {"doctor"}, {"receipts", "forget"}} {
		o = runLine(t, "", append(append([]string{"__complete"}, command...), "--log-level", "")...)
		assert.Equal(t, "debug\ninfo\nwarn\nerror\n:36\n", o.stdout, "words, in this order, and no file")
	}
	o = runLine(t, "", "__complete", "delete", "--export", "")
	assert.Equal(t, ":0\n", o.stdout, "a file")
}

// A script that is no shell's, or a page that is not there, is not to be taken for what was asked for.
func TestHelpAndCompletionRefuseWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"completion", "tcsh"}, {"completion", "bash", "more"}, {"help", "nothing"}, {"help", "trash", "nothing"}, {"help", "delete", "more"},
	} {
		o := runLine(t, "", args...)
		require.Equal(t, 2, o.code, args)
		require.Empty(t, o.stdout, args)
		require.Regexp(t, `^sidecar: ".*" is not understood here(; there is .*)?; see 'sidecar --help'\n$`, o.stderr)
	}
	for _, args := range [][]string{{"completion"}, {"help"}, {"help", "trash", "purge"}, {"help", "completion", "bash"}} {
		o := runLine(t, "", args...)
		require.Equal(t, 0, o.code, args)
		require.Contains(t, o.stdout, "Usage:\n", args)
		require.Empty(t, o.stderr, args)
	}
}

// The bash that is here takes the script, and completes a command by it.
func TestBashTakesTheCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	o := runLine(t, "", "completion", "bash")
	require.Equal(t, 0, o.code)
	script := filepath.Join(t.TempDir(), "sidecar.bash")
	require.NoError(t, os.WriteFile(script, []byte(o.stdout), 0o600))
	output, err := exec.Command(bash, "-n", script).CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// The pages are made by a build that has what writes them, from the same commands that print --help.
func TestTheManualIsTheHelp(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cmd := exec.Command("go", "run", "-tags", "sqlite_fts5,man", ".", "man", folder)
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	pages := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		page := plainPage(t, filepath.Join(folder, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		pages++
		assert.Contains(t, page, plainWords(c.Short), c.CommandPath())
		assert.Contains(t, page, plainWords(c.Long), c.CommandPath())
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				assert.Contains(t, page, "--"+f.Name, c.CommandPath())
				assert.Contains(t, page, plainWords(f.Usage), c.CommandPath())
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	root := newRootCommand()
	root.InitDefaultVersionFlag()
	visit(root)
	require.Greater(t, pages, 15)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		assert.NotContains(t, entry.Name(), "man.1", "what writes the pages has none")
	}
}

// plainPage is the text of a manual page without what sets it.
func plainPage(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return plainWords(strings.NewReplacer(`\fB`, "", `\fI`, "", `\fP`, "", `\fR`, "", `\-`, "-", `\&`, "", `\\`, `\`, "``", `"`, "''", `"`,
		".PP", "", ".br", "").Replace(string(text)))
}

func plainWords(text string) string { return strings.Join(strings.Fields(text), " ") }
