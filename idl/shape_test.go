package idl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
)

// fataler is what operationOf needs of a test.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// operationOf compiles an operation "op" with the result type and further
// declarations.
func operationOf(t fataler, result, declarations string) *idl.Operation {
	t.Helper()
	src := fmt.Sprintf("package p;\nversion 7;\ninterface I {\n@max_output(2KiB)\nop(page: int [1..3] = 1, page_size: int [1..20] = 20) -> %s;\n}\n%s", result, declarations)
	docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{"p.wip": {Data: []byte(src)}}), "p.wip")
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return docs[0].Interface("I").Operation("op")
}

const (
	records = `
record Pos { x: float; y: float; z: fact<float>; }
record Plain { n: int; }
record Opt { a: int?; b: text?; }
record Named { name: text; pos: fact<Pos>; }
record Tree { name: text; children: list<Tree>; }
record Measured { @derived d: fact<float>; inner: Deep; }
record Deep { @derived e: int; @derived d: fact<float>; }
enum Color { red, LSL }
`
	// envelope is what a Host sends of one, without the braces.
	envelope = `"generation":4,"region_id":"11111111-2222-4333-8444-55555555AAAA","observed_unix_millis":1000,` +
		`"age_millis":5,"snapshot_id":"s1","freshness":"cached","provenance":{"source":"demo"}`
	// header and middle are what it becomes, around the mark of trust.
	header = `{"schema_version":7,"tool":"op","generation":4,"region_id":"11111111-2222-4333-8444-55555555aaaa",` +
		`"observed_unix_millis":1000,"age_millis":5,"snapshot_id":"s1","freshness":"cached","trust":`
	noneDerived = `,"provenance":{"source":"demo","derived":[],"model_inference":"none"}`
)

