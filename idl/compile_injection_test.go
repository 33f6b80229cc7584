package idl_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wipagent/wipagent/idl"
)

// A slip is one thing wrong in one member or declaration, whose place is marked
// «so». In text, N stands for a name that is used once. What begins with ^ only
// stands alone on its line.
var (
	fieldSlips = []string{
		`«"N"»: int;`, `N: «"int"»;`, `N: list<«"int"»>;`, `«'N'»: int;`, `N: «'int'»;`, `«“N”»: int;`, `«"N N"»: int;`,
		`N «int»;`, `N: «;»`, `^N: int«»`, `N: int«,»`, `N: int «=» 3;`, `N: list<int«;»`, `N: map<list<int>«;»`,
		`N: int [1..5«;»`, `N: int [1«,» 5];`, `N: int [1«]»;`, `N: int [«007»..9];`, `N: «integr»;`, `N: list<«integr»>;`,
		`N«-»x: int;`, `int «N»;`, `@«derivd» N: int;`, `@«read_only» N: int;`, `N: int?«?»;`, `«5»: int;`, `N: int «[5..1]»;`,
		`N: bool «[0..1]»;`, `«;»`, `@deprecated("a«\q»b") N: int;`, `N: int [..«2.5»];`, `N: string [«1KiB»..2];`,
		`N: string [matching «"(a"»];`, `N«()» -> int;`, `N: «list»;`, `@ N«:» int;`, `N: map<«string, int»>;`, `N: fact<int>«?»;`,
		`N: int «#» what;`, `N: Part «|» Tool;`, `N: int [1«...»5];`, `N: «?»int;`, `^@deprecated(«"later») N: int;`, `N: «$»int;`,
		`«@deprecated()» N: int;`, `@deprecated("x"«» "y") N: int;`,
	}
	operationSlips = []string{
		`«"N"»() -> int;`, `N(«"a"»: int) -> int;`, `N(a: «"int"») -> int;`, `N() -> «"int"»;`, `N() «int»;`, `N()«:» int;`, `N()«;»`,
		`N() -> «;»`, `N(a: int «->» int;`, `N(a: int«» b: int) -> int;`, `N(a: int«;» b: int) -> int;`, `N(a: int,«,» b: int) -> int;`,
		`N(a: «)» -> int;`, `N(a: int = «)» -> int;`, `N«:» int;`, `N(a: int = «"x"») -> int;`, `N(a: «text») -> int;`,
		`@«mutatin» N() -> int;`, `@cost(«0») N() -> int;`, `N() -> int «{» }`, `N(a: int, «a»: int) -> int;`, `N(a: int = «1_000») -> int;`,
		`^N() -> int«»`, `@alias("a"«» "b") N() -> int;`, `N(a «int») -> int;`, `N(a: list<int«)» -> int;`, `N(a: string = "«\q»") -> int;`,
		`N(a: int [5«)» -> int;`, `N() «=»> int;`, `fn «N»() -> int;`, `N(a: «integr») -> int;`, `N() -> «integr»;`,
		`N(a: «'int'») -> int;`, `@example(«b»: 1) N(a: int = 1) -> int;`, `@timeout(«3») N() -> int;`, `N(a: int? = «1») -> int;`,
		`N(«'a'»: int) -> int;`, `@cost(1) @«cost»(2) N() -> int;`, `N(a: int) -> int«,» int;`, `«;»`, `N(int «a») -> int;`, `@ N() «->» int;`,
		`N(a: int «%» b: int) -> int;`, `N(a: int = «'x'») -> int;`,
	}
	labelSlips = []string{
		`«"N"»`, `«'N'»`, `N «=» 1`, `N «=» "x"`, `N«-»x`, `«@derived» N`, `N«;» N`, `N«» N`, `N,«,» N`, `«5»`,
	}
	declarationSlips = []string{
		`«struct» N { a: int; }`, `record «{» a: int; }`, `enum N { «}»`, `«words» without meaning;`, `record N { a: int; }«;»`,
		`@«unstabl» record N { a: int; }`, `import «"late.wip"»;`, `package «again»;`, `record N «a»: int; }`, `record «"N"» { a: int; }`,
		`record N { a: int; }«}»`, `interface N «extends» Tool { a() -> int; }`,
	}
	soundMembers = map[string][]string{
		"record":    {"N: int;", "/// What it is.\n  N: list<Part> [..9];", `@derived N: string [matching "a;b}"];`, "N: fact<text>; // why", "N: entry<Tool>?;"},
		"interface": {"N() -> int;", "@mutating\n  N(a: int = 1, b: Color = red) -> Part;", `@alias("it: {", "that") @example(a: "x") N(a: string) -> list<int>;`, "N(\n    a: int, // one\n    b: bool = true,\n  ) -> observed<Part>;"},
		"enum":      {"N", "/// What it is.\n  N"},
	}
)

