package replay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/wipagent/wipagent/objects/world"
)

// Error says what is wrong with a recording.
type Error struct {
	Line int // from 1; 0 if it is about the recording as a whole
	Err  error
}

// Error returns a line that is safe to print.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

// Unwrap returns what was wrong.
func (e *Error) Unwrap() error { return e.Err }

// Recording is a recording that was found to be sound. It reads from where it
// was opened, so one of its methods may run at a time.
type Recording struct {
	World   string    // what was recorded, as the header calls it; raw
	Started time.Time // when the recorder started
	// First and Last are the earliest and the latest time at which anything
	// was observed.
	First, Last time.Time
	Updates     int
	Sessions    int // how many times a session began
	// CutOff says that the last line is incomplete and left out, as it is if
	// a recorder was killed.
	CutOff bool

	source io.ReadSeeker
	size   int64 // bytes; what is added later is not looked at
}

// Open reads a whole recording to see that it is sound, and keeps nothing of it
// but where it comes from. An error that is about what was read is an *Error.
func Open(ctx context.Context, r io.ReadSeeker) (*Recording, error) {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if size > MaxFile {
		return nil, &Error{Err: fmt.Errorf("found %d bytes, expected a recording of at most %d", size, MaxFile)}
	}
	rec := &Recording{source: r, size: size}
	err = rec.each(ctx, func(u world.Update) error {
		at := world.StampOf(u).At
		if rec.Updates == 0 || at.Before(rec.First) {
			rec.First = at
		}
		if rec.Updates == 0 || at.After(rec.Last) {
			rec.Last = at
		}
		rec.Updates++
		if _, ok := u.(world.SessionStarted); ok {
			rec.Sessions++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if rec.Updates == 0 {
		return nil, &Error{Err: errors.New("found no update, expected a recording of some")}
	}
	return rec, nil
}

// each calls do for each update, in order.
func (rec *Recording) each(ctx context.Context, do func(world.Update) error) error {
	if _, err := rec.source.Seek(0, io.SeekStart); err != nil {
		return err
	}
	lines := newLines(io.LimitReader(rec.source, rec.size))
	if !lines.Scan() {
		if err := lines.err(); err != nil {
			return err
		}
		return &Error{Line: 1, Err: errors.New("found nothing, expected a recording")}
	}
	h, err := parseHeader(lines.Bytes())
	if err != nil {
		return &Error{1, err}
	}
	rec.World, rec.Started = h.World, h.Started
	var generation uint64
	for lines.Scan() {
		if lines.number%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line := lines.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var u world.Update
		err := errors.New("found text that is not UTF-8")
		if utf8.Valid(line) {
			u, err = parseUpdate(line)
		}
		if err != nil && lines.unended {
			rec.CutOff = true
			return nil
		}
		if err == nil {
			generation, err = follow(generation, u)
		}
		if err != nil {
			return &Error{lines.number, err}
		}
		if err := do(u); err != nil {
			return err
		}
	}
	return lines.err()
}

// follow returns the generation after u, which must be of the present one or
// begin a later one.
func follow(present uint64, u world.Update) (uint64, error) {
	found := world.StampOf(u).Generation
	_, starts := u.(world.SessionStarted)
	switch {
	case starts && found <= present:
		return 0, fmt.Errorf("found generation %d after generation %d, expected a later one", found, present)
	case starts:
		return found, nil
	case present == 0:
		return 0, errors.New("found an update before any session_started")
	case found != present:
		return 0, fmt.Errorf("found an update of generation %d in generation %d", found, present)
	}
	return present, nil
}

// parseHeader reads the first line.
func parseHeader(line []byte) (h header, err error) {
	if !utf8.Valid(line) {
		return h, errors.New("found text that is not UTF-8, expected the header of a recording")
	}
	if err := checkJSON(line); err != nil {
		return h, err
	}
	err = eachMember(line, func(name string, raw []byte) error {
		if h.Version == 0 && name != "wipagent_recording" {
			return fmt.Errorf("found %s first, expected wipagent_recording", excerpt(name))
		}
		switch name {
		case "wipagent_recording":
			if string(raw) != strconv.Itoa(version) {
				return fmt.Errorf("found a recording of version %s, expected version %d", excerpt(string(raw)), version)
			}
			h.Version = version
			return nil
		case "world":
			return readString(raw, reflect.ValueOf(&h.World))
		case "started":
			return readTime(raw, reflect.ValueOf(&h.Started))
		}
		return fmt.Errorf("found the unknown field %s", excerpt(name))
	})
	if err == nil && h.Version == 0 {
		err = errors.New("found an empty object, expected the header of a recording")
	}
	return h, err
}

// lines reads lines of at most maxLine bytes.
type lines struct {
	*bufio.Scanner
	number  int  // of the present line, from 1
	unended bool // the present line has no line break
}

func newLines(r io.Reader) *lines {
	l := &lines{Scanner: bufio.NewScanner(r)}
	l.Buffer(make([]byte, 0, 64<<10), maxLine+1)
	l.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, token, err := bufio.ScanLines(data, atEOF)
		if token != nil {
			l.number++
			l.unended = bytes.IndexByte(data, '\n') < 0
		}
		return n, token, err
	})
	return l
}

// err returns why there are no more lines; nil at the end.
func (l *lines) err() error {
	err := l.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return &Error{l.number + 1, fmt.Errorf("found more than %d bytes", maxLine)}
	}
	return err
}
