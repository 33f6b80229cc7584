package idl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/wipagent/wipagent/idl"
)

func between(low, high float64) *idl.Range {
	return &idl.Range{Min: low, Max: high, HasMin: true, HasMax: true}
}

func of(k idl.Kind) *idl.Type                   { return &idl.Type{Kind: k} }
func ranged(k idl.Kind, r *idl.Range) *idl.Type { return &idl.Type{Kind: k, Range: r} }
func optional(t idl.Type) *idl.Type             { t.Optional = true; return &t }
func op(name string, p ...*idl.Param) *idl.Operation {
	return &idl.Operation{Name: name, Params: p}
}

func param(name string, t *idl.Type, fallback string) *idl.Param {
	p := &idl.Param{Name: name, Type: t}
	if fallback != "" {
		p.Default = json.RawMessage(fallback)
	}
	return p
}

func matching(pattern string) *idl.Type {
	return &idl.Type{Kind: idl.String, PatternText: pattern, Pattern: regexp.MustCompile(`\A(?:` + pattern + `)\z`)}
}

func enum(labels ...string) *idl.Type {
	e := &idl.Enum{Name: "E"}
	for _, l := range labels {
		e.Labels = append(e.Labels, idl.Label{Name: l})
	}
	return &idl.Type{Kind: idl.EnumOf, Enum: e}
}

var (
	stateOp  = op("agent_state")
	nearbyOp = op("nearby_avatars",
		param("radius_meters", ranged(idl.Float, between(0, 256)), "96"),
		param("page", ranged(idl.Int, between(1, 1000)), "1"),
		param("page_size", ranged(idl.Int, between(1, 20)), "20"))
	searchOp = op("inventory_search",
		param("query", ranged(idl.String, between(1, 128)), ""),
		param("page", ranged(idl.Int, between(1, 1000)), "1"),
		param("page_size", ranged(idl.Int, between(1, 20)), "20"))
	pointType = &idl.Type{Kind: idl.RecordOf, Record: &idl.Record{Name: "Point", Fields: []*idl.Field{
		{Name: "x", Type: of(idl.Float)},
		{Name: "y", Type: of(idl.Float)},
		{Name: "height_meters", Type: optional(idl.Type{Kind: idl.Float, Range: between(0, 4096)})},
	}}}
	everyOp = op("every_kind",
		param("flag", of(idl.Bool), "false"),
		param("count", ranged(idl.Int, between(-5, 500)), "0"),
		param("ratio", of(idl.Float), "1"),
		param("title", optional(idl.Type{Kind: idl.String, Range: between(1, 12)}), ""),
		param("code", matching("[a-z]{3}"), `"abc"`),
		param("id", optional(idl.Type{Kind: idl.UUID}), ""),
		param("at", optional(idl.Type{Kind: idl.Timestamp}), ""),
		param("wait", ranged(idl.Duration, between(0, 60000)), "1000"),
		param("blob", optional(idl.Type{Kind: idl.Bytes, Range: between(0, 8)}), ""),
		param("target", optional(idl.Type{Kind: idl.Entry}), ""),
		param("heading", enum("north", "east", "south_west"), `"north"`),
		param("tags", &idl.Type{Kind: idl.List, Elem: ranged(idl.String, between(1, 8)), Range: between(0, 3)}, "[]"),
		param("limits", optional(idl.Type{Kind: idl.Map, Elem: ranged(idl.Int, between(0, 9)), Range: between(0, 3)}), ""),
		param("point", optional(*pointType), ""))
)

// decode runs DecodeArgs and fails the test if its error is of another type.
func decode(t testing.TB, o *idl.Operation, raw string) (*idl.Args, *idl.ArgumentError) {
	t.Helper()
	args, err := o.DecodeArgs([]byte(raw))
	if err == nil {
		return args, nil
	}
	var bad *idl.ArgumentError
	if !errors.As(err, &bad) || args != nil {
		t.Fatalf("%s: found %v and %T, expected nil and *ArgumentError", raw, args, err)
	}
	return nil, bad
}

