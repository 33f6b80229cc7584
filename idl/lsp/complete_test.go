package lsp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl"
)

type completionItem struct {
	Label               string `json:"label"`
	Detail              string `json:"detail"`
	SortText            string `json:"sortText"`
	TextEdit            edit   `json:"textEdit"`
	AdditionalTextEdits []edit `json:"additionalTextEdits"`
	Documentation       struct {
		Value string `json:"value"`
	} `json:"documentation"`
}

// completions returns what is offered at the "|" of a text, and the text
// without it.
func (e *editor) completions(name, marked string) ([]completionItem, string) {
	e.t.Helper()
	before, after, ok := strings.Cut(marked, "|")
	if !ok {
		e.t.Fatal("found no | in the text")
	}
	text := before + after
	e.open(name, text)
	var list struct {
		Items []completionItem `json:"items"`
	}
	e.call("textDocument/completion", object{"textDocument": object{"uri": e.uri(name)}, "position": place(text, len(before))}, &list)
	return list.Items, text
}

func labels(items []completionItem) []string {
	slices.SortStableFunc(items, func(a, b completionItem) int { return strings.Compare(a.SortText, b.SortText) })
	names := []string{}
	for _, i := range items {
		names = append(names, i.Label)
	}
	return names
}

const shared = `package shared;

/// A place.
record Place { x: float; y: float; }

/// Compass direction.
enum Direction { north, east }

/// What can move.
interface Mover { move() -> bool; }
`

// declarations is a sound document's beginning.
const declarations = `package a;
import "shared.wip";

enum Order { newest, oldest }
record Item { id: uuid; }
interface Shop { buy(order: Order) -> Item; }
`

func TestCompletion(t *testing.T) {
	results := []string{"Item", "Order", "Direction", "Place", "bool", "bytes", "duration", "entry", "fact", "float", "int",
		"list", "map", "observed", "page", "string", "text", "timestamp", "uuid"}
	params := slices.DeleteFunc(slices.Clone(results), func(s string) bool { return slices.Contains([]string{"fact", "observed", "page", "text"}, s) })
	operation := []string{"alias", "audience", "cost", "deprecated", "destructive", "dry_run", "example", "idempotent", "informational",
		"max_output", "mutating", "read_only", "timeout"}
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty document", "|", []string{"enum", "import", "interface", "package", "record", "version"}},
		{"declaration", declarations + "|", []string{"enum", "import", "interface", "record", "version"}},
		{"declaration half written", declarations + "rec|", []string{"enum", "import", "interface", "record", "version"}},
		{"declaration behind an annotation", declarations + "@read_only @cost(1) |", []string{"enum", "interface", "record"}},
		{"field's type", declarations + "record A { x: |", results},
		{"field's type half written", declarations + "record A { x: In|; y: int; }", results},
		{"type behind a broken member", declarations + "record A { x: list<int; y: |", results},
		{"result", declarations + "interface A { a() -> |", results},
		{"result within", declarations + "interface A { a() -> observed<fact<|", results},
		{"behind a type argument", declarations + "interface A { a() -> map<string, |", results},
		{"parameter's type", declarations + "interface A { a(x: |", params},
		{"second parameter's type", declarations + "interface A { a(x: list<int> [1..2] = 1, y: |) -> int; }", params},
		{"entry", declarations + "record A { x: entry<|", []string{"Shop", "Mover"}},
		{"no type there", declarations + "record A { x: int |", []string{}},
		{"no name there", declarations + "record A { |", []string{}},
		{"annotation of an interface", declarations + "@|\ninterface A { a() -> int; }", slices.DeleteFunc(slices.Clone(operation), func(s string) bool { return s == "alias" || s == "example" })},
		{"annotation of an operation", declarations + "interface A { @read_only @|\n a() -> int; }", operation},
		{"annotation of a field", declarations + "record A { @d|", []string{"deprecated", "derived"}},
		{"annotation of a parameter", declarations + "interface A { a(@|", []string{"deprecated"}},
		{"audience", declarations + "@audience(|", []string{"authorized_im", "im", "local_operator", "public_chat"}},
		{"second audience", declarations + "@audience(im, |)\ninterface A {}", []string{"authorized_im", "im", "local_operator", "public_chat"}},
		{"timeout", declarations + "interface A { @timeout(|", []string{"10s", "1s", "30s", "3s"}},
		{"example's parameter", declarations + "interface A { @example(|)\n a(x: int, order: Order) -> int; }", []string{"order", "x"}},
		{"example's second parameter", declarations + "interface A { @example(x: 5, o|)\n a(x: int, order: Order) -> int; }", []string{"order", "x"}},
		{"example's label", declarations + "interface A { @example(order: |)\n a(x: int, order: Order) -> int; }", []string{"newest", "oldest"}},
		{"example's bool", declarations + "interface A { @example(on: |)\n a(on: bool) -> int; }", []string{"false", "true"}},
		{"default label", declarations + "interface A { a(order: Order = |", []string{"newest", "oldest"}},
		{"default label of an imported enum", declarations + "interface A { a(x: int, to: Direction = |) -> int; }", []string{"east", "north"}},
		{"default bool", declarations + "interface A { a(on: bool = t|) -> int; }", []string{"false", "true"}},
		{"default number", declarations + "interface A { a(n: int = |) -> int; }", []string{}},
		{"refinement of a string", declarations + "record A { x: string [|", []string{"matching"}},
		{"unit of a string's length", declarations + "record A { x: string [1..20 |", []string{"bytes"}},
		{"no unit of a number", declarations + "record A { x: int [1..20 |", []string{}},
		{"import", "package a;\nimport \"|\";\n", []string{"shared.wip", "sub/more.wip"}},
		{"import without quotes", "package a;\nimport |", []string{"shared.wip", "sub/more.wip"}},
		{"in a comment", declarations + "// @|", []string{}},
		{"in a block comment", declarations + "/* record A { x: | */", []string{}},
		{"in a doc comment", declarations + "/// @|", []string{}},
		{"in a string", declarations + `interface A { @alias("@|") a() -> int; }`, []string{}},
		{"in a number", declarations + "@cost(1|)", []string{}},
		{"behind a comment", declarations + "record A { x: /* what */ |", results},
	}
	e := newEditor(t, map[string]string{"shared.wip": shared, "sub/more.wip": "package more;\nenum Colour { red }\nrecord Item { a: int; }\n"})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items, _ := e.completions("a.wip", tt.text)
			got := labels(items)
			// What other documents have is offered behind the rest.
			got = slices.DeleteFunc(got, func(s string) bool { return s == "Colour" || s == "A" })
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestCompletionReplacesTheName(t *testing.T) {
	e := newEditor(t, nil)
	items, text := e.completions("a.wip", "package a;\nrecord A { 😀 x: fac|")
	i := slices.IndexFunc(items, func(i completionItem) bool { return i.Label == "fact" })
	if i < 0 {
		t.Fatalf("got %q, want fact among them", labels(items))
	}
	if got, want := apply(text, []edit{items[i].TextEdit}), "package a;\nrecord A { 😀 x: fact<$1>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if items[i].Documentation.Value == "" {
		t.Error("found no documentation")
	}
}

