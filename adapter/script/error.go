package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/tidwall/gjson"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/wipagent/wipagent/client"
)

// Error is why a script ended before its end, or never began.
type Error struct {
	Name    string // of the script
	Line    int    // 1-based; 0 if there is no place
	Column  int    // 1-based, in characters
	Message string // may have several lines
	// Stack are the calls that led to the place, outermost first, each with its
	// place; it is empty of an error at the top level.
	Stack []string
	cause error
}

// Error returns place and message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Name + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Column, e.Message)
}

// Backtrace returns the stack, a call a line, and the error.
func (e *Error) Backtrace() string {
	var b strings.Builder
	for _, frame := range e.Stack {
		b.WriteString("  " + frame + "\n")
	}
	return b.String() + e.Error()
}

// Unwrap returns the *LimitError, *CallError or context's error behind it, or
// nil.
func (e *Error) Unwrap() error { return e.cause }

// CallError is a failed call, look-up or search, in the words of a script.
type CallError struct {
	Failure *client.Error
	// Corrected is the call to write instead, such as
	// "grid.region.nearby_avatars(radius_meters=256)"; empty if there is none.
	Corrected string
	// attr is the name to write after the dot instead, where that alone is wrong.
	attr string
}

// Error returns class, message, faults, hint and the call to write instead, a
// line each.
func (e *CallError) Error() string {
	var b strings.Builder
	f := e.Failure
	fmt.Fprintf(&b, "%s: %s", f.Class, f.Message)
	for _, fault := range f.Faults {
		fmt.Fprintf(&b, "\n  at %s: %s", fault.Path, fault.Constraint)
	}
	if f.Hint != "" {
		b.WriteString("\n  hint: " + f.Hint)
	}
	if f.RetryAfter > 0 {
		fmt.Fprintf(&b, "\n  retry after: %d ms", f.RetryAfter.Milliseconds())
	}
	if e.Corrected != "" {
		b.WriteString("\n  write: " + e.Corrected)
	}
	return b.String()
}

// Unwrap returns the client's error.
func (e *CallError) Unwrap() error { return e.Failure }

// refused returns a verb's error in the words of a script.
func (r *run) refused(err error) error {
	var e *client.Error
	known := errors.As(err, &e)
	if r.ctx.Err() != nil && !(known && e.Outcome != "") { // what may have been done is said in any case
		return r.trouble()
	}
	if !known {
		return err
	}
	return &CallError{Failure: e, Corrected: correctedCall(e.Corrected)}
}

// correctedCall writes a corrected record of invoke, or of inspect, as a script
// would.
func correctedCall(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	j := gjson.ParseBytes(raw)
	target, operation := j.Get("target").Str, j.Get("operation").Str
	if operation == "" {
		path, operation, ok := strings.Cut(target, "#")
		if ok {
			return methodName(path, operation)
		}
		return expression(path)
	}
	call := methodCall(target, operation, json.RawMessage(j.Get("arguments").Raw))
	if j.Get("dry_run").Bool() { // stays one
		call = strings.TrimSuffix(call, ")")
		if !strings.HasSuffix(call, "(") {
			call += ", "
		}
		call += "dry_run=True)"
	}
	return call
}

// methodCall writes a call: grid.region.nearby_avatars(radius_meters=20).
func methodCall(path, operation string, args json.RawMessage) string {
	var named, others []string
	gjson.ParseBytes(args).ForEach(func(key, value gjson.Result) bool {
		if identifier(key.Str) {
			named = append(named, key.Str+"="+literal(value))
		} else {
			others = append(others, starlark.String(key.Str).String()+": "+literal(value))
		}
		return true
	})
	if others != nil {
		named = append(named, "**{"+strings.Join(others, ", ")+"}")
	}
	return methodName(path, operation) + "(" + strings.Join(named, ", ") + ")"
}

// literal writes a JSON value as a script would.
func literal(j gjson.Result) string {
	switch {
	case j.Type == gjson.Null:
		return "None"
	case j.Type == gjson.True:
		return "True"
	case j.Type == gjson.False:
		return "False"
	case j.Type == gjson.String:
		return starlark.String(j.Str).String()
	case j.IsArray():
		var list []string
		j.ForEach(func(_, item gjson.Result) bool {
			list = append(list, literal(item))
			return true
		})
		return "[" + strings.Join(list, ", ") + "]"
	case j.IsObject():
		var list []string
		j.ForEach(func(key, item gjson.Result) bool {
			list = append(list, starlark.String(key.Str).String()+": "+literal(item))
			return true
		})
		return "{" + strings.Join(list, ", ") + "}"
	}
	return j.Raw
}