const injectionBase = "package test;\nrecord Part { a: int; }\ninterface Tool { use() -> bool; }\nenum Color { red, green }\n"

// injector writes a document.
type injector struct {
	rand  *rand.Rand
	doc   strings.Builder
	names int
	marks []mark
}

// mark is where a slip is.
type mark struct {
	start, end int
	text       string
}

// write writes a template.
func (w *injector) write(text string) {
	for strings.Contains(text, "N") {
		if i := strings.Index(text, "N"); true {
			w.names++
			text = text[:i] + fmt.Sprintf("n%d", w.names) + text[i+1:]
		}
	}
	before, rest, faulty := strings.Cut(text, "«")
	w.doc.WriteString(before)
	if !faulty {
		return
	}
	marked, after, _ := strings.Cut(rest, "»")
	start := w.doc.Len()
	w.doc.WriteString(marked)
	w.marks = append(w.marks, mark{start, w.doc.Len(), text})
	w.doc.WriteString(after)
}

func (w *injector) pick(list []string) string { return list[w.rand.IntN(len(list))] }

// mends reports whether a semicolon too many behind one slip would be what is
// missing there.
func mends(slip string) bool {
	return strings.HasSuffix(slip, "«»") || strings.HasSuffix(slip, "}") || strings.HasSuffix(slip, "«,»")
}

// block writes a declaration with members, of which up to so many are faulty.
func (w *injector) block(most int) {
	word := w.pick([]string{"record", "interface", "enum"})
	slips := map[string][]string{"record": fieldSlips, "interface": operationSlips, "enum": labelSlips}[word]
	lines := w.rand.IntN(2) == 0
	w.write(word + " N {")
	n := 1 + w.rand.IntN(8)
	before := ""
	for i := range n {
		text := w.pick(soundMembers[word])
		if slip := w.pick(slips); most > 0 && w.rand.IntN(3) > 0 && (slip != "«;»" || !mends(before)) {
			text = slip
			most--
		}
		before = text
		text, alone := strings.CutPrefix(text, "^")
		comment := strings.Contains(text, "//")
		if lines || alone || comment {
			w.write("\n  ")
		} else {
			w.write(" ")
		}
		w.write(text)
		if word == "enum" && (i < n-1 || w.rand.IntN(2) == 0) {
			w.write(",")
		}
		if alone || comment {
			w.write("\n ")
		}
	}
	if lines {
		w.write("\n}\n")
	} else {
		w.write(" }\n")
	}
}

// Each of 2 to 20 slips of a document, each in a member or declaration of its
// own, is reported where it is, and nothing else is.
func TestInjectedSlipsAreAllReported(t *testing.T) {
	total := 0
	for seed := range injections() {
		w := &injector{rand: rand.New(rand.NewPCG(6, uint64(seed)))}
		w.write(injectionBase)
		for most := 2 + w.rand.IntN(19); len(w.marks) < most; {
			if w.rand.IntN(5) == 0 {
				w.write(w.pick(declarationSlips) + "\n")
			} else {
				w.block(most - len(w.marks))
			}
		}
		total += len(w.marks)
		if diff := w.judge(w.doc.String()); diff != "" {
			t.Fatalf("in document %d\n%s\n%s", seed, diff, w.doc.String())
		}
	}
	t.Logf("%d slips", total)
}

