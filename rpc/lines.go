package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest line that is read, without its end, in bytes (contract 1.6).
const MaxLine = 8 << 20

// errLineTooLong says that a line was longer than MaxLine and was dropped up to its end.
var errLineTooLong = errors.New("the line is too long")

// lineReader frames the input: one line at a time, bounded.
type lineReader struct {
	buffered *bufio.Reader
	limit    int
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 64<<10), MaxLine}
}

// next gives the next line that is not blank, without its end (\n or \r\n). One over the limit is errLineTooLong, once,
// after all of it was dropped. A last line without an end counts. The error at the end is io.EOF, or what the stream
// said.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.line()
		if errors.Is(err, errLineTooLong) {
			return nil, err
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *lineReader) line() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.buffered.ReadSlice('\n')
		ended := err == nil
		part = bytes.TrimSuffix(part, []byte("\n"))
		if tooLong = tooLong || len(line)+len(part) > r.limit+1; tooLong { // one more for the \r of \r\n
			line = nil
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong || len(bytes.TrimSuffix(line, []byte("\r"))) > r.limit {
			return nil, errLineTooLong
		}
		if ended {
			return line, nil
		}
		return line, err
	}
}
