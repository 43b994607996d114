package statedb

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
)

// nameIndex remembers which rows of a table name which sessions, without the names: sixteen bytes a name. What it finds is a
// candidate, whose row must be asked; what it does not find is certainly not there.
type nameIndex struct {
	seed   maphash.Seed
	blocks [][]nameEntry  // each in the order of the hashes, but for the last one until finish
	always map[int64]bool // rows that may name anything: they cannot be read for certain
	noted  map[int64]bool // rows that may name anything until they are read again: they were changed
}

type nameEntry struct {
	hash uint64
	row  int64
}

// What has to be copied or sorted at once is bounded: at first, and where a few names are added later.
const (
	blockSize = 64 << 10
	fewNames  = 1 << 10
)

func newNameIndex() *nameIndex {
	return &nameIndex{seed: maphash.MakeSeed(), always: map[int64]bool{}, noted: map[int64]bool{}}
}

// addMore lets names be added after finish; then it has to be finished again.
func (x *nameIndex) addMore() {
	if last := len(x.blocks) - 1; last >= 0 && len(x.blocks[last]) > fewNames {
		x.blocks = append(x.blocks, nil)
	}
}

// add enters a name of a row, before finish.
func (x *nameIndex) add(name string, row int64) {
	last := len(x.blocks) - 1
	if last < 0 || len(x.blocks[last]) == blockSize {
		if last >= 0 {
			sortBlock(x.blocks[last])
		}
		x.blocks = append(x.blocks, nil)
		last++
	}
	x.blocks[last] = append(x.blocks[last], nameEntry{maphash.String(x.seed, name), row})
}

// addAlways enters a row that may name anything, since it cannot be read for certain.
func (x *nameIndex) addAlways(row int64) { x.always[row] = true }

// note has a row looked at whatever is asked for, until it has been read again.
func (x *nameIndex) note(row int64) { x.noted[row] = true }

// finish makes the names ready to be found.
func (x *nameIndex) finish() {
	if last := len(x.blocks) - 1; last >= 0 {
		sortBlock(x.blocks[last])
		x.blocks[last] = slices.Clip(x.blocks[last])
	}
}

func sortBlock(block []nameEntry) {
	slices.SortFunc(block, func(a, b nameEntry) int { return cmp.Compare(a.hash, b.hash) })
}

// candidates are the rows that may name one of these, in their order.
func (x *nameIndex) candidates(names []string) []int64 {
	found := maps.Clone(x.always)
	maps.Copy(found, x.noted)
	for _, name := range names {
		hash := maphash.String(x.seed, name)
		for _, block := range x.blocks {
			at, _ := slices.BinarySearchFunc(block, hash, func(e nameEntry, hash uint64) int { return cmp.Compare(e.hash, hash) })
			for ; at < len(block) && block[at].hash == hash; at++ {
				found[block[at].row] = true
			}
		}
	}
	return sortedKeys(found)
}
