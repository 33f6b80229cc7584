package script

import (
	"context"
	"errors"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// inputName stands in front of the places in errors of Eval.
const inputName = "input"

// Eval runs one input of a person at a prompt. The variables that it makes are
// there for the next; "_" is the last value. It returns the value of the last
// statement, for people to read: pages and lists of records as tables. incomplete
// says that the input goes on: nothing was run, and the caller asks for another
// line and hands in all of them. An empty last line ends a block. Every error is
// an *Error.
func (e *Env) Eval(ctx context.Context, src string) (value string, incomplete bool, err error) {
	if unfinished(src) {
		return "", true, nil
	}
	v, err := e.execute(ctx, inputName, src, true, func(r *run, v starlark.Value) (err error) {
		value, err = r.show(v)
		return err
	})
	if err != nil {
		return "", false, err
	}
	if v != starlark.None {
		e.globals["_"] = v
	}
	return value, false, nil
}

// Unfinished reports whether an input goes on, as Eval would say, and runs
// nothing.
func Unfinished(src string) bool { return unfinished(src) }

// unfinished reports whether what was entered so far goes on.
func unfinished(src string) bool {
	if len(src) > maxSource || badText(inputName, src) != nil {
		return false // which is an error
	}
	lines := strings.Split(strings.TrimSuffix(src, "\n"), "\n")
	last := lines[len(lines)-1]
	if strings.HasSuffix(last, `\`) {
		return true
	}
	_, err := options.Parse(inputName, strings.TrimRight(src, "\n")+"\n", 0)
	var at syntax.Error
	if errors.As(err, &at) {
		return strings.Contains(at.Msg, "got end of file") || strings.Contains(at.Msg, "unexpected EOF") ||
			strings.Contains(at.Msg, "got outdent, want") && strings.TrimSpace(last) != "" && int(at.Pos.Line) >= len(lines)
	}
	// A block goes on until an empty line.
	return err == nil && strings.TrimSpace(last) != "" && block(lines)
}

// block reports whether the last statement is one that more lines may belong to.
func block(lines []string) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		line := lines[i]
		if line == "" || line[0] == ' ' || line[0] == '\t' || line[0] == '#' {
			continue
		}
		for _, word := range []string{"def", "for", "while", "if", "else", "elif"} {
			if rest, ok := strings.CutPrefix(line, word); ok && (rest == "" || strings.IndexByte(" \t(:", rest[0]) >= 0) {
				return true
			}
		}
		return false
	}
	return false
}
