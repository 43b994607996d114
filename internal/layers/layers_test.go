// Package layers holds the directions in which packages may import each other. Data flows one way: cmd/sidecar wires, rpc
// frames, methods decodes, internal/deletion keeps the order of a delete; locks, statedb and cleanup do their part and do
// not know each other.
package layers

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "session-sidecar/"

// imports are the packages of this module that each package of the program names itself; what they import lies below it too. A
// package that is new here has its room only once it stands in this table.
var imports = map[string][]string{
	// What knows one thing alone.
	"internal/agentjson":   {},
	"internal/faultpoint":  {},
	"internal/foldersync":  {},
	"internal/home":        {},
	"internal/jitter":      {},
	"internal/jsontext":    {},
	"internal/lazyregexp":  {},
	"internal/links":       {},
	"internal/newfile":     {"internal/faultpoint", "internal/foldersync"},
	"internal/operationid": {"internal/randomhex"},
	"internal/randomhex":   {},
	"internal/rooted":      {"internal/faultpoint", "internal/foldersync", "internal/home", "internal/randomhex"},
	"internal/sessionid":   {},
	"internal/sqlname":     {},
	"internal/storeuri":    {},
	"internal/version":     {},
	"fixtures":             {},

	// The parts of a delete. None of them knows another one.
	"locks":          {"internal/faultpoint", "internal/jitter", "internal/links"},
	"statedb":        {"internal/agentjson", "internal/faultpoint", "internal/home", "internal/jitter", "internal/jsontext", "internal/lazyregexp", "internal/sqlname", "internal/storeuri"},
	"cleanup":        {"internal/faultpoint", "internal/home", "internal/lazyregexp", "internal/links", "internal/randomhex", "internal/rooted", "internal/sessionid"},
	"internal/trash": {"internal/faultpoint", "internal/home", "internal/jsontext", "internal/links", "internal/operationid", "internal/rooted", "internal/sqlname"},

	// Their order.
	"internal/deletion": {"cleanup", "internal/faultpoint", "internal/home", "internal/jitter", "internal/newfile", "internal/operationid", "internal/trash", "locks", "statedb"},

	// The channel, which knows of no store, and what is asked over it.
	"rpc":     {"internal/jsontext", "internal/randomhex"},
	"methods": {"cleanup", "internal/deletion", "internal/home", "internal/newfile", "internal/operationid", "internal/sessionid", "internal/trash", "internal/version", "locks", "rpc", "statedb"},

	// The doctor looks for a person, beside the channel and never over it; of the methods it has only the words for errors.
	"internal/doctor": {"cleanup", "internal/home", "internal/trash", "locks", "methods", "statedb"},
	// The demo plays a host: of what is below it only the version of the protocol.
	"internal/demo": {"fixtures", "internal/storeuri", "methods"},
	"cmd/sidecar":   {"internal/demo", "internal/doctor", "internal/lazyregexp", "internal/operationid", "internal/sessionid", "internal/trash", "internal/version", "methods", "rpc", "statedb"},

	// The consumer of receipts is a program of others, shown by example: it can be copied, and no code of ours opens a store for it.
	"internal/consumer": {},
	// The benchmark measures the order of a delete without the channel.
	"bench": {"fixtures", "internal/agentjson", "internal/deletion", "internal/foldersync", "internal/storeuri"},
	// What it measures our processes beside has nothing of ours.
	"bench/bare": {},
}

// onlyForTests are packages that the program never holds.
var onlyForTests = []string{"internal/sidecartest", "internal/sidecartest/helper", "internal/properties", "internal/skipcheck", "internal/layers", "internal/platforms", "internal/documents", "internal/discovery"}

// TestImportsAreThoseOfTheTable looks at the code of every system that the program is for.
func TestImportsAreThoseOfTheTable(t *testing.T) {
	found := map[string][]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		for name, ours := range importsOn(t, system) {
			found[name] = append(found[name], ours...)
		}
	}
	for name, ours := range found {
		if slices.Contains(onlyForTests, name) {
			continue
		}
		allowed, known := imports[name]
		require.True(t, known, "%s has no place in the layers", name)
		slices.Sort(ours)
		assert.ElementsMatch(t, allowed, slices.Compact(ours), "the imports of %s", name)
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(imports)), onlyForTests) {
		assert.Contains(t, found, name, "there is no such package any more")
	}
}

// importsOn gives, for each package of this module, those that it imports on a system.
func importsOn(t *testing.T, system string) map[string][]string {
	t.Helper()
	list := exec.Command("go", "list", "-e", "-tags", "sqlite_fts5,platforms", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...")
	list.Dir = "../.."
	list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=1")
	output, err := list.Output()
	require.NoError(t, err)
	found := map[string][]string{}
	for line := range strings.Lines(string(output)) {
		names := strings.Fields(line)
		ours := []string{}
		for _, name := range names[1:] {
			if below, of := strings.CutPrefix(name, module); of {
				ours = append(ours, below)
			}
		}
		found[strings.TrimPrefix(names[0], module)] = ours
	}
	return found
}
