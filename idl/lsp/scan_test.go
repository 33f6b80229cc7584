package lsp

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl/syntax"
)

// documents returns the texts of real and of broken documents.
func documents(t testing.TB) map[string]string {
	t.Helper()
	texts := map[string]string{}
	files, _ := filepath.Glob("../../interfaces/*.wip")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(b)
	}
	archives, _ := filepath.Glob("../testdata/compile/*.txtar")
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if filepath.Ext(f.Name) == ".wip" {
				texts[name+":"+f.Name] = string(f.Data)
			}
		}
	}
	if len(files) < 4 || len(texts) < 20 {
		t.Fatalf("found only %d documents", len(texts))
	}
	return texts
}

// TestScanAgreesWithTheParser looks for each name, value and import of the
// tree among the tokens.
func TestScanAgreesWithTheParser(t *testing.T) {
	for name, src := range documents(t) {
		if _, faults := syntax.Parse(name, []byte(src)); len(faults) > 0 {
			continue // the parser mends tokens
		}
		starts := map[int]token{}
		for _, tok := range scan(src, len(src), syntax.MaxTokens) {
			starts[tok.start] = tok
		}
		tree, _ := syntax.Parse(name, []byte(src))
		v := newView(name, name, newText(src), tree)
		expect := func(s syntax.Span, kind tokenKind) {
			if tok, ok := starts[s.Start.Offset]; !ok || tok.end != s.End.Offset || tok.kind != kind || tok.open {
				t.Errorf("%s: got token %+v, want kind %d up to %d", s, tok, kind, s.End.Offset)
			}
		}
		for _, s := range v.names {
			expect(s.name.Span, nameToken)
			if s.value != nil {
				expect(s.value.Span, map[syntax.ValueKind]tokenKind{syntax.StringValue: stringToken, syntax.NumberValue: numberToken,
					syntax.QuantityValue: numberToken, syntax.NameValue: nameToken}[s.value.Kind])
			}
		}
		for _, r := range v.refs {
			kind := nameToken
			if r.kind == toImport {
				kind = stringToken
			}
			expect(r.span, kind)
		}
	}
}

// FuzzScan fails if a token is empty, out of order or outside the text, or if
// a place's site or view panics.
func FuzzScan(f *testing.F) {
	for _, src := range []string{"", "record A { x: list<int [1..2]?> = 1.5e-3; }", "@a(\"", "/* ", "/// 門\n🚪", "-> .. -5ms +1 ?", "interface A { @example(x: "} {
		f.Add(src, len(src)/2)
	}
	f.Fuzz(func(t *testing.T, src string, off int) {
		if len(src) > 1<<16 {
			return
		}
		end := 0
		for _, tok := range scan(src, len(src), syntax.MaxTokens) {
			if tok.start < end || tok.end <= tok.start || tok.end > len(src) {
				t.Fatalf("token %+v behind %d in %q", tok, end, src)
			}
			end = tok.end
		}
		tree, _ := syntax.Parse("a.wip", []byte(src))
		v := newView("a.wip", "file:///a.wip", newText(src), tree)
		off = min(max(off, 0), len(src))
		newSite(src, off)
		v.at(off)
		v.wordAt(off)
		left := maxOutline
		v.outline(v.symbols, &left)
	})
}
