package deletion_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// history of calls, as they ended.
type calls []call

// after is the first call that began when another had ended. Without it, the order is broken.
func (all calls) after(t *testing.T, before call, what string, is func(call) bool) call {
	t.Helper()
	for _, c := range all {
		if !c.failed && c.begin > before.end && is(c) {
			return c
		}
	}
	require.Fail(t, "the order on the disk is broken", "after %s(%s) there is no: %s", before.name, before.args, what)
	return call{}
}

// between are the calls that ended before one began.
func (all calls) until(end call, is func(call) bool) (found calls) {
	for _, c := range all {
		if !c.failed && c.end < end.begin && is(c) {
			found = append(found, c)
		}
	}
	return found
}

func synced(path string) func(call) bool {
	return func(c call) bool { return c.in("<"+path+">", "fsync", "fdatasync") }
}

func unlinked(folder, name string) func(call) bool {
	return func(c call) bool { return c.in("<"+folder+`>, "`+name, "unlinkat") }
}

// written is a page that goes into the store or its WAL.
func written(home *sidecartest.Home) func(call) bool {
	return func(c call) bool {
		return c.in("<"+home.Store()+">", "pwrite64") || c.in("<"+home.Store()+"-wal>", "pwrite64")
	}
}

// requireStoreSynced requires of every change of the store before a call that it was made certain before that call: for a
// journal that is unlinked, which is what commits without a WAL, that is the folder's work. To cut a WAL off that was moved into
// the store changes nothing.
func (all calls) requireStoreSynced(t *testing.T, home *sidecartest.Home, before call) {
	t.Helper()
	changes := 0
	for _, suffix := range []string{"", "-wal", "-journal"} {
		file := home.Store() + suffix
		for _, change := range all.until(before, func(c call) bool {
			return c.in("<"+file+">", "pwrite64", "write") || suffix != "-wal" && c.in("<"+file+">", "ftruncate") || c.in(`"`+file+`"`, "unlink")
		}) {
			changes++
			made := synced(file)
			if change.name == "unlink" {
				made = synced(home.Path)
			}
			certain := all.after(t, change, "sync of "+filepath.Base(file), made)
			assert.Less(t, certain.end, before.begin, "%s(%s) is not certain before %s(%s)", change.name, change.args, before.name, before.args)
		}
	}
	require.NotZero(t, changes, "nothing was committed before %s(%s)", before.name, before.args)
}

// requireOrder follows a delete of V from its manifest on (contract 4, 9): temporary file synced, renamed, folder synced; the
// commit synced; only then the first artifact; the folder synced again; only then the manifest.
func (all calls) requireOrder(t *testing.T, home *sidecartest.Home) {
	t.Helper()
	folder := filepath.Join(home.Path, "sessions")
	const manifest = ".cleanup_manifest_"
	begun := all.after(t, call{end: -1}, "a temporary manifest", func(c call) bool {
		return c.in("<"+folder+`>, "`+manifest, "openat") && strings.Contains(c.args, "O_CREAT")
	})
	_, name, _ := strings.Cut(begun.args, `"`)
	name, _, _ = strings.Cut(name, `"`)
	temporary := filepath.Join(folder, name)
	require.Regexp(t, `\.tmp$`, name)
	whole := all.after(t, begun, "its bytes", func(c call) bool { return c.in("<"+temporary+`>, "[\"V\"]"`, "write") })
	certain := all.after(t, whole, "its sync", synced(temporary))
	named := all.after(t, certain, "its name", func(c call) bool { return c.in(`"`+name+`"`, "renameat", "renameat2") })
	durable := all.after(t, named, "the sync of its folder", synced(folder))

	first := all.after(t, durable, "an artifact that goes", func(c call) bool { return c.in("<"+folder+">", "unlinkat") })
	assert.NotContains(t, first.args, manifest)
	assert.Empty(t, all.until(durable, func(c call) bool { return c.in("<"+folder+">", "unlinkat") }))
	committed := all.after(t, durable, "a change of the store", written(home))
	assert.Less(t, committed.end, first.begin)
	all.requireStoreSynced(t, home, first)

	settled := all.after(t, first, "the manifest that goes", unlinked(folder, manifest))
	artifacts := all.until(settled, unlinked(folder, ""))
	require.Len(t, artifacts, 4)
	gone := all.after(t, artifacts[3], "the sync of the folder", synced(folder))
	assert.Less(t, gone.end, settled.begin)
}

