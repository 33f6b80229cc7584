package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// What is read of one message at most.
const (
	maxMessage     = 16 << 20 // bytes of its content
	maxSkipped     = 1 << 30  // bytes of content that is passed over
	maxHeader      = 4 << 10  // bytes of its header
	maxHeaderLines = 16
)

// stream reads and writes messages as the protocol frames them: a header with
// the content's length, an empty line, the content. A length is not believed:
// memory is taken as content arrives.
type stream struct {
	in     *bufio.Reader
	atEnd  func()          // called before the end of the input is reported; may be nil
	onSkip func(*envelope) // called with what is left of a message that is too large; may be nil

	mu     sync.Mutex
	out    io.Writer
	failed error // what ended the input, if it was not its end
}

var _ jsonrpc2.ObjectStream = (*stream)(nil)

func newStream(in io.Reader, out io.Writer) *stream {
	return &stream{in: bufio.NewReaderSize(in, maxHeader), out: out}
}

// ReadObject reads the next message into v. Content that is no message is
// answered as such and passed over; a header that cannot be read ends the
// session, since nobody knows where the next one starts.
func (s *stream) ReadObject(v any) error {
	for {
		content, err := s.read()
		if errors.Is(err, io.EOF) && s.atEnd != nil {
			s.atEnd()
		}
		if err != nil {
			return s.fail(err)
		}
		if content == nil {
			continue
		}
		if err := json.Unmarshal(content, v); err == nil {
			return nil
		}
		refusal := `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"found content that is no JSON-RPC message"}}`
		if json.Valid(content) {
			refusal = strings.Replace(refusal, "-32700", "-32600", 1)
		}
		if err := s.write([]byte(refusal)); err != nil {
			return err
		}
	}
}

// read returns the content of the next message; nil of one that is too large,
// which is passed over.
func (s *stream) read() ([]byte, error) {
	length := -1
	for n := 0; ; n++ {
		line, err := s.in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && n == 0 && len(line) == 0:
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, io.ErrUnexpectedEOF
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("found a header line of more than %d bytes", maxHeader)
		case err != nil:
			return nil, err
		case n == maxHeaderLines:
			return nil, fmt.Errorf("found a header of more than %d lines", maxHeaderLines)
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, ok := strings.Cut(string(line), ":")
		if !ok {
			return nil, fmt.Errorf("found the header line %.40q, expected a name and a value", line)
		}
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		length, err = strconv.Atoi(strings.TrimSpace(value))
		switch {
		case errors.Is(err, strconv.ErrRange) && length > 0, length > maxSkipped:
			return nil, fmt.Errorf("found the content length %.40q, expected at most %d", strings.TrimSpace(value), maxMessage)
		case err != nil || length < 0:
			return nil, fmt.Errorf("found the content length %.40q, expected a number of bytes", strings.TrimSpace(value))
		}
	}
	if length < 0 {
		return nil, errors.New("found a header without a content length")
	}
	if length > maxMessage {
		e := &envelope{size: length}
		if _, err := io.CopyN(e, s.in, int64(length)); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		if s.onSkip != nil {
			s.onSkip(e)
		}
		return nil, nil
	}
	content := *bytes.NewBuffer([]byte{})
	if _, err := io.CopyN(&content, s.in, int64(length)); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return content.Bytes(), nil
}

// fail keeps the reason why nothing more is read.
func (s *stream) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return err
}

// failure returns why the input could not be read, or nil.
func (s *stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// WriteObject writes a message.
func (s *stream) WriteObject(v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write(content)
}

func (s *stream) write(content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	message := append(fmt.Appendf(make([]byte, 0, len(content)+32), "Content-Length: %d\r\n\r\n", len(content)), content...)
	_, err := s.out.Write(message)
	return err
}

// Close does nothing: who gave the streams closes them.
func (s *stream) Close() error { return nil }
