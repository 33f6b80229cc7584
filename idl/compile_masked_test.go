package idl_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl/syntax"
)

// mutated returns a sound document with one to four changes: words taken out,
// doubled, exchanged, misspelt or put in.
func mutated(r *rand.Rand, docs []string) string {
	src := docs[r.IntN(len(docs))]
	for range 1 + r.IntN(4) {
		toks := wordsOf(src)
		if len(toks) < 2 {
			return src
		}
		a, b := toks[r.IntN(len(toks))], toks[r.IntN(len(toks))]
		word := src[a[0]:a[1]]
		extra := strings.Fields(`{ } ( ) < > [ ] ? : ; , . = -> .. @ # - int text list record enum interface name 5 1e 3s "s" 'q' /// //`)
		switch r.IntN(6) {
		case 0:
			src = src[:a[0]] + src[a[1]:]
		case 1:
			src = src[:a[1]] + " " + word + src[a[1]:]
		case 2:
			if a[0] > b[0] {
				a, b = b, a
			}
			if a[1] <= b[0] {
				src = src[:a[0]] + src[b[0]:b[1]] + src[a[1]:b[0]] + src[a[0]:a[1]] + src[b[1]:]
			}
		case 3, 4:
			src = src[:a[0]] + extra[r.IntN(len(extra))] + " " + src[a[0]:]
		case 5:
			at := r.IntN(len(word))
			src = src[:a[0]] + word[:at] + word[at+1:] + src[a[1]:]
		}
	}
	return src
}

// wordsOf returns where the words and signs of a text are, comments left out.
func wordsOf(src string) (list [][2]int) {
	for i := 0; i < len(src); {
		c := src[i]
		end := i + 1
		isWord := func(c byte) bool { return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
		switch {
		case strings.HasPrefix(src[i:], "//"):
			for end < len(src) && src[end] != '\n' {
				end++
			}
			i = end
			continue
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			i++
			continue
		case c == '"':
			for end < len(src) && src[end] != '"' && src[end] != '\n' {
				end++
			}
			end = min(end+1, len(src))
		case isWord(c):
			for end < len(src) && isWord(src[end]) {
				end++
			}
		case strings.HasPrefix(src[i:], "->") || strings.HasPrefix(src[i:], ".."):
			end++
		}
		list = append(list, [2]int{i, end})
		i = end
	}
	return list
}

// exposed returns the faults of a text in which a fix was made that were not
// reported before: they were masked by the fault that it mends, or it makes
// them.
func exposed(before, after []syntax.Diagnostic, f syntax.Fix) (list []syntax.Diagnostic) {
	type place struct {
		rule   string
		offset int
	}
	known := map[place]int{}
	for _, d := range before {
		known[place{d.Rule, moved(d.Span.Start.Offset, f)}]++
	}
	for _, d := range after {
		key := place{d.Rule, d.Span.Start.Offset}
		if known[key]--; known[key] < 0 {
			list = append(list, d)
		}
	}
	return list
}

// moved returns where an offset is once a fix is made.
func moved(offset int, f syntax.Fix) int {
	to := offset
	for _, e := range f.Edits {
		if e.Span.End.Offset <= offset {
			to += len(e.Text) - (e.Span.End.Offset - e.Span.Start.Offset)
		}
	}
	return to
}

// Whatever is done to a document, a fix seldom shows a fault that was masked,
// and almost never leaves more than there were.
func TestFixesExposeLittle(t *testing.T) {
	docs := seedDocuments(t)
	docs = slices.DeleteFunc(docs, func(text string) bool { return len(text) > 20_000 })
	fixes, exposing, worse := 0, 0, 0
	for i := range injections() {
		src := mutated(rand.New(rand.NewPCG(7, uint64(i))), docs)
		before := compileFaults(src)
		if len(before) >= syntax.MaxDiagnostics {
			continue // more are not reported
		}
		for _, d := range before {
			for _, f := range d.Fixes {
				fixed, err := f.Apply([]byte(src))
				if err != nil {
					t.Fatal(err)
				}
				fixes++
				after := compileFaults(string(fixed))
				if len(exposed(before, after, f)) > 0 {
					exposing++
				}
				if len(after) > len(before) {
					worse++
				}
			}
		}
	}
	t.Logf("%d fixes, %d expose (%.1f %%), %d make more", fixes, exposing, 100*float64(exposing)/float64(fixes), worse)
	if exposing*12 > fixes || worse*100 > fixes || fixes < 1000 {
		t.Error("expected many fixes, of which few expose anything and hardly one leaves more")
	}
}
