package lsp_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shop is a sound document that uses another.
const shop = `package shop;
import "shared.wip";

/// 🚪 Sells.
@mutating @dry_run @audience(local_operator)
interface Shop {
  /// Sells one 門.
  @alias("🛒🛒") @example(order: newest, to: north)
  buy(order: Order = oldest, to: Direction = north) -> Item;
  /// Where it is.
  where() -> list<Place>;
}

/// What is sold.
record Item {
  id: uuid;
  place: fact<Place>;
  seller: entry<Mover>;
}

enum Order { newest, oldest }
`

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

// shown returns a location as "file:line:character".
func (l location) String() string {
	return fmt.Sprintf("%s:%d:%d", filepath.Base(l.URI), l.Range.Start.Line, l.Range.Start.Character)
}

func TestDefinition(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("shop.wip", shop)
	tests := []struct{ before, want string }{
		{`import "sha`, "shared.wip:0:0"},
		{"to: Direc", "shared.wip:6:5"},
		{"= nor", "shared.wip:6:17"},
		{"example(order: new", "shop.wip:20:13"},
		{"example(or", "shop.wip:8:6"},
		{", to: nor", "shared.wip:6:17"},
		{"order: Or", "shop.wip:20:5"},
		{"-> It", "shop.wip:14:7"},
		{"list<Pl", "shared.wip:3:7"},
		{"entry<Mov", "shared.wip:9:10"},
		{"record It", "shop.wip:14:7"},
		{"  wh", "shop.wip:10:2"},
	}
	for _, tt := range tests {
		var got location
		e.call("textDocument/definition", e.at("shop.wip", shop, tt.before), &got)
		if got.String() != tt.want {
			t.Errorf("at %q: got %s, want %s", tt.before, got, tt.want)
		}
	}
	for _, before := range []string{"id: uu", "/// 🚪 Se", "@alias(\"🛒", "@mut", "record Item "} {
		var got json.RawMessage
		e.call("textDocument/definition", e.at("shop.wip", shop, before), &got)
		if string(got) != "null" {
			t.Errorf("at %q: got %s, want null", before, got)
		}
	}
}

func TestReferences(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared, "shop.wip": shop,
		"other.wip": "package other;\n/// Another.\nrecord Place { a: int; }\nrecord B { p: Place; }\n"})
	e.open("shared.wip", shared)
	tests := []struct {
		before      string
		declaration bool
		want        []string
	}{
		{"record Pl", true, []string{"shared.wip:3:7", "shop.wip:10:18", "shop.wip:16:14"}},
		{"record Pl", false, []string{"shop.wip:10:18", "shop.wip:16:14"}},
		{"enum Dir", false, []string{"shop.wip:8:33"}},
		{"{ nor", false, []string{"shop.wip:7:45", "shop.wip:8:45"}},
		{"interface Mo", false, []string{"shop.wip:17:16"}},
		{", ea", false, nil},
	}
	for _, tt := range tests {
		p := e.at("shared.wip", shared, tt.before)
		p["context"] = object{"includeDeclaration": tt.declaration}
		var got []location
		e.call("textDocument/references", p, &got)
		var names []string
		for _, l := range got {
			names = append(names, l.String())
		}
		if diff := cmp.Diff(tt.want, names); diff != "" {
			t.Errorf("of %q (-want +got):\n%s", tt.before, diff)
		}
	}
}

func TestHighlight(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("shop.wip", shop)
	var got []struct {
		Range span `json:"range"`
		Kind  int  `json:"kind"`
	}
	e.call("textDocument/documentHighlight", e.at("shop.wip", shop, "enum Or"), &got)
	if len(got) != 2 || got[0].Kind != 3 || got[1].Range.Start != (position{8, 13}) {
		t.Errorf("got %+v, want the declaration and its use", got)
	}
}

// renamed returns the texts after a rename, or the refusal.
func (e *editor) renamed(texts map[string]string, name, before, to string) (map[string]string, error) {
	p := e.at(name, texts[name], before)
	p["newName"] = to
	var got struct {
		Changes map[string][]edit `json:"changes"`
	}
	if err := e.try("textDocument/rename", p, &got); err != nil {
		return nil, err
	}
	after := map[string]string{}
	for file, text := range texts {
		after[file] = apply(text, got.Changes[e.uri(file)])
		delete(got.Changes, e.uri(file))
	}
	if len(got.Changes) > 0 {
		e.t.Errorf("found edits of other files: %v", got.Changes)
	}
	return after, nil
}

