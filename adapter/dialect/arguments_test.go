package dialect_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// form returns the export of one tool of the forms, alone.
func form(t testing.TB, name, tool string) *dialect.Export {
	t.Helper()
	for _, f := range formTools(t) {
		if f.Name == tool {
			return export(t, name, []dialect.Tool{f}, dialect.Options{})
		}
	}
	t.Fatalf("no tool %q", tool)
	return nil
}

// TestArguments undoes each convention, and leaves alone what is in none.
func TestArguments(t *testing.T) {
	for _, test := range []struct{ name, dialect, tool, sent, want string }{
		{"null for a default", "openai-strict", "optional",
			`{"size":null,"side":"left","tag":null,"note":"x","range":null,"remark":null}`, `{"side":"left","note":"x","range":null,"remark":null}`},
		{"null where the form has no such convention", "openai", "optional", `{"size":null}`, `{"size":null}`},
		{"null in a record", "openai-strict", "optional", `{"range":{"from":1,"to":null,"unit":null}}`, `{"range":{"from":1,"to":null,"unit":null}}`},
		{"numbers keep their text", "openai-strict", "nested",
			`{"by_name":[{"key":"a","value":{"from":1.0e2}}],"gaps":[1.50,1E400,null]}`, `{"by_name":{"a":{"from":1.0e2}},"gaps":[1.50,1E400,null]}`},
		{"pairs", "gemini", "nested", `{"by_name":[{"key":"a","value":{"from":1}},{"value":{"from":2},"key":"b\"\u00e9"}]}`,
			`{"by_name":{"a":{"from":1},"b\"\u00e9":{"from":2}}}`},
		{"pairs in lists in pairs", "openai-strict", "nested", `{"tables":[{"key":"t","value":[[{"key":"x","value":1}],[]]}]}`, `{"tables":{"t":[{"x":1},{}]}}`},
		{"a key twice is left to the check", "openai-strict", "nested", `{"by_name":[{"key":"a","value":1},{"key":"a","value":2}]}`, `{"by_name":{"a":1,"a":2}}`},
		{"no pairs, but the map", "openai-strict", "nested", `{"by_name":{"a":{"from":1}},"tables":{"t":[[{"key":"x","value":1}]]}}`,
			`{"by_name":{"a":{"from":1}},"tables":{"t":[{"x":1}]}}`},
		{"a pair with more in it", "openai-strict", "nested", `{"by_name":[{"key":"a","value":1,"more":2}]}`, `{"by_name":[{"key":"a","value":1,"more":2}]}`},
		{"a pair with less", "openai-strict", "nested", `{"by_name":[{"key":"a"}]}`, `{"by_name":[{"key":"a"}]}`},
		{"a pair whose key is a number", "openai-strict", "nested", `{"by_name":[{"key":1,"value":2}]}`, `{"by_name":[{"key":1,"value":2}]}`},
		{"no pair", "openai-strict", "nested", `{"by_name":["a",1]}`, `{"by_name":["a",1]}`},
		{"JSON text", "openai-strict", "call", `{"arguments":" {\"a\": 1.0}"}`, `{"arguments":{"a": 1.0}}`},
		{"no JSON text", "openai-strict", "call", `{"arguments":"{\"a\": "}`, `{"arguments":"{\"a\": "}`},
		{"an object where JSON text is expected", "openai-strict", "call", `{"arguments":{"a":1}}`, `{"arguments":{"a":1}}`},
		{"half a surrogate pair in JSON text", "openai-strict", "call", `{"arguments":"{\"a\":\"\ud800\"}"}`, `{"arguments":"{\"a\":\"\ud800\"}"}`},
		{"pairs in the JSON text of further levels", "openai-strict", "deep",
			`{"chain":{"b":{"c":[{"d":{"e":[{"key":"k","value":{"f":{"g":"[[{\"h\":{\"value\":1}}]]"}}}]}}]}}}`,
			`{"chain":{"b":{"c":[{"d":{"e":{"k":{"f":{"g":[[{"h":{"value":1}}]]}}}}}]}}}`},
		{"a record in a string", "openai-strict", "optional", `"{\"size\":null,\"note\":\"x\"}"`, `"{\"note\":\"x\"}"`},
		{"a member twice", "openai-strict", "optional", `{"note":"x","note":"y","size":null,"size":3}`, `{"note":"x","note":"y","size":3}`},
		{"an unknown member", "openai-strict", "optional", `{"size":null,"what":null}`, `{"what":null}`},
		{"no object", "openai-strict", "optional", `[1]`, `[1]`},
		{"cut off", "openai-strict", "optional", `{"size":null,"no`, `{"size":null,"no`},
		{"nothing", "openai-strict", "optional", ``, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := form(t, test.dialect, test.tool).Arguments(0, json.RawMessage(test.sent)); string(got) != test.want {
				t.Errorf("sent %s\n got %s\nwant %s", test.sent, got, test.want)
			}
		})
	}
}

