package artifact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/client/artifact"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	anna = wip.Caller{ID: "anna"}
	ben  = wip.Caller{ID: "ben"}
	ctx  = context.Background()
)

// document is what a Store serves.
var document = func() *idl.Document {
	docs, err := idl.Compile(idl.FSLoader(os.DirFS(".")), "artifact.wip")
	if err != nil {
		panic(err)
	}
	return docs[0]
}()

// open returns a Store that ends with the test.
func open(t testing.TB, cfg *artifact.Config) *artifact.Store {
	t.Helper()
	s, err := artifact.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// fataler is what testing.T and rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// put keeps a text of anna's and returns it.
func put(t fataler, s *artifact.Store, text string) *artifact.Kept {
	t.Helper()
	k, err := s.Put(anna, []byte(text), artifact.Info{Label: "list_things"})
	if err != nil {
		t.Fatalf("keeping %d bytes: %v", len(text), err)
	}
	return k
}

// call calls an operation as a client does.
func call(s *artifact.Store, who wip.Caller, path, operation, args string) (gjson.Result, error) {
	r, err := s.CallOperation(ctx, wip.Call{
		Caller: who, Path: path, Object: strings.TrimPrefix(path, "/"), Interface: "Artifact", Operation: operation, Arguments: json.RawMessage(args),
	})
	return gjson.ParseBytes(r.Value), err
}

// must is call of anna's that succeeds with a result that fits its type.
func must(t fataler, s *artifact.Store, path, operation, args string) gjson.Result {
	t.Helper()
	r, err := call(s, anna, path, operation, args)
	if err != nil {
		t.Fatalf("%s(%s): %v", operation, args, err)
	}
	op := document.Interface("Artifact").Operation(operation)
	if shaped, err := op.Shape([]byte(r.Raw), idl.ShapeOptions{}); err != nil {
		t.Fatalf("%s(%s): %v", operation, args, err)
	} else if !json.Valid(shaped.JSON) {
		t.Fatalf("%s(%s): no JSON", operation, args)
	}
	return r
}

// class returns the class of an error.
func class(err error) wip.Class {
	var f *wip.Failure
	if !errors.As(err, &f) {
		return ""
	}
	return f.Class
}

// wholeByRanges reads all by read.
func wholeByRanges(t fataler, s *artifact.Store, path string, length int) string {
	t.Helper()
	var b strings.Builder
	for next := gjson.Parse("0"); next.Type == gjson.Number; {
		r := must(t, s, path, "read", fmt.Sprintf(`{"offset":%d,"length":%d}`, next.Int(), length))
		if r.Get("offset").Int() != int64(b.Len()) || r.Get("bytes").Int() != int64(len(r.Get("json").Str)) {
			t.Fatalf("found a range of %s bytes at %s, expected %d at %d", r.Get("bytes").Raw, r.Get("offset").Raw, len(r.Get("json").Str), b.Len())
		}
		b.WriteString(r.Get("json").Str)
		next = r.Get("next_offset")
	}
	return b.String()
}

// wholeByLines reads all by lines.
func wholeByLines(t fataler, s *artifact.Store, path string, count int) string {
	t.Helper()
	var b strings.Builder
	total, seen := int64(0), int64(0)
	for next := gjson.Parse("1"); next.Type == gjson.Number; {
		r := must(t, s, path, "lines", fmt.Sprintf(`{"first":%d,"count":%d}`, next.Int(), count))
		if r.Get("offset").Int() != int64(b.Len()) {
			t.Fatalf("found line %s at %s, expected it at %d", next.Raw, r.Get("offset").Raw, b.Len())
		}
		for _, l := range r.Get("lines").Array() {
			b.WriteString(l.Str)
			seen++
		}
		total, next = r.Get("total_lines").Int(), r.Get("next_first")
	}
	if seen != total {
		t.Fatalf("found %d lines, expected %d", seen, total)
	}
	return b.String()
}

// value draws a JSON value with strings that are hard to divide.
func value(depth int) *rapid.Generator[any] {
	text := rapid.Custom(func(t *rapid.T) any {
		piece := rapid.SampledFrom([]string{"a", "é", "日", "𝄞", "\n", `"`, `\`, " ", "{", "]", ",", strings.Repeat("x", 300), strings.Repeat("ö", 700)})
		return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
	})
	scalar := rapid.OneOf(text, rapid.Custom(func(t *rapid.T) any { return rapid.IntRange(-9999, 9999).Draw(t, "n") }), rapid.Just[any](nil), rapid.Just[any](true))
	if depth == 0 {
		return scalar
	}
	inner := value(depth - 1)
	return rapid.OneOf(
		scalar,
		rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(inner, 0, 12).Draw(t, "list") }),
		rapid.Custom(func(t *rapid.T) any {
			m := map[string]any{}
			for i, v := range rapid.SliceOfN(inner, 0, 6).Draw(t, "members") {
				m[fmt.Sprintf("member_%d", i)] = v
			}
			return m
		}),
	)
}

func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestWhole reads what was kept in ranges and lines of any size, from memory and
// from disk.
func TestWhole(t *testing.T) {
	memory, disk := open(t, nil), open(t, &artifact.Config{Dir: t.TempDir(), MaxMemory: 1})
	rapid.Check(t, func(t *rapid.T) {
		text := encode([]any{value(3).Draw(t, "value")})
		length, count := rapid.IntRange(1, 16000).Draw(t, "length"), rapid.IntRange(1, 500).Draw(t, "count")
		length = max(length, len(text)/200)
		for _, s := range []*artifact.Store{memory, disk} {
			k := put(t, s, text)
			if got := wholeByRanges(t, s, k.Path, length); got != text {
				t.Fatalf("ranges: found %q, expected %q", got, text)
			}
			if got := wholeByLines(t, s, k.Path, max(count, k.Lines/200)); got != text {
				t.Fatalf("lines: found %q, expected %q", got, text)
			}
			if !strings.HasPrefix(text, k.Head) || !strings.HasSuffix(text, k.Tail) || len(k.Head)+len(k.Tail) > len(text) || len(k.Head) > 2048 || len(k.Tail) > 1024 {
				t.Fatalf("found head %q and tail %q of %q", k.Head, k.Tail, text)
			}
		}
	})
	if u := memory.Usage(); u.DiskBytes != 0 {
		t.Errorf("found %d bytes on disk without a folder", u.DiskBytes)
	}
	if u := disk.Usage(); u.MemoryBytes != 0 {
		t.Errorf("found %d bytes in memory, expected them on disk", u.MemoryBytes)
	}
}

// TestLines shows how texts are divided.
func TestLines(t *testing.T) {
	item := func(n int) string { return fmt.Sprintf(`{"id":%d,"name":"%s"}`, n, strings.Repeat("x", 90)) }
	wide := `{"id":1,"name":"` + strings.Repeat("y", 300) + `","more":{"a":"` + strings.Repeat("z", 300) + `","b":[1,2,3]}}`
	row := strings.Repeat("12345,", 14)
	cases := map[string]struct {
		text string
		want []string
	}{
		"small":             {`{"a":[1,2,{"b":"c"}]}`, []string{`{"a":[1,2,{"b":"c"}]}`}},
		"elements":          {`{"items":[` + item(1) + `,` + item(2) + `,` + item(3) + `,` + item(4) + `],"page":1}`, []string{`{"items":[` + item(1) + `,`, item(2) + `,`, item(3) + `,`, item(4) + `],`, `"page":1}`}},
		"a wide element":    {`[` + wide + `,1]`, []string{`[{"id":1,"name":"` + strings.Repeat("y", 300) + `",`, `"more":{"a":"` + strings.Repeat("z", 300) + `","b":[1,2,3]}},`, `1]`}},
		"numbers":           {`[` + strings.Repeat("12345,", 99) + `1]`, slices.Concat([]string{"[" + row}, slices.Repeat([]string{row}, 6), []string{"12345,1]"})},
		"breaks in a text":  {`"one\ntwo\n\nthree"`, []string{`"one\n`, `two\n`, `\n`, `three"`}},
		"a long text":       {`"` + strings.Repeat("é", 1000) + `"`, []string{`"` + strings.Repeat("é", 511), strings.Repeat("é", 489) + `"`}},
		"escapes at an end": {`"` + strings.Repeat("a", 1020) + `\u00e9\\b"`, []string{`"` + strings.Repeat("a", 1020), `\u00e9\\b"`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, artifact.SplitLines([]byte(c.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