func TestRename(t *testing.T) {
	texts := map[string]string{"shared.wip": shared, "shop.wip": shop}
	e := newEditor(t, texts)
	e.open("shop.wip", shop)
	tests := []struct{ name, before, to, old, new string }{
		{"record", "-> It", "Good", "Item", "Good"},
		{"record of another document", "list<Pl", "Spot", "Place", "Spot"},
		{"enum of another document", "to: Dir", "Way", "Direction", "Way"},
		{"interface", "interface Sh", "Market", "interface Shop", "interface Market"},
		{"operation", "  bu", "acquire", "buy(", "acquire("},
		{"parameter and its example", "  buy(ord", "sequence", "order", "sequence"},
		{"label behind emoji", "newe", "latest", "newest", "latest"},
		{"label of another document", "= nor", "up", "north", "up"},
		{"field", "  id", "item_id", "  id:", "  item_id:"},
		{"to itself", "-> It", "Item", "Item", "Item"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := e.renamed(texts, "shop.wip", tt.before, tt.to)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for file, text := range texts {
				want[file] = strings.ReplaceAll(text, tt.old, tt.new)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenameRefused(t *testing.T) {
	texts := map[string]string{"shared.wip": shared, "shop.wip": shop}
	e := newEditor(t, texts)
	e.open("shop.wip", shop)
	tests := []struct{ name, before, to, want string }{
		{"clash", "-> It", "Order", "duplicate-name"},
		{"clash with an imported name", "-> It", "Place", "import-clash"},
		{"clash in a document that imports it", "list<Pl", "Item", "import-clash"},
		{"names that differ by capitals", "  bu", "Where", "colliding-name"},
		{"built-in type", "-> It", "text", "reserved-name"},
		{"clash of labels", "newe", "oldest", "duplicate-name"},
		{"clash of parameters", "  buy(ord", "to", "duplicate-name"},
		{"no name", "-> It", "1st", "letters"},
		{"nothing", "-> It", "", "letters"},
		{"foreign letters", "-> It", "門", "letters"},
		{"too long", "-> It", strings.Repeat("a", 65), "65 bytes"},
		{"label that is a bool", "newe", "true", "bool"},
		{"built-in", "id: uu", "guid", "nothing to rename"},
		{"comment", "/// 🚪 Se", "x", "nothing to rename"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := e.renamed(texts, "shop.wip", tt.before, tt.to)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a refusal with %q", err, tt.want)
			}
		})
	}
	e.open("shared.wip", shared)
	if _, err := e.renamed(texts, "shared.wip", "record Place { x", "status"); err == nil || !strings.Contains(err.Error(), "field-collision") {
		t.Errorf("a field that fact hides: got %v", err)
	}
}

func TestPrepareRename(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("shop.wip", shop)
	var got struct {
		Range       span   `json:"range"`
		Placeholder string `json:"placeholder"`
	}
	e.call("textDocument/prepareRename", e.at("shop.wip", shop, ", to: nor"), &got)
	if got.Placeholder != "north" || got.Range != (span{position{7, 45}, position{7, 50}}) {
		t.Errorf("got %+v", got)
	}
	var none json.RawMessage
	e.call("textDocument/prepareRename", e.at("shop.wip", shop, "id: uu"), &none)
	if string(none) != "null" {
		t.Errorf("got %s, want null", none)
	}
}

func TestHover(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("shop.wip", shop)
	tests := []struct {
		before string
		want   []string
	}{
		{"  bu", []string{"buy(order: Order = oldest, to: Direction = north) -> Item", "Sells one 門.", "risk mutating", "dry run", `"title": "buy"`}},
		{"list<Pl", []string{"record Place {\n  x: float;\n  y: float;\n}", "A place.", "package `shared`"}},
		{"= nor", []string{"north", "enum `Direction`"}},
		{"example(or", []string{"order: Order = oldest", "operation `buy`"}},
		{"interface Sh", []string{"interface Shop {", "🚪 Sells."}},
		{"@mut", []string{"@mutating", "changes things"}},
		{"id: uu", []string{"uuid", "lower case"}},
		{"pack", []string{"package"}},
		{"audience(local", []string{"local_operator", "program"}},
		{`import "sha`, []string{"shared.wip", "`shared`"}},
	}
	for _, tt := range tests {
		var got struct {
			Contents struct {
				Value string `json:"value"`
			} `json:"contents"`
		}
		e.call("textDocument/hover", e.at("shop.wip", shop, tt.before), &got)
		for _, want := range tt.want {
			if !strings.Contains(got.Contents.Value, want) {
				t.Errorf("at %q: got %q, want %q in it", tt.before, got.Contents.Value, want)
			}
		}
	}
	var none json.RawMessage
	e.call("textDocument/hover", e.at("shop.wip", shop, "/// 🚪 Se"), &none)
	if string(none) != "null" {
		t.Errorf("in a comment: got %s, want null", none)
	}
}

func TestHoverInABrokenDocument(t *testing.T) {
	e := newEditor(t, nil)
	text := "package a;\ninterface A {\n  /// Goes.\n  go(x: int) -> list<int;\n  stop(\n}\n"
	e.open("a.wip", text)
	var got struct {
		Contents struct {
			Value string `json:"value"`
		} `json:"contents"`
	}
	e.call("textDocument/hover", e.at("a.wip", text, "  g"), &got)
	if !strings.Contains(got.Contents.Value, "go(x: int)") || !strings.Contains(got.Contents.Value, "Goes.") {
		t.Errorf("got %q", got.Contents.Value)
	}
}

// TestHoverWhileAnotherDeclarationIsWritten fails if an operation loses its
// schema for what is wrong elsewhere, or keeps that of another text.
func TestHoverWhileAnotherDeclarationIsWritten(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("shop.wip", shop)
	e.diagnostics("shop.wip", 1)
	tests := []struct {
		old, new string
		schema   bool
	}{
		{"record Item {", "record Item { x: ", true},
		{"package shop;", "package shop;\n\n", true},
		{"buy(order", "buy(o: strng, order", false},
		{"buy(", "sell(", true},
		{"record Item {", "record Item { x:: ", false}, // and sell is buy again
	}
	text := shop
	for i, tt := range tests {
		text = strings.Replace(shop, tt.old, tt.new, 1)
		e.replace("shop.wip", i+2, text)
		if i == 3 {
			e.diagnostics("shop.wip", i+2)
		}
		var got struct {
			Contents struct{ Value string } `json:"contents"`
		}
		p := object{"textDocument": object{"uri": e.uri("shop.wip")}, "position": place(text, strings.Index(text, "to: north)\n  ")+len("to: north)\n  "))}
		e.call("textDocument/hover", p, &got)
		if has := strings.Contains(got.Contents.Value, `"title"`); has != tt.schema {
			t.Errorf("after %q: got %q, want a schema: %v", tt.new, got.Contents.Value, tt.schema)
		}
	}
}

type documentSymbol struct {
	Name     string           `json:"name"`
	Detail   string           `json:"detail"`
	Range    span             `json:"range"`
	Children []documentSymbol `json:"children"`
}

func TestDocumentSymbols(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("shop.wip", shop)
	var got []documentSymbol
	e.call("textDocument/documentSymbol", object{"textDocument": object{"uri": e.uri("shop.wip")}}, &got)
	var lines []string
	var walk func(list []documentSymbol, indent string)
	walk = func(list []documentSymbol, indent string) {
		for _, s := range list {
			lines = append(lines, strings.TrimSpace(indent+s.Name+" "+s.Detail))
			walk(s.Children, indent+".")
		}
	}
	walk(got, "")
	want := []string{"Shop", ".buy (order, to) -> Item", ".where () -> list<Place>", "Item", ".id uuid", ".place fact<Place>",
		".seller entry<Mover>", "Order", ".newest", ".oldest"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWorkspaceSymbols(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared, "sub/shop.wip": shop, ".hidden/x.wip": "package x;\nrecord Plaice { a: int; }\n"})
	for query, want := range map[string][]string{
		"plc": {"Place", "place"}, "DIR": {"Direction"}, "nothing": nil,
	} {
		var got []struct {
			Name string `json:"name"`
		}
		e.call("workspace/symbol", object{"query": query}, &got)
		var names []string
		for _, s := range got {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

func TestFormatting(t *testing.T) {
	e := newEditor(t, nil)
	text := "package  a;\nenum 🚪 { a }"
	e.open("a.wip", text)
	p := object{"textDocument": object{"uri": e.uri("a.wip")}, "options": object{"tabSize": 2}}
	var got []edit
	if err := e.try("textDocument/formatting", p, &got); err == nil || !strings.Contains(err.Error(), "bad-character") {
		t.Errorf("a broken document: got %v, want a refusal", err)
	}
	text = "package  a;\n// 🚪 門\nenum   Order {newest,oldest}"
	e.replace("a.wip", 2, text)
	e.call("textDocument/formatting", p, &got)
	want := "package a;\n\n// 🚪 門\nenum Order { newest, oldest }\n"
	if diff := cmp.Diff(want, apply(text, got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	e.replace("a.wip", 3, want)
	e.call("textDocument/formatting", p, &got)
	if len(got) > 0 {
		t.Errorf("the canonical form: got edits %v", got)
	}
}

type codeAction struct {
	Title string `json:"title"`
	Kind  string `json:"kind"`

	IsPreferred bool `json:"isPreferred"`

	Edit struct {
		Changes map[string][]edit `json:"changes"`
	} `json:"edit"`
}

func TestCodeActions(t *testing.T) {
	e := newEditor(t, nil)
	text := "package a;\n\nrecord Door {\n  open: bool // 🚪\n  name: string [..20 bytes]\n  at: int;\n}\n"
	e.open("a.wip", text)
	ask := func(line int, only ...string) []codeAction {
		var got []codeAction
		here := span{position{line, 3}, position{line, 3}}
		e.call("textDocument/codeAction", object{"textDocument": object{"uri": e.uri("a.wip")}, "range": here,
			"context": object{"diagnostics": []any{}, "only": only}}, &got)
		return got
	}
	got := ask(3)
	if len(got) != 1 || got[0].Kind != "quickfix" {
		t.Fatalf("got %+v, want one quick fix", got)
	}
	if after, want := apply(text, got[0].Edit.Changes[e.uri("a.wip")]), strings.Replace(text, "bool ", "bool; ", 1); after != want {
		t.Errorf("got %q, want %q", after, want)
	}
	if got := ask(3, "refactor"); len(got) != 0 {
		t.Errorf("of another kind: got %+v", got)
	}
	if got := ask(5); len(got) != 0 {
		t.Errorf("on a line without faults: got %+v", got)
	}
}

// An editor may make the preferred change unasked: it is the safe one.
func TestPreferredActions(t *testing.T) {
	e := newEditor(t, nil)
	for text, want := range map[string]bool{
		"package a;\nrecord A { a: Int; }\n":                       true,
		"package a;\nimport \"gone.wip\";\nrecord A { a: Int; }\n": false,
		"package a;\nrecord A { a: int [9..1]; }\n":                false,
	} {
		name := fmt.Sprintf("p%d.wip", len(text))
		e.open(name, text)
		before := "Int"
		if !strings.Contains(text, before) {
			before = "[9"
		}
		if got := e.actions(name, text, before); len(got) != 1 || got[0].IsPreferred != want {
			t.Errorf("%q: got %+v, want one with isPreferred %t", text, got, want)
		}
	}
}

func TestDeprecated(t *testing.T) {
	e := newEditor(t, nil)
	text := "package a;\n/// What was.\n@deprecated(\"use New\")\nrecord Old { id: uuid; }\n/// What is.\nrecord New { id: uuid; }\n/// Finds.\ninterface Finder {\n  /// Finds.\n  find() -> Old;\n}\n"
	e.open("a.wip", text)
	var h struct {
		Contents struct{ Value string }
	}
	e.call("textDocument/hover", e.at("a.wip", text, "-> O"), &h)
	if !strings.Contains(h.Contents.Value, "**Deprecated:** use New") {
		t.Errorf("hover: got %q", h.Contents.Value)
	}
	var list []struct{ Tags []int }
	e.call("textDocument/documentSymbol", object{"textDocument": object{"uri": e.uri("a.wip")}}, &list)
	if len(list) != 3 || len(list[0].Tags) != 1 || len(list[1].Tags) != 0 {
		t.Errorf("symbols: got %+v, want the first tagged", list)
	}
	found := false
	for _, d := range e.diagnostics("a.wip", 1) {
		found = found || d.Code == "deprecated-type" && slices.Equal(d.Tags, []int{2})
	}
	if !found {
		t.Error("found no tagged diagnostic of the use")
	}
}

func TestSemanticTokens(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("shop.wip", shop)
	var got struct {
		Data []int `json:"data"`
	}
	e.call("textDocument/semanticTokens/full", object{"textDocument": object{"uri": e.uri("shop.wip")}}, &got)
	kinds := map[string]string{}
	lines := strings.Split(shop, "\n")
	line, char := 0, 0
	for i := 0; i+4 < len(got.Data); i += 5 {
		if got.Data[i] > 0 {
			char = 0
		}
		line, char = line+got.Data[i], char+got.Data[i+1]
		start := offset(lines[line], position{0, char})
		end := offset(lines[line], position{0, char + got.Data[i+2]})
		kinds[lines[line][start:end]] = e.legend[got.Data[i+3]]
	}
	want := map[string]string{
		"package": "keyword", "shop": "namespace", "import": "keyword", `"shared.wip"`: "string", "/// 🚪 Sells.": "comment",
		"mutating": "decorator", "local_operator": "enumMember", "Shop": "interface", `"🛒🛒"`: "string", "order": "parameter",
		"newest": "enumMember", "to": "parameter", "north": "enumMember", "buy": "method", "Order": "enum", "Direction": "enum",
		"Item": "struct", "list": "type", "Place": "struct", "uuid": "type", "id": "property", "Mover": "interface", "record": "keyword",
	}
	for word, kind := range want {
		if kinds[word] != kind {
			t.Errorf("%s: got %q, want %q", word, kinds[word], kind)
		}
	}
	var part struct {
		Data []int `json:"data"`
	}
	e.call("textDocument/semanticTokens/range", object{"textDocument": object{"uri": e.uri("shop.wip")}, "range": span{position{13, 0}, position{15, 0}}}, &part)
	if len(part.Data) != 5*3 || part.Data[0] != 13 {
		t.Errorf("of a range: got %v, want the three tokens of two lines", part.Data)
	}
}

func TestFolding(t *testing.T) {
	e := newEditor(t, nil)
	text := "package a;\nimport \"b.wip\";\nimport \"c.wip\";\n\n/// One\n/// two.\ninterface A {\n  a(\n    x: int,\n  ) -> int;\n}\n/* more\n   lines */\nrecord B { a: int; }\n"
	e.open("a.wip", text)
	var got []struct {
		StartLine int    `json:"startLine"`
		EndLine   int    `json:"endLine"`
		Kind      string `json:"kind"`
	}
	e.call("textDocument/foldingRange", object{"textDocument": object{"uri": e.uri("a.wip")}}, &got)
	var folds []string
	for _, f := range got {
		folds = append(folds, strings.TrimSpace(fmt.Sprintf("%d-%d %s", f.StartLine, f.EndLine, f.Kind)))
	}
	if diff := cmp.Diff([]string{"1-2 imports", "4-5 comment", "6-9", "7-8", "11-12 comment"}, folds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLargeWorkspace fails if a rename forgets documents that were not looked
// at.
func TestLargeWorkspace(t *testing.T) {
	files := map[string]string{"z/shop.wip": shop, "shared.wip": shared}
	for i := range 2050 {
		files[fmt.Sprintf("many/%d.wip", i)] = ""
	}
	e := newEditor(t, files)
	e.open("shared.wip", shared)
	p := e.at("shared.wip", shared, "record Pl")
	p["newName"] = "Spot"
	if err := e.try("textDocument/rename", p, nil); err == nil || !strings.Contains(err.Error(), "wip.toml") {
		t.Errorf("got %v, want a refusal", err)
	}
	p["context"] = object{}
	e.call("textDocument/references", p, nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.told) == 0 || !strings.Contains(e.told[0], "only some uses of Place") {
		t.Errorf("got the messages %q", e.told)
	}
}
