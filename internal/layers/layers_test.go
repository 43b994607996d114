// Package layers holds the directions in which packages may import each other. Data flows one way: cmd/sidecar wires, rpc
// frames, methods decodes, internal/deletion keeps the order of a delete; locks, statedb and cleanup do their part and do
// not know each other.
package layers

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "session-sidecar/"

// mayImport lists, for each package of the program, the packages of this module that may be below it, at any depth.
var mayImport = map[string][]string{
	"internal/faultpoint": {},
	"internal/lazyregexp": {},
	"internal/links":      {},
	"internal/agentjson":  {},
	"internal/jitter":     {},
	"internal/jsontext":   {},
	"internal/sessionid":  {},
	"internal/sqlname":    {},
	"internal/home":       {},
	"internal/version":    {},
	"internal/foldersync": {},
	"internal/newfile":    {"internal/faultpoint", "internal/foldersync"},
	"internal/randomhex":  {},
	"internal/rooted":     {"internal/faultpoint", "internal/foldersync", "internal/home", "internal/randomhex"},
	"internal/trash":      {"internal/faultpoint", "internal/foldersync", "internal/home", "internal/jsontext", "internal/links", "internal/sqlname", "internal/lazyregexp", "internal/randomhex", "internal/rooted"},
	"fixtures":            {},
	"rpc":                 {"internal/jsontext", "internal/randomhex"},
	"locks":               {"internal/faultpoint", "internal/jitter", "internal/links"},
	"cleanup":             {"internal/randomhex", "internal/lazyregexp", "internal/faultpoint", "internal/jitter", "internal/jsontext", "internal/sessionid", "internal/links", "internal/foldersync", "internal/home", "internal/rooted"},
	"statedb":             {"internal/agentjson", "internal/faultpoint", "internal/jitter", "internal/jsontext", "internal/sessionid", "internal/sqlname", "internal/lazyregexp", "internal/links", "internal/home"},
	"internal/deletion":   {"internal/agentjson", "internal/faultpoint", "internal/jitter", "internal/jsontext", "internal/sessionid", "internal/sqlname", "internal/lazyregexp", "internal/links", "internal/foldersync", "internal/home", "internal/randomhex", "internal/rooted", "internal/trash", "internal/newfile", "locks", "cleanup", "statedb"},
	"methods": {
		"internal/agentjson", "internal/faultpoint", "internal/jitter", "internal/jsontext", "internal/sessionid", "internal/sqlname", "internal/lazyregexp", "internal/links", "internal/foldersync", "internal/home", "internal/randomhex", "internal/rooted", "internal/trash", "internal/newfile", "internal/version", "locks", "cleanup", "statedb", "internal/deletion", "rpc",
	},
	// The doctor looks for a person, beside the channel and never over it; of the methods it has only the words for errors.
	"internal/doctor": {
		"internal/agentjson", "internal/faultpoint", "internal/jitter", "internal/jsontext", "internal/sessionid", "internal/sqlname", "internal/lazyregexp", "internal/links", "internal/foldersync", "internal/home", "internal/randomhex", "internal/rooted", "internal/trash", "internal/newfile", "internal/version", "locks", "cleanup", "statedb", "internal/deletion", "rpc",
		"methods",
	},
	// The demo plays a host: of what is below it only the version of the protocol.
	"internal/demo": {
		"internal/agentjson", "internal/faultpoint", "internal/jitter", "internal/jsontext", "internal/sessionid", "internal/sqlname", "internal/lazyregexp", "internal/links", "internal/foldersync", "internal/home", "internal/randomhex", "internal/rooted", "internal/trash", "internal/newfile", "internal/version", "locks", "cleanup", "statedb", "internal/deletion", "rpc",
		"methods", "fixtures",
	},
	"cmd/sidecar": {
		"internal/agentjson", "internal/faultpoint", "internal/jitter", "internal/jsontext", "internal/sessionid", "internal/sqlname", "internal/lazyregexp", "internal/links", "internal/foldersync", "internal/home", "internal/randomhex", "internal/rooted", "internal/trash", "internal/newfile", "internal/version", "locks", "cleanup", "statedb", "internal/deletion", "rpc",
		"methods", "internal/doctor", "internal/demo", "fixtures",
	},
	// The consumer of receipts is a program of others, shown by example: it can be copied, and no code of ours opens a store for it.
	"internal/consumer": {},
	// The benchmark measures the order of a delete without the channel.
	"bench": {
		"internal/agentjson", "internal/faultpoint", "internal/jitter", "internal/jsontext", "internal/sessionid", "internal/sqlname", "internal/lazyregexp", "internal/links", "internal/foldersync", "internal/home", "internal/randomhex", "internal/rooted", "internal/trash", "internal/newfile", "locks", "cleanup", "statedb", "internal/deletion", "fixtures",
	},
	// What it measures our processes beside has nothing of ours.
	"bench/bare": {},
}

// onlyForTests are packages that the program never holds.
var onlyForTests = []string{"internal/sidecartest", "internal/sidecartest/writer", "internal/properties", "internal/skipcheck", "internal/layers", "internal/platforms"}

func TestNothingImportsUpward(t *testing.T) {
	for _, pkg := range list(t, "./...") {
		name := strings.TrimPrefix(pkg, module)
		if slices.Contains(onlyForTests, name) {
			continue
		}
		allowed, known := mayImport[name]
		require.True(t, known, "%s has no place in the layers", name)
		for _, dependency := range list(t, "-deps", pkg) {
			below, ours := strings.CutPrefix(dependency, module)
			if ours && below != name {
				require.Contains(t, allowed, below, "%s imports %s", name, below)
			}
		}
	}
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-tags", "sqlite_fts5"}, args...)...)
	command.Dir = "../.."
	output, err := command.Output()
	require.NoError(t, err)
	return strings.Fields(string(output))
}
