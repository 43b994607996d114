// Package lazyregexp compiles a regular expression when it is first used: compiled at the start of the program, those of all packages
// took a third of the time until the handshake was answered, and a start needs none of them.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// New gives an expression that is compiled when it is first asked for. One that does not compile is a mistake of this build: in a test
// it is found at once, whether or not the test uses it.
func New(expression string) func() *regexp.Regexp {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
	if inTest {
		compiled()
	}
	return compiled
}

var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")
