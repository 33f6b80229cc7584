package adapter_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
)

var operator = &policy.Principal{ID: "operator", Audience: idl.LocalOperator}

// answered is an answer taken apart.
type answered struct {
	Result   json.RawMessage
	Repaired []idl.Repair
	Error    *struct {
		Class     string
		Faults    []idl.Fault
		Corrected json.RawMessage `json:"corrected_call"`
	}
}

func call(t *testing.T, c *client.Client, tool, arguments string) answered {
	t.Helper()
	answer, ok := adapter.New(adapter.Config{Client: c}).Call(t.Context(), operator, tool, "", json.RawMessage(arguments))
	var a answered
	if err := json.Unmarshal(answer.JSON, &a); err != nil || !ok || answer.Failed != (a.Error != nil) {
		t.Fatalf("%s %.200s: %v, %v: %s", tool, arguments, ok, err, answer.JSON)
	}
	return a
}

func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// TestInvokeRecords sends invoke's record in the forms that models invent. No
// value may be lost or chosen in silence, and a corrected call must work.
func TestInvokeRecords(t *testing.T) {
	c := grid(t)
	const target, operation = `"target":"/grid/region"`, `"operation":"nearby_avatars"`
	for name, test := range map[string]struct {
		record    string
		repaired  string // paths of the repairs, "-" for none; empty if the call fails
		faults    string // paths of the faults
		corrected string // the arguments of the corrected call; empty if there is none
	}{
		"as it should be":        {`{` + target + `,` + operation + `,"arguments":{"page_size":1}}`, "-", "", ""},
		"no arguments":           {`{` + target + `,` + operation + `}`, "/arguments", "", ""},
		"capitals":               {`{"Target":"/grid/region","Operation":"nearby_avatars","Arguments":{"page_size":1}}`, "/Arguments /Target /Operation", "", ""},
		"capitals, beside":       {`{"Target":"/grid/region",` + operation + `,"page_size":1}`, " /Target", "", ""},
		"another word":           {`{` + target + `,` + operation + `,"args":{"page_size":1}}`, " /args", "", ""},
		"escaped":                {`{` + target + `,` + operation + `,"\u0061rguments":{"page_size":1}}`, "-", "", ""},
		"arguments twice":        {`{` + target + `,` + operation + `,"arguments":{"page_size":1},"arguments":{"page_size":2}}`, "", "/arguments", `{"page_size":2}`},
		"arguments in two ways":  {`{` + target + `,` + operation + `,"arguments":{"page_size":1},"Arguments":{"page_size":2}}`, "", "/Arguments", `{"page_size":1}`},
		"target twice":           {`{` + target + `,` + operation + `,"target":"/grid/agent","arguments":{}}`, "", "/target", `{}`}, // one entry alone has the operation
		"target in two ways":     {`{` + target + `,` + operation + `,"Target":"/grid/agent","arguments":{}}`, "", "/Target", `{}`}, // one entry alone has the operation
		"a fault in an envelope": {`{"invoke":{"target":7,` + operation + `,"arguments":{}}}`, "", "/invoke/target", `{}`},          // one entry alone has the operation
		"inside and beside":      {`{` + target + `,` + operation + `,"arguments":{"page_size":1},"page":2}`, "", "/page", `{"page_size":1,"page":2}`},
		"two things wrong":       {`{` + target + `,"op":"nearby_avatars","arguments":{"radius":1000}}`, "", "/op /operation", `{"radius_meters":256}`},
		"an unknown target":      {`{"targt":"/nowhere",` + operation + `,"arguments":{}}`, "", "/targt /target", `{}`}, // one entry alone has the operation
		"a list around it":       {`[{` + target + `,` + operation + `}]`, "", "", `{}`},
		"no list for a record":   {`{` + target + `,` + operation + `,"arguments":[],"x":1}`, "", "/x", `{}`},
		"an empty string":        {`{` + target + `,` + operation + `,"arguments":""}`, "", "", `{}`},
		"null":                   {`{` + target + `,` + operation + `,"arguments":null}`, "", "", `{}`},
		"nested":                 {`{` + target + `,` + operation + `,"arguments":` + nested(40) + `,"x":1}`, "", "", ""},
		"nested deep":            {`{` + target + `,` + operation + `,"arguments":` + nested(12000) + `,"x":1}`, "", "", ""},
		"nested deep in strings": {`{` + target + `,` + operation + `,"arguments":"` + nested(12000) + `","x":1}`, "", "/x", ""},
		"a string nested deep":   {`"` + strings.ReplaceAll(`{`+target+`,`+operation+`,"arguments":`+nested(12000)+`,"x":1}`, `"`, `\"`) + `"`, "", "", ""},
		"too long":               {`{` + target + `,` + operation + `,"arguments":{"x":"` + strings.Repeat("x", 70000) + `"}}`, "", "", ""},
		"too long and nested":    {strings.Repeat("[", 4<<20), "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := call(t, c, "invoke", test.record)
			if test.repaired != "" {
				var paths []string
				for _, r := range a.Repaired {
					paths = append(paths, r.Path)
				}
				if got := strings.Join(paths, " "); a.Error != nil || got != strings.TrimPrefix(test.repaired, "-") {
					t.Errorf("got %+v with repairs at %q, want a result with repairs at %q", a.Error, got, test.repaired)
				}
				return
			}
			if a.Error == nil {
				t.Fatalf("got %s, repaired %v, want an error", a.Result, a.Repaired)
			}
			var paths []string
			for _, f := range a.Error.Faults {
				if !strings.HasPrefix(f.Path, "/arguments/0") {
					paths = append(paths, f.Path)
				}
			}
			if got := strings.Join(paths, " "); got != test.faults {
				t.Errorf("faults %v, want them at %q", a.Error.Faults, test.faults)
			}
			var meant client.Call
			if a.Error.Corrected != nil {
				if err := json.Unmarshal(a.Error.Corrected, &meant); err != nil {
					t.Fatal(err)
				}
				if again := call(t, c, "invoke", string(a.Error.Corrected)); again.Error != nil || again.Repaired != nil {
					t.Errorf("the corrected call %s gives %+v, repaired %v", a.Error.Corrected, again.Error, again.Repaired)
				}
			}
			if got := string(meant.Arguments); got != test.corrected {
				t.Errorf("corrected arguments %s, want %s", got, test.corrected)
			}
		})
	}
}

// TestEachCallIsRecorded counts the audit records of calls that the verbs never
// see, because their own record is wrong.
func TestEachCallIsRecorded(t *testing.T) {
	w := world.New()
	w.Apply(demo.New(nil).Open(time.Now())...)
	var log bytes.Buffer
	c := client.New(&client.Config{Audit: audit.New(&log)})
	if err := c.Mount(t.Context(), "/grid", objects.New(w, nil), &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"discover", "inspect", "invoke"} {
		log.Reset()
		call(t, c, tool, `{"SECRET":"SECRET"}`)
		var record map[string]any
		if err := json.Unmarshal(log.Bytes(), &record); err != nil {
			t.Fatalf("%s: want one record, got %q", tool, log.String())
		}
		if record["verb"] != tool || record["outcome"] != "arguments" || record["principal"] != "operator" || strings.Contains(log.String(), "SECRET") {
			t.Errorf("%s: got the record %s", tool, log.String())
		}
	}
}
