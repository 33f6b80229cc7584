package idl_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// docMistake is a piece of a document with one fault, whose span is marked «so».
// In text, a % stands for a number that keeps the pieces of one document
// apart; beside it stand the declarations of mistakeBase.
type docMistake struct{ rule, text string }

const mistakeBase = `
record Ok { a: int; }
record Words { body: text; }
record Known { a: fact<int>; }
enum Color { red, green, blue }
interface Thing { look() -> text; }
`

var docMistakes = []docMistake{
	{"missing-type", `record D% { a: «;» b: int; }`},
	{"bad-escape", `interface D% { a(x: string = "bad «\q» escape") -> int; }`},
	{"bad-number", `interface D% { a(x: int = «1_000») -> int; }`},
	{"missing-value", `interface D% { a(x: int = «,» y: int) -> int; }`},
	{"unexpected-token", `interface D% { a() «=» > int; }`},
	{"unclosed-angle", `record D% { a: list<int«;» }`},
	{"duplicate-name", `record D% { a: int; «a»: float; }`},
	{"duplicate-name", `enum D% { north, «north» }`},
	{"duplicate-name", `interface D% { a() -> int; «a»() -> bool; }`},
	{"duplicate-name", `interface D% { a(x: int, «x»: int) -> int; }`},
	{"duplicate-name", `record D% { } record «D%» { }`},
	{"colliding-name", `interface D% { a(page_size: int, «pageSize»: int) -> int; }`},
	{"colliding-name", `record D% { page: int; «Page»: int; }`},
	{"colliding-name", `enum D% { NORTH, «north» }`},
	{"colliding-name", `interface D% { read_it() -> int; «readIt»() -> int; }`},
	{"colliding-name", `record D% { } enum «d%» { a }`},
	{"reserved-name", `record «text» { }`},
	{"reserved-name", `enum «entry» { a }`},
	{"too-long", `record «` + strings.Repeat("N", 65) + `» { }`},
	{"too-long", "///" + strings.Repeat(" word", 900) + "\nrecord «D%» { }"},
	{"too-long", `interface D% { @alias(«"` + strings.Repeat("a", 101) + `"») a() -> int; }`},
	{"too-many", `interface D% { ` + strings.Repeat(`@alias("x") `, 0) + `a(` + numbered("p%d: int, ", 64) + `«extra»: int) -> int; }`},
	{"too-many", `record D% { ` + numbered("f%d: int; ", 256) + `«extra»: int; }`},
	{"too-many", `interface D% { ` + numbered(`@example(x: %d) `, 16) + `«@example(x: 16)» a(x: int) -> int; }`},
	{"too-many", `interface D% { @alias(` + numbered(`"a%d", `, 64) + `«"one more"») a() -> int; }`},
	{"too-deep", `record D% { a: ` + strings.Repeat("list<", 9) + `«int»` + strings.Repeat(">", 9) + `; }`},
	{"unknown-type", `record D% { a: «integr»; }`},
	{"unknown-type", `record D% { a: list<«Colour»>; }`},
	{"unknown-type", `record D% { a: entry<«Thingy»>; }`},
	{"unknown-type", `interface D% { a(x: «nothing_like_it») -> int; }`},
	{"type-arguments", `record D% { a: «list»; }`},
	{"type-arguments", `record D% { a: map<«string, int»>; }`},
	{"type-arguments", `record D% { a: int<«float»>; }`},
	{"type-arguments", `record D% { a: Ok<«int»>; }`},
	{"type-arguments", `record D% { a: entry<«Thing, Thing»>; }`},
	{"interface-as-type", `record D% { a: «Thing»; }`},
	{"not-an-interface", `record D% { a: entry<«Ok»>; }`},
	{"not-an-interface", `record D% { a: entry<«int»>; }`},
	{"not-an-interface", `record D% { a: entry<«Thing?»>; }`},
	{"bad-nesting", `record D% { a: «observed»<Ok>; }`},
	{"bad-nesting", `interface D% { a() -> list<«observed»<Ok>>; }`},
	{"bad-nesting", `interface D% { a() -> observed<«int»>; }`},
	{"bad-nesting", `interface D% { a() -> observed<fact<«text»>>; }`},
	{"bad-nesting", `interface D% { a() -> fact<«observed»<Ok>>; }`},
	{"bad-nesting", `interface D% { a() -> list<«page»<Ok>>; }`},
	{"bad-nesting", `record D% { a: map<«page»<Ok>>; }`},
	{"bad-nesting", `record D% { a: fact<«fact»<int>>; }`},
	{"bad-nesting", `record D% { a: fact<«map<int>»>; }`},
	{"bad-nesting", `record D% { a: page<«list<int>»>; }`},
	{"bad-nesting", `record D% { a: page<«fact»<Ok>>; }`},
	{"bad-optional", `record D% { a: fact<int>«?»; }`},
	{"bad-optional", `record D% { a: page<Ok>«?»; }`},
	{"bad-optional", `record D% { a: page<Ok«?»>; }`},
	{"bad-optional", `interface D% { a() -> observed<Ok>«?»; }`},
	{"bad-optional", `interface D% { a() -> observed<Ok«?»>; }`},
	{"bad-optional", `interface D% { a() -> observed<fact<Ok«?»>>; }`},
	{"parameter-type", `interface D% { a(x: «text») -> int; }`},
	{"parameter-type", `interface D% { a(x: list<«text»>) -> int; }`},
	{"parameter-type", `interface D% { a(x: «fact»<int>) -> int; }`},
	{"parameter-type", `interface D% { a(x: list<«page»<Ok>>) -> int; }`},
	{"parameter-type", `interface D% { a(x: «Words») -> int; }`},
	{"parameter-type", `interface D% { a(x: list<«Known»>) -> int; }`},
	{"parameter-type", `record E% { w: list<Words>; } interface D% { a(x: «E%») -> int; }`},
	{"page-parameters", `interface D% { «a»() -> page<Ok>; }`},
	{"page-parameters", `interface D% { «a»(page: int [1..]) -> observed<fact<page<Ok>>>; }`},
	{"page-parameters", `interface D% { a(page: int [1..], page_size: «float [1..]») -> page<Ok>; }`},
	{"page-parameters", `interface D% { a(page: «int», page_size: int [1..20]) -> page<Ok>; }`},
	{"page-parameters", `interface D% { a(page: int [1..], page_size: «int [0..20]») -> page<Ok>; }`},
	{"record-cycle", `record D% { a: «D%»; }`},
	{"record-cycle", `record D% { a: E%; } record E% { b: «D%»; }`},
	{"record-cycle", `record D% { a: «list<D%> [1..]»; }`},
	{"field-collision", `record D% { «freshness»: int; } interface E% { a() -> observed<D%>; }`},
	{"field-collision", `record D% { «tool»: int; } interface E% { a() -> observed<fact<D%>>; }`},
	{"field-collision", `record D% { «status»: int; } record E% { a: fact<D%>; }`},
	{"field-collision", `record D% { «reason»: int; } record E% { a: fact<D%?>; b: fact<D%>; }`},
	{"field-collision", `record D% { «trust»: int; body: text; }`},
	{"field-collision", `record D% { «trust»: int; words: list<Words>; }`},
	{"refinement-type", `record D% { a: bool «[0..1]»; }`},
	{"refinement-type", `record D% { a: Ok «[0..1]»; }`},
	{"refinement-type", `record D% { a: text «[matching "a+"]»; }`},
	{"refinement-type", `record D% { a: entry<Thing> «[1..2]»; }`},
	{"range-unit", `record D% { a: string «[1..5]»; }`},
	{"range-unit", `record D% { a: bytes «[..5]»; }`},
	{"range-unit", `record D% { a: int «[1..5 bytes]»; }`},
	{"range-unit", `record D% { a: list<int> «[1..5 bytes]»; }`},
	{"range-bound", `record D% { a: int [1..«2.5»]; }`},
	{"range-bound", `record D% { a: int [0..«9007199254740992»]; }`},
	{"range-bound", `record D% { a: int [0..«99999999999999999999»]; }`},
	{"range-bound", `record D% { a: string [«-1»..5 bytes]; }`},
	{"range-bound", `record D% { a: list<int> [..«1e3»]; }`},
	{"range-bound", `record D% { a: float [0..«1e999»]; }`},
	{"empty-range", `record D% { a: int «[5..1]»; }`},
	{"empty-range", `record D% { a: float «[..]»; }`},
	{"bad-pattern", `record D% { a: string [matching «"(a"»]; }`},
	{"bad-pattern", `record D% { a: string [matching «"a(?=b)"»]; }`},
	{"bad-pattern", `record D% { a: string [matching «"a)|(b"»]; }`},
	{"pattern-too-large", `record D% { a: string [matching «"(abcdefgh){1000}"»]; }`},
	{"pattern-too-large", `record D% { a: string [matching «"` + strings.Repeat("a", 1001) + `"»]; }`},
	{"unknown-annotation", `@«readonly» interface D% { a() -> int; }`},
	{"unknown-annotation", `record D% { @«unstable_x» a: int; }`},
	{"annotation-target", `@«read_only» record D% { a: int; }`},
	{"annotation-target", `@«cost»(1) enum D% { a }`},
	{"annotation-target", `@«alias»("x") interface D% { a() -> int; }`},
	{"annotation-target", `interface D% { @«derived» a() -> int; }`},
	{"annotation-target", `interface D% { a(@«derived» x: int) -> int; }`},
	{"annotation-target", `record D% { @«idempotent» a: int; }`},
	{"annotation-arguments", `interface D% { @read_only(«true») a() -> int; }`},
	{"annotation-arguments", `interface D% { «@cost» a() -> int; }`},
	{"annotation-arguments", `interface D% { @cost(«0») a() -> int; }`},
	{"annotation-arguments", `interface D% { @cost(«1, 2») a() -> int; }`},
	{"annotation-arguments", `interface D% { @cost(«calls: 2») a() -> int; }`},
	{"annotation-arguments", `interface D% { @timeout(«3») a() -> int; }`},
	{"annotation-arguments", `interface D% { @timeout(«3KiB») a() -> int; }`},
	{"annotation-arguments", `interface D% { @timeout(«11m») a() -> int; }`},
	{"annotation-arguments", `interface D% { @max_output(«"32KiB"») a() -> int; }`},
	{"annotation-arguments", `interface D% { @max_output(«0B») a() -> int; }`},
	{"annotation-arguments", `interface D% { @audience(im, «im») a() -> int; }`},
	{"annotation-arguments", `interface D% { @audience(«"im"») a() -> int; }`},
	{"annotation-arguments", `interface D% { «@audience» a() -> int; }`},
	{"annotation-arguments", `interface D% { @alias(«here») a() -> int; }`},
	{"annotation-arguments", `interface D% { @alias(«""») a() -> int; }`},
	{"annotation-arguments", `interface D% { @alias("Here", «"here"») a() -> int; }`},
	{"annotation-arguments", `interface D% { @alias(«de: here») a() -> int; }`},
	{"annotation-arguments", `interface D% { @alias(«deutsch»: "here") a() -> int; }`},
	{"annotation-arguments", `interface D% { «@deprecated» a() -> int; }`},
	{"annotation-arguments", `interface D% { a(@deprecated(«later») x: int) -> int; }`},
	{"annotation-arguments", `record D% { @deprecated(«"use b", 1») a: int; }`},
	{"too-long", `@deprecated(«"` + strings.Repeat("u", 201) + `"») enum D% { a }`},
	{"duplicate-annotation", `interface D% { @cost(1) @«cost»(2) a() -> int; }`},
	{"duplicate-annotation", `record D% { @derived @«derived» a: int; }`},
	{"annotation-conflict", `interface D% { @read_only @«mutating» a() -> int; }`},
	{"annotation-conflict", `@destructive @«read_only» interface D% { a() -> int; }`},
	{"annotation-conflict", `interface D% { @informational @«mutating» a() -> int; }`},
	{"annotation-conflict", `interface D% { @read_only @«dry_run» a() -> int; }`},
	{"annotation-conflict", `@read_only interface D% { @«dry_run» a() -> int; }`},
	{"annotation-conflict", `@mutating interface D% { @«informational» a() -> int; }`},
	{"unknown-audience", `interface D% { @audience(public_chat, «everyone») a() -> int; }`},
	{"unknown-audience", `interface D% { @audience(«scheduler_run») a() -> int; }`},
	{"example-arguments", `interface D% { @example(«radus»: 1) a(radius: int) -> int; }`},
	{"example-arguments", `interface D% { @example(«1») a(radius: int = 1) -> int; }`},
	{"example-arguments", `interface D% { «@example» a(radius: int) -> int; }`},
	{"example-arguments", `interface D% { @example(x: 1, «x»: 2) a(x: int) -> int; }`},
	{"example-arguments", `interface D% { @example(«x: 1») a(x: list<int>?) -> int; }`},
	{"default-optional", `interface D% { a(x: int? = «1») -> int; }`},
	{"default-type", `interface D% { a(x: list<int> = «1») -> int; }`},
	{"default-type", `interface D% { a(x: Ok? = «1») -> int; }`},
	{"value-type", `interface D% { a(x: int = «"5"») -> int; }`},
	{"value-type", `interface D% { a(x: int = «1.5») -> int; }`},
	{"value-type", `interface D% { a(x: int = «9007199254740992») -> int; }`},
	{"value-type", `interface D% { a(x: float = «1e999») -> int; }`},
	{"value-type", `interface D% { a(x: bool = «yes») -> int; }`},
	{"value-type", `interface D% { a(x: string = «hello») -> int; }`},
	{"value-type", `interface D% { a(x: duration = «3KiB») -> int; }`},
	{"value-type", `interface D% { a(x: uuid = «"3fa85f64"») -> int; }`},
	{"value-type", `interface D% { a(x: bytes = «"###"») -> int; }`},
	{"value-type", `interface D% { a(x: entry<Thing> = «"thing"») -> int; }`},
	{"value-type", `interface D% { a(x: Color = «"red"») -> int; }`},
	{"value-type", `interface D% { @example(x: «true») a(x: int) -> int; }`},
	{"value-range", `interface D% { a(x: int [1..5] = «6») -> int; }`},
	{"value-range", `interface D% { a(x: duration [..1000] = «2s») -> int; }`},
	{"value-range", `interface D% { a(x: string [..3 bytes] = «"four"») -> int; }`},
	{"value-range", `interface D% { a(x: string [matching "[a-z]+"] = «"a1"») -> int; }`},
	{"value-range", `interface D% { @example(x: «300») a(x: float [0..256]) -> int; }`},
	{"unknown-label", `interface D% { a(x: Color = «rad») -> int; }`},
	{"unknown-label", `interface D% { @example(x: «purple») a(x: Color) -> int; }`},
}

