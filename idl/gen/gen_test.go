package gen_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
)

var update = flag.Bool("update", false, "rewrite the generated fixture")

const fixture = "testdata/tracker/ztracker.go"

func TestFixtureIsFresh(t *testing.T) {
	docs, err := idl.Compile(idl.FSLoader(os.DirFS("testdata")), "tracker.wip")
	if err != nil {
		t.Fatal(err)
	}
	src, err := gen.Go(docs, "tracker")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(fixture, src, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, src) {
		t.Errorf("%s is not what the generator writes: run go test ./idl/gen -update", fixture)
	}
}

func TestWhatGoCannotExpress(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"label and record": {
			`enum Item { kind } record ItemKind { x: int; }`,
			"expected different names in Go than ItemKind",
		},
		"arguments and record": {
			`interface A { find(q: string) -> int; } record FindArgs { x: int; }`,
			"expected different names in Go than FindArgs",
		},
		"interface and call": {
			`interface Region { now() -> int; } record CallRegion { x: int; }`,
			"expected different names in Go than CallRegion",
		},
		"page in a record": {
			`interface A { find(page: int = 1, page_size: int = 10) -> Found; } record Found { hits: page<int>; }`,
			"expected it to be the result itself",
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{"a.wip": {Data: []byte("package a;\n" + c.src)}}
			docs, err := idl.Compile(idl.FSLoader(fsys), "a.wip")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := gen.Go(docs, "a"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}
