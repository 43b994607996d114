package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// MaxLine is the longest line that is read, without its end, in bytes (contract 1.6).
const MaxLine = 8 << 20

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

// maxQueued is how many bytes may wait for a host that does not read before senders wait too.
const maxQueued = 16 << 20

// mostQueued is how many bytes a host may leave unread before it counts as gone.
const mostQueued = 4 * maxQueued

// writer is the one owner of the output. Frames go out whole and in the order in which they were sent.
type writer struct {
	limit     int         // bytes in the queue beyond which reserve waits
	giveUpAt  int         // bytes in the queue at which the host counts as gone
	onFailure func(error) // the host has gone away

	mu     sync.Mutex
	change *sync.Cond
	queue  [][]byte
	queued int
	closed bool
	failed error

	done chan struct{} // closed when nothing is written any more
}

func newWriter(onFailure func(error)) *writer {
	w := &writer{limit: maxQueued, giveUpAt: mostQueued, onFailure: onFailure, done: make(chan struct{})}
	w.change = sync.NewCond(&w.mu)
	return w
}

// reserve waits while too much is queued, then takes the room for a frame: of many that wait, no more go on than fit.
func (w *writer) reserve(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.queued > w.limit && !w.closed && w.failed == nil {
		w.change.Wait()
	}
	w.queued += len(frame) + 1
}

// sendReserved queues a frame for which reserve has taken the room, and drops it once the output is closed or broken.
func (w *writer) sendReserved(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(frame)
}

// errHostDoesNotRead says that a host sends and sends and reads nothing of the answers.
var errHostDoesNotRead = errors.New("the host does not read its answers")

// sendNow queues a frame without waiting for room. Where a host has left giveUpAt bytes unread, it counts as gone.
func (w *writer) sendNow(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued += len(frame) + 1
	w.add(frame)
	if w.queued > w.giveUpAt && w.failed == nil {
		w.fail(errHostDoesNotRead)
		go w.onFailure(errHostDoesNotRead)
	}
}

// broken tells whether the host has gone away.
func (w *writer) broken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed != nil
}

// fail drops what is queued and all that comes. w.mu is held.
func (w *writer) fail(err error) {
	w.failed = err
	w.queue, w.queued = nil, 0
	w.change.Broadcast()
}

// add queues a frame whose room is counted. w.mu is held.
func (w *writer) add(frame []byte) {
	if w.closed || w.failed != nil {
		return
	}
	w.queue = append(w.queue, append(frame, '\n'))
	w.change.Broadcast()
}

// close lets what is queued go out; done is closed after the last byte.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.change.Broadcast()
}

// run owns out and writes until close.
func (w *writer) run(out io.Writer) {
	defer close(w.done)
	for {
		frame, ok := w.take()
		if !ok {
			return
		}
		if _, err := out.Write(frame); err != nil {
			w.mu.Lock()
			w.fail(err)
			w.mu.Unlock()
			w.onFailure(err)
			return
		}
	}
}

func (w *writer) take() (frame []byte, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 {
		if w.closed || w.failed != nil {
			return nil, false
		}
		w.queue = nil // let the array of a past burst go
		w.change.Wait()
	}
	frame = w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	w.queued -= len(frame)
	w.change.Broadcast()
	return frame, true
}
