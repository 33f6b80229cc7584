package audit

// Observer is shown each call when it has ended: its Record, and nothing else
// (P16). Observe is called by many goroutines at once, before the caller has its
// answer: it must not wait for anything, and must not panic.
type Observer interface {
	Observe(Record)
}

// FaultObserver is an Observer that is told of each fault too, before the record
// of the call that met it, if there is such a call. ref is the fault's reference.
// tool is as a Record has it, or the path of the Host's mount; of what was not
// done for one Host it is a word without a slash, such as "discover".
type FaultObserver interface {
	Observer
	ObserveFault(ref, tool string)
}

// Tracer is an Observer that knows each call by an identifier of a trace, which
// the log writes beside the record as trace_id, so that one is found by the other.
// The same record has the same identifier.
type Tracer interface {
	Observer
	TraceID(Record) string
}
