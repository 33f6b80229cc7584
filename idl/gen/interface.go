package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
)

// iface writes an interface, the argument types of its operations, and the
// function that calls it.
func (g *generator) iface(i *idl.Interface) {
	name, call := g.of[i], g.caller[i]
	first := fmt.Sprintf("%s is the interface %s over snapshots of type S.", name, i.QualifiedName())
	if slices.ContainsFunc(i.Operations, func(o *idl.Operation) bool { return pageOf(o.Result) != nil }) {
		first += fmt.Sprintf(` A method
// that returns a page returns all that it selected; %s takes the page.`, call)
	}
	g.comment(first, i.Doc)
	g.printf("type %s[S any] interface {\n", name)
	for _, o := range i.Operations {
		g.plainComment(o.Doc)
		args := ""
		if len(ownParams(o)) > 0 {
			args = ", args " + g.args[o]
		}
		g.printf("%s(ctx context.Context, snap S%s) (%s, error)\n", g.of[o], args, g.goType(o.Result))
	}
	g.printf("}\n")
	observer := "any"
	for _, o := range i.Operations {
		g.argsType(i, o)
		if o.Result.Kind == idl.Observed {
			observer = "idl.Observer"
		}
	}
	g.comment(fmt.Sprintf(`%[1]s runs one operation of impl on snap. The arguments are a record that
// passed DecodeArgs; the result is the JSON form of the declared type, with the
// page that the arguments ask for. An error of impl is returned as it is.`, call), "")
	g.printf("func %s[S %s](ctx context.Context, impl %s[S], snap S, operation string, args json.RawMessage) (json.RawMessage, error) {\n",
		call, observer, name)
	g.printf("switch operation {\n")
	for _, o := range i.Operations {
		g.printf("case %q:\n", o.Name)
		g.call(o)
	}
	g.printf("}\nreturn nil, fmt.Errorf(\"found operation %%q, expected one of %s\", operation)\n}\n", i.QualifiedName())
}

// ownParams returns the parameters that the Go method sees: all but those
// that choose the page.
func ownParams(o *idl.Operation) []*idl.Param {
	if pageOf(o.Result) == nil {
		return o.Params
	}
	var own []*idl.Param
	for _, p := range o.Params {
		if p.Name != "page" && p.Name != "page_size" {
			own = append(own, p)
		}
	}
	return own
}

// pageOf returns the page that a result is, below what may wrap it, or nil.
func pageOf(t *idl.Type) *idl.Type {
	for t.Kind == idl.Observed || t.Kind == idl.Fact {
		t = t.Elem
	}
	if t.Kind == idl.Page {
		return t
	}
	return nil
}

func (g *generator) argsType(i *idl.Interface, o *idl.Operation) {
	params := ownParams(o)
	if len(params) == 0 {
		return
	}
	g.comment(fmt.Sprintf("%s are the arguments of %s.%s.", g.args[o], i.QualifiedName(), o.Name), "")
	g.printf("type %s struct {\n", g.args[o])
	for _, p := range params {
		if p.Doc != "" {
			g.plainComment(p.Doc)
		}
		g.printf("%s %s\n", g.of[p], g.goType(p.Type))
	}
	g.printf("}\n")
}

// call writes one case of the calling function: read the arguments, call,
// write the result.
func (g *generator) call(o *idl.Operation) {
	params := ownParams(o)
	page := pageOf(o.Result)
	if len(params) > 0 || page != nil {
		g.printf("a := idl.ArgsOf(args)\n")
	}
	args := ""
	if len(params) > 0 {
		var fields strings.Builder
		for _, p := range params {
			fmt.Fprintf(&fields, "%s: %s,\n", g.of[p], g.arg(p.Type, fmt.Sprintf("a.Field(%q)", p.Name)))
		}
		args = fmt.Sprintf(", %s{\n%s}", g.args[o], fields.String())
	}
	g.printf("v, err := impl.%s(ctx, snap%s)\nif err != nil {\nreturn nil, err\n}\n", g.of[o], args)
	g.printf("e := idl.NewEncoder()\n")
	t := o.Result
	if t.Kind == idl.Observed {
		g.printf("e.Open()\ne.Observation(snap.Observation(), time.Now())\n")
		g.members(t.Elem, "v", 0)
		g.printf("e.Close()\n")
	} else if page != nil {
		g.printf("e.Open()\n")
		g.members(t, "v", 0)
		g.printf("e.Close()\n")
	} else {
		g.value(t, "v", 0)
	}
	g.printf("return e.Result()\n")
}

// arg returns an expression that reads an argument.
func (g *generator) arg(t *idl.Type, from string) string {
	if t.Optional {
		bare := *t
		bare.Optional = false
		return fmt.Sprintf("idl.OptionalArg(%s, func(a idl.Arg) %s { return %s })", from, g.goType(&bare), g.arg(&bare, "a"))
	}
	switch t.Kind {
	case idl.Bool:
		return from + ".Bool()"
	case idl.Int:
		return from + ".Int()"
	case idl.Float:
		return from + ".Float()"
	case idl.String, idl.Text:
		return from + ".String()"
	case idl.UUID:
		return from + ".UUID()"
	case idl.Timestamp:
		return from + ".Timestamp()"
	case idl.Duration:
		return from + ".Duration()"
	case idl.Bytes:
		return from + ".Bytes()"
	case idl.Entry:
		return from + ".Entry()"
	case idl.EnumOf:
		return fmt.Sprintf("%s(%s.String())", g.of[t.Enum], from)
	case idl.List:
		return fmt.Sprintf("idl.ListArg(%s, func(a idl.Arg) %s { return %s })", from, g.goType(t.Elem), g.arg(t.Elem, "a"))
	case idl.Map:
		return fmt.Sprintf("idl.MapArg(%s, func(a idl.Arg) %s { return %s })", from, g.goType(t.Elem), g.arg(t.Elem, "a"))
	case idl.RecordOf:
		g.decoders[t.Record] = true
		return fmt.Sprintf("decode%s(%s)", g.of[t.Record], from)
	}
	g.fail("found a parameter of type kind %d, expected one that arguments can have", t.Kind)
	return from
}

// decodeFuncs writes a function for each record that arguments hold.
func (g *generator) decodeFuncs(docs []*idl.Document) {
	done := map[*idl.Record]bool{}
	for more := true; more; {
		more = false
		for _, d := range docs {
			for _, r := range d.Records {
				if !g.decoders[r] || done[r] {
					continue
				}
				done[r], more = true, true
				name := g.of[r]
				g.printf("\nfunc decode%[1]s(a idl.Arg) %[1]s {\nreturn %[1]s{\n", name)
				for _, f := range r.Fields {
					g.printf("%s: %s,\n", g.of[f], g.arg(f.Type, fmt.Sprintf("a.Field(%q)", f.Name)))
				}
				g.printf("}\n}\n")
			}
		}
	}
}