func TestCompletionWithoutSnippets(t *testing.T) {
	e := startEditor(t, t.TempDir(), object{})
	for _, tt := range []struct{ text, label, want string }{
		{"package a;\nrecord A { x: li|", "list", "package a;\nrecord A { x: list"},
		{"package a;\nrec|", "record", "package a;\nrecord"},
		{"package a;\ninterface A { @al|", "alias", "package a;\ninterface A { @alias"},
	} {
		items, text := e.completions("a.wip", tt.text)
		i := slices.IndexFunc(items, func(i completionItem) bool { return i.Label == tt.label })
		if i < 0 {
			t.Fatalf("got %q, want %q among them", labels(items), tt.label)
		}
		if got := apply(text, []edit{items[i].TextEdit}); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestCompletionAddsTheImport(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	items, text := e.completions("a.wip", "package a;\nversion 2;\n\nrecord A { x: Pl| }\n")
	i := slices.IndexFunc(items, func(i completionItem) bool { return i.Label == "Place" })
	if i < 0 {
		t.Fatalf("got %q, want Place among them", labels(items))
	}
	got := apply(text, append(items[i].AdditionalTextEdits, items[i].TextEdit))
	if want := "package a;\nversion 2;\nimport \"shared.wip\";\n\nrecord A { x: Place }\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWordsAreExplained fails on a word of the language that hover and
// completion have nothing to say about.
func TestWordsAreExplained(t *testing.T) {
	e := newEditor(t, nil)
	var text strings.Builder
	text.WriteString("package a;\n")
	for _, a := range idl.Annotations() {
		text.WriteString("@" + a.Name + " ")
	}
	text.WriteString("record A {\n")
	for _, name := range idl.BuiltinTypes() {
		text.WriteString("  x_" + name + ": " + name + ";\n")
	}
	text.WriteString("}\n")
	e.open("a.wip", text.String())
	words := []string{}
	for _, a := range idl.Annotations() {
		words = append(words, "@"+a.Name)
	}
	for _, name := range idl.BuiltinTypes() {
		words = append(words, ": "+name)
	}
	for _, word := range append(words, "package", "record") {
		var h struct {
			Contents struct {
				Value string `json:"value"`
			} `json:"contents"`
		}
		e.call("textDocument/hover", e.at("a.wip", text.String(), word), &h)
		if len(h.Contents.Value) < len(word)+20 {
			t.Errorf("%s: got %q, want an explanation", word, h.Contents.Value)
		}
	}
}
