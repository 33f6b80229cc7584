package idl_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// generatedRules are broken only by the documents that the tests of this file
// make.
var generatedRules = []string{"too-large", "too-many-faults", "import-limit", "type-too-large", "invalid-utf8"}

// compileAll compiles the documents of a map and returns the rules that were
// broken, by document.
func compileAll(t *testing.T, docs map[string]string, roots ...string) map[string][]string {
	t.Helper()
	_, err := idl.Compile(func(name string) ([]byte, error) {
		text, ok := docs[name]
		if !ok {
			return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		return []byte(text), nil
	}, roots...)
	rules := map[string][]string{}
	var list idl.ErrorList
	if errors.As(err, &list) {
		for _, d := range list {
			rules[d.Span.File] = append(rules[d.Span.File], d.Rule)
		}
	}
	return rules
}

func expectRules(t *testing.T, got map[string][]string, file string, want ...string) {
	t.Helper()
	if fmt.Sprint(got[file]) != fmt.Sprint(want) {
		t.Errorf("%s: found %v, expected %v", file, got[file], want)
	}
}

func TestLimitOfTheText(t *testing.T) {
	got := compileAll(t, map[string]string{
		"large.wip": "package p;\n" + strings.Repeat("// comment\n", syntax.MaxSource/10),
		"utf8.wip":  "package p;\n// \xff\n",
	}, "large.wip", "utf8.wip")
	expectRules(t, got, "large.wip", "too-large")
	expectRules(t, got, "utf8.wip", "invalid-utf8")
}

func TestLimitOfFaults(t *testing.T) {
	got := compileAll(t, map[string]string{
		"a.wip": "package p;\n" + numbered("record R%d { a: Nothing0; b: Nothing1; c: Nothing2; }\n", 400),
	}, "a.wip")["a.wip"]
	if len(got) != 1001 || got[1000] != "too-many-faults" {
		t.Errorf("found %d faults", len(got))
	}
}

func TestLimitOfImports(t *testing.T) {
	docs := map[string]string{}
	chain := func(i int) string { return fmt.Sprintf("deep/%d.wip", i) }
	for i := range 20 {
		docs[chain(i)] = fmt.Sprintf("package p;\nimport %q;\n", chain(i+1))
	}
	docs[chain(20)] = "package p;"
	var wide strings.Builder
	wide.WriteString("package p;\n")
	for i := range idl.MaxDocuments + 100 {
		name := fmt.Sprintf("wide/%d.wip", i)
		docs[name] = "package p;"
		fmt.Fprintf(&wide, "import %q;\n", name)
	}
	docs["wide.wip"] = wide.String()
	filler := "package p;\n// " + strings.Repeat("x", 900_000)
	docs["heavy.wip"] = "package p;\n"
	for i := range 6 {
		name := fmt.Sprintf("heavy/%d.wip", i)
		docs[name] = filler
		docs["heavy.wip"] += fmt.Sprintf("import %q;\n", name)
	}
	expectRules(t, compileAll(t, docs, chain(0)), chain(16), "import-limit")
	if got := compileAll(t, docs, "wide.wip")["wide.wip"]; len(got) != 1 || got[0] != "import-limit" {
		t.Errorf("found %d faults: %v", len(got), got)
	}
	expectRules(t, compileAll(t, docs, "heavy.wip"), "heavy.wip", "import-limit")
}

// That there is too much is said once, with what to do about it.
func TestLimitOfDocumentsIsToldOnce(t *testing.T) {
	var names []string
	for i := range idl.MaxDocuments + 76 {
		names = append(names, fmt.Sprintf("d%d.wip", i))
	}
	text := []byte("package p;\n")
	for name, src := range map[string]idl.Source{
		"documents": {},
		"bytes":     {MaxBytes: 500 * len(text)},
	} {
		src.Load = func(string) ([]byte, error) { return text, nil }
		src.LimitHint = "allow more"
		found := idl.Check(src, append(names, names...)...)
		if len(found.Faults) != 1 || found.Faults[0].Rule != "import-limit" || found.Faults[0].Hint != src.LimitHint {
			t.Errorf("%s: found %v, expected one fault", name, found.Faults)
		}
	}
}

func TestLimitOfRecords(t *testing.T) {
	var deep, large strings.Builder
	deep.WriteString("package p;\n")
	large.WriteString("package p;\n")
	for i := range 60 {
		fmt.Fprintf(&deep, "record R%d { next: R%d; }\n", i, i+1)
		fmt.Fprintf(&large, "record R%d { left: R%d; right: R%d; }\n", i, i+1, i+1)
	}
	deep.WriteString("record R60 { a: int; }")
	large.WriteString("record R60 { a: int; }")
	got := compileAll(t, map[string]string{"deep.wip": deep.String(), "large.wip": large.String()}, "deep.wip", "large.wip")
	expectRules(t, got, "deep.wip", "type-too-large")
	expectRules(t, got, "large.wip", "type-too-large")
}

func TestLimitOfPatterns(t *testing.T) {
	var b strings.Builder
	b.WriteString("package p;\n")
	for i := range 200 {
		fmt.Fprintf(&b, "record R%d { a: string [matching \"[a-z]{900}%d\"]; }\n", i, i)
	}
	got := compileAll(t, map[string]string{"a.wip": b.String()}, "a.wip")["a.wip"]
	if len(got) < 80 || len(got) > 120 || got[0] != "pattern-too-large" {
		t.Errorf("found %d faults", len(got))
	}
}

// A document of nothing but unknown names that are nearly right, and one of
// records that all hold each other, must cost no more than a few times what
// it takes to parse them.
func TestHostileDocumentsAreCheap(t *testing.T) {
	var names, dense strings.Builder
	names.WriteString("package p;\n")
	dense.WriteString("package p;\n")
	for i := range 1000 {
		fmt.Fprintf(&names, "record Name%d { a: Nome%d; }\n", i, i)
		fmt.Fprintf(&dense, "record R%d { ", i)
		for j := range 10 {
			fmt.Fprintf(&dense, "f%d: R%d; ", j, (i+j*97)%1000)
		}
		dense.WriteString("}\n")
	}
	docs := map[string]string{"names.wip": names.String(), "dense.wip": dense.String()}
	start := time.Now()
	for name, text := range docs {
		syntax.Parse(name, []byte(text))
	}
	parsing := time.Since(start)
	start = time.Now()
	got := compileAll(t, docs, "names.wip", "dense.wip")
	if took := time.Since(start); took > 20*parsing+time.Second {
		t.Errorf("took %s, parsing alone %s", took, parsing)
	}
	if len(got["names.wip"]) != 1000 || len(got["dense.wip"]) != 1001 {
		t.Errorf("found %d and %d faults", len(got["names.wip"]), len(got["dense.wip"]))
	}
}

func TestLoaderErrors(t *testing.T) {
	broken := errors.New("connection reset")
	docs, err := idl.Compile(func(name string) ([]byte, error) {
		switch name {
		case "good.wip":
			return []byte("package p;\nrecord A { a: int; }"), nil
		case "user.wip":
			return []byte("package p;\nimport \"broken.wip\";\nrecord B { a: int; }"), nil
		case "broken.wip":
			return nil, broken
		}
		return nil, os.ErrNotExist
	}, "good.wip", "user.wip", "broken.wip", "missing.wip", "good.wip")
	if len(docs) != 1 || docs[0].Name != "good.wip" {
		t.Errorf("returned %v", docs)
	}
	list, _ := err.(idl.ErrorList)
	want := []string{
		`user.wip:2:8: cannot load document "broken.wip": connection reset [import-not-found]`,
		`broken.wip:0:0: found no document "broken.wip" [document-not-found]`,
		`missing.wip:0:0: found no document "missing.wip" [document-not-found]`,
	}
	if got := strings.Split(list.Error(), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var d syntax.Diagnostic
	if !errors.As(err, &d) || d.Rule != "import-not-found" {
		t.Errorf("no diagnostic in the error")
	}
}
