package idl

import (
	"encoding/json"
	"errors"
	"fmt"
)

// What Shape bounds apart from MaxOutput. A result that is too large for its
// operation, but not for these, is handed over whole with a [SizeError].
const (
	minResultBytes = 4 << 20 // of a result as a Host sent it, at least; else twice MaxOutput
	shapedGrowth   = 4       // how many times that bound a result may take as it leaves
	maxResultDepth = 64      // objects and arrays around a value
)

// DefaultTextBytes is to how many bytes a text without a declared maximum is
// cut in a result (P7).
const DefaultTextBytes = 256

// Bounds of other single strings, in bytes.
const (
	maxKeyBytes    = 256 // of a map's key
	maxReasonBytes = 64  // of the reason of an unknown fact
)

// ShapeOptions say how a result is shaped. The zero value is right for a
// trusted Host whose entry paths are shown as they are.
type ShapeOptions struct {
	// MapEntry turns an entry's path in the Host's space into the path to
	// show; nil shows it unchanged. An error is a fault of the result.
	MapEntry func(path string) (string, error)
	// UntrustedStrings cleans every string as if it were text: for a Host
	// that is not trusted to choose its own words.
	UntrustedStrings bool
	// MaxBytes is how large a result may be as a Host sent it where more than
	// else is wanted: of a caller that keeps what is too large for an answer.
	MaxBytes int
}

// Shaped is a result that holds what its type declares and nothing else.
type Shaped struct {
	JSON json.RawMessage
	// Entries are the paths of all entry values, as MapEntry gave them,
	// each once, in the order in which they stand in JSON.
	Entries []string
	// Untrusted says that JSON holds a stranger's words: text, or any
	// string with UntrustedStrings.
	Untrusted bool
	// Shortened counts the texts of pages that were cut further to keep
	// the operation's MaxOutput.
	Shortened int
}

// ResultError says how a Host's result differs from its declared type. It is
// for the operator's log: it names places and types and quotes no value.
type ResultError struct {
	Operation string // such as "grid.Region.nearby_avatars"
	// Path is a JSON Pointer into the result as the Host sent it. A map's
	// key is "*", and an undeclared field "?": both may be a stranger's words.
	Path     string
	Expected string // such as "text" or "field distance_meters"
	Found    string // such as "number" or "nothing"
}

// Error returns one line for a log.
func (e *ResultError) Error() string {
	return fmt.Sprintf("result of %s at %q: found %s, expected %s", e.Operation, e.Path, e.Found, e.Expected)
}

// ErrTooLarge is what errors.Is finds in a [SizeError].
var ErrTooLarge = errors.New("result too large")

// SizeError says that a result is well formed and larger than its operation
// may return (T11).
type SizeError struct {
	Operation string
	Size, Max int     // bytes of JSON
	Whole     *Shaped // the whole result
}

// Error returns one line for a log.
func (e *SizeError) Error() string {
	return fmt.Sprintf("result of %s: found %d bytes, expected at most %d", e.Operation, e.Size, e.Max)
}

// Notice is what Error says: it quotes nothing of the result.
func (e *SizeError) Notice() string { return e.Error() }

// Is reports whether target is ErrTooLarge.
func (e *SizeError) Is(target error) bool { return target == ErrTooLarge }

// Shape turns what a Host returned into what may leave: a value of the
// declared result type with exactly the declared fields, in declared order,
// with all text cleaned and marked. raw may come from anybody.
//
// A Host sends the JSON form of the result type (spec/idl.md, Results) with
// its members in any order. It may leave out what the document or the rest of
// the result decides, and Shape always writes that itself: schema_version,
// tool, trust, provenance.derived and provenance.model_inference; the status
// of a known record; next_page and truncated. Of an envelope the Host must
// send generation, region_id, observed_unix_millis, age_millis, snapshot_id,
// freshness and provenance.source, and may send provenance.assumed_observer.
// An optional field that is absent becomes null.
//
// A text is cut to its declared maximum, or to 256 bytes. If a result with a
// page is larger than the operation's MaxOutput, the longest texts of its
// pages are cut further, evenly, and its pages are marked as truncated.
//
// The error is a *[ResultError] if the result is not of its type, and a
// *[SizeError] if it is, and too large. Shaping what Shape returned gives the
// same again. The operation must not be copied after the first call; calls may
// be concurrent.
func (o *Operation) Shape(raw []byte, opt ShapeOptions) (*Shaped, error) {
	name := o.Interface.QualifiedName() + "." + o.Name
	limit := o.MaxOutput
	if limit <= 0 {
		limit = DefaultMaxOutput
	}
	accepted := max(minResultBytes, 2*limit)
	grown := max(shapedGrowth*accepted, opt.MaxBytes)
	accepted = max(accepted, opt.MaxBytes)
	if len(raw) > accepted {
		return nil, &ResultError{name, "", fmt.Sprintf("at most %d bytes", accepted), fmt.Sprintf("%d bytes", len(raw))}
	}
	plan := o.shape.Load()
	if plan == nil {
		plan = newShapePlan(o)
		o.shape.Store(plan)
	}
	s := &shaper{
		src:     string(raw),
		out:     make([]byte, 0, len(raw)+len(raw)/4+512),
		opt:     opt,
		maxPage: plan.maxPage,
		maxOut:  grown,
		offsets: make([]int, 0, 64),
		edits:   make([]shapeEdit, 0, 64),
	}
	err := s.value(plan.root)
	if err == nil {
		err = s.end()
	}
	if err != nil {
		err.Operation = name
		return nil, err
	}
	shaped := &Shaped{JSON: s.out, Entries: s.entries, Untrusted: plan.text || opt.UntrustedStrings && plan.str}
	if len(s.out) <= limit {
		return shaped, nil
	}
	short, cut := s.shorten(limit)
	if short == nil {
		return nil, &SizeError{name, len(s.out), limit, shaped}
	}
	shaped.JSON, shaped.Shortened = short, cut
	return shaped, nil
}
