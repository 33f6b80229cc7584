package mcp

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// drain holds back the end of a client's input until what it asked for has
// been answered: the SDK drops all open requests at the end of input, and a
// client that writes its requests and closes its end would get nothing.
type drain struct {
	in    io.ReadCloser
	out   io.WriteCloser
	grace time.Duration // how long the end is held back at most

	mu       sync.Mutex
	open     int           // requests without an answer
	answered chan struct{} // closed and replaced whenever one is answered
	read     []byte        // the started line of input
	written  []byte        // and of output
}

func newDrain(in io.ReadCloser, out io.WriteCloser, grace time.Duration) *drain {
	return &drain{in: in, out: out, grace: grace, answered: make(chan struct{})}
}

// Read passes input on and counts the requests in it.
func (d *drain) Read(p []byte) (int, error) {
	n, err := d.in.Read(p)
	d.mu.Lock()
	d.read = eachLine(append(d.read, p[:n]...), func(line []byte) {
		if gjson.GetBytes(line, "id").Exists() && gjson.GetBytes(line, "method").Exists() {
			d.open++
		}
	})
	d.mu.Unlock()
	if err == io.EOF && n == 0 {
		d.wait()
	}
	if err == io.EOF && n > 0 {
		err = nil // the next Read finds the end again
	}
	return n, err
}

// wait returns when no request is open, or the grace is over.
func (d *drain) wait() {
	over := time.NewTimer(d.grace)
	defer over.Stop()
	for {
		d.mu.Lock()
		open, answered := d.open, d.answered
		d.mu.Unlock()
		if open <= 0 {
			return
		}
		select {
		case <-answered:
		case <-over.C:
			return
		}
	}
}

// output is the drain's other side.
type output struct{ *drain }

// Write passes output on and counts the answers in it.
func (o output) Write(p []byte) (int, error) {
	n, err := o.out.Write(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written = eachLine(append(o.written, p[:n]...), func(line []byte) {
		if gjson.GetBytes(line, "id").Exists() && !gjson.GetBytes(line, "method").Exists() {
			o.open--
			close(o.answered)
			o.answered = make(chan struct{})
		}
	})
	return n, err
}

// Close closes the input.
func (d *drain) Close() error { return d.in.Close() }

// Close closes the output.
func (o output) Close() error { return o.out.Close() }

// eachLine calls f with every whole line and returns the started one. A line
// that grows beyond the limit of a message is dropped: the transport refuses
// it.
func eachLine(b []byte, f func(line []byte)) []byte {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break
		}
		f(b[:i])
		b = b[i+1:]
	}
	if len(b) > maxLine {
		return nil
	}
	return bytes.Clone(b)
}
