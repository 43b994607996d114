package statedb

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// A canary is a word that stands at the end of an index, so that a merge comes to it last.
const canary = "zzquorumcanary"

// message is a statement of its own, and so a segment of its own in each index.
func message(text string) string {
	return "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('x', 'user', '" + text + "', 1)"
}

// messages are several in one statement, of so many words each.
func messages(n, words int) string {
	texts := make([]string, n)
	for i := range texts {
		for word := range words {
			texts[i] += fmt.Sprintf("w%d ", (i*words+word)*words)
		}
	}
	return message(strings.Join(texts, "', 1), ('x', 'user', '"))
}

const deleteCanary = "DELETE FROM messages WHERE content LIKE '%" + canary + "%'"

// inIndex tells whether a page of an index holds a text. In the trigrams, a word's letters stand three by three.
func inIndex(t *testing.T, home *sidecartest.Home, index, text string) bool {
	t.Helper()
	return home.Query("SELECT count(*) FROM "+index+"_data WHERE instr(block, CAST(? AS BLOB))", text)[0] != "0"
}

func purgeStore(t *testing.T, home *sidecartest.Home) Erasure {
	t.Helper()
	erasure, err := Purge(t.Context(), home.Store(), func(PurgeProgress) {})
	require.NoError(t, err)
	return erasure
}

var allErased = Erasure{IndexesPurged, LogTruncated}

// bulkOfMessages are enough of them, in one statement, for a merge of several steps.
const bulkOfMessages = `INSERT INTO messages (session_id, role, content, timestamp)
	WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
	SELECT 'y', 'user', 'w' || hex(i * 7919) || ' ' || (SELECT group_concat('v' || hex((i * 31 + value) * 104729), ' ')
		FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]')), i FROM n`

func TestPurge(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			home := newStore(t, sessionX, bulkOfMessages, message(canary))
			home.Exec("PRAGMA journal_mode = "+mode, deleteCanary)
			require.True(t, inIndex(t, home, "messages_fts", canary))
			steps := map[string][]int{}
			erasure, err := Purge(t.Context(), home.Store(), func(p PurgeProgress) { steps[p.Index] = append(steps[p.Index], p.Steps) })
			require.NoError(t, err)
			assert.Equal(t, allErased, erasure)
			assert.False(t, inIndex(t, home, "messages_fts", canary))
			require.Len(t, steps, 2)
			for index, told := range steps {
				require.Greater(t, len(told), 2, index)
				for i, n := range told {
					assert.Equal(t, i+1, n)
				}
			}
			home.RequireSound()
			assert.Equal(t, allErased, purgeStore(t, home), "again")
		})
	}
}

// TestPurgeWhereverSegmentsLie has all segments on one level with empty levels above: there SQLite takes no segment for the
// oldest, and its merge keeps what takes a deleted word back. A merge without more than the usual steps leaves the word.
func TestPurgeWhereverSegmentsLie(t *testing.T) {
	for _, mergedAsUsual := range []bool{false, true} {
		t.Run(fmt.Sprint(mergedAsUsual), func(t *testing.T) {
			home := newStore(t, sessionX, messages(20, 60))
			for range 2 {
				home.Exec(message("one"))
				purgeStore(t, home)
			}
			require.Equal(t, ftsLevels{{}, {}, {}, {segments: 1}}, levelsOf(t, home, "messages_fts"))
			for n := range 14 {
				home.Exec(messages(1, 150+n))
			}
			home.Exec(message(canary), deleteCanary) // the sixteenth segment: SQLite merges them, and puts the old one beside
			const index = "messages_fts"
			require.False(t, levelsOf(t, home, index).forgets(), "%v", levelsOf(t, home, index))
			if mergedAsUsual {
				mergeAsUsual(t, home, index)
				require.Equal(t, []string{"1"}, home.Query("SELECT count(DISTINCT id >> 37) FROM messages_fts_data WHERE id > 10"))
				require.True(t, inIndex(t, home, index, canary), "the usual steps leave it")
			}
			words := "SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'one OR w5' ORDER BY 1"
			before := home.Query(words)
			assert.Equal(t, allErased, purgeStore(t, home))
			assert.False(t, inIndex(t, home, index, canary))
			assert.False(t, inIndex(t, home, index, "stir"))
			assert.Equal(t, before, home.Query(words))
			home.RequireSound()
		})
	}
}

func mergeAsUsual(t *testing.T, home *sidecartest.Home, index string) {
	t.Helper()
	for pages, changed := -mergePages, int64(2); changed >= 2; pages = mergePages {
		tx := begin(t, home)
		var err error
		changed, err = tx.mergeIndex(t.Context(), index, pages)
		require.NoError(t, err)
		require.NoError(t, tx.Commit())
	}
}