// numbered repeats a format with the numbers from 0 to n-1.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// finding is what the tests compare of a fault: its rule and place.
type finding struct {
	Rule       string
	Start, End int // offsets
}

// assemble makes a document of docMistakes and returns what must be found in it.
func assemble(list []docMistake) (string, []finding) {
	var doc strings.Builder
	doc.WriteString("package test;\n" + mistakeBase)
	var want []finding
	for i, m := range list {
		text := strings.ReplaceAll(m.text, "%", fmt.Sprint(i))
		before, rest, _ := strings.Cut(text, "«")
		marked, after, ok := strings.Cut(rest, "»")
		if !ok {
			panic("no mark in " + m.text)
		}
		start := doc.Len() + len(before)
		want = append(want, finding{m.rule, start, start + len(marked)})
		doc.WriteString(before + marked + after + "\n")
	}
	return doc.String(), want
}

// oneDocument returns a loader of one document.
func oneDocument(name, text string) idl.Loader {
	return func(asked string) ([]byte, error) {
		if asked != name {
			return nil, os.ErrNotExist
		}
		return []byte(text), nil
	}
}

// findings returns what Compile finds in one document.
func findings(t *testing.T, text string) (idl.ErrorList, []finding) {
	t.Helper()
	docs, err := idl.Compile(oneDocument("t.wip", text), "t.wip")
	if err == nil {
		return nil, nil
	}
	list, ok := err.(idl.ErrorList)
	if !ok {
		t.Fatalf("Compile returned a %T", err)
	}
	if len(docs) > 0 {
		t.Errorf("a document with faults was returned")
	}
	var found []finding
	for _, d := range list {
		found = append(found, finding{d.Rule, d.Span.Start.Offset, d.Span.End.Offset})
		checkPositions(t, text, d)
	}
	return list, found
}

