package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/idl"
)

// TestWords: a document's line breaks do not reach a model, but for those that say
// something, and no limit stands in a description twice.
func TestWords(t *testing.T) {
	text := &idl.Type{Kind: idl.String, Range: &idl.Range{HasMin: true, Min: 1, HasMax: true, Max: 128}}
	tool := dialect.Tool{
		Name: "find", Description: "Finds what\nis there. Example:\nfor x in y:\n  print(x)\nand so\non.\n\nMore.\n- one\n- two",
		Params: []*idl.Param{{Name: "a", Doc: "A name; at most 128 bytes.", Type: text}, {Name: "b", Doc: "Another, not 1280 long.", Type: text}},
	}
	e := export(t, "portable", []dialect.Tool{tool}, dialect.Options{})
	var tools []struct {
		Description string
		Parameters  struct {
			Properties map[string]struct{ Description string }
		}
	}
	if err := json.Unmarshal(e.Tools, &tools); err != nil {
		t.Fatal(err)
	}
	got := []string{tools[0].Description, tools[0].Parameters.Properties["a"].Description, tools[0].Parameters.Properties["b"].Description}
	for i, want := range []string{
		"Finds what is there. Example:\nfor x in y:\n  print(x) and so on.\n\nMore.\n- one\n- two",
		"A name; at most 128 bytes.", "Another, not 1280 long. 1 to 128 bytes.",
	} {
		if got[i] != want {
			t.Errorf("found %q, want %q", got[i], want)
		}
	}
}

// TestEmptyPart: the provider's own library ends what it read of a stream with a
// part without anything, which is no call.
func TestEmptyPart(t *testing.T) {
	d := dialect.Lookup("gemini")
	for message, calls := range map[string]int{
		`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"a","args":{}}},{}]},"finishReason":"STOP"}]}`: 1,
		`{"role":"model","parts":[{}]}`: 0,
		`[{"candidates":[{"content":{"parts":[{"text":"x"}]}}]},{"candidates":[{"content":{"parts":[{}]}}]}]`: 0,
	} {
		if list, err := d.Calls([]byte(message)); err != nil || len(list) != calls {
			t.Errorf("%s: %v, %v", message, list, err)
		}
	}
	for _, message := range []string{`{}`, `{"role":"model","parts":[{"x":1}]}`} {
		if _, err := d.Calls([]byte(message)); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: %v", message, err)
		}
	}
}
