package rpc

import (
	"io"
	"os"
)

// TakeOutput makes a file the output of a server, which closes it from now on.
func TakeOutput(file *os.File) io.WriteCloser { return file }
