package adapter_test

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
)

// TestFieldsOfInvoke reads which fields a wrong record is told of: those of the
// schema, with arguments, and dry_run only where the schema has it.
func TestFieldsOfInvoke(t *testing.T) {
	for name, test := range map[string]struct {
		a    *adapter.Adapter
		want string
	}{
		"grid":     {adapter.New(adapter.Config{Client: grid(t)}), "target (required), operation (required), arguments (required)"},
		"workshop": {adapter.New(adapter.Config{Client: (&workshop{}).open(t, true)}), "target (required), operation (required), arguments (required), dry_run"},
	} {
		for sent, want := range map[string]string{
			`{"target":"/w","operation":"x","arguments":{},"foo":1}`: `unknown field, found "foo", expected ` + test.want,
			`7`: "found the number 7, expected an object with the fields " + test.want,
		} {
			answer, _ := test.a.Call(t.Context(), operator, "invoke", "", json.RawMessage(sent))
			if got := gjson.GetBytes(answer.JSON, "error.faults.0.constraint").Str; got != want {
				t.Errorf("%s %s: %s, want %s", name, sent, got, want)
			}
		}
	}
}

// TestBrokenArguments reads what is said of arguments in a string of broken JSON.
func TestBrokenArguments(t *testing.T) {
	a := adapter.New(adapter.Config{Client: (&workshop{}).open(t, true)})
	answer, _ := a.Call(t.Context(), operator, "invoke", "", json.RawMessage(`{"target":"/w/desk","operation":"nearby_things","arguments":"{\"radius_meters\": 20"}`))
	const want = "not JSON: found the end of the text at byte 20, expected a closing '}'"
	if got := gjson.GetBytes(answer.JSON, "error.faults.0.constraint").Str; got != want {
		t.Errorf("found %s, want %s", answer.JSON, want)
	}
}
