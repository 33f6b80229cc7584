package dialect_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/adapter/dialect/dialecttest"
	"github.com/wipagent/wipagent/idl"
)

// prove makes a document up and proves the accept sets of its operations in
// the dialects. It returns how many interfaces they are of.
func prove(t testing.TB, r *rand.Rand, list []*dialect.Dialect, opt dialect.Options, rounds int) int {
	t.Helper()
	text := dialecttest.Document(r)
	docs, err := idl.Compile(func(string) ([]byte, error) { return []byte(text), nil }, "made.wip")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p := &proof{TB: t, Rand: r, schemas: new(dialecttest.Compiler), tools: madeTools(docs...)}
	p.dialects(list, opt, rounds)
	if t.Failed() {
		t.Fatalf("the document:\n%.3000s", text)
	}
	return len(docs[0].Interfaces)
}

// TestAcceptGenerated proves the accept sets of made-up interfaces.
func TestAcceptGenerated(t *testing.T) {
	const groups, each = 8, 25
	for group := range groups {
		t.Run(fmt.Sprint(group), func(t *testing.T) {
			t.Parallel()
			for interfaces, seed := 0, uint64(group); interfaces < each; seed += groups {
				interfaces += prove(t, rand.New(rand.NewPCG(seed, 5)), dialect.All(), dialect.Options{}, 2)
			}
		})
	}
}

// TestAcceptOptions proves the accept sets where names, depth or callers are
// limited further.
func TestAcceptOptions(t *testing.T) {
	for seed := range uint64(12) {
		prove(t, rand.New(rand.NewPCG(seed, 6)), dialect.All(), dialect.Options{Prefix: 20, Depth: 1 + int(seed)%6}, 1)
	}
	for _, d := range dialect.All() {
		if _, err := d.Export(nil, dialect.Options{Programmatic: true}); err != nil {
			continue // it knows no such thing
		}
		for seed := range uint64(4) {
			prove(t, rand.New(rand.NewPCG(seed, 6)), []*dialect.Dialect{d}, dialect.Options{Programmatic: true}, 1)
		}
	}
}

// TestAcceptDropsNothing proves that what nobody declared reaches the check,
// wherever it stands.
func TestAcceptDropsNothing(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 10))
		text := dialecttest.Document(r)
		docs, err := idl.Compile(func(string) ([]byte, error) { return []byte(text), nil }, "made.wip")
		if err != nil {
			t.Fatal(err)
		}
		tools := madeTools(docs...)
		for _, d := range dialect.All() {
			e, err := d.Export(tools, dialect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range tools {
				if e.Name(i) == "" {
					continue
				}
				form, err := dialecttest.NewForm(jsonSchema(t, d, e.Schema(i)), "")
				if err != nil {
					t.Fatal(err)
				}
				written, err := form.Write(tools[i].Params, dialecttest.Record(r, tools[i].Params))
				if err != nil {
					t.Fatal(err)
				}
				for n := range objects(written) {
					at := n
					sent := dialecttest.JSON(further(written, &at))
					if read := e.Arguments(i, sent); !bytes.Contains(read, []byte(`"a further value"`)) {
						t.Fatalf("%s reads\n%s\nas\n%s\nexpected the further value in it", d.Name, sent, read)
					}
				}
			}
		}
	}
}

// objects counts the objects in a value.
func objects(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		n = 1
		for _, m := range v {
			n += objects(m)
		}
	case []any:
		for _, m := range v {
			n += objects(m)
		}
	}
	return n
}

// further returns a copy of a value with one more member in one of its objects.
func further(v any, at *int) any {
	switch v := v.(type) {
	case map[string]any:
		c := maps.Clone(v)
		if *at--; *at == -1 {
			c["a further member"] = "a further value"
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			c[k] = further(v[k], at)
		}
		return c
	case []any:
		c := slices.Clone(v)
		for i := range c {
			c[i] = further(v[i], at)
		}
		return c
	}
	return v
}

// TestAcceptRapid lets rapid look for documents and records that no seed above
// has made.
func TestAcceptRapid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.SampledFrom(dialect.All()).Draw(rt, "dialect")
		seed := rapid.Uint64().Draw(rt, "seed")
		prove(t, rand.New(rand.NewPCG(seed, 7)), []*dialect.Dialect{d}, dialect.Options{}, 1)
	})
}

// compiled compiles documents of the repository.
func compiled(t testing.TB, dir string) (docs []*idl.Document) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.wip"))
	if err != nil || len(names) == 0 {
		t.Fatalf("found no documents in %s: %v", dir, err)
	}
	for i, name := range names {
		names[i] = filepath.Base(name)
	}
	docs, err = idl.Compile(idl.FSLoader(os.DirFS(dir)), names...)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// TestAcceptGrid proves the accept sets of the grid's operations.
func TestAcceptGrid(t *testing.T) {
	p := &proof{TB: t, Rand: rand.New(rand.NewPCG(1, 8)), schemas: new(dialecttest.Compiler), tools: madeTools(compiled(t, "../../interfaces")...)}
	p.dialects(dialect.All(), dialect.Options{}, 20)
	if p.counts.valid < 100 || p.counts.accepted == 0 || p.counts.refused == 0 {
		t.Errorf("found %+v, expected some of each", p.counts)
	}
}

// TestAcceptVerbs proves the accept sets of the three verbs, of which one has
// an open member.
func TestAcceptVerbs(t *testing.T) {
	p := &proof{TB: t, Rand: rand.New(rand.NewPCG(1, 9)), schemas: new(dialecttest.Compiler), tools: madeTools(compiled(t, "..")...)}
	for i := range p.tools {
		if strings.HasSuffix(p.tools[i].Name, "invoke") {
			p.tools[i].Open, p.tools[i].OpenDoc = "arguments", "Named arguments of the operation."
		}
	}
	p.dialects(dialect.All(), dialect.Options{}, 40)
	if p.counts.accepted == 0 || p.counts.refused == 0 {
		t.Errorf("found %+v, expected some of each", p.counts)
	}
}
