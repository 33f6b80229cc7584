package artifact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/client/artifact"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// TestRead gives ranges between characters.
func TestRead(t *testing.T) {
	s := open(t, nil)
	text := `["é日𝄞a"]`
	k := put(t, s, text)
	for _, c := range []struct {
		args, want string
		offset     int64
		next       string
	}{
		{`{}`, text, 0, "null"},
		{`{"offset":2,"length":2}`, "é", 2, "4"},
		{`{"offset":3,"length":2}`, "é", 2, "4"},
		{`{"offset":2,"length":3}`, "é", 2, "4"},
		{`{"offset":4,"length":1}`, "日", 4, "7"},
		{`{"offset":10,"length":1}`, "𝄞", 7, "11"},
		{`{"offset":11,"length":100}`, `a"]`, 11, "null"},
		{`{"offset":14,"length":100}`, "", 14, "null"},
		{`{"offset":67108864}`, "", 14, "null"},
	} {
		r := must(t, s, k.Path, "read", c.args)
		if r.Get("json").Str != c.want || r.Get("offset").Int() != c.offset || r.Get("next_offset").Raw != c.next || r.Get("total_bytes").Int() != 14 {
			t.Errorf("read(%s): found %s, expected %q at %d, then %s", c.args, r, c.want, c.offset, c.next)
		}
	}
	if r := must(t, s, k.Path, "lines", `{"first":2}`); r.Get("lines").Raw != "[]" || r.Get("next_first").Type != gjson.Null {
		t.Errorf("found %s, expected nothing behind the end", r)
	}
}

// TestAnswersFit fills answers with what takes most room in them.
func TestAnswersFit(t *testing.T) {
	s := open(t, nil)
	quotes := encode([]string{strings.Repeat(`"`, 40000), strings.Repeat(`\`, 40000)})
	k := put(t, s, quotes)
	for op, args := range map[string]string{
		"read": `{"length":16000}`, "lines": `{"count":500}`, "search": `{"query":"\\\"\\\"\\\"\\\"","page_size":20}`, "select": `{"path":"0"}`,
	} {
		must(t, s, k.Path, op, args) // which checks the size
	}
	if r := must(t, s, k.Path, "select", `{"path":"0"}`); r.Get("json").Type != gjson.Null || !strings.Contains(r.Get("hint").Str, "too large") {
		t.Errorf("found %s, expected to be told that it is too large", r)
	}
	if got := wholeByRanges(t, s, k.Path, 16000); got != quotes {
		t.Error("the ranges do not make up the whole")
	}
}

// TestSearch finds what stands in the text, in capitals or not.
func TestSearch(t *testing.T) {
	var items []string
	for i := range 3000 {
		items = append(items, fmt.Sprintf(`{"id":%d,"name":"Lamp %d","note":"straße ÄÖ \"x\""}`, i, i))
	}
	text := "[" + strings.Join(items, ",") + "]"
	for name, s := range map[string]*artifact.Store{"memory": open(t, nil), "disk": open(t, &artifact.Config{Dir: t.TempDir(), MaxMemory: 1})} {
		k := put(t, s, text)
		lines := artifact.SplitLines([]byte(text))
		for query, want := range map[string]int{
			"lamp 17": 111, "LAMP 2999": 1, "äö": 3000, `\"X\"`: 3000, `"id":5,`: 1, "nothing here": 0, "STRA\u00dfE": 3000, "p 1": 1111,
		} {
			r := must(t, s, k.Path, "search", `{"query":`+encode(query)+`,"page_size":20}`)
			if got := r.Get("total_matching").Int(); got != int64(want) {
				t.Errorf("%s: %q: found %d matches, expected %d", name, query, got, want)
			}
			for _, m := range r.Get("items").Array() {
				line, offset := int(m.Get("line").Int()), int(m.Get("offset").Int())
				begin := len(strings.Join(lines[:line-1], ""))
				if offset < begin || offset >= begin+len(lines[line-1]) || !strings.EqualFold(text[offset:offset+len(query)], query) {
					t.Errorf("%s: %q: found line %d and offset %d, where there is %q", name, query, line, offset, text[offset:offset+len(query)])
				}
				if !strings.Contains(strings.ToLower(m.Get("context").Str), strings.ToLower(query)) || !strings.Contains(text, m.Get("context").Str) {
					t.Errorf("%s: %q: found the context %q", name, query, m.Get("context").Str)
				}
			}
		}
		r := must(t, s, k.Path, "search", `{"query":"lamp","page":1000,"page_size":20}`)
		if len(r.Get("items").Array()) != 0 {
			t.Errorf("found %s, expected an empty page", r)
		}
	}
	s := open(t, nil)
	k := put(t, s, "["+strings.Repeat("7,", 30000)+"7]")
	if r := must(t, s, k.Path, "search", `{"query":"7","page":1000,"page_size":20}`); r.Get("total_matching").Int() != 20000 || !r.Get("source_truncated").Bool() || len(r.Get("items").Array()) != 20 {
		t.Errorf("found %.200s, expected 20000 matches, and that there are more", r)
	}
}

// TestSearchProperty finds what a plain search finds.
func TestSearchProperty(t *testing.T) {
	s := open(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "A", "b", "é", "É", "K", "\u212a", "日"})
		text := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "text"), "")
		query := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "query"), "")
		k := put(t, s, `"`+text+`"`)
		var want []int
		for i := 0; i < len(text); {
			if n := prefix(text[i:], query); n > 0 {
				want = append(want, i+1)
				i += n
				continue
			}
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
		}
		r := must(t, s, k.Path, "search", `{"query":`+encode(query)+`,"page_size":20}`)
		var got []int
		for _, m := range r.Get("items").Array() {
			got = append(got, int(m.Get("offset").Int()))
		}
		if diff := cmp.Diff(want[:min(len(want), 20)], got, cmp.Transformer("empty", func(l []int) string { return fmt.Sprint(l) })); diff != "" || r.Get("total_matching").Int() != int64(len(want)) {
			t.Fatalf("%q in %q: %s", query, text, diff)
		}
	})
}