// checkPositions checks that lines and columns say the same as offsets.
func checkPositions(t *testing.T, text string, d syntax.Diagnostic) {
	t.Helper()
	for _, p := range []syntax.Pos{d.Span.Start, d.Span.End} {
		if p.Offset < 0 || p.Offset > len(text) {
			t.Fatalf("%s: offset %d is outside the text", d, p.Offset)
		}
		before := text[:p.Offset]
		line := 1 + strings.Count(before, "\n")
		col := len(before) - strings.LastIndex(before, "\n")
		if p.Line != line || p.Col != col {
			t.Errorf("%s: offset %d is at %d:%d, not at %d:%d", d, p.Offset, line, col, p.Line, p.Col)
		}
	}
}

func TestMistakeBaseIsSound(t *testing.T) {
	if list, _ := findings(t, "package test;\n"+mistakeBase); list != nil {
		t.Error(list)
	}
}

func TestEachMistakeIsReportedOnceAtItsPlace(t *testing.T) {
	for i, m := range docMistakes {
		t.Run(fmt.Sprintf("%s/%d", m.rule, i), func(t *testing.T) {
			text, want := assemble([]docMistake{m})
			list, got := findings(t, text)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("in %s\nfound %v\n(-want +got)\n%s", m.text, list, diff)
			}
		})
	}
}

func TestIndependentMistakesAreAllReported(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 2 + random.IntN(19)
		var picked []docMistake
		reserved := 0
		for _, i := range random.Perm(len(docMistakes))[:n] {
			m := docMistakes[i]
			// The same reserved or overlong name twice would be one more fault.
			if strings.Contains(m.text, "NNN") {
				if reserved++; reserved > 1 {
					continue
				}
			}
			picked = append(picked, m)
		}
		text, want := assemble(picked)
		list, got := findings(t, text)
		slices.SortFunc(want, func(a, b finding) int { return a.Start - b.Start })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("in\n%s\nfound %v\n(-want +got)\n%s", text, list, diff)
		}
	}
}
