package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/idl"
)

// drain stands between a client's input and the SDK, which ends the whole
// session at a line that it cannot read and drops all open requests at the end
// of input. The drain answers such lines itself, and holds the end back until
// what the client asked for has been answered: a client that writes its requests
// and closes its end would get nothing.
type drain struct {
	in    *bufio.Reader
	close func() error // the input
	grace time.Duration
	rest  []byte        // of the line that is being passed on
	ended chan struct{} // closed when the end of input is passed on

	writing sync.Mutex // held for a line of output
	out     io.WriteCloser

	mu       sync.Mutex
	open     map[string]bool // identifiers of requests without an answer
	answered chan struct{}   // closed and replaced whenever one is answered
	batches  bool            // the version of the protocol has them
}

func newDrain(in io.ReadCloser, out io.WriteCloser, grace time.Duration) *drain {
	return &drain{
		in: bufio.NewReaderSize(in, 64<<10), close: in.Close, out: out, grace: grace,
		ended: make(chan struct{}), open: map[string]bool{}, answered: make(chan struct{}),
	}
}

// Read passes on the lines that the SDK can read.
func (d *drain) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		line, err := d.line()
		switch {
		case errors.Is(err, errLongLine):
			d.refuse("null", jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxLine))
		case err != nil:
			d.end()
			return 0, err
		case d.admit(line):
			d.rest = line
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

var errLongLine = errors.New("the line is too long")

// line returns the next line with its end. What is too long is passed over.
func (d *drain) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := d.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(line) == 0 && !long || !errors.Is(err, io.EOF)):
			return nil, err
		case long:
			return nil, errLongLine
		case err != nil: // the last line has no end
			line = append(line, '\n')
		}
		return line, nil
	}
}

// end is called at the end of input.
func (d *drain) end() {
	select {
	case <-d.ended:
	default:
		d.wait()
		close(d.ended)
	}
}

// wait returns when no request is open, or the grace is over.
func (d *drain) wait() {
	over := time.NewTimer(d.grace)
	defer over.Stop()
	for {
		d.mu.Lock()
		open, answered := len(d.open), d.answered
		d.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-answered:
		case <-over.C:
			return
		}
	}
}

// admit reports whether the SDK can read a line, and notes the requests in it.
// A line that it cannot read has been answered.
func (d *drain) admit(line []byte) bool {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return false
	case idl.Levels(line) > maxLevels:
		d.refuse(identifier(line), jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is nested more than %d levels deep", maxLevels))
		return false
	case !json.Valid(line):
		d.refuse("null", jsonrpc.CodeParseError, "the line is not JSON")
		return false
	}
	messages := []json.RawMessage{line}
	if line[0] == '[' {
		d.mu.Lock()
		batches := d.batches
		d.mu.Unlock()
		if err := json.Unmarshal(line, &messages); err != nil || !batches || len(messages) == 0 {
			d.refuse("null", jsonrpc.CodeInvalidRequest, "the message is a batch, expected one request, notification or response")
			return false
		}
	}
	requests := map[string]bool{}
	var cancelled []string // need no answer
	for _, m := range messages {
		id := identifier(m)
		if !carried(m) {
			d.refuse(id, jsonrpc.CodeInvalidRequest, "an id is given once; it is a string or an integer within ±(2^53-1), written without fraction or exponent")
			return false
		}
		if gjson.GetBytes(m, "method").Str == "notifications/cancelled" {
			cancelled = append(cancelled, gjson.GetBytes(m, "params.requestId").Raw)
		}
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			d.refuse(id, jsonrpc.CodeInvalidRequest, "the message is no request, notification or response of JSON-RPC 2.0")
			return false
		}
		if id == "null" || !gjson.GetBytes(m, "method").Exists() {
			continue
		}
		d.mu.Lock()
		twice := requests[id] || d.open[id]
		d.mu.Unlock()
		if twice {
			d.refuse(id, jsonrpc.CodeInvalidRequest, "a request with this id is still open")
			return false
		}
		requests[id] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range requests {
		d.open[id] = true
	}
	for _, id := range cancelled {
		delete(d.open, id)
	}
	return true
}

// carried reports whether the message's id, if there is one, comes through the
// SDK unchanged: it reads a number as a float64, and the last of several.
func carried(message []byte) bool {
	const most = 1<<53 - 1
	ok, found := true, false
	gjson.ParseBytes(message).ForEach(func(key, id gjson.Result) bool {
		if key.Str != "id" {
			return true
		}
		ok = ok && !found
		found = true
		if id.Type == gjson.Number {
			n, err := strconv.ParseInt(id.Raw, 10, 64)
			ok = ok && err == nil && n >= -most && n <= most && strconv.FormatInt(n, 10) == id.Raw
		}
		return true
	})
	return ok
}

// identifier returns a message's id as it stands there, "null" if it has none
// that can be answered to.
func identifier(message []byte) string {
	if id := gjson.GetBytes(message, "id"); id.Type == gjson.String || id.Type == gjson.Number {
		return id.Raw
	}
	return "null"
}

// refuse answers a message that the SDK never sees.
func (d *drain) refuse(id string, code int, message string) {
	if !json.Valid([]byte(id)) { // cut out of what is no JSON
		id = "null"
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	// A client that is gone will be noticed at the next answer.
	_, _ = fmt.Fprintf(d.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", id, code, message)
}

// Close closes the input.
func (d *drain) Close() error { return d.close() }

// output is the drain's other side.
type output struct{ *drain }

// Write passes on output, which comes in whole lines, and notes the answers.
func (o output) Write(p []byte) (int, error) {
	o.writing.Lock()
	n, err := o.out.Write(p)
	o.writing.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	for line := range bytes.Lines(p) {
		if line[0] == '[' {
			gjson.ParseBytes(line).ForEach(func(_, answer gjson.Result) bool {
				o.note([]byte(answer.Raw))
				return true
			})
			continue
		}
		o.note(line)
	}
	close(o.answered)
	o.answered = make(chan struct{})
	return n, err
}

// note notes one answer.
func (o output) note(message []byte) {
	if gjson.GetBytes(message, "method").Exists() {
		return // a request of our own
	}
	delete(o.open, identifier(message))
	switch gjson.GetBytes(message, "result.protocolVersion").Str {
	case "2024-11-05", "2025-03-26":
		o.batches = true
	}
}

// Close closes the output.
func (o output) Close() error { return o.out.Close() }

// maxLevels is how deep a message may be nested. The SDK takes 1,000 levels, and
// an answer may put a few around what it quotes.
const maxLevels = 500