// prefix returns how many bytes of text the query takes at its beginning, in
// capitals or not.
func prefix(text, query string) int {
	n := utf8.RuneCountInString(query)
	for i := range text + "x" {
		if n == 0 {
			if strings.EqualFold(text[:i], query) {
				return i
			}
			return 0
		}
		n--
	}
	return 0
}

// TestSelect takes parts by path.
func TestSelect(t *testing.T) {
	s := open(t, nil)
	text := `{"items":[{"name":"lamp","n":1,"on":true},{"name":"bed","n":2,"on":null},{"name":"lamp","n":3,"on":false}],"a.b":{"@x":5},"long":[` +
		strings.Repeat(`{"k":"`+strings.Repeat("v", 100)+`"},`, 400) + `1]}`
	k := put(t, s, text)
	for path, want := range map[string]string{
		"items.0.name":             `words "lamp"`,
		"items.1":                  `object {"name":"bed","n":2,"on":null} 3`,
		"items.1.on":               `none null`,
		"items.0.on":               `boolean true`,
		"items.#":                  `number 3`,
		"items.#.name":             `list ["lamp","bed","lamp"] 3`,
		`items.#(name=="lamp")#.n`: `list [1,3] 2`,
		`items.#(n>1).name`:        `words "bed"`,
		`items.#(name!="lamp").n`:  `number 2`,
		`items.#(name%"b*").n`:     `number 2`,
		`a\.b.\@x`:                 `number 5`,
		"it*.2.n":                  `number 3`,
		"items.7":                  `nothing`,
		"nowhere.at.all":           `nothing`,
		"long.#":                   `number 401`,
		"long.400":                 `number 1`,
	} {
		r := must(t, s, k.Path, "select", `{"path":`+encode(path)+`}`)
		got := r.Get("kind").Str
		for _, field := range []string{"json", "count"} {
			if v := r.Get(field); v.Type != gjson.Null {
				got += " " + v.String()
			}
		}
		if got != want {
			t.Errorf("%s: found %s, expected %s", path, got, want)
		}
		if o := r.Get("offset"); o.Type == gjson.Number {
			if raw := r.Get("json").Str; !strings.HasPrefix(text[o.Int():], raw) {
				t.Errorf("%s: found %q at its offset, expected %q", path, text[o.Int():], raw)
			}
		} else if strings.HasPrefix(path, "items.1") {
			t.Errorf("%s: found no offset", path)
		}
	}
	r := must(t, s, k.Path, "select", `{"path":"long"}`)
	if r.Get("kind").Str != "list" || r.Get("count").Int() != 401 || r.Get("json").Type != gjson.Null || r.Get("bytes").Int() < 40000 ||
		!strings.Contains(r.Get("hint").Str, ".0") || !strings.HasPrefix(text[r.Get("offset").Int():], `[{"k":"v`) {
		t.Errorf("found %s, expected what it is, where it is and how to ask for less", r)
	}
}

