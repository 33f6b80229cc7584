package idl_test

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl"
)

// mapLoader loads documents from a map.
func mapLoader(docs map[string]string) idl.Loader {
	return func(name string) ([]byte, error) {
		text, ok := docs[name]
		if !ok {
			return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		return []byte(text), nil
	}
}

// described tells documents and faults apart by all that the tests vary.
func described(docs []*idl.Document, err error) string {
	var b strings.Builder
	var describe func(d *idl.Document, depth int)
	describe = func(d *idl.Document, depth int) {
		fmt.Fprintf(&b, "%*s%s %s:", depth, "", d.Name, d.Package)
		for _, r := range d.Records {
			for _, f := range r.Fields {
				fmt.Fprintf(&b, " %s.%s %s at %s", r.Name, f.Name, f.Type, f.Span)
			}
		}
		b.WriteString("\n")
		for _, i := range d.Imports {
			describe(i, depth+1)
		}
	}
	for _, d := range docs {
		describe(d, 0)
	}
	var list idl.ErrorList
	if errors.As(err, &list) {
		for _, d := range list {
			fmt.Fprintf(&b, "%s %s\n", d.Error(), d.Hint)
		}
	}
	return b.String()
}

func TestCacheRemembers(t *testing.T) {
	docs := map[string]string{
		"a.wip": `package a; import "b.wip"; record A { b: B; }`,
		"b.wip": `package b; record B { n: int; }`,
		"c.wip": `package c; record C { n: Nothing; }`,
	}
	c := idl.NewCache(1 << 20)
	first, err := c.Compile(mapLoader(docs), "a.wip", "c.wip")
	if len(first) != 1 || err == nil {
		t.Fatalf("Compile = %d documents and %v", len(first), err)
	}
	var asked []string
	again, errAgain := c.Compile(func(name string) ([]byte, error) {
		asked = append(asked, name)
		return mapLoader(docs)(name)
	}, "a.wip", "c.wip")
	if len(again) != 1 || again[0] != first[0] {
		t.Error("the same documents were compiled twice")
	}
	if diff := cmp.Diff(err, errAgain); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a.wip", "b.wip", "c.wip"}, asked); diff != "" {
		t.Errorf("what was loaded the second time differs:\n%s", diff)
	}
	// The slices are the caller's.
	before := err.Error()
	again[0], errAgain.(idl.ErrorList)[0].Message = nil, "changed"
	third, errThird := c.Compile(mapLoader(docs), "a.wip", "c.wip")
	if third[0] != first[0] || errThird.Error() != before {
		t.Error("a caller changed what another gets")
	}
}

// What a Cache returns is always what Compile returns, whatever others have
// compiled before.
func TestCacheIsCompile(t *testing.T) {
	texts := []string{
		"",
		"package p;",
		"package p; record %s { n: int; }",
		"package p; record %s { n: text; }",
		`package p; import "a"; record %s { n: A?; }`,
		`package p; import "b"; record %s { n: B?; }`,
		`package p; import "b"; import "a"; record %s { n: int; }`,
		`package p; import "c"; record %s { n: C?; }`,
		`package p; import "c"; record %s { n: B?; }`,
		"package p; record %s { n: Nothing; }",
		"package p; record %s { n: int }",
	}
	names := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(t *rapid.T) {
		c := idl.NewCache(rapid.SampledFrom([]int{0, 2000, 20_000, 1 << 20}).Draw(t, "size"))
		for range rapid.IntRange(1, 30).Draw(t, "rounds") {
			docs := map[string]string{}
			for _, name := range names {
				if i := rapid.IntRange(-1, len(texts)-1).Draw(t, name); i >= 0 {
					docs[name] = strings.ReplaceAll(texts[i], "%s", strings.ToUpper(name))
				}
			}
			roots := rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(t, "roots")
			want := described(idl.Compile(mapLoader(docs), roots...))
			got := described(c.Compile(mapLoader(docs), roots...))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("the outcome for %q of %q differs (-compiled +cached):\n%s", roots, docs, diff)
			}
		}
	})
}