// TestPurgeThatIsPassedOver lets somebody write two messages when a merge of two segments is under way: SQLite then finds two
// segments of more use, but too few to merge, and does nothing.
func TestPurgeThatIsPassedOver(t *testing.T) {
	home := newStore(t, sessionX, bulkOfMessages, message(canary))
	purgeStore(t, home)
	home.Exec(deleteCanary)
	begun := false
	erasure, err := Purge(t.Context(), home.Store(), func(p PurgeProgress) {
		if p.Index != "messages_fts" || p.Steps != 1 {
			return
		}
		level := levelsOf(t, home, p.Index).merging()
		require.Equal(t, 2, levelsOf(t, home, p.Index)[level].merging)
		home.Exec(message("one"), message("two"))
		begun = true
	})
	require.NoError(t, err)
	require.True(t, begun)
	assert.Equal(t, allErased, erasure)
	assert.False(t, inIndex(t, home, "messages_fts", canary))
	home.RequireSound()
}

// Each purge puts the segments higher, until FTS5 has no higher level.
func TestPurgeAgainAndAgain(t *testing.T) {
	home := newStore(t, sessionX)
	for n := range 50 {
		word := fmt.Sprintf("%s%d", canary, n)
		home.Exec(message(word), message(fmt.Sprintf("stays%d", n)), "DELETE FROM messages WHERE content = '"+word+"'")
		require.Equal(t, allErased, purgeStore(t, home))
		require.False(t, inIndex(t, home, "messages_fts", canary), n)
	}
	home.RequireSound()
}

// What cannot be merged is pending, whatever the reason, and keeps no other index from being merged.
func TestPurgeOfWhatCannotBeMerged(t *testing.T) {
	for name, c := range map[string]struct {
		make    []string
		failure error
	}{
		"a tokenizer that this build lacks": {foreignIndex("messages_fts_cjk"), nil},
		"an older kind of index":            {[]string{"CREATE VIRTUAL TABLE old USING fts4(content)"}, nil},
		"a damaged index": {[]string{
			"CREATE VIRTUAL TABLE broken USING fts5(content)", "UPDATE broken_data SET block = x'00' WHERE id = 10",
		}, ErrCorrupt},
		"an index without its tables": {[]string{
			"CREATE VIRTUAL TABLE broken USING fts5(content)", "PRAGMA writable_schema = ON",
			"DELETE FROM sqlite_schema WHERE name = 'broken_data'", "PRAGMA writable_schema = RESET",
		}, nil},
		"an index of which nothing can be read": {[]string{
			`CREATE VIRTUAL TABLE "odd" USING "fts5"(content)`, "DELETE FROM odd_data WHERE id = 10",
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			home := newStore(t, sessionX, message("other"), message(canary))
			home.Exec(c.make...)
			home.Exec("DROP TRIGGER IF EXISTS messages_fts_cjk_delete", deleteCanary)
			erasure, err := Purge(t.Context(), home.Store(), func(PurgeProgress) {})
			if c.failure == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, c.failure)
			}
			assert.Equal(t, Erasure{IndexesPending, LogTruncated}, erasure)
			assert.False(t, inIndex(t, home, "messages_fts", canary))
		})
	}
}

// A store without an index has nothing that could hold a word.
func TestPurgeWithoutAnIndex(t *testing.T) {
	home := newStore(t, "DROP TABLE messages_fts", "DROP TABLE messages_fts_trigram")
	assert.Equal(t, allErased, purgeStore(t, home))
}

func TestPurgeOfABusyStore(t *testing.T) {
	home := newStore(t, sessionX, message(canary), deleteCanary)
	holder := sidecartest.HoldWriteLock(t, home.Store(), 0)
	erasure, err := Purge(t.Context(), home.Store(), func(PurgeProgress) { assert.Fail(t, "nobody can write") })
	require.ErrorIs(t, err, ErrBusy)
	assert.Equal(t, Erasure{IndexesPending, LogBusy}, erasure)
	holder.Release()
	assert.Equal(t, allErased, purgeStore(t, home))
	requireFree(t, home)
}