// failure returns the *Error for whatever ended a run.
func (r *run) failure(err error) error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	e := &Error{Name: "script", Message: err.Error(), cause: err}
	var eval *starlark.EvalError
	var list resolve.ErrorList
	var at syntax.Error
	switch {
	case errors.As(err, &eval):
		if trouble := r.trouble(); trouble != nil {
			err = trouble
		} else if eval.Unwrap() != nil {
			err = eval.Unwrap()
		}
		e.Message = hinted(err.Error(), callHint(err.Error()))
		for _, frame := range eval.CallStack {
			if frame.Pos.Filename() == "<builtin>" || frame.Pos.Line == 0 {
				continue
			}
			e.place(frame.Pos)
			e.Stack = append(e.Stack, fmt.Sprintf("%s: in %s", frame.Pos, short(frame.Name)))
		}
		if len(e.Stack) <= 1 {
			e.Stack = nil
		}
	case errors.As(err, &list):
		e.place(list[0].Pos)
		var lines []string
		for i, fault := range list {
			if i == 10 {
				lines = append(lines, fmt.Sprintf("and %d more", len(list)-i))
				break
			}
			message := r.undefined(fault.Msg)
			if i > 0 {
				message = fmt.Sprintf("%s: %s", fault.Pos, message)
			}
			lines = append(lines, message)
		}
		e.Message = strings.Join(lines, "\n")
	case errors.As(err, &at):
		e.place(at.Pos)
		e.Message = hinted(at.Msg, syntaxHint(at.Msg, r.line(e.Line)))
	}
	e.Message = printable(bounded(e.Message))
	e.cause = err
	return e
}

// hinted adds a hint to a message, in the form in which a call's has one.
func hinted(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + "\n  hint: " + hint
}

// line returns a line of the script, 1-based.
func (r *run) line(n int) string {
	lines := strings.SplitN(r.src, "\n", n+1)
	if n < 1 || n > len(lines) {
		return ""
	}
	return lines[n-1]
}

func (e *Error) place(pos syntax.Position) {
	e.Name, e.Line, e.Column = pos.Filename(), int(pos.Line), int(pos.Col)
}

// undefined says more of a name that is not defined: what may have been meant
// among all that is.
func (r *run) undefined(message string) string {
	name, ok := strings.CutPrefix(message, "undefined: ")
	if !ok {
		return message
	}
	name, _, _ = strings.Cut(name, " ")
	var names []string
	for known := range r.env.globals {
		if !strings.HasPrefix(known, "$") {
			names = append(names, known)
		}
	}
	slices.Sort(names)
	hint := r.insteadOfName(name)
	if hint == "" {
		hint = didYouMean(nearest(name, names))
	}
	if hint == "" {
		hint = didYouMean(r.elsewhere(name))
	}
	if hint == "" {
		hint = didYouMean(beginning(name, names))
	}
	if hint == "" {
		hint = "help() lists what there is"
	}
	return "found the name " + short(name) + ", which is not defined; " + hint
}

// maxNear bounds how many names are proposed for one.
const maxNear = 3

// elsewhere returns how a script writes the entries and operations of that name,
// among those that the principal may discover.
func (r *run) elsewhere(name string) []string {
	var found []string
	for _, l := range r.env.cfg.Client.Catalog(r.env.cfg.Principal) {
		said := ""
		switch path := l.Node.Path; {
		case path[strings.LastIndexByte(path, '/')+1:] == name:
			said = expression(path)
		case l.Operation.Name == name:
			said = methodName(path, name)
		}
		if said != "" && !slices.Contains(found, said) {
			found = append(found, said)
		}
		if len(found) > maxNear {
			return found[:maxNear]
		}
	}
	return found
}

// didYouMean proposes names; nothing if there are none.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(names, " or ") + "?"
}

// near returns the names that one which is not among them most likely means.
func near(name string, names []string) []string {
	if found := nearest(name, names); found != nil {
		return found
	}
	return beginning(name, names)
}

// longestName bounds the names that are compared.
const longestName = 100

func foldName(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

// nearest returns the one name that a few letters make of another.
func nearest(name string, names []string) []string {
	if len(name) > longestName {
		return nil
	}
	best, distance := "", 1 // in a short name any slip makes another
	switch {
	case len(name) >= 8:
		distance = 4
	case len(name) >= 3:
		distance = 2
	}
	for _, other := range names {
		if len(other) > longestName {
			continue
		}
		d := levenshtein.ComputeDistance(foldName(name), foldName(other))
		if d > 1 && anagram(foldName(name), foldName(other)) {
			d = 1
		}
		if d < distance || d == distance && best != "" && other < best {
			best, distance = other, d
		}
	}
	if best == "" {
		return nil
	}
	return []string{best}
}

// beginning returns the names that begin like one, or that it begins with: of
// distance_meters distance, of name names.
func beginning(name string, names []string) []string {
	const shortest = 3
	var found []string
	for _, other := range names {
		a, b := foldName(name), foldName(other)
		if len(other) <= longestName && min(len(a), len(b)) >= shortest && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)) && len(found) < maxNear {
			found = append(found, other)
		}
	}
	return found
}

// anagram reports whether two names have the same bytes in another order: mostly
// two neighbours in each other's place.
func anagram(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return bytes.Equal(x, y)
}
