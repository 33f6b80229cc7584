package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"github.com/wipagent/wipagent/client"
)

// A record's own fields are shown whatever they are called; those of the
// language's wrappers are not.
func TestOutcomeShowsEveryFact(t *testing.T) {
	for _, test := range []struct{ result, shown, hidden string }{
		{`{"issue":"/a","closed":1,"reason":"duplicate"}`, "reason", ""},
		{`{"status":"open","page":3,"tool":"saw","truncated":true,"items":2}`, "status page tool truncated items", ""},
		{`{"status":"observed","name":"Hill","observed_unix_millis":1,"tool":"x","trust":"observed_data","provenance":{"source":"demo"},"freshness":"observed"}`, "name", "tool status"},
		{`{"items":["one"],"page":1,"page_size":20,"total_matching":1,"next_page":null,"truncated":false,"source_truncated":false,"label":"x"}`, "label", "page_size next_page"},
	} {
		var b strings.Builder
		(&cli{io: streams{out: &b}}).page().outcome(&client.Outcome{Result: json.RawMessage(test.result)})
		rows := map[string]bool{}
		for l := range strings.SplitSeq(b.String(), "\n") {
			if f := strings.Fields(l); len(f) > 0 {
				rows[f[0]] = true
			}
		}
		for _, name := range strings.Fields(test.shown) {
			if !rows[name] {
				t.Errorf("%s: %s is not shown:\n%s", test.result, name, b.String())
			}
		}
		for _, name := range strings.Fields(test.hidden) {
			if rows[name] {
				t.Errorf("%s: %s is shown:\n%s", test.result, name, b.String())
			}
		}
	}
}

// TestWideItems: a table is no wider than its terminal, whatever it leaves out it
// names, and without a terminal it is whole.
func TestWideItems(t *testing.T) {
	var fields []string
	for i := range 20 {
		fields = append(fields, `"field_`+strings.Repeat("x", i)+`":"`+strings.Repeat("word ", 10)+`"`)
	}
	result := `{"items":[{` + strings.Join(fields, ",") + `}],"page":1,"page_size":20,"total_matching":1,"next_page":null,"truncated":false,"source_truncated":false}`
	for _, width := range []int{0, 10, 80, 200, 2000} {
		var b strings.Builder
		(&cli{io: streams{out: &b, width: width}}).page().outcome(&client.Outcome{Result: json.RawMessage(result)})
		for l := range strings.SplitSeq(b.String(), "\n") {
			if width >= 80 && uniseg.StringWidth(l) > width && !strings.HasPrefix(l, "too wide") {
				t.Errorf("in %d columns a line has %d: %s", width, uniseg.StringWidth(l), l)
			}
		}
		if whole := !strings.Contains(b.String(), "too wide"); whole != (width == 0 || width >= 200) {
			t.Errorf("in %d columns: %s", width, b.String())
		}
	}
}
