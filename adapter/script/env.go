// Package script runs Starlark programs over the client's three verbs: mounted
// entries are values, operations are methods, and a program can do what its
// principal could do by single calls, and no more (W8).
//
// The language is small and closed: no file, network, clock or chance. Each run
// is bounded in steps, time, calls, memory and output, so that it stops, at the
// same place for the same snapshots, whatever its author had in mind. What a
// script sees stands in spec/script.md.
//
// Security considerations: scripts come from models and so from whoever wrote
// what those read. Every operation that can make much out of little is rewritten
// to pass a check before it runs (rewrite.go, operators.go, builtins.go); a value
// of the library that no check knows must not be given to a script.
package script

import (
	"context"
	"io"
	"time"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/wipagent/wipagent/client"
)

// Limits bound one run. A limit of 0 is that of DefaultLimits.
type Limits struct {
	// Steps bounds the instructions of the interpreter, and what counts as such
	// in a builtin: about one for each element looked at.
	Steps uint64
	// Time bounds how long a run may take, waiting for Hosts included.
	Time time.Duration
	// Calls bounds the operations called, in the units of their @cost.
	Calls int
	// Memory bounds the bytes that a run may allocate in all, as estimated
	// beforehand. What is thrown away counts too, so that the same run always
	// ends at the same place.
	Memory int64
	// Output bounds the bytes that are printed; what is beyond is counted and
	// dropped, and the run goes on.
	Output int
}

// DefaultLimits are enough for what a model asks in one go.
var DefaultLimits = Limits{Steps: 5_000_000, Time: 10 * time.Second, Calls: 100, Memory: 64 << 20, Output: 32 << 10}

// or returns the limits with those of d for what is 0.
func (l Limits) or(d Limits) Limits {
	if l.Steps == 0 {
		l.Steps = d.Steps
	}
	if l.Time == 0 {
		l.Time = d.Time
	}
	if l.Calls == 0 {
		l.Calls = d.Calls
	}
	if l.Memory == 0 {
		l.Memory = d.Memory
	}
	if l.Output == 0 {
		l.Output = d.Output
	}
	return l
}

// Config configures an Env. Client and Principal are needed.
type Config struct {
	Client    *client.Client
	Principal *client.Principal
	Limits    Limits
	// Unlimited says that a limit of 0 is none. Single values stay bounded: a
	// string in 4 MiB, an integer in 65,536 bits.
	Unlimited bool
	// Width is how many columns the tables of Eval and RunText have room for; 0
	// is any number.
	Width int
	// Output gets what is printed; nil discards it.
	Output io.Writer
	// ID is the start of the identifiers of the calls in audit records: ID.1,
	// ID.2. See client.Call; if empty each call gets a fresh one.
	ID string
}

// Env is where scripts run: the builtins, the mounts and, from one input to the
// next, the global variables. It is not safe for concurrent use.
type Env struct {
	cfg     Config
	limits  Limits
	globals starlark.StringDict
	builtin map[string]bool // names in globals that no script made
	run     *run            // the run going on
	calls   int             // of all runs, for their identifiers
	// untrusted says that a run has come to hold a stranger's words.
	untrusted bool
	printed   int  // bytes of the last run's output, dropped ones too
	quiet     bool // says nothing in the output of what was dropped
}

// New returns an Env.
func New(cfg Config) *Env {
	e := &Env{cfg: cfg, limits: cfg.Limits, globals: starlark.StringDict{}, builtin: map[string]bool{}}
	if !cfg.Unlimited {
		e.limits = cfg.Limits.or(DefaultLimits)
	}
	for name, v := range predeclared(e) {
		e.globals[name] = v
		e.builtin[name] = true
	}
	return e
}

// options are the language's: loops that end by the limit of steps, and no
// recursion.
var options = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}

// maxSource bounds the text of one script, in bytes.
const maxSource = 256 << 10

// Run runs a script; name stands in front of the places in errors. The global
// variables that it makes are kept. Every error is an *Error.
func (e *Env) Run(ctx context.Context, name string, src []byte) error {
	_, err := e.execute(ctx, name, string(src), false, nil)
	return err
}

// Define gives a variable a list of strings, such as a script's arguments. Nothing
// runs, and no limit counts it.
func (e *Env) Define(name string, list []string) {
	values := make([]starlark.Value, len(list))
	for i, s := range list {
		values[i] = starlark.String(s)
	}
	e.globals[name] = starlark.NewList(values)
}

// execute runs a script and returns the value of its last statement, None if
// that is no expression. With a view the value is handed to it while the run's
// limits still hold.
func (e *Env) execute(ctx context.Context, name, src string, live bool, view func(*run, starlark.Value) error) (value starlark.Value, err error) {
	r, done := e.begin(ctx)
	defer func() {
		if v := recover(); v != nil {
			err = r.defect(v)
		}
		done()
	}()
	r.src, r.live = src, live
	file, err := e.parse(r, name, src, live)
	if err != nil {
		return nil, r.failure(err)
	}
	e.globals[lastValue] = starlark.None
	if err := starlark.ExecREPLChunk(file, r.thread, e.globals); err != nil {
		return nil, r.failure(err)
	}
	if err := r.trouble(); err != nil {
		return nil, r.failure(err)
	}
	value = e.globals[lastValue]
	if view != nil {
		if err := view(r, value); err != nil {
			return nil, r.failure(err)
		}
	}
	return value, nil
}

// parse reads a script and makes it safe to run.
func (e *Env) parse(r *run, name, src string, live bool) (*syntax.File, error) {
	if len(src) > maxSource {
		return nil, &Error{Name: name, Message: "the script is longer than 262,144 bytes"}
	}
	if bad := badText(name, src); bad != nil {
		return nil, bad
	}
	file, err := options.Parse(name, src, 0)
	if err != nil {
		return nil, err
	}
	e.mounts(r)
	w := &rewriter{}
	if live {
		if w.live, err = e.live(name, src); err != nil {
			return nil, err
		}
	}
	return file, w.rewrite(file)
}

// live returns where the functions of an input use variables of earlier inputs.
// The library gives each input a copy of the variables, so that a function would
// never see one change.
func (e *Env) live(name, src string) (map[place]bool, error) {
	file, err := options.Parse(name, src, 0)
	if err != nil {
		return nil, err
	}
	none := func(string) bool { return false }
	if err := resolve.REPLChunk(file, e.globals.Has, none, none); err != nil {
		return nil, err
	}
	found := map[place]bool{}
	uses := func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok && e.globals.Has(id.Name) && !e.builtin[id.Name] {
			if b, ok := id.Binding.(*resolve.Binding); ok && b.Scope == resolve.Global {
				found[placeOf(id.NamePos)] = true
			}
		}
		return true
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DefStmt:
			for _, s := range n.Body {
				syntax.Walk(s, uses)
			}
			return false
		case *syntax.LambdaExpr:
			syntax.Walk(n.Body, uses)
			return false
		}
		return true
	})
	return found, nil
}
