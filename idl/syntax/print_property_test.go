package syntax_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl/syntax"
)

// blank stands for any blanks between the tokens of a generated document.
const blank = "\x00"

// writer generates a valid document, with comments and line ends wherever the
// language allows them.
type writer struct {
	t       *rapid.T
	b       strings.Builder
	last    string // the last token
	docs    bool   // a doc comment may stand here
	comment int    // of 10 gaps, how many have comments
}

func (w *writer) roll(n int) int { return rapid.IntRange(0, n-1).Draw(w.t, "roll") }

func (w *writer) pick(words ...string) string { return words[w.roll(len(words))] }

// put writes tokens, each behind a gap.
func (w *writer) put(tokens ...string) {
	for _, token := range tokens {
		w.gap(token)
		w.b.WriteString(token)
		w.last = token
	}
}

// gap writes what separates the last token from the next.
func (w *writer) gap(next string) {
	sameLine := true
	if w.roll(10) < w.comment {
		for range 1 + w.roll(2) {
			w.b.WriteString(w.pick(blank, blank, "\n", "\n\n", "\n\n\n", "\r\n"+blank))
			switch w.roll(5) {
			case 0:
				w.b.WriteString(w.pick("// one", "// two \t", "//", "//// four", "//wip:ignore x why", "// a /* b", `// "c`) + w.pick("\n", "\r\n", "\n\n"))
				sameLine = false
			case 1, 2:
				w.b.WriteString(w.pick("/* in */", "/**/", "/* on\n   two */", "/* a\r\n */", "/* // */", "/*/*/"))
			case 3:
				if w.docs {
					if sameLine && strings.Contains(";,}", w.last) {
						w.b.WriteString("\n")
					}
					w.b.WriteString(w.pick("/// A doc.", "///", "///close", "///  far \t") + "\n")
					sameLine = false
				}
			case 4:
				w.b.WriteString(w.pick("\n", "\n\n\n"))
				sameLine = false
			}
		}
		return
	}
	space := w.pick("", blank, blank, blank, "\n", "\n\n")
	if space == "" && word(w.last) && word(next) {
		space = blank
	}
	w.b.WriteString(space)
}

// word reports whether a token must be kept apart from another such token.
func word(token string) bool {
	return token != "" && !strings.Contains("@(){}<>[]?:;,=", token) // . and -> next to a number would be read otherwise
}

func (w *writer) list(min, max int, open, closing string, element func()) {
	w.put(open)
	for i := range min + w.roll(max-min+1) {
		if i > 0 {
			w.put(",")
		}
		element()
		if i+1 >= min && w.roll(4) == 0 {
			break
		}
	}
	if w.last != open && w.roll(3) == 0 {
		w.put(",")
	}
	w.put(closing)
}

func (w *writer) name() string {
	return w.pick("a", "B", "record", "matching", "bytes", "a_name_that_takes_room", "true", "package", "_1", "another_name_that_takes_still_more_room")
}

func (w *writer) value() string {
	return w.pick("1", "-0.5", "1e3", "3s", "32KiB", `""`, `"// no"`, `"\" \u{1f600}"`, "true", "label", `"/*"`, `"a longer text, so that lines overflow"`)
}

func (w *writer) annotations() {
	for w.roll(3) == 0 {
		w.put("@", w.name())
		if w.roll(2) == 0 {
			w.list(0, 6, "(", ")", func() {
				if w.roll(3) == 0 {
					w.put(w.name(), ":")
				}
				w.put(w.value())
			})
		}
	}
}

// named writes annotations, other tokens and a name, before and among which
// there may be doc comments.
func (w *writer) named(tokens ...string) {
	w.docs = true
	w.annotations()
	w.put(tokens...)
	w.put(w.name())
	w.docs = false
}

func (w *writer) typ(depth int) {
	w.put(w.pick("int", "text", "list", "bytes", "Avatar"))
	if depth > 0 && w.roll(3) == 0 {
		w.put("<")
		w.typ(depth - 1)
		if w.roll(3) == 0 {
			w.put(",")
			w.typ(depth - 1)
		}
		w.put(">")
	}
	switch w.roll(6) {
	case 0:
		w.put("[", w.pick("1", "-0.5"), "..", w.pick("20", "-5"))
		if w.roll(2) == 0 {
			w.put("bytes")
		}
		w.put("]")
	case 1:
		w.put("[")
		if w.roll(2) == 0 {
			w.put("7")
		}
		w.put("..")
		if w.roll(2) == 0 {
			w.put("bytes")
		}
		w.put("]")
	case 2:
		w.put("[", "matching", `"[a-z]+"`, "]")
	}
	if w.roll(4) == 0 {
		w.put("?")
	}
}

