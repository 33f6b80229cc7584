package space_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
)

var misses = flag.Bool("misses", false, "list the questions that were not answered well")

// question is a line of testdata/questions/questions.txtar.
type question struct {
	kind, text string
	want       []string // Interface.operation; empty: nothing answers it
}

func questions(t testing.TB) []question {
	t.Helper()
	file, err := txtar.ParseFile("testdata/questions/questions.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var list []question
	for _, f := range file.Files {
		for line := range strings.Lines(string(f.Data)) {
			text, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
			if text == "" {
				continue
			}
			q := question{kind: f.Name, text: text}
			if want != "" {
				q.want = strings.Split(want, ", ")
			}
			list = append(list, q)
		}
	}
	return list
}

// tally counts how the questions of one kind were answered.
type tally struct {
	asked, top1, top5, hits, found, strong, bytes int
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

// TestQuestions asks all questions and fails when a kind is answered worse than
// it once was. With -v it reports the figures; with -misses the questions.
func TestQuestions(t *testing.T) {
	v := questionSpace(t, nil).View(all)
	tallies := map[string]*tally{}
	var kinds []string
	for _, q := range questions(t) {
		c := tallies[q.kind]
		if c == nil {
			c = &tally{}
			tallies[q.kind] = c
			kinds = append(kinds, q.kind)
		}
		c.ask(t, v, q)
	}
	t.Logf("%-13s %5s %7s %7s %7s %12s %7s %7s", "kind", "asked", "top-1", "top-5", "hits", "hits or map", "strong", "bytes")
	for _, kind := range kinds {
		c := tallies[kind]
		t.Logf("%-13s %5d %6.1f%% %6.1f%% %6.1f%% %11.1f%% %6.1f%% %7d", kind, c.asked, percent(c.top1, c.asked), percent(c.top5, c.asked),
			percent(c.hits, c.asked), percent(c.found, c.asked), percent(c.strong, c.asked), c.bytes/c.asked)
	}
	// The floors lie a little below what is reached, so that a better change
	// that costs one question passes.
	for _, f := range []struct {
		kind  string
		what  string
		got   func(*tally) int
		floor float64
	}{
		{"shared", "top-1", func(c *tally) int { return c.top1 }, 95},
		{"shared", "top-5", func(c *tally) int { return c.top5 }, 99},
		{"shared", "strong", func(c *tally) int { return c.strong }, 85},
		{"typo", "top-1", func(c *tally) int { return c.top1 }, 90},
		{"compound", "top-1", func(c *tally) int { return c.top1 }, 95},
		{"paraphrase", "top-1", func(c *tally) int { return c.top1 }, 60},
		{"paraphrase", "top-5", func(c *tally) int { return c.top5 }, 75},
		{"paraphrase", "hits or map", func(c *tally) int { return c.found }, 95},
		{"language", "hits or map", func(c *tally) int { return c.found }, 85},
		{"unanswerable", "not strong", func(c *tally) int { return c.asked - c.strong }, 90},
	} {
		c := tallies[f.kind]
		if got := percent(f.got(c), c.asked); got < f.floor {
			t.Errorf("%s questions: %s is %.1f%%, expected %.0f%% or more", f.kind, f.what, got, f.floor)
		}
	}
	answerable, found := 0, 0
	for kind, c := range tallies {
		if kind != "unanswerable" {
			answerable, found = answerable+c.asked, found+c.found
		}
	}
	if got := percent(found, answerable); got < 95 {
		t.Errorf("of the answerable questions %.1f%% have the right answer in the hits or the map, expected 95%% or more", got)
	}
}

// ask counts the answer to one question.
func (c *tally) ask(t *testing.T, v *space.View, q question) {
	f := v.Search(t.Context(), "", q.text)
	c.asked++
	c.bytes += len(f.Map) + len(f.Message)
	at, rank := 0, 0
	for i, hit := range f.Hits {
		c.bytes += len(hit.Path) + len(hit.Title) + len(hit.Summary)
		for j, op := range hit.Operations {
			c.bytes += len(op.Name) + len(op.Signature)
			at++
			if rank == 0 && q.wants(op.Name) {
				rank = at
				if i == 0 && j == 0 {
					c.top1++
				}
				if i < 5 {
					c.top5++
				}
				c.hits++
			}
		}
	}
	strong := len(f.Hits) > 0 && f.Hits[0].Strength == space.Strong
	if strong {
		c.strong++
	}
	inMap := false
	for _, w := range q.want {
		_, op, _ := strings.Cut(w, ".")
		inMap = inMap || strings.Contains(f.Map, op)
	}
	if rank > 0 || inMap {
		c.found++
	}
	if *misses {
		first := "nothing"
		if len(f.Hits) > 0 {
			first = f.Hits[0].Path
			if len(f.Hits[0].Operations) > 0 {
				first += "#" + f.Hits[0].Operations[0].Name
			}
		}
		switch {
		case len(q.want) == 0 && strong:
			fmt.Printf("%-13s strong: %s: %s\n", q.kind, q.text, first)
		case len(q.want) > 0 && rank != 1:
			fmt.Printf("%-13s rank %d strong=%v: %s: %s, expected %s\n", q.kind, rank, strong, q.text, first, q.want)
		case len(q.want) > 0 && !strong:
			fmt.Printf("%-13s weak: %s\n", q.kind, q.text)
		}
	}
}

// wants reports whether the operation is a right answer. No two interfaces of
// the set have an operation of the same name.
func (q question) wants(name string) bool {
	return slices.ContainsFunc(q.want, func(w string) bool { return strings.HasSuffix(w, "."+name) })
}

// TestQuestionSet keeps the set as large and as varied as its figures claim.
func TestQuestionSet(t *testing.T) {
	operations := map[string]bool{}
	owners := map[string]*idl.Interface{}
	questionSpace(t, nil).View(func(_ *space.Node, op *idl.Operation) bool {
		operations[op.Interface.Name+"."+op.Name] = true
		if other := owners[op.Name]; other != nil && other != op.Interface {
			t.Errorf("both %s and %s have an operation %s", other.Name, op.Interface.Name, op.Name)
		}
		owners[op.Name] = op.Interface
		return true
	})
	list := questions(t)
	unanswerable := 0
	asked := map[string]bool{}
	for _, q := range list {
		if asked[q.text] {
			t.Errorf("%q is asked twice", q.text)
		}
		asked[q.text] = true
		if len(q.want) == 0 {
			unanswerable++
		}
		for _, w := range q.want {
			if !operations[w] {
				t.Errorf("%q expects %s, which does not exist", q.text, w)
			}
		}
	}
	if len(operations) < 80 || len(list) < 150 || 3*unanswerable < len(list) {
		t.Errorf("%d operations, %d questions, %d of them unanswerable: expected at least 80, 150 and a third", len(operations), len(list), unanswerable)
	}
}
