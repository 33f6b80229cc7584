package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// Why a recording stopped by itself. Callers test with errors.Is.
var (
	// ErrFull: the next line would have gone beyond the largest size.
	ErrFull = errors.New("the recording has reached its largest size")
	// ErrBehind: what it is written to took it in more slowly than the world
	// changed, until the queue was full.
	ErrBehind = errors.New("the recording could not be written as fast as the world changed")
)

const (
	// MaxFile is the size in bytes of the largest recording.
	MaxFile = 1 << 30
	// maxLine is the size in bytes of the longest line, its end included.
	maxLine = 8 << 20
	// defaultQueue is how many bytes wait to be written at most.
	defaultQueue = 32 << 20
	// terrainPiece is how many samples of ground height one line holds.
	terrainPiece = 1 << 18
)

// RecorderConfig says how to record; nil and the zero value are fine.
type RecorderConfig struct {
	// World is what the header calls the world, such as "demo".
	World string
	// MaxSize is the size in bytes at which the recording stops; 0, and
	// whatever is more, means MaxFile.
	MaxSize int64
	// MaxQueue is how many bytes may wait to be written; 0 means 32 MiB.
	MaxQueue int
}

// Recorder writes a recording. It is safe for concurrent use. It never leaves
// anything out: what it cannot write ends the recording, after a whole line.
type Recorder struct {
	maxSize  int64
	maxQueue int
	wake     chan struct{} // holds a token if there is something to do
	done     chan struct{} // closed by the one goroutine at its end

	mu      sync.Mutex
	queue   []byte // whole lines
	size    int64  // bytes accepted
	updates int
	closed  bool // nothing is accepted any more
	err     error
}

// header is the first line.
type header struct {
	Version int       `json:"wipagent_recording"`
	World   string    `json:"world,omitempty"`
	Started time.Time `json:"started"`
}

const version = 1

// NewRecorder starts a recording on w, beginning with its header. One goroutine
// writes until Close, or until Done says that it has stopped by itself.
func NewRecorder(w io.Writer, cfg *RecorderConfig) *Recorder {
	if cfg == nil {
		cfg = &RecorderConfig{}
	}
	r := &Recorder{maxSize: MaxFile, maxQueue: defaultQueue, wake: make(chan struct{}, 1), done: make(chan struct{})}
	if cfg.MaxSize > 0 {
		r.maxSize = min(cfg.MaxSize, MaxFile)
	}
	if cfg.MaxQueue > 0 {
		r.maxQueue = cfg.MaxQueue
	}
	line, err := json.Marshal(header{version, cfg.World, time.Now().UTC()})
	if err != nil {
		panic("replay: a header does not encode: " + err.Error())
	}
	r.accept(func(b []byte) ([]byte, error) { return append(append(b, line...), '\n'), nil })
	go r.write(w)
	return r
}

// Observe records an update. It is meant for world.World.Tap: it does not wait
// for the writer and keeps nothing of u.
func (r *Recorder) Observe(u world.Update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, piece := range split(u) {
		if r.accept(func(b []byte) ([]byte, error) { return appendUpdate(b, piece) }) {
			r.updates++
		}
	}
}

// accept queues a line, or ends the recording.
func (r *Recorder) accept(line func(b []byte) ([]byte, error)) bool {
	if r.closed {
		return false
	}
	before := len(r.queue)
	queue, err := line(r.queue)
	n := len(queue) - before
	switch {
	case err != nil:
	case n > maxLine:
		err = fmt.Errorf("found an update of %d bytes, expected at most %d", n, maxLine)
	case r.size+int64(n) > r.maxSize:
		err = ErrFull
	case len(queue) > r.maxQueue:
		err = ErrBehind
	default:
		r.queue = queue
		r.size += int64(n)
		r.signal()
		return true
	}
	r.queue = queue[:before]
	r.end(err)
	return false
}

// end lets the goroutine write what is queued and stop. The first error counts.
func (r *Recorder) end(err error) {
	if r.err == nil && !r.closed {
		r.err = err
	}
	r.closed = true
	r.signal()
}

func (r *Recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default: // there is one already
	}
}

// write is the one goroutine.
func (r *Recorder) write(w io.Writer) {
	defer close(r.done)
	var spare []byte
	var written int64
	ended := 0 // lines
	for range r.wake {
		r.mu.Lock()
		lines, closed := r.queue, r.closed
		r.queue = spare[:0]
		r.mu.Unlock()
		if len(lines) > 0 {
			n, err := w.Write(lines)
			n = min(max(n, 0), len(lines))
			written += int64(n)
			ended += bytes.Count(lines[:n], []byte{'\n'})
			if err == nil && n < len(lines) {
				err = io.ErrShortWrite
			}
			if err != nil {
				r.fail(fmt.Errorf("writing the recording: %w", err), max(ended-1, 0), written)
				return
			}
		}
		if closed {
			return
		}
		const keep = 1 << 20 // a burst's memory is not kept for ever
		if spare = lines; cap(spare) > keep {
			spare = nil
		}
	}
}

// fail ends the recording with what the writer said, which counts more than
// what came of it, and with what the writer took.
func (r *Recorder) fail(err error, updates int, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(nil)
	r.err = err
	r.queue = nil
	r.updates, r.size = updates, size
}

// Done is closed when nothing more will be written: after Close, or when the
// recording has stopped by itself.
func (r *Recorder) Done() <-chan struct{} { return r.done }

// Progress returns how many updates and bytes the recording holds, what is
// still to be written included. Once the writer has failed it is what the
// writer took; an update that it took half of does not count.
func (r *Recorder) Progress() (updates int, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.updates, r.size
}

// Close writes what was recorded so far and ends the recording. It does not
// close the writer. The error says why the recording stopped before: ErrFull,
// ErrBehind, an update that cannot be written down, or the writer's. Close may
// be called again.
func (r *Recorder) Close() error {
	r.mu.Lock()
	r.end(nil)
	r.mu.Unlock()
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// split returns updates of the same effect, none of which makes too long a
// line: a whole region's ground is more than that.
func split(u world.Update) []world.Update {
	t, ok := u.(world.TerrainUpdated)
	if !ok || len(t.Heights) <= terrainPiece || t.Width <= 0 || t.Width > terrainPiece ||
		t.Height <= 0 || len(t.Heights)/t.Width != t.Height || len(t.Heights)%t.Width != 0 {
		return []world.Update{u}
	}
	var pieces []world.Update
	rows := terrainPiece / t.Width
	for y := 0; y < t.Height; y += rows {
		piece := t
		piece.Y = t.Y + y
		piece.Height = min(rows, t.Height-y)
		piece.Heights = t.Heights[y*t.Width:][:piece.Height*t.Width]
		pieces = append(pieces, piece)
	}
	return pieces
}