// TestExpress writes records as a model would send them.
func TestExpress(t *testing.T) {
	for _, test := range []struct{ dialect, tool, record, want string }{
		{"openai-strict", "optional", `{"note":"x","range":{"from":1}}`,
			`{"size":null,"side":null,"tag":null,"note":"x","range":{"from":1,"to":null,"unit":null},"remark":null}`},
		{"anthropic-strict", "optional", `{"note":null,"range":{"to":null,"from":1},"size":2}`, `{"size":2,"range":{"from":1}}`},
		{"openai", "optional", `{"note":null}`, `{"note":null}`},
		{"gemini", "nested", `{"by_name":{"a":{"from":1.0}},"gaps":[null]}`, `{"by_name":[{"key":"a","value":{"from":1.0}}],"gaps":[null]}`},
		{"openai-strict", "call", `{"arguments":{"a":"<\""}}`, `{"arguments":"{\"a\":\"<\\\"\"}"}`},
		{"openai-strict", "call", `{"arguments":`, `{"arguments":`},
	} {
		if got := form(t, test.dialect, test.tool).Express(0, json.RawMessage(test.record)); string(got) != test.want {
			t.Errorf("%s: %s\n got %s\nwant %s", test.dialect, test.record, got, test.want)
		}
	}
}

// TestPairsWithin reads a tree whose deepest levels are JSON text, in which a
// model went on to write maps as pairs.
func TestPairsWithin(t *testing.T) {
	e, err := dialect.Lookup("openai-strict").Export(formTools(t), dialect.Options{Depth: 2})
	if err != nil {
		t.Fatal(err)
	}
	i, ok := e.Index("tree")
	if !ok {
		t.Fatal("no tree")
	}
	sent := `{"trunk":{"name":"a","children":"[{\"name\":\"b\",\"children\":[],\"labels\":[{\"key\":\"k\",\"value\":\"v\"}]}]","labels":null}}`
	want := `{"trunk":{"name":"a","children":[{"name":"b","children":[],"labels":{"k":"v"}}],"labels":null}}`
	if got := e.Arguments(i, json.RawMessage(sent)); string(got) != want {
		t.Errorf("got %s from %s", got, e.Schema(i))
	}
}

// TestDeepArguments sends what is nested without end: it is handed on in time.
func TestDeepArguments(t *testing.T) {
	e, err := dialect.Lookup("anthropic-strict").Export(formTools(t)[5:6], dialect.Options{Depth: 2})
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`{"children":[ `, 9_000) + strings.Repeat(`]}`, 9_000)
	for _, sent := range []string{`{"trunk":` + deep + `}`, `{"trunk":{"name":"x","children":` + strconv.Quote("["+deep+"]") + `}}`, strings.Repeat("[", 1<<20)} {
		if got := e.Arguments(0, json.RawMessage(sent)); string(got) != sent {
			t.Errorf("%d bytes became %d", len(sent), len(got))
		}
	}
}

// FuzzArguments undoes whatever arrives: what is JSON stays JSON, and what is
// not stays as it is.
func FuzzArguments(f *testing.F) {
	tools, exports := formTools(f), []*dialect.Export{}
	for _, name := range []string{"openai-strict", "anthropic-strict", "gemini"} {
		exports = append(exports, export(f, name, tools, dialect.Options{Depth: 4}))
	}
	for i, seed := range []string{
		`{"size":null}`, `{"by_name":[{"key":"a","value":{"from":1}}]}`, `{"trunk":{"name":"a","children":"[]"}}`,
		`{"arguments":"{\"a\":1}"}`, `"{\"size\":null}"`, `{"by_name":[{"key":"\ud800","value":1}]}`, "{\"a\":\"\xff\"}", `[`, ` `,
	} {
		f.Add(uint8(i), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, tool uint8, sent []byte) {
		for _, e := range exports {
			i := int(tool) % len(tools)
			got := e.Arguments(i, sent)
			if gjson.ValidBytes(sent) != gjson.ValidBytes(got) {
				t.Fatalf("%s: %q became %q", e.Dialect.Name, sent, got)
			}
			if again := e.Express(i, got); gjson.ValidBytes(got) != gjson.ValidBytes(again) {
				t.Fatalf("%s: %q is expressed as %q", e.Dialect.Name, got, again)
			}
		}
	})
}
