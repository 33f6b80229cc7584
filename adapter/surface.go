package adapter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
)

// Surface is what a model is given to work with.
type Surface string

const (
	// Verbs: the three verbs, whatever is mounted.
	Verbs Surface = "verbs"
	// Operations: a tool for each operation that the caller may discover. The
	// verbs stand before them if there is more to reach than the tools do.
	Operations Surface = "operations"
)

// Surfaces returns all surfaces, the default first. The caller owns the slice.
func Surfaces() []Surface { return []Surface{Verbs, Operations} }

// offered is a tool of a surface and its declaration.
type offered struct {
	tool
	declared dialect.Tool
}

// surface returns the tools of a surface in a fixed order: the verbs, the
// operations, and the tool of Config.Code. An empty surface is Verbs.
func (a *Adapter) surface(p *client.Principal, s Surface) ([]offered, error) {
	switch s {
	case "", Verbs:
		return append(a.verbs(), a.programs()...), nil
	case Operations:
		operations, whole := a.operations(p)
		if !whole {
			operations = append(a.verbs(), operations...)
		}
		return append(operations, a.programs()...), nil
	}
	return nil, fmt.Errorf("found the surface %q, expected %s or %s", string(s), Verbs, Operations)
}

func (a *Adapter) verbs() []offered {
	var list []offered
	for _, t := range Tools(a.client.ReadOnly()) {
		list = append(list, offered{verbTool{verbs.Operation(t.Name)}, t})
	}
	return list
}

func (a *Adapter) programs() []offered {
	if a.code == nil {
		return nil
	}
	t := a.code.Tool()
	return []offered{{codeTool{a.code, t.Name}, t}}
}

// operations returns a tool for each operation that the principal may discover,
// in the order of first paths. whole says that they reach all there is: each
// stands on one entry, and no result leads to others, as one does that is kept as
// an artifact.
func (a *Adapter) operations(p *client.Principal) (list []offered, whole bool) {
	type origin struct {
		iface   *idl.Interface
		trusted bool
	}
	type key struct {
		op      *idl.Operation
		trusted bool
	}
	entries := map[key][]client.Listed{}
	var order []key
	for _, l := range a.client.Catalog(p) {
		k := key{l.Operation.Operation, l.Node.Mount.Trusted}
		if entries[k] == nil {
			order = append(order, k)
		}
		entries[k] = append(entries[k], l)
	}
	// Whoever may use one operation of an interface at several entries chooses
	// the entry in all of them alike.
	spread := map[origin]map[string]bool{}
	for _, k := range order {
		o := origin{k.op.Interface, k.trusted}
		for _, l := range entries[k] {
			if spread[o] == nil {
				spread[o] = map[string]bool{}
			}
			spread[o][l.Node.Path] = true
		}
	}
	tools := make([]*operationTool, len(order))
	whole = len(order) > 0 && !a.client.KeepsArtifacts()
	for i, k := range order {
		single := len(spread[origin{k.op.Interface, k.trusted}]) == 1
		tools[i] = newOperationTool(k.op, k.trusted, entries[k], single)
		whole = whole && single && !leads(k.op)
	}
	reserved := []string{"discover", "inspect", "invoke"}
	for _, t := range a.programs() {
		reserved = append(reserved, t.declared.Name)
	}
	nameTools(tools, reserved)
	for _, t := range tools {
		list = append(list, offered{t, t.declare()})
	}
	return list, whole
}

// leads reports whether a result of the operation can hold entries.
func leads(op *idl.Operation) bool {
	holds := func(t *idl.Type) bool {
		for ; t != nil; t = t.Elem {
			if t.Kind == idl.Entry {
				return true
			}
		}
		return false
	}
	records, _ := op.Types()
	return holds(op.Result) || slices.ContainsFunc(records, func(r *idl.Record) bool {
		return slices.ContainsFunc(r.Fields, func(f *idl.Field) bool { return holds(f.Type) })
	})
}

// declare returns the tool as a dialect takes it.
func (t *operationTool) declare() dialect.Tool {
	op := t.op
	d := dialect.Tool{
		Name: t.name, Params: t.record.Params, Result: op, Output: outputSchemas["invoke"],
		Description: documentation(op.Deprecated, cmp.Or(op.Doc, "Calls "+op.Name+" of "+op.Interface.QualifiedName()+".")),
		// Of a Host that nobody vouches for the worst is said, whatever it
		// claims.
		ReadOnly:    !t.needsApproval,
		Destructive: t.needsApproval && (!t.trusted || op.Risk != idl.Mutating),
		Idempotent:  t.trusted && op.Idempotent,
		Deprecated:  op.Deprecated != "" || op.Interface.Deprecated != "",
		Untrusted:   !t.trusted,
		Timeout:     op.Timeout + idl.DefaultTimeout, // for the entry too
		MaxOutput:   op.MaxOutput,
	}
	for _, example := range op.Examples {
		d.Examples = append(d.Examples, t.form(t.paths[0], example))
	}
	return d
}

// typed is the schema of an answer with the operation's own result in it, for a
// provider's programs. It is many times as long as what the tool takes, so that
// a model is given the short one, by which it can tell an error from a result.
func (t *operationTool) typed() json.RawMessage {
	result := outputSchema(t.op)
	if !t.trusted {
		result = cleanSchema(result)
	}
	short := string(outputSchemas["invoke"])
	return json.RawMessage(strings.Replace(short, `"result":{}`, `"result":`+string(encode(result)), 1))
}

// targetDoc says what to send for the entry, with the paths of a few.
func targetDoc(iface *idl.Interface, paths []string) string {
	const most, bytes = 5, 300
	list := strings.Join(paths, ", ")
	if len(paths) > most || len(list) > bytes {
		return "Path of an entry with " + iface.Name + ", one of " + fmt.Sprint(len(paths)) + " that discover and inspect find."
	}
	return "Path of the entry: " + list + ", or one from discover, inspect or a result."
}