// A failure that may pass is not remembered, and neither is what came of it.
func TestCacheForgetsFailures(t *testing.T) {
	docs := map[string]string{"a": `package a; import "b"; record A { b: B; }`, "b": "package b; record B { n: int; }"}
	c := idl.NewCache(1 << 20)
	for _, name := range []string{"a", "b"} {
		for _, failure := range []error{errors.New("busy"), fs.ErrNotExist, errors.New("tired")} {
			load := func(asked string) ([]byte, error) {
				if asked == name {
					return nil, failure
				}
				return mapLoader(docs)(asked)
			}
			want := described(idl.Compile(load, "a"))
			if diff := cmp.Diff(want, described(c.Compile(load, "a"))); diff != "" {
				t.Errorf("while %q is %q (-compiled +cached):\n%s", name, failure, diff)
			}
		}
	}
	if got, err := c.Compile(mapLoader(docs), "a"); len(got) != 1 || err != nil {
		t.Errorf("afterwards: %d documents and %v", len(got), err)
	}
}

func TestCacheConcurrently(t *testing.T) {
	c := idl.NewCache(8 << 20)
	docs := map[string]string{"b.wip": "package b; record B { n: int; }", "a.wip": `package a; import "b.wip";` + numbered("record R%d { b: B; n: text; }\n", 200)}
	var found [16]*idl.Document
	var wg sync.WaitGroup
	for i := range found {
		wg.Go(func() {
			got, err := c.Compile(mapLoader(docs), "a.wip")
			if err != nil {
				t.Error(err)
				return
			}
			found[i] = got[0]
		})
	}
	wg.Wait()
	for _, d := range found {
		if d != found[0] {
			t.Fatal("the same document was compiled twice")
		}
	}
}

// A Loader that hangs holds up nobody else, also not who asks for the same.
func TestCacheWaitsForNoLoader(t *testing.T) {
	docs := map[string]string{"a": `package a; import "b"; record A { b: B; }`, "b": "package b; record B { n: int; }"}
	c := idl.NewCache(1 << 20)
	reached, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		got, err := c.Compile(func(name string) ([]byte, error) {
			if name == "b" {
				close(reached)
				<-release
				return []byte("package b; record B { n: text; }"), nil
			}
			return mapLoader(docs)(name)
		}, "a")
		if err != nil || got[0].Imports[0].Records[0].Fields[0].Type.Kind != idl.Text {
			t.Errorf("the one that waited got %v", err)
		}
	})
	<-reached
	got, err := c.Compile(mapLoader(docs), "a")
	if err != nil || got[0].Imports[0].Records[0].Fields[0].Type.Kind != idl.Int {
		t.Errorf("the other one got %v", err)
	}
	close(release)
	wg.Wait()
}

// The memory of a Cache is bounded, whatever strangers send.
func TestCacheIsBounded(t *testing.T) {
	const size = 4 << 20
	kinds := []func(i int) string{
		func(i int) string { return numbered("enum E%d { "+numbered("a%d, ", 50)+"}\n", 100) },
		func(i int) string { return numbered("record R%d { "+numbered("a%d: int; ", 50)+"}\n", 100) },
		func(i int) string { return numbered("interface I%d { "+numbered("a%d() -> int; ", 50)+"}\n", 50) },
		func(i int) string { return "record R { " + numbered("a%d: Nothing; ", 250) + "}" },
		func(i int) string {
			return "record R { " + numbered(`a%d: string [matching "[a-z]{0,500}%[1]d"]; `, 50) + "}"
		},
		func(i int) string { return numbered("import \"nothing%d\"; ", 200) },
		func(i int) string { return "import \"" + strings.Repeat("x", 10_000) + "\";" },
	}
	c := idl.NewCache(size)
	before := heapBytes()
	for i := range 20 {
		for _, kind := range kinds {
			text := fmt.Sprintf("package p%d; ", i) + kind(i)
			_, _ = c.Compile(func(name string) ([]byte, error) {
				if name != "a" {
					return nil, fs.ErrNotExist
				}
				return []byte(text), nil
			}, "a")
		}
	}
	if grown := heapBytes() - before; grown > size {
		t.Errorf("the cache holds %d bytes, expected at most %d", grown, size)
	}
	runtime.KeepAlive(c)
}

// heapBytes returns the bytes that are in use.
func heapBytes() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// BenchmarkCache compiles what was compiled before, beside Compile.
func BenchmarkCache(b *testing.B) {
	docs := map[string]string{"bench.wip": benchDocument()}
	load := mapLoader(docs)
	for name, compile := range map[string]func(idl.Loader, ...string) ([]*idl.Document, error){
		"compile": idl.Compile,
		"cached":  idl.NewCache(64 << 20).Compile,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(docs["bench.wip"])))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := compile(load, "bench.wip"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
