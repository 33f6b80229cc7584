package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// writeWithin bounds how long the other end may leave a message unread.
const writeWithin = 10 * time.Second

// badLine is what is wrong with a line. It quotes nothing of it.
type badLine string

const (
	errLine    badLine = "found a line that is too long"
	errMessage badLine = "found a line that is no message of JSON-RPC 2.0; a program that serves on stdout writes nothing else there"
)

func (e badLine) Error() string { return string(e) }

// Notice is what an operator's log may have of it.
func (e badLine) Notice() string { return string(e) }

// lines reads and writes messages as lines of JSON. Memory is taken as a line
// arrives, up to a bound.
type lines struct {
	in       *bufio.Reader
	maxRead  int
	maxWrite int
	// onBad answers a line that is no message, which is then passed over; nil
	// ends the stream at one.
	onBad func(error) error
	// atEnd is called before the end of the input is reported; may be nil.
	atEnd  func()
	closer func() error

	mu     sync.Mutex // of out
	out    io.Writer
	broken error // why nothing more can be written

	cause struct {
		sync.Mutex
		err error // what ended the input; nil for its end
	}
}

var _ jsonrpc2.ObjectStream = (*lines)(nil)

// ReadObject reads the next message into v.
func (l *lines) ReadObject(v any) error {
	for {
		line, err := l.read()
		switch {
		case err == nil && len(bytes.TrimSpace(line)) == 0:
			continue
		case err == nil:
			if err = checkDepth(line); err == nil {
				if json.Unmarshal(line, v) == nil {
					return nil
				}
				err = errMessage
			}
		case !errors.Is(err, errLine):
			if l.atEnd != nil {
				l.atEnd()
			}
			return l.ended(err)
		}
		if l.onBad == nil {
			return l.ended(err)
		}
		if err := l.onBad(err); err != nil {
			return l.ended(err)
		}
	}
}

func (l *lines) ended(err error) error {
	l.cause.Lock()
	defer l.cause.Unlock()
	if l.cause.err == nil && !errors.Is(err, io.EOF) {
		l.cause.err = err
	}
	return err
}

// why returns what ended the input, or nil if it just ended.
func (l *lines) why() error {
	l.cause.Lock()
	defer l.cause.Unlock()
	return l.cause.err
}

// read returns the next line. Of one that is too long it reads to the end, and
// keeps nothing. The input may end without a line's end.
func (l *lines) read() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > l.maxRead+1; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return nil, err
		case long:
			return nil, errLine
		}
		return line, nil
	}
}

// WriteObject writes a message.
func (l *lines) WriteObject(v any) error {
	var message bytes.Buffer
	if err := json.NewEncoder(&message).Encode(v); err != nil { // which ends the line too
		return err
	}
	if message.Len() > l.maxWrite {
		return errTooLarge
	}
	return l.write(message.Bytes())
}

// send writes an answer, which is as long as it may be.
func (l *lines) send(resp *jsonrpc2.Response) error {
	parts, _, err := encodeResponse(resp)
	if err != nil {
		return err
	}
	return l.write(append(parts, []byte{'\n'})...)
}

// write writes a line that comes in parts.
func (l *lines) write(line ...[]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return l.broken
	}
	if d, ok := l.out.(interface{ SetWriteDeadline(time.Time) error }); ok {
		d.SetWriteDeadline(time.Now().Add(writeWithin)) // an error says that it has none
	}
	for _, part := range line {
		if _, err := l.out.Write(part); err != nil {
			l.broken = fmt.Errorf("writing a message: %w", err) // half a line may be out: nobody could read on
			if l.closer != nil {
				l.closer()
			}
			return l.broken
		}
	}
	return nil
}

// Close closes what the stream was given to close.
func (l *lines) Close() error {
	if l.closer == nil {
		return nil
	}
	return l.closer()
}

// silent drops what the library would log; what matters is returned.
type silent struct{}

func (silent) Printf(string, ...any) {}
