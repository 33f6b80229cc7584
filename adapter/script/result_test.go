package script_test

import (
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/script"
)

// TestRunJSON looks at what scripts come to, for machines and for people.
func TestRunJSON(t *testing.T) {
	c, _ := grid(t)
	for _, test := range []struct {
		src, json, text string
		untrusted       bool
	}{
		{src: "", json: "null"},
		{src: "x = 1", json: "null"},
		{src: "x = 1\nx + 1", json: "2", text: "2"},
		{src: "print('a')", json: "null"},
		{src: "{'a': [1.5, None, ('b',)]}", json: `{"a":[1.5,null,["b"]]}`, text: `{"a": [1.5, None, ("b",)]}`},
		{src: "grid.region", json: `"/grid/region"`, text: "grid.region  (help(x) tells what it can do)"},
		{src: "len", json: `"<built-in function len>"`, text: "<built-in function len>"},
		{src: "grid.region.world_location().region_name", json: `"Heron Hollow"`, text: `"Heron Hollow"`, untrusted: true},
	} {
		cfg := script.Config{Client: c, Principal: owner}
		got, err := script.New(cfg).RunJSON(t.Context(), "test", []byte(test.src))
		if err != nil || string(got.Value) != test.json || got.Untrusted != test.untrusted {
			t.Errorf("%q: found %s, %v, %v; expected %s, %v", test.src, got.Value, got.Untrusted, err, test.json, test.untrusted)
		}
		if text, err := script.New(cfg).RunText(t.Context(), "test", []byte(test.src)); err != nil || text != test.text {
			t.Errorf("%q: found %q, %v, expected %q", test.src, text, err, test.text)
		}
	}
	// What is known of a script is known of one that fails too.
	got, err := script.New(script.Config{Client: c, Principal: owner}).RunJSON(t.Context(), "test", []byte("x = grid.region.world_location().region_name\nfail(x)"))
	if err == nil || !got.Untrusted {
		t.Errorf("found %v, %v", got, err)
	}
	_, err = script.New(script.Config{Client: c, Principal: owner}).RunJSON(t.Context(), "test", []byte(`["\x00" * 4000000]`))
	if err == nil || !strings.HasPrefix(err.Error(), "script: found a ") {
		t.Errorf("found %v", err)
	}
}
