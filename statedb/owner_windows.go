package statedb

import "io/fs"

// ownerOf is not told by what a file is looked at with here.
func ownerOf(fs.FileInfo) (user, group uint32) { return 0, 0 }
