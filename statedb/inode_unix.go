//go:build unix

package statedb

import "golang.org/x/sys/unix"

// inodeState is what the system says of a file that os does not.
type inodeState struct {
	owner   [2]uint32 // user and group, who decide who may write
	changed [2]int64  // when the inode was changed last, which nobody can put back
}

// inodeOf is the zero value where nothing can be said.
func inodeOf(path string) inodeState {
	var stat unix.Stat_t
	if unix.Lstat(path, &stat) != nil {
		return inodeState{}
	}
	return inodeState{[2]uint32{stat.Uid, stat.Gid}, [2]int64{int64(stat.Ctim.Sec), int64(stat.Ctim.Nsec)}} //nolint:unconvert // not alike everywhere
}
