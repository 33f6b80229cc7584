package idl

import (
	"encoding/json"
	"fmt"
)

// Args is an argument record that passed DecodeArgs.
type Args struct {
	// Record holds every declared parameter in declaration order: what was
	// sent, and the declared default of what was not. An optional parameter
	// that was not sent is null.
	Record json.RawMessage
	// Repairs tells what slips of form were put right; empty if none.
	Repairs []Repair
}

// Repair is one slip of form that was put right without changing a value.
type Repair struct {
	Path string `json:"path"` // JSON Pointer into the record as sent
	Note string `json:"note"` // what was done, such as `read "5" as the integer 5`
}

// Fault is one thing wrong with an argument record.
type Fault struct {
	Path       string `json:"path"`       // JSON Pointer into the record
	Constraint string `json:"constraint"` // what was wrong and what is allowed
}

// ArgumentError is why a record was refused (T5, B1).
type ArgumentError struct {
	Operation *Operation
	Faults    []Fault // all of them, in document order of the record
	// Corrected is an argument record that passes DecodeArgs unchanged and
	// without repair, or nil if none can be built without inventing content.
	Corrected json.RawMessage
}

// Error lists the faults. It quotes nothing of the record but cleaned names.
func (e *ArgumentError) Error() string {
	s := fmt.Sprintf("arguments of %s", e.Operation.Name)
	for _, f := range e.Faults {
		s += fmt.Sprintf("; at %q: %s", f.Path, f.Constraint)
	}
	return s
}
