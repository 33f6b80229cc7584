package idl_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// checkAny compiles any two texts, of which the first may import the second
// as "lib.wip", and checks what holds of every document.
func checkAny(t *testing.T, text, lib string) {
	t.Helper()
	texts := map[string]string{"main.wip": text, "lib.wip": lib}
	load := func(name string) ([]byte, error) {
		if text, ok := texts[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}
	docs, err := idl.Compile(load, "main.wip")
	if err != nil {
		checkFaults(t, err.(idl.ErrorList), texts, load)
	}
	if err == nil && len(docs) != 1 {
		t.Fatalf("no fault, and %d documents", len(docs))
	}
	for _, d := range docs {
		checkRoundTrip(t, d)
		for _, i := range d.Interfaces {
			for _, o := range i.Operations {
				checkExamples(t, o)
			}
		}
	}
}

// checkFaults checks that faults are known, ordered, single and printable.
func checkFaults(t *testing.T, list idl.ErrorList, texts map[string]string, load idl.Loader) {
	t.Helper()
	if len(list) == 0 {
		t.Fatal("an empty list of faults was returned")
	}
	known := map[string]bool{}
	for _, r := range idl.Rules() {
		known[r.ID] = true
	}
	seen := map[string]bool{}
	files := map[string]bool{}
	var last syntax.Span
	for _, d := range list {
		if !known[d.Rule] {
			t.Errorf("unknown rule in %s", d)
		}
		at := fmt.Sprint(d.Rule, d.Span, d.Message)
		if seen[at] {
			t.Errorf("reported twice: %s", d)
		}
		seen[at] = true
		if d.Span.File != last.File {
			if files[d.Span.File] {
				t.Errorf("out of order: %s", d)
			}
			files[d.Span.File] = true
		} else if d.Span.Start.Offset < last.Start.Offset {
			t.Errorf("out of order: %s", d)
		}
		last = d.Span
		if d.Span.Start.Line > 0 {
			checkPositions(t, texts[d.Span.File], d)
		}
		for _, r := range d.Related {
			checkPositions(t, texts[r.Span.File], syntax.Diagnostic{Span: r.Span, Rule: d.Rule, Message: r.Message})
		}
	}
	var out bytes.Buffer
	if err := idl.Render(&out, list, load); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("rendered %q", line)
		}
	}
}

// checkRoundTrip writes a document out by String and Signature, and checks
// that it means the same when it is read again.
func checkRoundTrip(t *testing.T, d *idl.Document) {
	t.Helper()
	write := func(d *idl.Document) string {
		var b strings.Builder
		fmt.Fprintf(&b, "package %s;\nversion %d;\n", d.Package, d.Version)
		for _, i := range d.Imports {
			fmt.Fprintf(&b, "import %q;\n", i.Name)
		}
		for _, i := range d.Interfaces {
			fmt.Fprintf(&b, "interface %s {\n", i.Name)
			for _, o := range i.Operations {
				fmt.Fprintf(&b, "  %s;\n", o.Signature())
			}
			b.WriteString("}\n")
		}
		for _, r := range d.Records {
			fmt.Fprintf(&b, "%s\n", r)
		}
		for _, e := range d.Enums {
			fmt.Fprintf(&b, "%s\n", e)
		}
		return b.String()
	}
	texts := map[string]string{}
	var collect func(*idl.Document)
	collect = func(d *idl.Document) {
		texts[d.Name] = write(d)
		for _, i := range d.Imports {
			collect(i)
		}
	}
	collect(d)
	again, err := idl.Compile(func(name string) ([]byte, error) { return []byte(texts[name]), nil }, d.Name)
	if err != nil {
		t.Errorf("what was printed does not compile: %v\n%s", err, texts[d.Name])
		return
	}
	if got := write(again[0]); got != texts[d.Name] {
		t.Errorf("printed\n%s\nand then\n%s", texts[d.Name], got)
	}
}