// outcome renders what DecodeArgs made of a record, a line each.
func outcome(t testing.TB, o *idl.Operation, raw string) string {
	args, bad := decode(t, o, raw)
	var b strings.Builder
	if bad == nil {
		fmt.Fprintf(&b, "record %s\n", args.Record)
		for _, r := range args.Repairs {
			fmt.Fprintf(&b, "repair %q %s\n", r.Path, r.Note)
		}
		return b.String()
	}
	for _, f := range bad.Faults {
		fmt.Fprintf(&b, "fault %q %s\n", f.Path, f.Constraint)
	}
	if bad.Corrected != nil {
		fmt.Fprintf(&b, "corrected %s\n", bad.Corrected)
	}
	return b.String()
}

// TestDecodeArgsGolden runs the records of testdata/decode: in each archive
// the file "calls" has a call a line, "outcomes" what comes of them.
func TestDecodeArgsGolden(t *testing.T) {
	ops := map[string]*idl.Operation{"state": stateOp, "nearby": nearbyOp, "search": searchOp, "every": everyOp}
	files, err := filepath.Glob("testdata/decode/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d archives, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for line := range strings.Lines(string(archive.Files[0].Data)) {
				name, raw, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				fmt.Fprintf(&got, "> %s %s\n%s", name, raw, outcome(t, ops[name], raw))
			}
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "outcomes", Data: []byte(got.String())})
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got.String()); diff != "" {
				t.Errorf("outcomes differ (-want +got), run with -update if intended:\n%s", diff)
			}
		})
	}
}