// injections is how many documents are made; the environment variable
// WIPAGENT_MUTATIONS asks for another number.
func injections() int {
	if n, err := strconv.Atoi(os.Getenv("WIPAGENT_MUTATIONS")); err == nil && n > 0 {
		return n
	}
	return 1000
}

// judge compares what is found in a document with the marks.
func (w *injector) judge(text string) string {
	list := faultsOf(text)
	var wrong strings.Builder
	left := slices.Clone(w.marks)
	for _, d := range list {
		at := slices.IndexFunc(left, func(m mark) bool { return m.start <= d.Span.Start.Offset && d.Span.Start.Offset <= m.end })
		if at < 0 {
			fmt.Fprintf(&wrong, "found more: %v\n", d)
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
	for _, m := range left {
		fmt.Fprintf(&wrong, "found nothing at %d of %s\n", m.start, m.text)
	}
	return wrong.String()
}

// faultsOf returns what Compile finds in a document.
func faultsOf(text string) idl.ErrorList {
	load := idl.FSLoader(fstest.MapFS{"t.wip": {Data: []byte(text)}, "late.wip": {Data: []byte("package late;\n")}})
	_, err := idl.Compile(load, "t.wip")
	list, _ := err.(idl.ErrorList)
	return list
}

// Each slip alone is one fault at its place, on lines of its own and beside
// sound members.
func TestEachSlip(t *testing.T) {
	for word, slips := range map[string][]string{"record": fieldSlips, "interface": operationSlips, "enum": labelSlips, "": declarationSlips} {
		for _, slip := range slips {
			for _, layout := range []string{"\n", " "} {
				text, alone := strings.CutPrefix(slip, "^")
				if alone && layout == " " {
					continue
				}
				w := &injector{}
				w.write(injectionBase)
				if word == "" {
					w.write(text + layout + "record N { a: int; }\n")
				} else {
					sound, comma := soundMembers[word][0], ""
					if word == "enum" {
						comma = ","
					}
					w.write(word + " N {" + layout + sound + comma + layout)
					w.write(text)
					w.write(comma + layout)
					w.write(sound + layout + "}\n")
				}
				if diff := w.judge(w.doc.String()); diff != "" {
					t.Errorf("%s%s", diff, w.doc.String()[len(injectionBase):])
				}
			}
		}
	}
}

// Two slips in members beside each other are two faults.
func TestEachPairOfSlips(t *testing.T) {
	for word, slips := range map[string][]string{"record": fieldSlips, "interface": operationSlips, "enum": labelSlips, "": declarationSlips} {
		for _, a := range slips {
			for _, b := range slips {
				for _, layout := range []string{"\n", " "} {
					first, alone := strings.CutPrefix(a, "^")
					second, alone2 := strings.CutPrefix(b, "^")
					if (alone || alone2) && layout == " " || b == "«;»" && mends(a) || strings.HasPrefix(b, "«words»") && layout == " " {
						continue // what is too much is what is missing
					}
					w := &injector{}
					w.write(injectionBase)
					comma := layout
					if word == "enum" {
						comma = "," + layout
					}
					if word != "" {
						w.write(word + " N {" + layout)
					}
					w.write(first)
					w.write(comma)
					w.write(second)
					w.write(comma)
					if word != "" {
						w.write(soundMembers[word][0] + layout + "}\n")
					} else {
						w.write("record N { a: int; }\n")
					}
					if diff := w.judge(w.doc.String()); diff != "" {
						t.Errorf("%s%s", diff, w.doc.String()[len(injectionBase):])
					}
				}
			}
		}
	}
}
