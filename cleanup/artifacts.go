package cleanup

import (
	"io/fs"
	"slices"
	"strings"

	"session-sidecar/internal/sessionid"
)

const (
	indexName      = "sessions.json"
	snapshotPrefix = "session_"
	dumpPrefix     = "request_dump_"
	jsonSuffix     = ".json"
	jsonlSuffix    = ".jsonl"
)

// claim says that a file in sessions/ is an artifact of an id, unless one of the rivals is a live session.
type claim struct {
	name   string
	id     string
	rivals []string
}

// claims decides which of the names in sessions/ belong to which of the ids (contract 6.1). It only ever picks from
// names that are there, letter by letter, so that a file system that ignores case cannot give one session's file to
// another. Unsafe ids, and ids that cannot be file names on this system, have no artifacts. The claims are in the order of the names.
func claims(names []string, ids map[string]bool) []claim {
	var found []claim
	for _, name := range names {
		eachOwner(name, func(id string, rivals []string) {
			if ids[id] && canOwn(id) {
				found = append(found, claim{name, id, rivals})
			}
		})
	}
	slices.SortStableFunc(found, func(a, b claim) int { return strings.Compare(a.name, b.name) })
	return found
}

// canOwn tells whether an id can be part of a file's name at all. An unsafe one is never turned into one (contract 6.3: it stays pending).
func canOwn(id string) bool { return sessionid.Safe(id) && canBeFileName(id) }

// eachOwner gives every id that a name may belong to, and those to whom it belongs instead if one of them is live.
func eachOwner(name string, use func(id string, rivals []string)) {
	if protected(name) {
		return
	}
	if stem, ok := strings.CutSuffix(name, jsonlSuffix); ok {
		use(stem, nil)
		return
	}
	stem, ok := strings.CutSuffix(name, jsonSuffix)
	if !ok {
		return
	}
	use(stem, nil)
	if id, ok := strings.CutPrefix(stem, snapshotPrefix); ok {
		use(id, []string{stem})
	}
	if rest, ok := strings.CutPrefix(stem, dumpPrefix); ok {
		owners := dumpOwners(rest)
		for i, id := range owners {
			use(id, owners[i+1:])
		}
	}
}

// dumpOwners lists every id that a dump named request_dump_<rest>.json may belong to, shortest first: of two that fit,
// the longer one owns it if it is live.
func dumpOwners(rest string) []string {
	var owners []string
	for i, c := range rest {
		if c == '_' && i > 0 {
			owners = append(owners, rest[:i])
		}
	}
	return owners
}

// protected names are never artifacts, whatever an id looks like.
func protected(name string) bool {
	return sameFileName(name, indexName) || strings.HasPrefix(name, manifestPrefix)
}

// removable tells whether a file of this kind may be an artifact: a regular file, or a link itself.
func removable(mode fs.FileMode) bool { return mode.IsRegular() || mode&fs.ModeSymlink != 0 }
