package lint

import (
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

const defaultMaxToolName = 64 // what the strictest provider takes

// binding is what names cannot be in the bindings of one language.
type binding struct {
	language, title string
	words           map[string]bool // its keywords
	members         []string        // the kinds of member whose names they cannot be
	types           map[string]bool // what a declared type would hide
}

var declared = []string{"interface", "record", "enum"}

var allBindings = []binding{{
	language: "go", title: "Go",
	// Spec: go.dev/ref/spec#Keywords
	words: set(`break case chan const continue default defer else fallthrough for func go goto if import interface map
		package range return select struct switch type var`),
	members: []string{"parameter"}, // others begin with a capital
}, {
	language: "python", title: "Python",
	// Spec: docs.python.org/3/reference/lexical_analysis.html#keywords
	words: set(`False None True and as assert async await break class continue def del elif else except finally for from
		global if import in is lambda nonlocal not or pass raise return self try while with yield`),
	members: []string{"operation", "parameter", "field"},
	types: set(`Any Literal Optional Protocol TypedDict Exception BaseException KeyError TypeError ValueError RuntimeError
		TimeoutError ConnectionError OSError None True False Ellipsis Warning`),
}, {
	language: "typescript", title: "TypeScript",
	// Spec: ECMA-262, reserved words and those of strict mode
	words: set(`arguments await break case catch class const continue debugger default delete do else enum eval export
		extends false finally for function if implements import in instanceof interface let new null package private
		protected public return static super switch this throw true try typeof var void while with yield`),
	members: []string{"parameter", "field"}, // what programs take apart into variables
	types: set(`Array Boolean Date Error Function Infinity Map Number Object Promise Proxy Record RegExp Set String
		Symbol Partial Required Readonly Pick Omit Awaited`),
}}

// reserved reports a name that a binding cannot keep.
func (l *linter) reserved(id syntax.Ident, kind string) {
	var words, types []string
	for _, b := range allBindings {
		switch {
		case !l.cfg.bindsTo(b.language):
		case slices.Contains(b.members, kind) && b.words[id.Name]:
			words = append(words, b.title)
		case slices.Contains(declared, kind) && b.types[id.Name]:
			types = append(types, b.title)
		}
	}
	const hint = "choose another name: bindings have to change this one"
	if len(words) > 0 {
		l.report(RuleReservedWord, id.Span, hint, "found %s %q, which is a reserved word of %s", kind, id.Name, strings.Join(words, " and of "))
	}
	if len(types) > 0 {
		l.report(RuleReservedWord, id.Span, hint, "found %s %q, which is a type of %s itself", kind, id.Name, strings.Join(types, " and of "))
	}
}

// projections checks names that meet only once they are projected: operations
// as tools, declarations as names of one binding.
func (l *linter) projections() {
	l.aliases()
	l.tools()
	l.bindings()
}

// tools checks the names that operations have as tools of a provider.
func (l *linter) tools() {
	type tool struct {
		op *idl.Operation
		at syntax.Span
	}
	tools := map[string]tool{}
	most := or(l.cfg.MaxToolName, defaultMaxToolName)
	l.eachOperation(func(op *idl.Operation, n *syntax.Operation) {
		name := strings.Join(words(op.Interface.Name), "_") + "_" + op.Name
		if len(name) > most {
			l.report(RuleToolName, n.Name.Span, "shorten it, or its interface's name", "found operation %q, whose name as a tool, %s, has %d bytes, expected at most %d", op.Name, name, len(name), most)
		}
		first, taken := tools[fold(name)]
		if !taken {
			tools[fold(name)] = tool{op, n.Name.Span}
			return
		}
		d := l.report(RuleToolCollision, n.Name.Span, "rename one of them",
			"found operation %q, whose name as a tool, %s, is that of operation %q of %q", op.Name, name, first.op.Name, first.op.Interface.QualifiedName())
		d.Related = append(d.Related, syntax.Related{Span: first.at, Message: "the other is here"})
	})
}

// bindings checks the names that the declarations of one package have in a
// binding: beside their own, those that are made of them.
func (l *linter) bindings() {
	type name struct {
		what string
		at   syntax.Span
	}
	taken := map[string]name{} // by package and folded name
	for at, u := range l.units {
		l.at = at
		add := func(id syntax.Ident, projected, what string) {
			key := u.Package + "." + fold(projected)
			first, ok := taken[key]
			if !ok {
				taken[key] = name{what, id.Span}
				return
			}
			d := l.report(RuleBindingCollision, id.Span, "rename one of them",
				"found %s, which is %s in a binding of package %q, as is %s", what, projected, u.Package, first.what)
			d.Related = append(d.Related, syntax.Related{Span: first.at, Message: "the other is here"})
		}
		for _, decl := range u.file.Decls {
			id := decl.DeclName()
			switch n := decl.(type) {
			case *syntax.Interface:
				add(id, pascal(id.Name), "interface "+id.Name)
				add(id, "Call"+pascal(id.Name), "the caller of interface "+id.Name)
			case *syntax.Record:
				add(id, pascal(id.Name), "record "+id.Name)
			case *syntax.Enum:
				add(id, pascal(id.Name), "enum "+id.Name)
				for _, label := range n.Labels {
					add(label.Name, pascal(id.Name)+pascal(label.Name.Name), "label "+label.Name.Name+" of enum "+id.Name)
				}
			}
		}
	}
}
