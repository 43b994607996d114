//go:build unix

package links

import (
	"io/fs"
	"syscall"
)

// Several tells whether a file has more than one name, as far as the system says.
func Several(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}
