package rpc

import (
	"errors"
	"io"
	"sync"
)

// maxQueued is how many bytes may wait for a host that does not read before senders wait too.
const maxQueued = 16 << 20

// mostQueued is how many bytes a host may leave unread before it counts as gone.
const mostQueued = 4 * maxQueued

// Immediate is an output that can tell what it takes at once.
type Immediate interface {
	// WriteNow writes as much as there is room for, which may be nothing, and never waits for the reader.
	WriteNow(line []byte) (n int, err error)
}

// writer is the one owner of the output. Frames go out whole and in the order in which they were sent. One that finds nothing before
// it goes out at once where the output takes it without waiting; what does not go out so is left to run.
type writer struct {
	limit     int         // bytes in the queue beyond which reserve waits
	giveUpAt  int         // bytes in the queue at which the host counts as gone
	onFailure func(error) // the host has gone away

	mu      sync.Mutex
	room    *sync.Cond // for those who wait in reserve
	more    *sync.Cond // for run
	now     Immediate  // nil where the output is none
	queue   [][]byte
	queued  int  // bytes in the queue, and those for which room is reserved
	writing bool // run has taken a frame and writes it
	closed  bool
	failed  error

	done chan struct{} // closed when nothing is written any more
}

func newWriter(onFailure func(error)) *writer {
	w := &writer{limit: maxQueued, giveUpAt: mostQueued, onFailure: onFailure, done: make(chan struct{})}
	w.room, w.more = sync.NewCond(&w.mu), sync.NewCond(&w.mu)
	return w
}

// reserve waits while too much is queued, then takes the room for a frame: of many that wait, no more go on than fit.
func (w *writer) reserve(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.queued > w.limit && !w.closed && w.failed == nil {
		w.room.Wait()
	}
	w.queued += len(frame) + 1
}

// tryReserve is reserve for one who may not wait.
func (w *writer) tryReserve(frame []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queued > w.limit && !w.closed && w.failed == nil {
		return false
	}
	w.queued += len(frame) + 1
	return true
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
	if w.failed != nil {
		return
	}
	w.failed = err
	w.queue, w.queued = nil, 0
	w.room.Broadcast()
	w.more.Signal()
	go w.onFailure(err) // whoever sends may hold locks
}

// add sends or queues a frame whose room is counted. w.mu is held.
func (w *writer) add(frame []byte) {
	if w.closed || w.failed != nil {
		return
	}
	line := append(frame, '\n')
	if w.now != nil && len(w.queue) == 0 && !w.writing {
		n, err := w.now.WriteNow(line)
		if err != nil {
			w.fail(err)
			return
		}
		w.queued -= n
		w.room.Broadcast()
		if line = line[n:]; len(line) == 0 {
			return
		}
	}
	w.queue = append(w.queue, line)
	w.more.Signal()
}

// close lets what is queued go out; done is closed after the last byte.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.room.Broadcast()
	w.more.Signal()
}

// use says where frames go. It comes before the first frame and before run.
func (w *writer) use(out io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, _ = out.(Immediate)
}

// run writes to out what is queued until close.
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
			return
		}
	}
}

func (w *writer) take() (frame []byte, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writing = false
	for len(w.queue) == 0 {
		if w.closed || w.failed != nil {
			return nil, false
		}
		w.queue = nil // let the array of a past burst go
		w.more.Wait()
	}
	frame = w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	w.queued -= len(frame)
	w.writing = true
	w.room.Broadcast()
	return frame, true
}
