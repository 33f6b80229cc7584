package gen_test

import (
	"bytes"
	"errors"
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

// Names that would become one in Go are made free.
func TestServerNames(t *testing.T) {
	for name, c := range map[string]struct {
		src  string
		want []string
	}{
		"one operation": {
			`interface Doors { find(words: string) -> int; }`,
			[]string{"type FindArgs struct", "Find(ctx context.Context, snap S, args FindArgs)"},
		},
		"two operations": {
			`interface Doors { find(words: string) -> int; } interface Windows { find(words: string) -> int; open(id: int) -> bool; }`,
			[]string{"type DoorsFindArgs struct", "type WindowsFindArgs struct", "type OpenArgs struct", "impl.Find(ctx, snap, WindowsFindArgs{"},
		},
		"one of two without arguments": {
			`interface Doors { find(words: string) -> int; } interface Windows { find() -> int; list(page: int [1..] = 1, page_size: int [1..9] = 3) -> page<int>; }`,
			[]string{"type FindArgs struct", "List(ctx context.Context, snap S) (idl.Selection[int64], error)"},
		},
		"arguments and record": {
			`interface A { find(q: string) -> FindArgs; } record FindArgs { x: int; }`,
			[]string{"type FindArgs struct", "type AFindArgs struct", "args AFindArgs) (FindArgs, error)"},
		},
		"arguments and records": {
			`interface A { find(q: string) -> int; } record FindArgs { x: int; } record AFindArgs { x: int; }`,
			[]string{"type FindArgs struct", "type AFindArgs struct", "args AFindArgs_)"},
		},
		"label and record": {
			`enum Item { kind } record ItemKind { x: int; }`,
			[]string{"type ItemKind struct", `ItemKind_ Item = "kind"`},
		},
		"interface and call": {
			`interface Region { now() -> int; } record CallRegion { x: int; }`,
			[]string{"type CallRegion struct", "func CallRegion_[S any](", "// CallRegion_ runs"},
		},
		"the snapshot's type": {
			`interface A { now() -> S; } record S { x: int; }`,
			[]string{"type S_ struct", "Now(ctx context.Context, snap S) (S_, error)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{"a.wip": {Data: []byte("package a;\n" + c.src)}}), "a.wip")
			if err != nil {
				t.Fatal(err)
			}
			src, err := gen.Go(docs, "a")
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(string(src)), " ")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("found no %q in\n%s", want, src)
				}
			}
		})
	}
}

// Every page in a record is told at its field, in whatever document it is.
func TestWhatGoCannotExpress(t *testing.T) {
	fsys := fstest.MapFS{
		"a.wip": {Data: []byte("package a;\nimport \"b.wip\";\ninterface A { find() -> Found; }\nrecord Found { hits: page<int>; more: More; }\n")},
		"b.wip": {Data: []byte("package b;\nrecord More {\n  all: fact<page<string>>;\n}\n")},
	}
	docs, err := idl.Compile(idl.FSLoader(fsys), "a.wip")
	if err != nil {
		t.Fatal(err)
	}
	_, err = gen.Go(docs, "a")
	want := "b.wip:3:3: found fact<page<string>> in field \"all\" of record \"More\", expected pages only as results of operations [unbindable-page]\n" +
		"a.wip:4:16: found page<int> in field \"hits\" of record \"Found\", expected pages only as results of operations [unbindable-page]"
	var faults idl.ErrorList
	if !errors.As(err, &faults) || err.Error() != want {
		t.Errorf("got error %v, want %v", err, want)
	}
}