// TestOrderOnTheDisk is what can be shown of a power loss: which system calls a delete makes, and in which order.
func TestOrderOnTheDisk(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			p, trace := tracedProcess(t)
			home := sidecartest.NewHome(t)
			home.Exec("PRAGMA journal_mode = "+mode, fixtures.LegacySchema,
				`INSERT INTO sessions (id, source, started_at) VALUES ('V', 'cli', 1)`,
				`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('V', 'user', 'zarquon', 1)`)
			home.Artifacts("V")
			p.Handshake()
			require.True(t, p.Delete(home, "V").OK)
			calls(trace()).requireOrder(t, home)
		})
	}
}

// TestOrderOnTheDiskWithoutASessionsFolder: one that is made is certain in its home before the manifest in it counts.
func TestOrderOnTheDiskWithoutASessionsFolder(t *testing.T) {
	p, trace := tracedProcess(t)
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, `INSERT INTO sessions (id, source, started_at) VALUES ('V', 'cli', 1)`)
	folder := filepath.Join(home.Path, "sessions")
	require.NoError(t, os.Remove(folder))
	p.Handshake()
	require.True(t, p.Delete(home, "V").OK)
	all := calls(trace())
	made := all.after(t, call{end: -1}, "the folder", func(c call) bool { return c.in("<"+home.Path+`>, "sessions"`, "mkdirat") })
	certain := all.after(t, made, "the sync of the home", synced(home.Path))
	durable := all.after(t, certain, "the sync of the folder", synced(folder))
	committed := all.after(t, durable, "a change of the store", written(home))
	assert.Empty(t, all.until(made, written(home)), "nothing is written before")
	all.after(t, committed, "the manifest that goes", unlinked(folder, ".cleanup_manifest_"))
}

// TestOrderOnTheDiskOfNamedFiles: a file that rows named goes after the commit is certain, and its note after it is gone for good.
func TestOrderOnTheDiskOfNamedFiles(t *testing.T) {
	p, trace := tracedProcess(t)
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('V', 'cli', 1)`,
		`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('V', 'tool', 'cache/spillover/of_V.txt', 1)`)
	home.Artifacts("V")
	home.Write("cache/spillover/of_V.txt", "spilled")
	p.Handshake()
	require.True(t, p.Delete(home, "V").OK)
	_, notes := noted(home)
	require.Empty(t, notes)
	all := calls(trace())
	all.requireOrder(t, home)
	folder := filepath.Join(home.Path, "cache/spillover")
	gone := all.after(t, call{end: -1}, "the file", unlinked(folder, "of_V.txt"))
	all.requireStoreSynced(t, home, gone)
	certain := all.after(t, gone, "the sync of its folder", synced(folder))
	forgotten := all.after(t, gone, "a change of the store", func(c call) bool { return c.in("<"+home.Store()+"-wal>", "pwrite64") })
	assert.Less(t, certain.end, forgotten.begin)
}

// TestOrderOnTheDiskOfAKeptDelete: the entry is certain under its name, and its folder in the home, before anything of the store changes
// (contract 10.1).
func TestOrderOnTheDiskOfAKeptDelete(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			p, trace := tracedProcess(t)
			home := sidecartest.NewHome(t)
			home.Exec("PRAGMA journal_mode = "+mode, fixtures.LegacySchema, keptSession)
			p.Handshake()
			require.True(t, p.Delete(home, "P", map[string]any{"keep_days": 7}).OK)
			all := calls(trace())
			folder := filepath.Join(home.Path, "trash")
			made := all.after(t, call{end: -1}, "the folder", func(c call) bool { return c.in("<"+home.Path+`>, "trash"`, "mkdirat") })
			assert.Contains(t, made.args, "0700")
			listed := all.after(t, made, "the sync of the home", synced(home.Path))
			begun := all.after(t, made, "a temporary entry", func(c call) bool {
				return c.in("<"+folder+`>, "`, "openat") && strings.Contains(c.args, "O_CREAT")
			})
			assert.Contains(t, begun.args, "0600")
			_, name, _ := strings.Cut(begun.args, `"`)
			name, _, _ = strings.Cut(name, `"`)
			require.Regexp(t, `^[0-9a-f]{32}\.ndjson\.gz\.[0-9a-f]+\.tmp$`, name)
			whole := all.after(t, begun, "its bytes", func(c call) bool { return c.in("<"+filepath.Join(folder, name)+">", "write") })
			certain := all.after(t, whole, "its sync", synced(filepath.Join(folder, name)))
			named := all.after(t, certain, "its name", func(c call) bool { return c.in(`"`+name+`"`, "renameat", "renameat2") })
			durable := all.after(t, named, "the sync of its folder", synced(folder))
			committed := all.after(t, durable, "a change of the store", written(home))
			assert.Empty(t, all.until(durable, written(home)), "nothing is written before")
			assert.Less(t, listed.end, committed.begin)
		})
	}
}
