package idl_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl"
)

func TestMend(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                             `{"a":1}`,
		`{'a':'b',}`:                          `{"a":"b"}`,
		`{a: True, b: [None, .5,],}`:          `{"a":true,"b":[null,0.5]}`,
		"```json\n{\"a\":{\"b\":1}}\n```":     `{"a":{"b":1}}`,
		`Here it is: {"a":1}. Good luck!`:     `{"a":1}`,
		`<call>{"a":1}</call>`:                `{"a":1}`,
		`{“a”:“b”}`:                           `{"a":"b"}`,
		"{\"a\":1 // one\n,/* two */\"b\":2}": `{"a":1,"b":2}`,
		`{"a":{"b":["c"`:                      `{"a":{"b":["c"]}}`,
		`{"a":1}}`:                            `{"a":1}`,
		`{"a"="b", "c" = 1}`:                  `{"a":"b","c":1}`,
		`{"a":1,"a":2}`:                       `{"a":1,"a":2}`,
		`{"a":1`:                              "", // more digits may have followed
		`{"a":"b`:                             "",
		`{"a":"b","c`:                         "",
		`{"a":"b",`:                           "",
		`{`:                                   "",
		`f(a=1, b={"c":1})`:                   "", // the record would be another
		`{"a":1} {"a":1}`:                     "",
		`{"a":"\xff"}`:                        "",
		`nothing at all`:                      "",
		``:                                    "",
		`{"a":"` + strings.Repeat("b", idl.MaxArgumentBytes) + `"}`: "",
		strings.Repeat("[", 4000):                                   "",
	} {
		got, ok := idl.Mend([]byte(text))
		if string(got.JSON) != want || ok != (want != "") {
			t.Errorf("%.80s is mended to %s (%v), want %s", text, got.JSON, ok, want)
		}
		if ok && json.Valid([]byte(text)) != (len(got.Faults) == 0) {
			t.Errorf("%s has the faults %v", text, got.Faults)
		}
	}
}

// FuzzMend: what is mended is JSON, and JSON needs no mending and keeps its
// values.
func FuzzMend(f *testing.F) {
	for _, seed := range []string{`{'a':"b",c:[True,None,],}`, "```json\n{\"a\":1}\n```", `{"a":{"b":"c"`, `{“a”:“b”}`, `{"a":1/*x*/}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := idl.Mend([]byte(text))
		mended, faults := got.JSON, got.Faults
		if !ok {
			return
		}
		if !json.Valid(mended) {
			t.Fatalf("%q is mended to %q", text, mended)
		}
		again, ok := idl.Mend(mended)
		if !ok || len(again.Faults) > 0 || string(again.JSON) != string(mended) {
			t.Fatalf("%q is mended to %s, and that to %s with %v", text, mended, again.JSON, again.Faults)
		}
		if len(faults) == 0 && !json.Valid([]byte(text)) {
			t.Fatalf("%q is no JSON, and without fault", text)
		}
	})
}
