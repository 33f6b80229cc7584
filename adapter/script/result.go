package script

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"go.starlark.net/starlark"
)

// Result is what a script that is run for machines came to.
type Result struct {
	// Value is that of the last statement as JSON; null if it is no expression.
	// What has no form in JSON is the text that it is printed as.
	Value json.RawMessage
	// Untrusted says that the script held a stranger's words, so that what it
	// printed and its value may have them.
	Untrusted bool
}

// RunJSON is Run for machines. A value of more than 4 MiB as JSON is an error.
// Untrusted is set with an error too.
func (e *Env) RunJSON(ctx context.Context, name string, src []byte) (Result, error) {
	result := Result{Value: json.RawMessage("null")}
	_, err := e.execute(ctx, name, string(src), false, func(r *run, v starlark.Value) error {
		n, err := r.weigh(v)
		if err == nil {
			err = r.alloc(n)
		}
		if err != nil {
			return err
		}
		enc := encoder{limit: maxText, loose: true}
		if err := enc.value(v, 0); err != nil {
			return err
		}
		if size := enc.buf.Len(); size > enc.limit {
			return fmt.Errorf("found a value of %d bytes as JSON, expected at most %d", size, enc.limit)
		}
		result.Value = bytes.Clone(enc.buf.Bytes())
		return nil
	})
	result.Untrusted = e.untrusted
	return result, err
}

// RunText is Run that returns the value of the last statement as Eval does: for
// people to read, empty if there is none.
func (e *Env) RunText(ctx context.Context, name string, src []byte) (value string, err error) {
	_, err = e.execute(ctx, name, string(src), false, func(r *run, v starlark.Value) (err error) {
		value, err = r.show(v)
		return err
	})
	return value, err
}
