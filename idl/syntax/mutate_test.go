package syntax_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl/syntax"
)

// defaultMutations is the number of mutated documents in a test run.
// The environment variable WIPAGENT_MUTATIONS asks for another.
const defaultMutations = 2000

func mutations() int {
	if n, err := strconv.Atoi(os.Getenv("WIPAGENT_MUTATIONS")); err == nil && n > 0 {
		return n
	}
	return defaultMutations
}

// corpus returns the documents of all golden files.
func corpus(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("found no documents: %v", err)
	}
	var docs []string
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, string(a.Files[0].Data))
	}
	return docs
}

// mutate returns a document with one to four changes: tokens taken out,
// doubled, exchanged or put in, lines moved, bytes broken, the end cut off.
func mutate(r *rand.Rand, docs []string) string {
	src := docs[r.IntN(len(docs))]
	for range 1 + r.IntN(4) {
		toks, _ := syntax.Scan("x.wip", src)
		if len(src) == 0 || len(toks) < 2 {
			return src
		}
		i := r.IntN(len(toks) - 1)
		start := toks[i].Pos.Offset
		end := start + len(toks[i].Value)
		other := docs[r.IntN(len(docs))]
		switch r.IntN(9) {
		case 0:
			src = src[:start] + src[end:]
		case 1:
			src = src[:end] + " " + src[start:]
		case 2:
			j := r.IntN(len(toks) - 1)
			a, b := toks[min(i, j)], toks[max(i, j)]
			src = src[:a.Pos.Offset] + b.Value + src[min(a.Pos.Offset+len(a.Value), b.Pos.Offset):b.Pos.Offset] +
				a.Value + src[b.Pos.Offset+len(b.Value):]
		case 3:
			extra := strings.Fields(`{ } ( ) < > [ ] ? : ; , . = -> .. @ /// // /* */ " \ ' # - interface record enum package version import 1e é`)
			src = src[:start] + extra[r.IntN(len(extra))] + " " + src[start:]
		case 4:
			lines := strings.SplitAfter(src, "\n")
			a, b := r.IntN(len(lines)), r.IntN(len(lines))
			lines[a], lines[b] = lines[b], lines[a]
			src = strings.Join(lines, "")
		case 5:
			b := []byte(src)
			b[r.IntN(len(b))] = byte(r.IntN(256))
			src = string(b)
		case 6:
			src = src[:r.IntN(len(src))]
		case 7:
			src = src[:start] + other[r.IntN(len(other)+1):]
		case 8:
			src = strings.Join(strings.Fields(src), " ")
		}
	}
	return src
}

// Whatever is done to a document, Parse keeps its promises, soon.
func TestMutations(t *testing.T) {
	docs := corpus(t)
	var slowest time.Duration
	for i := range mutations() {
		src := mutate(rand.New(rand.NewPCG(1, uint64(i))), docs)
		start := time.Now()
		syntax.Parse("x.wip", []byte(src))
		slowest = max(slowest, time.Since(start))
		check(t, src)
		if t.Failed() {
			t.Fatalf("failed at mutation %d", i)
		}
	}
	if slowest > patience {
		t.Errorf("took %v for one document", slowest)
	}
}