// TestSelectRefuses refuses paths that could take long, or do more than select.
func TestSelectRefuses(t *testing.T) {
	s := open(t, nil)
	k := put(t, s, `{"a":[1]}`)
	for _, path := range []string{
		"@this", "a.@reverse", "a|@pretty", "{a,a}", "[a,a,a]", "a.[0,0]", "!true", `a.#(@this=="x")`, `a.#({a,a}=="x")`,
		strings.Repeat("a.", 40) + "a", "#.#.#.#.#", "#(a).#(a).#(a).#(a)", "*.*.*.*.*", `a.#(b%"*a*a*a*a*")`, `a.#(b=="`,
	} {
		if _, err := call(s, anna, k.Path, "select", `{"path":`+encode(path)+`}`); class(err) != wip.Domain {
			t.Errorf("%s: found %v, expected that it is refused", path, err)
		}
	}
	if _, err := call(s, anna, k.Path, "read", `{"offset":-1}`); class(err) != wip.Domain {
		t.Errorf("found %v, expected that the arguments are refused", err)
	}
	_, err := s.CallOperation(ctx, wip.Call{Caller: anna, Path: k.Path, Object: "other", Interface: "Artifact", Operation: "read", Arguments: json.RawMessage(`{}`)})
	if class(err) != wip.Stale {
		t.Errorf("found %v, expected that it is another object", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.CallOperation(ended, wip.Call{Caller: anna, Path: k.Path}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected that the call was cancelled", err)
	}
}

// FuzzAsk calls each operation with arguments of any kind: answers fit their
// types, and errors have a class.
func FuzzAsk(f *testing.F) {
	for _, seed := range []struct{ op, args string }{
		{"read", `{"offset":3,"length":5}`}, {"read", `{"offset":1e3}`}, {"lines", `{"first":2,"count":3}`}, {"search", `{"query":"É"}`},
		{"select", `{"path":"items.#(name==\"lamp\")#.n"}`}, {"select", `{"path":"a.#.b|0"}`}, {"select", `{"path":"items.#(a.#(b>1)).c"}`},
		{"select", `{"path":"*.?"}`}, {"select", `{"path":"..0"}`}, {"select", `{"path":"items.#(name%\"l*\")#"}`},
	} {
		f.Add(seed.op, seed.args)
	}
	s := open(f, nil)
	text := encode(map[string]any{
		"items": []any{map[string]any{"name": "lamp", "n": 1, "deep": []any{[]any{1, "é日𝄞"}, nil}}, map[string]any{"name": "bed", "n": 2.5}},
		"":      "empty", "a": []any{map[string]any{"b": []int{1, 2}}}, "long": strings.Repeat("é ", 3000),
	})
	k, err := s.Put(anna, []byte(text), artifact.Info{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, operation, args string) {
		op := document.Interface("Artifact").Operation(operation)
		r, err := call(s, anna, k.Path, operation, args)
		switch {
		case err != nil && (class(err) == wip.Internal || class(err) == ""):
			t.Fatalf("%s(%s): found %v", operation, args, err)
		case err != nil:
			return
		}
		if _, err := op.Shape([]byte(r.Raw), idl.ShapeOptions{}); err != nil {
			t.Fatalf("%s(%s): %v in %s", operation, args, err, r)
		}
		switch operation {
		case "read":
			if o := r.Get("offset").Int(); text[o:o+r.Get("bytes").Int()] != r.Get("json").Str {
				t.Fatalf("read(%s): found %s", args, r)
			}
		case "select":
			if o := r.Get("offset"); o.Type == gjson.Number && r.Get("json").Type == gjson.String && !strings.HasPrefix(text[o.Int():], r.Get("json").Str) {
				t.Fatalf("select(%s): found %s", args, r)
			}
			if j := r.Get("json"); j.Type == gjson.String && !json.Valid([]byte(j.Str)) {
				t.Fatalf("select(%s): found no JSON in %s", args, r)
			}
		}
	})
}
