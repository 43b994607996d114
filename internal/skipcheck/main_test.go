package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	const pass = `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n"
	const skip = `{"Action":"skip","Package":"p","Test":"TestB"}` + "\n"
	for name, c := range map[string]struct{ list, events, want string }{
		"nothing skipped":   {"# none\n", pass, ""},
		"on the list":       {"p.TestB\tneeds a screen\n", pass + skip, ""},
		"not on the list":   {"p.TestC\tneeds a screen\n", pass + skip, "p.TestB was skipped"},
		"no reason":         {"p.TestB\t \n", pass + skip, "has no reason"},
		"no test ran":       {"", `{"Action":"pass","Package":"p"}`, "no test passed"},
		"cut off in events": {"", pass + `{"Action"`, "unexpected end"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			list, events := filepath.Join(dir, "list"), filepath.Join(dir, "events")
			require.NoError(t, os.WriteFile(list, []byte(c.list), 0o600))
			require.NoError(t, os.WriteFile(events, []byte(c.events), 0o600))
			err := check(list, events)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
		})
	}
}