func TestShape(t *testing.T) {
	for _, c := range []struct{ name, result, raw, want string }{
		{"bool", "bool", ` true `, `true`},
		{"int", "int", `-0`, `0`},
		{"largest int", "int", `9007199254740991`, `9007199254740991`},
		{"float", "float", `-1.50`, `-1.50`},
		{"float with exponent", "float", `1E+2`, `100`},
		{"float of many digits", "float", `0.1000000000000000055511151231257827021181583404541015625`, `0.1`},
		{"string", "string [..4 bytes]", `"\u00e9\n"`, `"é\n"`},
		{"surrogates", "string", `"\ud83d\ude00\/"`, `"😀/"`},
		{"pattern", `string [matching "[a-z]+"]`, `"abc"`, `"abc"`},
		{"text", "text", `"see\nhttp://evil.example/x now"`, `"see [link removed] now"`},
		{"text is cut", "text", `"` + strings.Repeat("é", 200) + `"`, `"` + strings.Repeat("é", 128) + `"`},
		{"text with a maximum", "text [..5 bytes]", `"abcdefgh"`, `"abcde"`},
		{"text that may hold nothing", "text [..0 bytes]", `"abcdefgh"`, `""`},
		{"uuid", "uuid", `"ABCDEF01-2222-4333-8444-555555555555"`, `"abcdef01-2222-4333-8444-555555555555"`},
		{"bytes", "bytes [2..2 bytes]", `"AAE="`, `"AAE="`},
		{"enum", "Color", `"LSL"`, `"LSL"`},
		{"null of an optional", "int?", `null`, `null`},
		{"list", "list<int> [..2]", `[ 1 , 2 ]`, `[1,2]`},
		{"empty list", "list<int>", `[ ]`, `[]`},
		{"map", "map<int>", `{"b":1,"a":2}`, `{"a":2,"b":1}`},
		{"map keys are cleaned", "map<int>", `{"a\u200b":1,"a":2,"a\u2060":3}`, `{"a":2,"a (2)":1,"a (3)":3}`},
		{"record out of order", "Pos", `{"z":3,"y":2,"x":1}`, `{"x":1,"y":2,"z":3}`},
		{"absent optional field", "Plain?", `null`, `null`},
		{"absent optional fields", "Opt", `{}`, `{"trust":"untrusted_observed_data","a":null,"b":null}`},
		{"unknown fact in a record", "Pos", `{"x":1,"y":2,"z":{"reason":"r","status":"unknown"}}`, `{"x":1,"y":2,"z":{"status":"unknown","reason":"r"}}`},
		{"known none", "fact<int?>", `null`, `null`},
		{"known scalar", "fact<int>", `5`, `5`},
		{"known record", "fact<Plain>", `{"n":5}`, `{"status":"observed","n":5}`},
		{"known record that says so", "fact<Plain>", `{"n":5,"status":"observed"}`, `{"status":"observed","n":5}`},
		{"unknown record", "fact<Named>", `{"status":"unknown","reason":"manager_cache_unavailable"}`, `{"status":"unknown","reason":"manager_cache_unavailable"}`},
		{"known list", "fact<list<int>>", `[1]`, `[1]`},
		{"unknown list", "fact<list<int>>", `{"status":"unknown","reason":"r"}`, `{"status":"unknown","reason":"r"}`},
		{"mark of an item", "list<Named>", `[{"name":"A","pos":{"x":1,"y":2,"z":3}}]`,
			`[{"trust":"untrusted_observed_data","name":"A","pos":{"status":"observed","x":1,"y":2,"z":3}}]`},
		{"a Host's own mark is not believed", "Opt", `{"b":"x","trust":"observed_data","a":1}`,
			`{"trust":"untrusted_observed_data","a":1,"b":"x"}`},
		{"record in itself", "Tree", `{"children":[{"children":[],"name":"c"}],"name":"r"}`,
			`{"trust":"untrusted_observed_data","name":"r","children":[{"trust":"untrusted_observed_data","name":"c","children":[]}]}`},
		{"page", "page<int>", `{"items":[1,2],"page":1,"page_size":2,"total_matching":3,"source_truncated":true}`,
			`{"items":[1,2],"page":1,"page_size":2,"total_matching":3,"next_page":2,"truncated":true,"source_truncated":true}`},
		{"last page", "page<int>", `{"items":[3],"page":2,"page_size":2,"total_matching":3,"next_page":null,"truncated":false,"source_truncated":false}`,
			`{"items":[3],"page":2,"page_size":2,"total_matching":3,"next_page":null,"truncated":false,"source_truncated":false}`},
		{"last page that can be asked for", "page<int>", `{"items":[3],"page":3,"page_size":1,"total_matching":9,"source_truncated":false}`,
			`{"items":[3],"page":3,"page_size":1,"total_matching":9,"next_page":null,"truncated":true,"source_truncated":false}`},
		{"page past the end", "page<int>", `{"items":[],"page":9007199254740991,"page_size":20,"total_matching":3,"source_truncated":false}`,
			`{"items":[],"page":9007199254740991,"page_size":20,"total_matching":3,"next_page":null,"truncated":false,"source_truncated":false}`},
		{"page out of order", "page<int>", `{"next_page":2,"source_truncated":false,"truncated":true,"total_matching":2,"page_size":1,"page":1,"items":[1]}`,
			`{"items":[1],"page":1,"page_size":1,"total_matching":2,"next_page":2,"truncated":true,"source_truncated":false}`},
		{"observed", "observed<Plain>", `{` + envelope + `,"n":1}`, header + `"observed_data"` + noneDerived + `,"n":1}`},
		{"observed, payload first", "observed<Plain>", `{"n":1,` + envelope + `}`, header + `"observed_data"` + noneDerived + `,"n":1}`},
		{"observed text and derived fields", "observed<Measured>", `{` + envelope + `,"d":1,"inner":{"e":1,"d":2}}`,
			header + `"observed_data","provenance":{"source":"demo","derived":["d","e"],"model_inference":"none"},"d":1,"inner":{"e":1,"d":2}}`},
		{"observed unknown", "observed<fact<page<Named>>>", `{"status":"unknown",` + envelope + `,"reason":"r"}`,
			header + `"untrusted_observed_data"` + noneDerived + `,"status":"unknown","reason":"r"}`},
		{"observed page", "observed<fact<page<Plain>>>",
			`{` + envelope + `,"items":[{"n":1}],"page":1,"page_size":20,"total_matching":1,"source_truncated":false,"status":"observed"}`,
			header + `"observed_data"` + noneDerived + `,"status":"observed","items":[{"n":1}],"page":1,"page_size":20,` +
				`"total_matching":1,"next_page":null,"truncated":false,"source_truncated":false}`},
		{"assumed observer", "observed<Plain>",
			`{` + strings.TrimSuffix(envelope, "}") + `,"assumed_observer":{"z":3,"y":2,"x":1}},"n":1}`,
			header + `"observed_data","provenance":{"source":"demo","derived":[],"model_inference":"none","assumed_observer":{"x":1,"y":2,"z":3}},"n":1}`},
		{"what the document decides is written anew", "observed<Plain>",
			`{"schema_version":99,"tool":"other","trust":"none",` + strings.TrimSuffix(envelope, "}") + `,"derived":["n"],"model_inference":"much"},"n":1}`,
			header + `"observed_data"` + noneDerived + `,"n":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			op := operationOf(t, c.result, records)
			got, err := op.Shape([]byte(c.raw), idl.ShapeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got.JSON)); diff != "" {
				t.Error(diff)
			}
			again, err := op.Shape(got.JSON, idl.ShapeOptions{})
			if err != nil {
				t.Fatalf("shaping again: %v", err)
			}
			if diff := cmp.Diff(string(got.JSON), string(again.JSON)); diff != "" {
				t.Errorf("shaping again: %s", diff)
			}
		})
	}
}

func TestShapeFaults(t *testing.T) {
	page := func(members string) string { return `{"source_truncated":false,` + members + `}` }
	for _, c := range []struct{ name, result, raw, path, found, expected string }{
		{"nothing", "int", ``, "", "nothing", "int"},
		{"no JSON", "int", `nil`, "", "null", "int"},
		{"more than one value", "int", `1 2`, "", "more after it", "one JSON value"},
		{"leading zero", "int", `01`, "", "a syntax fault at byte 2", "JSON"},
		{"lone minus", "float", `-`, "", "a syntax fault at byte 1", "JSON"},
		{"no digits after the point", "float", `1.`, "", "a syntax fault at byte 2", "JSON"},
		{"no exponent", "float", `1e`, "", "a syntax fault at byte 2", "JSON"},
		{"NaN", "float", `NaN`, "", "no JSON value", "float"},
		{"float that overflows", "float", `1e999`, "", "a number beyond 64 bits", "float"},
		{"float out of range", "float [0..1]", `1.5`, "", "a value outside the range", "float [0..1]"},
		{"int with a fraction", "int", `5.0`, "", "a number with a fraction or an exponent", "int"},
		{"int that overflows", "int", `9007199254740992`, "", "an integer beyond 2^53-1", "int"},
		{"int as a string", "int", `"5"`, "", "string", "int"},
		{"int out of range", "int [1..]", `0`, "", "a value outside the range", "int [1..]"},
		{"null that is not optional", "int", `null`, "", "null", "int"},
		{"bool", "bool", `tru`, "", "a syntax fault at byte 0", "JSON"},
		{"control character", "string", "\"a\x01b\"", "", "a syntax fault at byte 2", "JSON"},
		{"unclosed string", "string", `"a`, "", "a syntax fault at byte 2", "JSON"},
		{"unclosed escape", "string", `"a\`, "", "a syntax fault at byte 3", "JSON"},
		{"bad escape", "string", `"\x"`, "", "a syntax fault at byte 1", "JSON"},
		{"bad unicode escape", "string", `"\u12g4"`, "", "a syntax fault at byte 1", "JSON"},
		{"half a surrogate pair", "string", `"\ud83d!"`, "", "a string with half a surrogate pair", "UTF-8"},
		{"not UTF-8", "string", "\"\xff\"", "", "a string that is not", "UTF-8"},
		{"not UTF-8 after an escape", "string", "\"\\n\xff\"", "", "a string that is not", "UTF-8"},
		{"too long", "string [..2 bytes]", `"abc"`, "", "a value outside the range", "string [..2 bytes]"},
		{"no match", `string [matching "[a-z]+"]`, `"ab1"`, "", "a string that does not match", `string [matching "[a-z]+"]`},
		{"uuid", "uuid", `"11111111-2222-4333-8444-55555555555g"`, "", "another string", "uuid"},
		{"bytes", "bytes", `"AAE"`, "", "another string", "bytes in base64"},
		{"bytes over lines", "bytes", `"AA\nE="`, "", "another string", "bytes in base64"},
		{"enum in other capitals", "Color", `"Red"`, "", "another string", "a label of Color"},
		{"relative entry", "entry", `"issues/1"`, "", "another string", "an entry's absolute path"},
		{"entry with a step up", "entry", `"/issues/../x"`, "", "another string", "an entry's absolute path"},
		{"entry with a link", "entry", `"/issues/see http:x.example"`, "", "another string", "an entry's absolute path"},
		{"comma before the end", "list<int>", `[1,]`, "", "a syntax fault at byte 3", "JSON"},
		{"no comma", "list<int>", `[1 2]`, "", "a syntax fault at byte 3", "JSON"},
		{"comma first", "list<int>", `[,1]`, "/0", "no JSON value", "int"},
		{"element", "list<int>", `[1,"x"]`, "/1", "string", "int"},
		{"too many elements", "list<int> [..1]", `[1,2]`, "", "2 elements", "list<int> [..1]"},
		{"map value", "map<int>", `{"secret":"x"}`, "/*", "string", "int"},
		{"map key twice", "map<int>", `{"a":1,"a":2}`, "", "a second one", "each key once"},
		{"map key twice, disguised", "map<int>", `{"a":1,"\u0061":2}`, "", "a second one", "each key once"},
		{"list for a record", "Plain", `[]`, "", "array", "record Plain"},
		{"missing field", "Plain", `{}`, "/n", "nothing", "int"},
		{"missing fact", "fact<int?>", `{}`, "/status", "nothing", "status of an unknown fact"},
		{"missing fact of an optional", "observed<Facts>", `{` + envelope + `}`, "/a", "nothing", "int?"},
		{"undeclared field", "Plain", `{"n":1,"owner":"x"}`, "/?", "an undeclared field", "only the fields of record Plain"},
		{"undeclared field that is no name", "Plain", `{"n":1,"http://x":"x"}`, "/?", "an undeclared field", "only the fields of record Plain"},
		{"undeclared field deep down", "list<Named>", `[{"name":"A","pos":{"x":1,"y":2,"z":3,"owner":4}}]`, "/0/pos/?", "an undeclared field", "only the fields of record Pos"},
		{"field twice", "Plain", `{"n":1,"n":1}`, "/n", "a second one", "each field once"},
		{"field twice, disguised", "Plain", `{"n":1,"\u006e":1}`, "/n", "a second one", "each field once"},
		{"waiting field twice", "Pos", `{"z":1,"z":1,"x":1,"y":1}`, "/z", "a second one", "each field once"},
		{"name without a value", "Plain", `{"n"}`, "", "a syntax fault at byte 4", "JSON"},
		{"known scalar as a record", "fact<int>", `{"status":"observed","value":1}`, "/status", "object", "the bare value of a known fact"},
		{"unknown without a reason", "fact<int>", `{"status":"unknown"}`, "/reason", "nothing", "reason of an unknown fact"},
		{"reason in prose", "fact<int>", `{"status":"unknown","reason":"ask at evil.example"}`, "/reason", "another string", "a reason of letters, digits and _, at most 64"},
		{"reason with a control", "fact<int>", `{"status":"unknown","reason":"a\u0010b"}`, "/reason", "another string", "a reason of letters, digits and _, at most 64"},
		{"another status", "fact<Plain>", `{"status":"maybe","n":1}`, "/status", "another string", "observed or unknown"},
		{"known with a reason", "fact<Plain>", `{"n":1,"reason":"r"}`, "/reason", "one", "no reason of a known fact"},
		{"unknown with a value", "fact<Plain>", `{"status":"unknown","reason":"r","n":1}`, "/n", "number", "nothing beside an unknown fact's reason"},
		{"value, then unknown", "fact<Plain>", `{"n":1,"status":"unknown"}`, "/status", "unknown", "observed, since there are other fields"},
		{"page size 0", "page<int>", page(`"items":[],"page":1,"page_size":0,"total_matching":0`), "/page_size", "a value outside the range", "int [1..]"},
		{"too few items", "page<int>", page(`"items":[1],"page":1,"page_size":2,"total_matching":2`), "/next_page", "1", "2 items on page 1 of 2 with 2 in all"},
		{"too many items", "page<int>", page(`"items":[1,2],"page":1,"page_size":1,"total_matching":2`), "/next_page", "2", "1 items on page 1 of 1 with 2 in all"},
		{"wrong next page", "page<int>", page(`"items":[1],"page":1,"page_size":1,"total_matching":3,"next_page":3`), "/next_page", "another page", "the page after this one, or null after the last"},
		{"next page after the last", "page<int>", page(`"items":[1],"page":1,"page_size":1,"total_matching":1,"next_page":2`), "/next_page", "another page", "the page after this one, or null after the last"},
		{"no word about the source", "page<int>", `{"items":[],"page":1,"page_size":1,"total_matching":0}`, "/source_truncated", "nothing", "bool"},
		{"no envelope", "observed<Plain>", `{"n":1}`, "/generation", "nothing", "int [0..]"},
		{"freshness", "observed<Plain>", `{` + strings.Replace(envelope, "cached", "stale", 1) + `,"n":1}`, "/freshness", "another string", "a label of freshness"},
		{"undeclared provenance", "observed<Plain>", `{` + strings.TrimSuffix(envelope, "}") + `,"owner":1},"n":1}`, "/provenance/?", "an undeclared field", "only the fields of provenance"},
		{"too deep", "Tree", strings.Repeat(`{"name":"x","children":[`, 40), strings.Repeat("/children/0", 32), "deeper nesting", "at most 64 levels"},
		{"waiting value too deep", "Pos", `{"z":` + strings.Repeat("[", 100), "/z", "deeper nesting", "at most 64 levels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			op := operationOf(t, c.result, records+"record Facts { a: fact<int?>; }")
			got, err := op.Shape([]byte(c.raw), idl.ShapeOptions{})
			var fault *idl.ResultError
			if !errors.As(err, &fault) {
				t.Fatalf("got %v and error %v, want a *ResultError", got, err)
			}
			want := idl.ResultError{Operation: "p.I.op", Path: c.path, Expected: c.expected, Found: c.found}
			if diff := cmp.Diff(want, *fault); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestShapeEntries(t *testing.T) {
	op := operationOf(t, "list<entry>", "")
	mount := func(path string) (string, error) {
		if path == "/hidden" {
			return "", errors.New("not here")
		}
		return "/mnt" + path, nil
	}
	got, err := op.Shape([]byte(`["/b","/a","/b","/"]`), idl.ShapeOptions{MapEntry: mount})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/mnt/b", "/mnt/a", "/mnt/"}, got.Entries); diff != "" {
		t.Error(diff)
	}
	if want := `["/mnt/b","/mnt/a","/mnt/b","/mnt/"]`; string(got.JSON) != want {
		t.Errorf("got %s, want %s", got.JSON, want)
	}
	if _, err := op.Shape([]byte(`["/b","/hidden"]`), idl.ShapeOptions{MapEntry: mount}); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("got error %v, want one that does not quote the path", err)
	}
}

func TestShapeUntrustedStrings(t *testing.T) {
	opt := idl.ShapeOptions{UntrustedStrings: true}
	op := operationOf(t, "Host", `record Host { motto: string; code: string [matching "[A-Z]+"]; }`)
	raw := []byte(`{"motto":"visit\u200b evil.example","code":"ABC"}`)
	got, err := op.Shape(raw, opt)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"motto":"visit [link removed]","code":"ABC"}`; string(got.JSON) != want || !got.Untrusted {
		t.Errorf("got %s, untrusted %v, want %s, true", got.JSON, got.Untrusted, want)
	}
	got, err = op.Shape(raw, idl.ShapeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"motto":"visit` + "\u200b" + ` evil.example","code":"ABC"}`; string(got.JSON) != want || got.Untrusted {
		t.Errorf("got %s, untrusted %v, want %s, false", got.JSON, got.Untrusted, want)
	}
	op = operationOf(t, `string [matching ".*example"]`, "")
	var fault *idl.ResultError
	if _, err := op.Shape([]byte(`"evil.example"`), opt); !errors.As(err, &fault) {
		t.Errorf("got error %v, want a *ResultError: the cleaned string no longer matches", err)
	}
}

func TestShapeShortensEvenly(t *testing.T) {
	op := operationOf(t, "observed<page<Named>>", records)
	host := func(texts ...string) []byte {
		var items []string
		for _, text := range texts {
			items = append(items, fmt.Sprintf(`{"name":%q,"pos":{"status":"unknown","reason":"r"}}`, text))
		}
		return fmt.Appendf(nil, `{%s,"items":[%s],"page":1,"page_size":20,"total_matching":%d,"source_truncated":false}`,
			envelope, strings.Join(items, ","), len(items))
	}
	texts := make([]string, 8)
	for i := range texts {
		texts[i] = strings.Repeat("\u00e9\"", 3+i*11) // a quote takes two bytes of JSON
	}
	raw := host(texts...)
	got, err := op.Shape(raw, idl.ShapeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.JSON) > op.MaxOutput || len(got.JSON) < op.MaxOutput-8*4 {
		t.Errorf("got %d bytes, want nearly %d", len(got.JSON), op.MaxOutput)
	}
	var result struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
		Truncated bool `json:"truncated"`
	}
	if err := json.Unmarshal(got.JSON, &result); err != nil {
		t.Fatal(err)
	}
	longest, cut := 0, 0
	for i, item := range result.Items {
		longest = max(longest, len(item.Name))
		if len(item.Name) < len(texts[i]) {
			cut++
		}
	}
	for i, item := range result.Items {
		if len(item.Name) < min(longest-2, len(texts[i])) {
			t.Errorf("item %d: %d bytes of %d are left although another has %d", i, len(item.Name), len(texts[i]), longest)
		}
	}
	if len(result.Items) != 8 || !result.Truncated || cut == 0 || cut != got.Shortened {
		t.Errorf("got %d items, truncated %v, %d texts cut, %d reported", len(result.Items), result.Truncated, cut, got.Shortened)
	}
	again, err := op.Shape(got.JSON, idl.ShapeOptions{})
	if err != nil || string(again.JSON) != string(got.JSON) {
		t.Errorf("shaping again: got %v, %v", again, err)
	}
}

func TestShapeTooLarge(t *testing.T) {
	for name, c := range map[string]struct{ result, raw string }{
		"no page to shorten":   {"text [..4096 bytes]", `"` + strings.Repeat("a", 4000) + `"`},
		"too many short items": {"page<text>", `{"items":[` + strings.Repeat(`"0123456789abcdef",`, 199) + `"x"],"page":1,"page_size":200,"total_matching":200,"source_truncated":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			op := operationOf(t, c.result, "")
			got, err := op.Shape([]byte(c.raw), idl.ShapeOptions{})
			var size *idl.SizeError
			if !errors.As(err, &size) || !errors.Is(err, idl.ErrTooLarge) {
				t.Fatalf("got %v and error %v, want a *SizeError", got, err)
			}
			if size.Max != 2048 || size.Size != len(size.Whole.JSON) || !json.Valid(size.Whole.JSON) {
				t.Errorf("got %d of %d bytes with %d bytes of JSON", size.Size, size.Max, len(size.Whole.JSON))
			}
		})
	}
}

func TestShapeBoundsMemory(t *testing.T) {
	var fields strings.Builder
	for i := range 200 {
		fmt.Fprintf(&fields, "field_with_quite_a_long_name_%03d: int?;\n", i)
	}
	op := operationOf(t, "list<Wide>", "record Wide {\n"+fields.String()+"}")
	raw := "[" + strings.Repeat("{},", 1<<20) + "{}]"
	var fault *idl.ResultError
	if _, err := op.Shape([]byte(raw), idl.ShapeOptions{}); !errors.As(err, &fault) || fault.Expected != "at most 16777216 bytes when shaped" {
		t.Errorf("got error %v, want a bound on what short input becomes", err)
	}
	if _, err := op.Shape(make([]byte, 4<<20+1), idl.ShapeOptions{}); !errors.As(err, &fault) || fault.Expected != "at most 4194304 bytes" {
		t.Errorf("got error %v, want a bound on input", err)
	}
}

// TestShapeMaxBytes lets more in where more is wanted.
func TestShapeMaxBytes(t *testing.T) {
	op := operationOf(t, "list<int>", "")
	raw := []byte("[" + strings.Repeat("1,", 4<<19) + "1]")
	var fault *idl.ResultError
	if _, err := op.Shape(raw, idl.ShapeOptions{MaxBytes: len(raw) - 1}); !errors.As(err, &fault) || fault.Expected != "at most 4194306 bytes" {
		t.Errorf("got error %v, want a bound on input", err)
	}
	var size *idl.SizeError
	if _, err := op.Shape(raw, idl.ShapeOptions{MaxBytes: len(raw)}); !errors.As(err, &size) || size.Size != len(raw) {
		t.Errorf("got error %v, want a *SizeError with the whole result", err)
	}
}