func (w *writer) document() {
	w.comment = w.number(0, 1, 3, 8)
	w.put("package", w.name())
	for w.roll(3) == 0 {
		w.put(".", w.name())
	}
	w.put(";")
	if w.roll(2) == 0 {
		w.put("version", "2", ";")
	}
	for w.roll(3) == 0 {
		w.put("import", `"a.wip"`, ";")
	}
	for range w.roll(4) {
		w.declaration()
	}
	w.gap("")
}

func (w *writer) number(of ...int) int { return of[w.roll(len(of))] }

func (w *writer) declaration() {
	switch w.roll(3) {
	case 0:
		w.named("interface")
		w.put("{")
		for range w.roll(4) {
			w.named()
			w.list(0, 4, "(", ")", func() {
				w.named()
				w.put(":")
				w.typ(2)
				if w.roll(3) == 0 {
					w.put("=", w.value())
				}
			})
			w.put("->")
			w.typ(3)
			w.put(";")
		}
		w.put("}")
	case 1:
		w.named("record")
		w.put("{")
		for range w.roll(4) {
			w.named()
			w.put(":")
			w.typ(2)
			w.put(";")
		}
		w.put("}")
	default:
		w.named("enum")
		w.list(1, 6, "{", "}", w.label)
	}
}

// label writes a label: a name that may have docs and no annotations.
func (w *writer) label() {
	w.docs = true
	w.put(w.name())
	w.docs = false
}

// Any valid document has a form, and blanks do not matter to it.
func TestFormatGenerated(t *testing.T) {
	formatted := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			w := &writer{t: t}
			w.document()
			src := strings.ReplaceAll(w.b.String(), blank, " ")
			out, ok := checkFormat(t, src)
			if !ok {
				_, faults := syntax.Parse("x.wip", []byte(src))
				t.Fatalf("generated %q with the faults %v", src, faults)
			}
			wide := strings.ReplaceAll(w.b.String(), blank, " \t\r  ")
			if other, _ := syntax.Format("x.wip", []byte(wide)); string(other) != out {
				t.Fatalf("got another form with other blanks for %q:\n%s\nwant:\n%s", wide, other, out)
			}
			formatted++
		}
	})
	if formatted < 1000 && !t.Failed() {
		t.Errorf("formatted %d documents, want at least 1000", formatted)
	}
}

// Mutated documents and tokens at random are refused, or formatted as any
// other.
func TestFormatMutations(t *testing.T) {
	docs := slices.DeleteFunc(corpus(t), func(src string) bool {
		_, faults := syntax.Parse("x.wip", []byte(src))
		return len(faults) > 0
	})
	words := strings.Fields(`{ } ( ) < > [ ] ? : ; , . = -> .. @ /// // /* */ a b int record enum interface package version import
		bytes matching 1 2.5 3s "s" "t"`)
	formatted := 0
	for i := range mutations() {
		r := rand.New(rand.NewPCG(2, uint64(i)))
		src := mutate(r, docs)
		if i%4 == 0 { // tokens within the last declaration of what is valid
			var soup strings.Builder
			for range 1 + r.IntN(12) {
				soup.WriteString(words[r.IntN(len(words))] + []string{" ", "\n", ""}[r.IntN(3)])
			}
			src = "package a; " + []string{"record A { ", "enum A { a, ", "interface A { a(", ""}[i/4%4] + soup.String() + []string{";}", "}", ") -> int;}", ""}[i/4%4]
		}
		if _, ok := checkFormat(t, src); ok {
			formatted++
		}
	}
	if formatted < mutations()/50 {
		t.Errorf("formatted %d of %d documents, want more", formatted, mutations())
	}
}

// FuzzFormat checks what Format promises for any text.
func FuzzFormat(f *testing.F) {
	for _, src := range corpus(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) <= 1<<16 {
			checkFormat(t, src)
		}
	})
}
