package space_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// bigSpace has 1,000 operations: 100 entries, each with an interface of 10
// operations of its own. Names and documentation are made of the words of the
// question set's documents, so that words are as frequent as words are.
func bigSpace(b *testing.B) *space.Space {
	var nouns, verbs []string
	for _, n := range questionNodes(b) {
		for _, op := range n.Operations(nil) {
			verb, noun, _ := strings.Cut(op.Name, "_")
			verbs, nouns = append(verbs, verb), append(nouns, strings.Split(noun, "_")...)
			nouns = append(nouns, strings.Fields(strings.Trim(op.Operation.Doc, "."))...)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list []string) string {
		for {
			if w := strings.ToLower(list[random.IntN(len(list))]); w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
				return w
			}
		}
	}
	documents := map[string]string{}
	entries := []wip.Entry{folder("/", "Everything")}
	for i := range 100 {
		var doc strings.Builder
		fmt.Fprintf(&doc, "package p%d;\ninterface I {\n", i)
		for j := range 10 {
			fmt.Fprintf(&doc, "  /// %s %s %s %s %s %s the %s.\n  @read_only @alias(\"%s the %s\")\n  %s_%s_%d_%d(%s_name: string, limit: int = 3) -> string;\n",
				pick(verbs), pick(nouns), pick(nouns), pick(nouns), pick(nouns), pick(nouns), pick(nouns), pick(verbs), pick(nouns), pick(verbs), pick(nouns), i, j, pick(nouns))
		}
		doc.WriteString("}\n")
		name := fmt.Sprintf("p%d.wip", i)
		documents[name] = doc.String()
		entries = append(entries, object(fmt.Sprintf("/place-%d", i), pick(nouns)+" "+pick(nouns), name, "I"))
	}
	s := space.New(nil)
	mount(b, s, "/big", newHost(documents, entries...), nil)
	if err := s.Refresh(b.Context(), wip.Caller{}, "/"); err != nil {
		b.Fatal(err)
	}
	return s
}

func questionNodes(t testing.TB) []*space.Node {
	var nodes []*space.Node
	seen := map[*space.Node]bool{}
	questionSpace(t, nil).View(func(n *space.Node, _ *idl.Operation) bool {
		if !seen[n] {
			seen[n] = true
			nodes = append(nodes, n)
		}
		return true
	})
	return nodes
}

// BenchmarkSearch searches 1,000 operations, as discover does: the View comes
// from the cache.
func BenchmarkSearch(b *testing.B) {
	s := bigSpace(b)
	for _, q := range []struct{ name, query string }{
		{"strong", "what is the brightness of the lamp"},
		{"typos", "serach the catalouge for a tittle"},
		{"nothing", "cheap flights to Lisbon in August"},
		{"long", strings.Repeat("what is the weather forecast for vehicles ", 12)},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.View(all).Search(b.Context(), "/", q.query)
			}
		})
	}
}

// BenchmarkView builds the index over 1,000 operations, which happens once for
// each state of the space and each set of what may be seen.
func BenchmarkView(b *testing.B) {
	s := bigSpace(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		// Another operation is hidden each time, so that no View is reused.
		i := 0
		s.View(func(*space.Node, *idl.Operation) bool { i++; return i != n%1000 })
	}
}

// BenchmarkRefresh merges an unchanged tree of 100 entries and 100 documents.
func BenchmarkRefresh(b *testing.B) {
	s := bigSpace(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Refresh(b.Context(), wip.Caller{}, "/"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRefreshFaulty looks at an unchanged Host whose documents do not
// compile, which is found out once.
func BenchmarkRefreshFaulty(b *testing.B) {
	documents := map[string]string{}
	entries := []wip.Entry{folder("/", "Everything")}
	for i := range 20 {
		var doc strings.Builder
		fmt.Fprintf(&doc, "package p%d;\ninterface I {\n", i)
		for j := range 100 {
			fmt.Fprintf(&doc, "  /// Does something.\n  operation_%d(limit: int = 3) -> Nothing;\n", j)
		}
		doc.WriteString("}\n")
		name := fmt.Sprintf("p%d.wip", i)
		documents[name] = doc.String()
		entries = append(entries, object(fmt.Sprintf("/place-%d", i), "Place", name, "I"))
	}
	s := space.New(nil)
	mount(b, s, "/faulty", newHost(documents, entries...), nil)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Refresh(b.Context(), wip.Caller{}, "/"); err == nil {
			b.Fatal("the documents compile")
		}
	}
}