// Somebody who reads an older state keeps the log as it is, and no index from being merged.
func TestPurgeBesideAReader(t *testing.T) {
	home := newStore(t, sessionX, message(canary))
	db := home.Open()
	reader, err := db.Begin()
	require.NoError(t, err)
	count := func() (n int) {
		require.NoError(t, reader.QueryRow("SELECT count(*) FROM messages WHERE content = '"+canary+"'").Scan(&n))
		return n
	}
	require.Equal(t, 1, count())
	home.Exec(deleteCanary)
	assert.Equal(t, Erasure{IndexesPurged, LogBusy}, purgeStore(t, home))
	require.Equal(t, 1, count())
	require.NoError(t, reader.Rollback())
	assert.Equal(t, allErased, purgeStore(t, home))
	require.NoError(t, db.Close())
}

// A store without a log has its readers in the way of every commit.
func TestPurgeBesideAReaderWithoutALog(t *testing.T) {
	home := newStore(t, sessionX, message(canary))
	home.Exec("PRAGMA journal_mode = DELETE", deleteCanary)
	db := home.Open()
	reader, err := db.Begin()
	require.NoError(t, err)
	var n int
	require.NoError(t, reader.QueryRow("SELECT count(*) FROM messages").Scan(&n))
	erasure, err := Purge(t.Context(), home.Store(), func(PurgeProgress) {})
	require.ErrorIs(t, err, ErrBusy)
	assert.Equal(t, Erasure{IndexesPending, LogBusy}, erasure)
	require.NoError(t, reader.Rollback())
	require.NoError(t, db.Close())
	assert.Equal(t, allErased, purgeStore(t, home))
	home.RequireSound()
}

func TestACancelledPurgeGoesOnTheNextTime(t *testing.T) {
	home := newStore(t, sessionX, bulkOfMessages, message(canary), deleteCanary)
	erasure, err := Purge(cancelled(t), home.Store(), func(PurgeProgress) {})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, Erasure{IndexesPending, LogBusy}, erasure)

	for stopAt := 1; ; stopAt++ {
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		erasure, err := Purge(ctx, home.Store(), func(PurgeProgress) {
			if steps++; steps == stopAt {
				cancel()
			}
		})
		cancel()
		home.RequireSound()
		if err == nil {
			assert.Equal(t, allErased, erasure)
			assert.Greater(t, stopAt, 3)
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, stopAt, steps, "no step is begun after a cancel")
		assert.Equal(t, LogBusy, erasure.WAL)
	}
	assert.False(t, inIndex(t, home, "messages_fts", canary))
	requireFree(t, home)
}

// A purge that waits for the lock hears of a cancel before its patience is at an end.
func TestACancelWhileAPurgeWaits(t *testing.T) {
	home := newStore(t, sessionX, message(canary), deleteCanary)
	sidecartest.HoldWriteLock(t, home.Store(), 0)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	_, err := Purge(ctx, home.Store(), func(PurgeProgress) {})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A store that was put in the place of the one that is purged is not taken for it.
func TestPurgeOfAStoreThatIsReplaced(t *testing.T) {
	home := newStore(t, sessionX, bulkOfMessages, message(canary), deleteCanary)
	other := newStore(t)
	erasure, err := Purge(t.Context(), home.Store(), func(p PurgeProgress) {
		if p.Steps == 1 && p.Index == "messages_fts" {
			require.NoError(t, os.Rename(other.Store(), home.Store()))
		}
	})
	require.ErrorIs(t, err, ErrIO)
	assert.Equal(t, IndexesPending, erasure.Indexes)
}

// TestPurgeOfOneSmallSegment has an index that is one segment of one page, below empty levels: FTS5 would lift it down to whatever
// small segment is written beside it, and all would lie as before.
func TestPurgeOfOneSmallSegment(t *testing.T) {
	const index = "messages_fts"
	home := newStore(t, sessionX, messages(20, 60))
	for range 2 {
		home.Exec(message("one"))
		purgeStore(t, home)
	}
	home.Exec("DELETE FROM messages WHERE content <> 'one'")
	purgeStore(t, home)
	home.Exec(message(canary), deleteCanary)
	for n := 0; levelsOf(t, home, index)[1].segments == 0; n++ { // SQLite merges sixteen
		require.Less(t, n, 16)
		home.Exec(message("two"))
	}
	levels := levelsOf(t, home, index)
	require.Equal(t, ftsLevel{segments: 1}, levels[1], "%v", levels)
	require.False(t, levels.forgets(), "%v", levels)
	require.True(t, inIndex(t, home, index, canary))
	assert.Equal(t, allErased, purgeStore(t, home))
	assert.False(t, inIndex(t, home, index, canary))
	assert.False(t, inIndex(t, home, index, "stir"))
	assert.Len(t, home.Query("SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'one'"), 2)
	home.RequireSound()
}
