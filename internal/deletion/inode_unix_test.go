//go:build unix

package deletion_test

import (
	"io/fs"
	"syscall"
)

// inode is what tells a file from one that took its name.
func inode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }
