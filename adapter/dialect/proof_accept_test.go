package dialect_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// TestAcceptGenerated proves the accept sets of 200 made-up interfaces, or as
// many as the environment variable WIPAGENT_MUTATIONS says.
func TestAcceptGenerated(t *testing.T) {
	const groups = 8
	each := 200 / groups
	if n, err := strconv.Atoi(os.Getenv("WIPAGENT_MUTATIONS")); err == nil && n > 200 {
		each = n / groups
	}
	for group := range groups {
		t.Run(fmt.Sprint(group), func(t *testing.T) {
			t.Parallel()
			for interfaces, seed := 0, uint64(group); interfaces < each; seed += groups {
				interfaces += prove(t, rand.New(rand.NewPCG(seed, 5)), dialect.All(), dialect.Options{}, 1)
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

// TestAcceptBudgets gives more tools than a request may hold: what is sent
// keeps every budget, and of each tool it is told what became of it.
func TestAcceptBudgets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	text := "package many;\nenum E { a, b, c }\ninterface A_long_name_of_an_interface_with_many_operations {\n"
	for i := range 140 {
		text += [...]string{"@read_only ", "@destructive ", "@deprecated(\"use another\") ", ""}[r.IntN(4)] +
			fmt.Sprintf("operation_%d(", i) + [...]string{"", "a: E?", "a: int [1..9] = 3, b: list<E?>", "a: map<string?>, b: string [1..9 bytes]"}[r.IntN(4)] + ") -> bool;\n"
	}
	docs, err := idl.Compile(func(string) ([]byte, error) { return []byte(text + "}"), nil }, "many.wip")
	if err != nil {
		t.Fatal(err)
	}
	tools := madeTools(docs...)
	const prefix = 20
	cut, schemas := 0, new(dialecttest.Compiler)
	for _, d := range dialect.All() {
		e, err := d.Export(tools, dialect.Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range schemas.Check(d.Name, e.Tools, 0) {
			t.Errorf("%s would refuse %s", d.Name, v)
		}
		dropped := map[string]bool{}
		for _, drop := range e.Dropped {
			dropped[drop.Tool] = true
		}
		cut += len(e.Dropped) + len(e.Demoted)
		for i, tool := range tools {
			name := e.Name(i)
			if dropped[tool.Name] != (name == "") || len(name) > 64-prefix {
				t.Errorf("%s: found %q dropped %v and sent as %q, expected one of them, with room for the prefix", d.Name, tool.Name, dropped[tool.Name], name)
			}
			if got, ok := e.Index("mcp__some_server__" + name); name != "" && (!ok || got != i) {
				t.Errorf("%s: %q means the tool %d (%v), expected %d", d.Name, name, got, ok, i)
			}
		}
	}
	if cut < 100 {
		t.Errorf("found %d tools dropped or demoted, expected more", cut)
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
		p.tools[i].Brief = true
		if strings.HasSuffix(p.tools[i].Name, "invoke") {
			p.tools[i].Open, p.tools[i].OpenDoc = "arguments", "Named arguments of the operation."
		}
	}
	p.dialects(dialect.All(), dialect.Options{}, 40)
	if p.counts.accepted == 0 || p.counts.refused == 0 {
		t.Errorf("found %+v, expected some of each", p.counts)
	}
}
