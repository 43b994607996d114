//go:build unix

package statedb

import (
	"io/fs"
	"syscall"
)

// ownerOf is who may change who may write a file.
func ownerOf(info fs.FileInfo) (user, group uint32) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Uid, stat.Gid
	}
	return 0, 0
}
