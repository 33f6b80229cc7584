package idl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// Bounds of an argument record. They are far above what a call needs; a
// record beyond them is refused before it is read.
const (
	MaxArgumentBytes = 64 << 10 // of the record as it was sent
	maxArgumentDepth = 32       // levels of objects and arrays
	maxRecordBytes   = 1 << 20  // of the canonical record
	maxFaults        = 32       // listed in one ArgumentError
	maxRepairs       = 32       // listed in one Args
	maxQuoted        = 48       // bytes of the caller's text in a message
	maxPointer       = 256      // bytes of a JSON Pointer
)

// DecodeArgs checks a raw argument record against the operation's parameters
// before anything is bound to it. raw is one JSON object; its members are the
// parameters by name.
//
// Slips of form are put right and reported in Args.Repairs: a record sent as a
// JSON string, one needless envelope, a label or UUID in other capitals, a
// number or bool written in another way, a key in camelCase. In each case every
// value sent has exactly one place to go, and none is changed, dropped,
// supplied or chosen. Nothing but an object is ever read as the empty record.
//
// The error is an *ArgumentError with all that is wrong, and a corrected
// record wherever one can be built without inventing content. DecodeArgs is
// safe for concurrent use. It keeps nothing of raw.
func (o *Operation) DecodeArgs(raw []byte) (*Args, error) {
	d := decoder{op: o}
	sent, readable := d.decode(raw)
	if len(d.faults) == 0 {
		if d.more > 0 {
			d.repairs = append(d.repairs, Repair{Note: fmt.Sprintf("put %d more slips of form right", d.more)})
		}
		return &Args{Record: d.out, Repairs: d.repairs}, nil
	}
	err := &ArgumentError{Operation: o, Faults: d.faults}
	if d.full() {
		err.Faults = append(err.Faults, Fault{Constraint: fmt.Sprintf("found more faults, only the first %d are listed", maxFaults)})
	}
	if readable {
		err.Corrected = correct(o, &sent)
	}
	return nil, err
}

// decoder checks one record and writes its canonical form.
type decoder struct {
	op      *Operation
	out     json.RawMessage
	path    []argStep // to the value at hand
	faults  []Fault
	repairs []Repair
	more    int // repairs beyond maxRepairs
}

// decode checks a whole record. It returns what was sent, and whether that
// could be read.
func (d *decoder) decode(raw []byte) (sentValue, bool) {
	sent, readable := d.read(raw)
	if readable {
		record := d.unwrap(sent)
		d.object(slotsOf(d.op.Params), &record)
	}
	return sent, readable
}

// read scans the text of a record. If it reports false there is nothing to
// check.
func (d *decoder) read(raw []byte) (sentValue, bool) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		d.fault("found nothing, expected a JSON object with the parameters by name, {} for none")
		return sentValue{}, true // as if null had been sent, for the correction
	case len(raw) > MaxArgumentBytes:
		d.fault("found %d bytes, expected at most %d", len(raw), MaxArgumentBytes)
		return sentValue{}, false
	}
	d.out = make(json.RawMessage, 0, len(raw)+128)
	return d.scan(string(raw))
}

func (d *decoder) scan(text string) (sentValue, bool) {
	if v, ok := typographic(text); ok {
		return v, true
	}
	v, broken, trail := scanRecord(text)
	if broken == "" {
		return v, true
	}
	if v, ok := salvage(text); ok {
		return v, true
	}
	for i := len(trail) - 1; i >= 0; i-- {
		d.path = append(d.path, trail[i])
	}
	d.fault("%s", broken)
	return sentValue{}, false
}

// fault notes what is wrong with the value at hand.
func (d *decoder) fault(format string, args ...any) {
	if d.full() {
		return
	}
	pointer, under := pointer(d.path)
	d.faults = append(d.faults, Fault{pointer, under + fmt.Sprintf(format, args...)})
}

// full reports that no more faults are listed, so that none need be looked for.
func (d *decoder) full() bool { return len(d.faults) == maxFaults }

// repair notes a slip that was put right in the value at hand.
func (d *decoder) repair(format string, args ...any) {
	if len(d.repairs) == maxRepairs {
		d.more++
		return
	}
	pointer, under := pointer(d.path)
	d.repairs = append(d.repairs, Repair{pointer, under + fmt.Sprintf(format, args...)})
}

// faultAt and repairAt are for a member of the value at hand.
func (d *decoder) faultAt(key, format string, args ...any) {
	d.path = append(d.path, argStep{key, -1})
	d.fault(format, args...)
	d.path = d.path[:len(d.path)-1]
}

func (d *decoder) repairAt(key, format string, args ...any) {
	d.path = append(d.path, argStep{key, -1})
	d.repair(format, args...)
	d.path = d.path[:len(d.path)-1]
}

// pointer returns the JSON Pointer (RFC 6901) of a path. A key that could
// not be shown to a model as it is ends it; under then names the key.
func pointer(path []argStep) (ptr, under string) {
	var b strings.Builder
	for _, s := range path {
		segment := strconv.Itoa(s.index)
		if s.index < 0 {
			clean, _ := cleantext.Clean(s.key, maxQuoted)
			if clean != s.key {
				return b.String(), "under the key " + quoteSent(s.key) + ": "
			}
			segment = pointerEscapes.Replace(s.key)
		}
		if b.Len()+len(segment) >= maxPointer {
			return b.String(), "far below: "
		}
		b.WriteByte('/')
		b.WriteString(segment)
	}
	return b.String(), ""
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
