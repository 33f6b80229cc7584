package remote

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/sourcegraph/jsonrpc2"
)

var (
	errTooLarge = errors.New("the answer is too large")
	errEncoding = errors.New("found an answer in an encoding that is neither gzip nor none, or is broken")
)

// input is JSON as it comes from the other end. It ends with an error where a
// bound is passed, before memory is taken for what lies beyond.
type input struct {
	in     io.Reader
	left   int // bytes that may still come
	part   int // of them, those that may come for what is read now
	levels levels
	err    error // what it ended with, if not its end
	lost   bool  // err is none of a bound or of the encoding
}

func newInput(in io.Reader, limit int) *input { return &input{in: in, left: limit, part: limit} }

// allow bounds how much may come for what is read next.
func (i *input) allow(bytes int) { i.part = bytes }

// Read reads no more than one byte beyond the bounds.
func (i *input) Read(p []byte) (int, error) {
	if i.err != nil {
		return 0, i.err
	}
	n, err := i.in.Read(p[:min(len(p), i.left+1, i.part+1)])
	i.left -= n
	i.part -= n
	switch {
	case i.left < 0:
		i.err = errTooLarge
	case i.part < 0:
		i.err = fmt.Errorf("found an entry of more than %d bytes", maxEntry)
	case i.levels.count(p[:n]) > maxDepth:
		i.err = errTooDeep
	case errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader):
		i.err = errEncoding
	case err != nil && err != io.EOF:
		i.err, i.lost = err, true
	}
	if i.err != nil {
		return 0, i.err
	}
	return n, err
}

// expanded returns the body of an answer as it was before it was compressed, of at
// most limit bytes. Its error is errTooLarge or errEncoding.
func expanded(resp *http.Response, limit int) (*input, error) {
	switch resp.Header.Get("Content-Encoding") {
	case "", "identity":
		if resp.ContentLength > int64(limit) {
			return nil, errTooLarge
		}
		return newInput(resp.Body, limit), nil
	case "gzip":
		z, err := gzip.NewReader(io.LimitReader(resp.Body, int64(limit)+1))
		if err != nil {
			return nil, errEncoding
		}
		return newInput(z, limit), nil
	}
	return nil, errEncoding
}

// decoder reads a JSON value member by member.
type decoder struct {
	*json.Decoder
	in *input
}

func newDecoder(in *input) *decoder { return &decoder{json.NewDecoder(in), in} }

// members reads an object. f reads the value of each member.
func (d *decoder) members(f func(name string) error) error {
	return d.between('{', '}', func() error {
		name, err := d.Token()
		if err != nil {
			return err
		}
		return f(name.(string))
	})
}

// elements reads an array of at most so many elements, each by f.
func (d *decoder) elements(most int, f func() error) error {
	n := 0
	return d.between('[', ']', func() error {
		if n++; n > most {
			return fmt.Errorf("found a list of more than %d elements", most)
		}
		return f()
	})
}

func (d *decoder) between(start, end json.Delim, f func() error) error {
	t, err := d.Token()
	if err == nil && t != start {
		err = fmt.Errorf("found another value than the expected %s%s", start, end)
	}
	for err == nil && d.More() {
		err = f()
	}
	if err == nil {
		_, err = d.Token() // which is the end, or wrong
	}
	return err
}

// skip passes over a value.
func (d *decoder) skip() error {
	var v ignored
	return d.Decode(&v)
}

// ignored is any JSON value.
type ignored struct{}

// UnmarshalJSON keeps nothing.
func (*ignored) UnmarshalJSON([]byte) error { return nil }

// readAnswer reads the answer to a request, and what its result says by means of
// result. Its error is a *wip.Failure if the answer is one.
func readAnswer(d *decoder, id jsonrpc2.ID, result func(*decoder) error) error {
	var got jsonrpc2.ID
	var refused *jsonrpc2.Error
	results := 0
	err := d.members(func(name string) error {
		switch name {
		case "id":
			return d.Decode(&got)
		case "error":
			return d.Decode(&refused)
		case "result":
			if results++; results > 1 {
				return errors.New("found an answer with two results")
			}
			return result(d)
		}
		return d.skip()
	})
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			err = nil
		} else if err == nil {
			err = errors.New("found more than one answer")
		}
	}
	switch {
	case err != nil:
		return err
	case refused != nil:
		return fromError(refused)
	case got != id:
		return errors.New("found the answer to another request")
	case results == 0:
		return errors.New("found an answer with neither result nor error")
	}
	return nil
}
