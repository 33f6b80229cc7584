package breaking_test

import (
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/breaking"
)

// TestSame compares 500 made-up documents with themselves.
func TestSame(t *testing.T) {
	sound := 0
	for i := range 500 {
		d := rapid.Custom(func(t *rapid.T) *document { return maker{t}.document() }).Example(i)
		compiled, again := d.compile(), d.compile()
		if compiled == nil {
			continue
		}
		sound++
		if changes := breaking.Compare([]*idl.Document{compiled}, []*idl.Document{again}); len(changes) > 0 {
			t.Errorf("found %s of\n%s", line(changes[0]), d)
		}
	}
	if sound < 400 {
		t.Errorf("only %d documents compile", sound)
	}
}

// TestAnyEdit edits a document and tries what the old one allowed on the new
// one: a call, a result that a Host returns, a result that a caller reads.
// What fails must have been reported for the one for whom it fails.
func TestAnyEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := maker{t}
		before := m.document()
		after := m.edit(before)
		old, now := before.compile(), after.compile()
		if old == nil || now == nil {
			t.Skip("does not compile")
		}
		changes := breaking.Compare([]*idl.Document{old}, []*idl.Document{now})
		reported := breaking.Breaks(0)
		for _, c := range changes {
			reported |= c.Breaks
			if c.Old.File == "" || c.New.File == "" || c.Old.Start.Line == 0 || c.New.Start.Line == 0 || c.Message == "" {
				t.Fatalf("found a change without a place: %+v", c)
			}
		}
		fail := func(whom breaking.Breaks, what string, args ...any) {
			if reported&whom == 0 {
				t.Errorf("nothing is reported for %s, although "+what+"\nreported: %v\n%s\n%s", append(append([]any{whom}, args...), changes, before, after)...)
			}
		}
		for _, op := range old.Interfaces[0].Operations {
			next := now.Interfaces[0].Operation(op.Name)
			for range 3 {
				m.tryCall(op, next, fail)
			}
			if next == nil {
				continue
			}
			for range 3 {
				m.tryResult(op, next, fail)
			}
		}
	})
}

type failure func(whom breaking.Breaks, what string, args ...any)

// tryCall sends a call that the old operation accepts to the new one, which
// must accept it and understand the same.
func (m maker) tryCall(op, next *idl.Operation, fail failure) {
	call := m.call(op)
	args, err := op.DecodeArgs(json.RawMessage(call))
	if err != nil || len(args.Repairs) > 0 {
		m.T.Fatalf("the call %s is not accepted: %v\n%s", call, err, op.Signature())
	}
	if next == nil {
		fail(breaking.CachedCall, "operation %s is gone", op.Name)
		return
	}
	again, err := next.DecodeArgs(json.RawMessage(call))
	if err != nil {
		fail(breaking.CachedCall, "call %s is refused: %v", call, err)
		return
	}
	was, is := values(m.T, args.Record), values(m.T, again.Record)
	if !holds(is, was) {
		fail(breaking.CachedCall, "call %s was understood as %v and is as %v", call, was, is)
	}
}

// holds reports whether a value is another but for members more, which are
// null or have a default.
func holds(v, other any) bool {
	switch other := other.(type) {
	case map[string]any:
		m, ok := v.(map[string]any)
		for name, o := range other {
			ok = ok && holds(m[name], o)
		}
		return ok
	case []any:
		list, ok := v.([]any)
		ok = ok && len(list) == len(other)
		for i, o := range other {
			ok = ok && holds(list[i], o)
		}
		return ok
	}
	return v == other
}

func values(t *rapid.T, record json.RawMessage) any {
	var v any
	if err := json.Unmarshal(record, &v); err != nil {
		t.Fatalf("%v: %s", err, record)
	}
	return v
}

// tryResult returns what the old operation may return from the new one, and
// reads what the new one returns as the old one says. Readers skip fields that
// they do not know.
func (m maker) tryResult(op, next *idl.Operation, fail failure) {
	result := m.value(op.Result)
	if _, err := op.Shape([]byte(result), idl.ShapeOptions{}); err != nil {
		m.T.Fatalf("the result %s is a fault: %v", result, err)
	}
	if _, err := next.Shape([]byte(result), idl.ShapeOptions{}); err != nil {
		fail(breaking.Implementer, "result %s is a fault: %v", result, err)
	}
	result = m.value(next.Result)
	shaped, err := next.Shape([]byte(result), idl.ShapeOptions{})
	if err != nil {
		m.T.Fatalf("the result %s is a fault: %v", result, err)
	}
	_, err = op.Shape(shaped.JSON, idl.ShapeOptions{})
	var fault *idl.ResultError
	if errors.As(err, &fault) && fault.Found != "an undeclared field" {
		fail(breaking.Caller, "result %s is not what it reads: %v", shaped.JSON, err)
	}
}
