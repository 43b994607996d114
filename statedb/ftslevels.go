package statedb

import (
	"encoding/binary"
	"errors"
)

// An FTS5 index is a row of segments, newest on level 0. A word that was deleted is in it twice until the two meet in a merge: in
// the segment that it was written to, and as an entry in a newer one that takes it back. A merge reads segments of one level and
// writes one on the next; SQLite drops what takes words back where it sees that no older segment can hold them.

// ftsLevel is one level of an index: its segments, and how many of them a merge under way reads.
type ftsLevel struct{ segments, merging int }

// ftsLevels are all of them, level 0 first.
type ftsLevels []ftsLevel

var errLevels = errors.New("the list of an index's segments cannot be read")

// secondForm follows the cookie where the record tells more of each segment.
const secondForm = 0xff000001

// readLevels reads the record in which FTS5 lists the segments of an index. Its form is SQLite's own affair and has been the
// same since there is FTS5; what is not understood is an error, and then nobody claims anything of that index.
func readLevels(record []byte) (ftsLevels, error) {
	if len(record) < 4 {
		return nil, errLevels
	}
	r := varints{rest: record[4:]} // after the cookie
	numbers := 3                   // of each segment: its id, its first page and its last
	if len(r.rest) >= 4 && binary.BigEndian.Uint32(r.rest) == secondForm {
		r.rest, numbers = r.rest[4:], 8
	}
	count, all, _ := r.next(), r.next(), r.next()
	if count > uint64(len(r.rest)) {
		return nil, errLevels
	}
	levels := make(ftsLevels, count)
	for i := range levels {
		merging, segments := r.next(), r.next()
		if merging > segments || segments > all {
			return nil, errLevels
		}
		all -= segments
		for range segments * uint64(numbers) {
			r.next()
		}
		levels[i] = ftsLevel{int(segments), int(merging)}
	}
	if r.short || all != 0 {
		return nil, errLevels
	}
	return levels, nil
}

// varints reads numbers as SQLite writes them: seven bits a byte, the highest first; a ninth byte has eight.
type varints struct {
	rest  []byte
	short bool // they ended early
}

func (v *varints) next() (n uint64) {
	for i := 0; i < len(v.rest) && i < 9; i++ {
		b := v.rest[i]
		if i == 8 {
			n = n<<8 | uint64(b)
		} else {
			n = n<<7 | uint64(b&0x7f)
		}
		if i == 8 || b < 0x80 {
			v.rest = v.rest[i+1:]
			return n
		}
	}
	v.rest, v.short = nil, true
	return 0
}

// merging is the highest level of which a merge is under way, or -1.
func (l ftsLevels) merging() int {
	for i := len(l) - 1; i >= 0; i-- {
		if l[i].merging > 0 {
			return i
		}
	}
	return -1
}

// forgets tells whether a merge of everything that is begun now leaves nothing of the words that were deleted. SQLite sees the
// oldest segment where a merge writes on the highest level, and nothing else is there. It puts all segments below a new one, with
// two exceptions: where all lie on one level, or go from there into one merge already, it goes on as they lie. Then there may be
// empty levels above, and what takes words back is kept with them; a segment that is alone is not touched at all.
func (l ftsLevels) forgets() bool {
	all := 0
	for _, level := range l {
		all += level.segments
	}
	for i, level := range l {
		switch {
		case level.segments == 0:
		case level.segments == 1 && all == 1:
			return i == len(l)-1
		case level.segments == all:
			return i >= len(l)-2
		case level.segments == all-1 && level.merging == level.segments:
			return i == len(l)-2
		}
	}
	return true
}