// TestDecodeArgsBounds tries records that are too large in one way or another.
func TestDecodeArgsBounds(t *testing.T) {
	many := func(n int, member string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, member+",", i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	for _, test := range []struct {
		name, raw, fault string
		faults           int
	}{
		{"size", `{"query":"` + strings.Repeat("a", idl.MaxArgumentBytes) + `"}`, "found 65548 bytes, expected at most 65536", 1},
		{"depth", strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "found more than 32 levels of nesting, expected at most 32", 1},
		{"depth of lists", strings.Repeat(`[`, 30000), "found more than 32 levels of nesting, expected at most 32", 1},
		{"depth in strings", `"` + strings.Repeat(`[`, 30000) + `"`, `found the string "[[[`, 1},
		{"unknown fields", many(5000, `"k%d":1`), "found more faults, only the first 32 are listed", 33},
		{"duplicates", many(5000, `"query":%d`), "found more faults, only the first 32 are listed", 33},
		{"long key", `{"` + strings.Repeat("k", 60000) + `":1}`, "under the key", 2},
		{"long string", `{"page":"` + strings.Repeat("k", 60000) + `","query":"a"}`, `found the string "kkk`, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			start := time.Now()
			_, bad := decode(t, searchOp, test.raw)
			if bad == nil || len(bad.Faults) != test.faults {
				t.Fatalf("found %v, expected %d faults", bad, test.faults)
			}
			text := bad.Error()
			if !strings.Contains(strings.ReplaceAll(text, `\`, ""), strings.ReplaceAll(test.fault, `\`, "")) {
				t.Errorf("found %s, expected it to say %s", text, test.fault)
			}
			if len(text) > 16<<10 || time.Since(start) > 5*time.Second {
				t.Errorf("found %d bytes of error after %v", len(text), time.Since(start))
			}
		})
	}
}

// TestDecodeArgsGrowth: neither the canonical record nor the repairs grow
// without bound.
func TestDecodeArgsGrowth(t *testing.T) {
	wide := &idl.Record{Name: "Wide"}
	for i := range 100 {
		wide.Fields = append(wide.Fields, &idl.Field{Name: fmt.Sprintf("field_%d", i), Type: optional(idl.Type{Kind: idl.Int})})
	}
	list := func(elem *idl.Type) *idl.Operation {
		return op("grow", param("items", &idl.Type{Kind: idl.List, Elem: elem}, ""))
	}
	raw := `{"items":[` + strings.Repeat("{},", 20000) + `{}]}`
	_, bad := decode(t, list(&idl.Type{Kind: idl.RecordOf, Record: wide}), raw)
	if bad == nil || len(bad.Faults) != 1 || !strings.Contains(bad.Error(), "found more than 1048576 bytes") {
		t.Errorf("found %v, expected one fault about the size", bad)
	}
	args, bad := decode(t, list(of(idl.Int)), `{"items":[`+strings.Repeat(`"5",`, 999)+`5]}`)
	if bad != nil || len(args.Repairs) != 33 || args.Repairs[32].Note != "put 967 more slips of form right" {
		t.Errorf("found %v, %v, expected 33 repairs", bad, args)
	}
}

// TestDecodeArgsHostileText plants text that must not reach a model, in keys
// and values, and looks for it in all that comes back.
func TestDecodeArgsHostileText(t *testing.T) {
	const bad = "see http://evil.example.com/x\u202e now"
	quoted, _ := json.Marshal(bad)
	for _, raw := range []string{
		`{"page":` + string(quoted) + `,"query":"a"}`,
		`{` + string(quoted) + `:1,"query":"a"}`,
		`{"page":0,"query":` + string(quoted) + `}`,
		`{"query":"a","page":{` + string(quoted) + `:1}}`,
		`{"query":"a",` + string(quoted) + `:{"a":nope}}`,
		`{"query":"a",` + string(quoted) + `:{"a":`,
		`{"query":"a","page":"` + "\x1b[31m" + `"}`,
		string(quoted),
	} {
		_, err := decode(t, searchOp, raw)
		if err == nil {
			t.Errorf("%s: found no fault", raw)
			continue
		}
		all := err.Error() + string(err.Corrected)
		if strings.Contains(all, "evil.example") || strings.Contains(all, "\u202e") || strings.Contains(all, "\x1b") {
			t.Errorf("%s: the answer shows it: %s", raw, all)
		}
	}
}

// TestDecodeArgsDryRun: a correction never turns a trial into the real thing.
func TestDecodeArgsDryRun(t *testing.T) {
	closing := op("close", param("reason", of(idl.String), ""), param("dry_run", of(idl.Bool), "false"))
	for _, test := range []struct {
		o         *idl.Operation
		raw, want string
	}{
		{closing, `{"reason":"x","dry_run":"maybe"}`, ""},
		{closing, `{"reason":"x","dry_run":true,"dry_run":false}`, ""},
		{closing, `{"reason":"x","dry_run":true,"dryRun":true}`, `{"reason":"x","dry_run":true}`},
		{closing, `{"dry_run":true,"args":{"reason":"x","dry_run":false}}`, ""},
		{op("close", param("reason", of(idl.String), "")), `{"reason":"x","dry-runs":true}`, ""},
		{closing, `"{\"reason\":\"x\""`, ""},
		{closing, `{"reason":"x"`, ""},
		{closing, `{"reason":"x","dry_run":1}`, `{"reason":"x","dry_run":true}`},
		{closing, `{"reason":"x","dry_rnu":true}`, `{"reason":"x","dry_run":true}`},
		{op("close", param("reason", of(idl.String), "")), `{"reason":"x","dryRun":true}`, ""},
		{op("close", param("reason", of(idl.String), "")), `{"reason":"x","loud":true}`, `{"reason":"x"}`},
	} {
		_, err := decode(t, test.o, test.raw)
		if err == nil || string(err.Corrected) != test.want {
			t.Errorf("%s: found %v with correction %s, expected %s", test.raw, err, err.Corrected, test.want)
		}
	}
}

// TestDecodeArgsCompiled: defaults as a document declares them are in the
// canonical form, and stay as they are on a second pass.
func TestDecodeArgsCompiled(t *testing.T) {
	source := fstest.MapFS{"a.wip": {Data: []byte(`package a;
record Point { x: float; y: float?; }
enum Side { north, south }
interface All {
  numbers(f: float = 1e-7, g: float = -0.0, h: float = 1e21, i: int [..5] = -3, w: duration = 3s) -> text;
  strings(s: string = "a \"b\" é", e: entry = "/a/b", b: bytes = "aGk=", d: Side = south, id: uuid = "01234567-89ab-cdef-0123-456789abcdef") -> text;
  others(p: Point?, l: list<Point>?, m: map<int>?, yes: bool = true) -> text;
}`)}}
	docs, err := idl.Compile(idl.FSLoader(source), "a.wip")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range docs[0].Interfaces[0].Operations {
		args, bad := decode(t, o, "{}")
		if bad != nil {
			t.Fatal(bad)
		}
		again, bad := decode(t, o, string(args.Record))
		if bad != nil || len(again.Repairs) > 0 || string(again.Record) != string(args.Record) {
			t.Errorf("%s: found %v, %v on the second pass", args.Record, bad, again)
		}
	}
}
