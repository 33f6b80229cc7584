// Package audit writes the operator's log: one record a call, and the faults
// that a model is never told about. Observers are shown the same records, for
// metrics and traces (client/audit/metrics, client/audit/trace).
//
// Arguments, results and world text have no way in (P16): a record has fixed
// fields, all of them our own identifiers or numbers, and of a foreign error
// only its Go type is written, because its text may quote what it was given, and
// of the system's what happened.
package audit

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wipagent/wipagent/idl"
)

// Record is what is kept of one call.
type Record struct {
	Call      string        // the call's identifier
	Principal string        // the authorization identifier
	Audience  idl.Audience  // the caller's class
	Verb      string        // "discover", "inspect", "invoke", or "run" for a script
	Tool      string        // "/grid/region#nearby_avatars"; empty unless resolved and allowed
	Outcome   string        // "ok", "dry_run", the class of the error, or "waiting" for an approval that comes with another attempt
	Duration  time.Duration // from the call's arrival to its answer
	Bytes     int           // length of invoke's JSON result; 0 of other verbs and of errors
	CacheHit  bool          // the Host answered from a snapshot it already had
	Ref       string        // the fault's reference; empty if there is none
}

// Log writes records as one JSON object a line, and shows them to observers. It
// is safe for concurrent use. A nil *Log discards everything.
type Log struct {
	out        *logrus.Logger // nil if nothing is written
	faultsOnly bool
	observers  []Observer
	tracer     Tracer // nil if none of the observers is one
	refusals   refusals
}

// New returns a Log that writes to w, if that is not nil, and shows each record to
// the observers, in order.
func New(w io.Writer, observers ...Observer) *Log {
	l := &Log{observers: slices.Clone(observers)}
	if w != nil {
		l.out = logrus.New()
		l.out.SetOutput(w)
		l.out.SetFormatter(&logrus.JSONFormatter{TimestampFormat: time.RFC3339Nano})
	}
	for _, o := range observers {
		if t, ok := o.(Tracer); ok {
			l.tracer = t
		}
	}
	return l
}

// NewFaults returns a Log that writes faults to w and no calls: what a person
// at a prompt needs to look up a reference. Observers are shown both.
func NewFaults(w io.Writer, observers ...Observer) *Log {
	l := New(w, observers...)
	l.faultsOnly = true
	return l
}

// Call writes the one record of a call.
func (l *Log) Call(r Record) {
	if l == nil {
		return
	}
	for _, o := range l.observers {
		o.Observe(r)
	}
	if l.out == nil || l.faultsOnly {
		return
	}
	f := logrus.Fields{
		"call": r.Call, "principal": r.Principal, "audience": r.Audience.String(), "verb": r.Verb,
		"outcome": r.Outcome, "duration_micros": r.Duration.Microseconds(),
		"result_bytes": r.Bytes, "cache_hit": r.CacheHit,
	}
	if r.Tool != "" {
		f["tool"] = r.Tool
	}
	if r.Ref != "" {
		f["ref"] = r.Ref
	}
	if l.tracer != nil {
		f["trace_id"] = l.tracer.TraceID(r)
	}
	l.out.WithFields(f).Info("call")
}

// Panic is a panic as an error. Its value may quote what the code was given, so
// only the value's type is ever told.
type Panic struct {
	Value any
	Stack []byte // the trace; may be empty
}

// Error names the type of the panic's value.
func (p *Panic) Error() string { return fmt.Sprintf("panic with a %T", p.Value) }

// Notice is what Error says.
func (p *Panic) Notice() string { return p.Error() }

// Fault writes why a model was told that a tool is unavailable; of a *Panic the
// trace too. Observers are told that there was one, and not why.
func (l *Log) Fault(ref, tool string, err error) {
	if l == nil {
		return
	}
	for _, o := range l.observers {
		if o, ok := o.(FaultObserver); ok {
			o.ObserveFault(ref, tool)
		}
	}
	if l.out == nil {
		return
	}
	f := logrus.Fields{"ref": ref, "tool": tool, "cause": Describe(err)}
	var p *Panic
	if errors.As(err, &p) && len(p.Stack) > 0 {
		f["stack"] = string(p.Stack)
	}
	l.out.WithFields(f).Error("fault")
}
