package statedb

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// levelsOf reads the levels of an index as a purge does.
func levelsOf(t *testing.T, home *sidecartest.Home, index string) ftsLevels {
	t.Helper()
	tx := begin(t, home)
	levels, err := tx.levels(t.Context(), index)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	return levels
}

// What is read of an index agrees with the pages that it has, in either form of the record.
func TestLevelsOfAnIndex(t *testing.T) {
	home := newStore(t)
	for _, options := range []string{"", ", content='', contentless_delete=1"} {
		home.Exec("DROP TABLE IF EXISTS i", "CREATE VIRTUAL TABLE i USING fts5(x"+options+")")
		assert.Empty(t, levelsOf(t, home, "i"))
		for n := range 20 { // at 16 segments SQLite merges
			home.Exec(fmt.Sprintf("INSERT INTO i (rowid, x) VALUES (%d, 'word%[1]d')", n))
			segments := 0
			for _, level := range levelsOf(t, home, "i") {
				segments += level.segments
			}
			assert.Equal(t, home.Query("SELECT count(DISTINCT id >> 37) FROM i_data WHERE id > 10"), []string{fmt.Sprint(segments)})
		}
		assert.Equal(t, ftsLevels{{segments: 5}, {}}, levelsOf(t, home, "i"), "what it merged is no bigger than the others, and goes back to them")
	}
}

// A record that is cut off anywhere, or says what cannot be, is not understood.
func TestARecordThatCannotBeRead(t *testing.T) {
	home := newStore(t, "CREATE VIRTUAL TABLE i USING fts5(x)")
	for n := range 20 {
		home.Exec(fmt.Sprintf("INSERT INTO i VALUES ('word%d')", n))
	}
	record := []byte(home.Query("SELECT block FROM i_data WHERE id = 10")[0])
	_, err := readLevels(record)
	require.NoError(t, err)
	for n := range record {
		_, err := readLevels(record[:n])
		require.ErrorIs(t, err, errLevels, "%d of %d bytes", n, len(record))
	}
	cookie := make([]byte, 4)
	second := binary.BigEndian.AppendUint32(cookie, secondForm)
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	for _, wrong := range [][]byte{
		append(cookie, 1, 1, 0, 2, 1, 1, 1, 1), // it merges more than there is
		append(cookie, 1, 1, 0, 0, 0),          // fewer segments than it says
		append(cookie, 1, 1, 0, 0, 2, 1, 1, 1), // more
		append(cookie, append(huge, 1, 0)...),  // more levels than bytes
		append(cookie, append([]byte{1}, huge...)...),
		second,
		append(second, 1, 1, 0, 0, 1, 1, 1, 1), // the numbers of the first form
	} {
		_, err := readLevels(wrong)
		assert.ErrorIs(t, err, errLevels, "%x", wrong)
	}
}

func TestNumbersAsSQLiteWritesThem(t *testing.T) {
	for text, want := range map[string]uint64{
		"\x00": 0, "\x7f": 127, "\x81\x00": 128, "\xff\x7f": 16383, "\xff\xff\xff\xff\xff\xff\xff\xff\xff": 1<<64 - 1,
		"\x80\x80\x80\x80\x80\x80\x80\x81\x05": 1<<8 | 5,
	} {
		r := varints{rest: []byte(text + "\x07")}
		assert.Equal(t, want, r.next(), "%x", text)
		assert.EqualValues(t, 7, r.next(), "%x", text)
		assert.False(t, r.short)
		r.next()
		assert.True(t, r.short)
	}
}

// TestWhetherAMergeForgets follows SQLite's rules for a merge of everything, over how segments can lie.
func TestWhetherAMergeForgets(t *testing.T) {
	for _, c := range []struct {
		levels ftsLevels
		want   bool
	}{
		{nil, true},
		{ftsLevels{{}}, true},
		{ftsLevels{{}, {}}, true},
		{ftsLevels{{segments: 1}}, true},                      // alone on top: it was merged like that, or there never was another
		{ftsLevels{{segments: 1}, {}}, false},                 // it stays as it is
		{ftsLevels{{}, {segments: 1}, {}}, false},             //
		{ftsLevels{{segments: 2}}, true},                      // written to a new level
		{ftsLevels{{segments: 2}, {}}, true},                  // to the highest
		{ftsLevels{{segments: 2}, {}, {}}, false},             // to one with an empty one above
		{ftsLevels{{segments: 1}, {}, {segments: 1}}, true},   // all put below a new one
		{ftsLevels{{}, {3, 3}, {segments: 1}}, true},          // a merge of all is under way
		{ftsLevels{{}, {3, 3}, {segments: 1}, {}}, false},     //
		{ftsLevels{{1, 0}, {3, 3}, {segments: 1}, {}}, true},  // of not all: put below a new one
		{ftsLevels{{}, {3, 2}, {segments: 1}, {}}, true},      //
		{ftsLevels{{}, {3, 3}, {segments: 2}, {}, {}}, true},  //
		{ftsLevels{{}, {1, 0}, {segments: 1}, {}, {}}, true},  // two levels
		{ftsLevels{{}, {1, 1}, {segments: 1}, {}, {}}, false}, // one segment goes into the other
	} {
		assert.Equal(t, c.want, c.levels.forgets(), "%v", c.levels)
	}
}

func TestTheHighestMerge(t *testing.T) {
	assert.Equal(t, -1, ftsLevels(nil).merging())
	assert.Equal(t, -1, ftsLevels{{segments: 3}}.merging())
	assert.Equal(t, 2, ftsLevels{{4, 4}, {1, 0}, {2, 2}, {1, 0}}.merging())
}