// checkExamples checks that the examples of an operation are valid calls.
func checkExamples(t *testing.T, o *idl.Operation) {
	t.Helper()
	for _, e := range o.Examples {
		args, err := o.DecodeArgs(e)
		if err != nil || len(args.Repairs) > 0 {
			t.Fatalf("%s: example %s: %v", o.Signature(), e, err)
		}
	}
}

// seedDocuments are the documents of the specification and of the golden
// files.
func seedDocuments(tb testing.TB) []string {
	tb.Helper()
	var seeds []string
	src, err := os.ReadFile(specPath)
	if err != nil {
		tb.Fatal(err)
	}
	for i, part := range strings.Split(string(src), "```") {
		if info, text, ok := strings.Cut(part, "\n"); ok && i%2 == 1 && strings.HasPrefix(info, "wip") {
			seeds = append(seeds, text)
		}
	}
	paths, err := filepath.Glob("testdata/compile/*.txtar")
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".wip") {
				seeds = append(seeds, string(f.Data))
			}
		}
	}
	return seeds
}

const seedLibrary = "package lib;\nrecord Person { name: text; }\nenum Label { good, bad }\ninterface Door { open() -> bool; }\n"

func FuzzCompile(f *testing.F) {
	for _, text := range seedDocuments(f) {
		f.Add(text, seedLibrary)
	}
	for _, m := range docMistakes {
		text, _ := assemble([]docMistake{m})
		f.Add(text, "package lib;\nimport \"main.wip\";")
	}
	f.Fuzz(func(t *testing.T, text, lib string) {
		if len(text)+len(lib) > 64<<10 {
			t.Skip("the limits have tests of their own")
		}
		checkAny(t, text, lib)
	})
}

// TestCompileMutatedDocuments changes sound and faulty documents at random, in
// bytes and in words, and checks what holds of every document.
func TestCompileMutatedDocuments(t *testing.T) {
	seeds := seedDocuments(t)
	words := []string{"{", "}", "(", ")", "<", ">", "[", "]", ";", ",", ":", "?", "=", "->", "..", "@", "\"", "\\", "//", "///", "/*", "*/", "\n",
		"record", "enum", "interface", "import \"lib.wip\";", "package", "list", "page", "fact", "observed", "entry", "text", "int", "Person", "Door",
		"@derived", "@example(page: 1)", "@cost(1)", "bytes", "matching", "-1", "1e308", "3s", "\x00", "\xff", "é", "\u202e"}
	random := rand.New(rand.NewPCG(7, 11))
	n := mutations(t)
	deadline := time.Now().Add(time.Duration(n) * 20 * time.Millisecond)
	for i := range n {
		text := []byte(seeds[random.IntN(len(seeds))])
		for range 1 + random.IntN(6) {
			at, to := random.IntN(len(text)+1), random.IntN(len(text)+1)
			switch random.IntN(6) {
			case 0: // put a word in
				text = append(text[:at:at], append([]byte(words[random.IntN(len(words))]), text[at:]...)...)
			case 1: // cut the end off
				if random.IntN(4) == 0 {
					text = text[:at]
				}
			case 2: // take a piece out
				at, to = min(at, to), min(max(at, to), at+20)
				if at <= to {
					text = append(text[:at:at], text[to:]...)
				}
			case 3: // repeat a piece elsewhere
				piece := text[min(at, to):min(max(at, to), min(at, to)+80)]
				text = append(text[:at:at], append(bytes.Clone(piece), text[at:]...)...)
			case 4: // change a byte
				if at < len(text) {
					text[at] = byte(random.IntN(256))
				}
			case 5: // put one seed behind the other
				if random.IntN(4) == 0 {
					text = append(text, seeds[random.IntN(len(seeds))]...)
				}
			}
		}
		checkAny(t, string(text), seedLibrary)
		if t.Failed() {
			t.Fatalf("mutation %d:\n%q", i, text)
		}
		if time.Now().After(deadline) {
			t.Fatalf("mutation %d of %d: too slow", i, n)
		}
	}
}
