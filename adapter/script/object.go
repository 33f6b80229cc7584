package script

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/wipagent/wipagent/client"
)

// object is an entry of the space. Nothing is asked about it before one of its
// attributes is wanted.
type object struct {
	env  *Env
	path string
}

var (
	_ starlark.HasAttrs = (*object)(nil)
	_ starlark.Mapping  = (*object)(nil)
)

func (o *object) Type() string          { return "entry" }
func (o *object) Freeze()               {}
func (o *object) Truth() starlark.Bool  { return true }
func (o *object) String() string        { return expression(o.path) }
func (o *object) Hash() (uint32, error) { return starlark.String(o.path).Hash() }

// CompareSameType compares paths.
func (o *object) Cmp(other starlark.Value, _ int) (int, error) {
	return strings.Compare(o.path, other.(*object).path), nil
}

var _ starlark.TotallyOrdered = (*object)(nil)

// maxLookups bounds the questions after entries in one run.
const maxLookups = 500

// inspect asks what can be done at a path, once in a run.
func (r *run) inspect(target string) (*client.Inspection, error) {
	if found := r.seen[target]; found != nil {
		return found, nil
	}
	if r.lookups++; r.lookups > maxLookups {
		return nil, r.stop("calls", fmt.Sprintf("the script looked at more than %d entries", maxLookups))
	}
	if err := r.alloc(4 << 10); err != nil {
		return nil, err
	}
	found, err := r.env.cfg.Client.Inspect(r.ctx, r.env.cfg.Principal, target)
	if err != nil {
		return nil, r.refused(err)
	}
	r.seen[target] = found
	return found, nil
}

// errIdle is what a value answers when no script runs.
var errIdle = errors.New("no script is running")

// found returns what can be done at the object.
func (o *object) found() (*client.Inspection, error) {
	if o.env.run == nil {
		return nil, errIdle
	}
	return o.env.run.inspect(o.path)
}

func (o *object) child(name string) *object {
	return &object{o.env, strings.TrimSuffix(o.path, "/") + "/" + name}
}

// facts are the attributes that every entry has, unless it has an operation or
// an entry of that name.
var facts = []string{"child", "path", "summary", "title"}

// Attr returns an operation, an entry below, or one of facts: the first that has
// the name.
func (o *object) Attr(name string) (starlark.Value, error) {
	found, err := o.found()
	if err != nil {
		return nil, err
	}
	for _, op := range found.Operations {
		if op.Name == name {
			return &method{o, op}, nil
		}
	}
	child := o.child(name)
	for _, n := range found.Children {
		if n.Path == child.path {
			return child, nil
		}
	}
	switch name {
	case "path":
		return starlark.String(o.path), nil
	case "title":
		o.env.run.trust(found)
		return starlark.String(found.Node.Title), nil
	case "summary":
		o.env.run.trust(found)
		return starlark.String(found.Node.Summary), nil
	case "child":
		return &builtin{name: "child", fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var name string
			if err := starlark.UnpackArgs("child", args, kwargs, "name", &name); err != nil {
				return nil, err
			}
			return r.entry(o.child(name).path)
		}}, nil
	}
	return nil, o.missing(found, name)
}

// trust notes that a run has come to hold the words of a Host that nobody vouches
// for.
func (r *run) trust(found *client.Inspection) {
	if m := found.Node.Mount; m != nil && !m.Trusted {
		r.untrusted = true
	}
}

// missing says that there is nothing of that name, and what may have been meant.
func (o *object) missing(found *client.Inspection, name string) error {
	f := &client.Error{Class: client.NotFound, Message: short(o.String()) + " has no " + short(name)}
	names := o.names(found)
	if meant := near(name, names); meant != nil {
		f.Hint = didYouMean(meant)
		e := &CallError{Failure: f}
		if len(meant) == 1 {
			e.Corrected, e.attr = o.attribute(found, meant[0]), meant[0]
		}
		return e
	}
	var e *CallError // what the client knows of other entries
	if _, err := o.env.run.inspect(o.path + "#" + name); errors.As(err, &e) && e.Corrected != "" {
		f.Hint = e.Failure.Hint
		return &CallError{Failure: f, Corrected: e.Corrected}
	}
	if len(names) > 0 {
		const most = 20
		f.Hint = "it has " + strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			f.Hint += " and more: dir(" + short(o.String()) + ")"
		}
	}
	return &CallError{Failure: f}
}

// attribute writes the operation or the entry below of that name as a script
// would.
func (o *object) attribute(found *client.Inspection, name string) string {
	for _, op := range found.Operations {
		if op.Name == name {
			return methodName(o.path, name)
		}
	}
	return expression(o.child(name).path)
}

// names lists operations and entries below.
func (o *object) names(found *client.Inspection) []string {
	var names []string
	for _, op := range found.Operations {
		names = append(names, op.Name)
	}
	for _, n := range found.Children {
		names = append(names, n.Path[strings.LastIndexByte(n.Path, '/')+1:])
	}
	return names
}

// AttrNames lists all attributes, sorted.
func (o *object) AttrNames() []string {
	names := slices.Clone(facts)
	if found, err := o.found(); err == nil {
		names = append(names, o.names(found)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Get returns the entry below of that name, as x["name"]: for names that are no
// identifiers, or also those of operations.
func (o *object) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, ok := starlark.AsString(key)
	if !ok || o.env.run == nil {
		return nil, false, fmt.Errorf("found an index of type %s, expected the name of an entry", key.Type())
	}
	v, err := o.env.run.entry(o.child(name).path)
	return v, err == nil, err
}

// entry returns the entry at a path that exists for the principal.
func (r *run) entry(path string) (starlark.Value, error) {
	found, err := r.inspect(path)
	if err != nil {
		return nil, err
	}
	return &object{r.env, found.Node.Path}, nil
}

// mounts makes variables of what lies right below the root, if their names allow.
func (e *Env) mounts(r *run) {
	found, err := r.inspect("/")
	if err != nil {
		return // which a script that wants one of them will be told
	}
	for _, n := range found.Children {
		name := n.Path[1:]
		if identifier(name) && e.globals[name] == nil {
			e.globals[name] = &object{e, n.Path}
			e.builtin[name] = true
		}
	}
}

var identifierForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// keywords are the words that no variable, attribute or argument can be named.
var keywords = strings.Fields("and break continue def elif else for if in lambda load not or pass return while " +
	"as assert async await class del except finally from global import is nonlocal raise try with yield")

// identifier reports whether a script can write a name as such.
func identifier(name string) bool {
	return identifierForm.MatchString(name) && !slices.Contains(keywords, name)
}

// expression writes an entry as a script would: grid.region.
func expression(path string) string {
	if path == "/" {
		return "root"
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if !identifier(segments[0]) || starlark.Universe.Has(segments[0]) {
		return "entry(" + starlark.String(path).String() + ")"
	}
	s := segments[0]
	for _, segment := range segments[1:] {
		if identifier(segment) {
			s += "." + segment
		} else {
			s += "[" + starlark.String(segment).String() + "]"
		}
	}
	return s
}
