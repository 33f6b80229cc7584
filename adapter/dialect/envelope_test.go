package dialect_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// manyCalls is a message of n calls in each provider's form.
var manyCalls = map[string]func(n int) string{
	"openai": func(n int) string {
		return list(`{"output":[`, n, `{"type":"function_call","call_id":"c%d","name":"a","arguments":"{}"}`, `]}`)
	},
	"openai-chat": func(n int) string {
		return list(`{"role":"assistant","tool_calls":[`, n, `{"id":"c%d","function":{"name":"a","arguments":"{}"}}`, `]}`)
	},
	"anthropic": func(n int) string {
		return list(`{"role":"assistant","content":[`, n, `{"type":"tool_use","id":"c%d","name":"a","input":{}}`, `]}`)
	},
	"gemini": func(n int) string { return list(`{"parts":[`, n, `{"functionCall":{"id":"c%d","name":"a"}}`, `]}`) },
	"mcp": func(n int) string {
		return list(`[`, n, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a"}}`, `]`)
	},
}

func list(open string, n int, element, end string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(element, i))
	}
	return open + strings.Join(all, ",") + end
}

// TestCallsBounds: what is too much is refused by a clear error, and what is
// just not too much is read.
func TestCallsBounds(t *testing.T) {
	for name, message := range manyCalls {
		d := dialect.Lookup(name)
		if calls, err := d.Calls([]byte(message(dialect.MaxCalls))); err != nil || len(calls) != dialect.MaxCalls {
			t.Errorf("%s: %d of %d calls, %v", name, len(calls), dialect.MaxCalls, err)
		}
		_, err := d.Calls([]byte(message(dialect.MaxCalls + 1)))
		expectError(t, name+" with a call too many", err, "found more than 128 calls")
	}
	for _, c := range []struct{ name, message, want string }{
		{"very deep", strings.Repeat(`{"a":`, 3<<20), "levels deep"},
		{"deep but for its end", strings.Repeat("[", 15<<20), "levels deep"},
		{"large", `{"a":"` + strings.Repeat("x", dialect.MaxMessageBytes) + `"}`, "found a message of 16777224 bytes, expected at most 16777216"},
	} {
		_, err := dialect.Lookup("portable").Calls([]byte(c.message))
		expectError(t, c.name, err, c.want)
		expectError(t, c.name, dialect.Lookup("portable").Stream().Add([]byte(c.message)), c.want)
	}
	for _, d := range dialect.All() {
		for _, c := range []struct{ name, message, want string }{
			{"deep", strings.Repeat("[", 501) + strings.Repeat("]", 501), "nested 501 levels deep, expected at most 500"},
			{"two", `{} {}`, "broken or not alone"},
			{"scalar", `"x"`, "found a string"},
			{"bool", `true`, "found a bool"},
			{"null", `null`, "found null"},
			{"empty object", `{}`, "found an empty object"},
			{"null in an array", `[null]`, "found an array with null"},
		} {
			_, err := d.Calls([]byte(c.message))
			expectError(t, d.Name+", "+c.name, err, c.want)
			_, isWhole := manyCalls[d.Name]
			if err := d.Stream().Add([]byte(c.message)); err == nil && isWhole {
				t.Errorf("%s, %s: a stream takes it", d.Name, c.name)
			}
		}
	}
}

// expectError checks an error and that it could be shown to anybody.
func expectError(t *testing.T, what string, err error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: no error, want %q", what, want)
	case !strings.Contains(err.Error(), want):
		t.Errorf("%s: %q, want %q", what, err, want)
	case len(err.Error()) > 500:
		t.Errorf("%s: an error of %d bytes", what, len(err.Error()))
	}
}

// TestCallsHoldNothing: the calls stay what they are when the message's buffer
// is used again.
func TestCallsHoldNothing(t *testing.T) {
	for name, message := range manyCalls {
		buffer := []byte(message(3))
		calls, err := dialect.Lookup(name).Calls(buffer)
		if err != nil {
			t.Fatal(name, err)
		}
		clear(buffer)
		again, err := dialect.Lookup(name).Calls([]byte(message(3)))
		if diff := cmp.Diff(again, calls); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// TestCallsKeepValues: no value of the arguments is changed on the way, be it
// one that the check will refuse.
func TestCallsKeepValues(t *testing.T) {
	for _, arguments := range []string{
		`{"a":12345678901234567890.10}`, `{"a":1,"a":2}`, `{"a":"\ud83d"}`, `{"a":"\ude00\ud83d"}`, `{"a":"` + "\xff" + `"}`,
		`{"A":1,"a" : 2}`, `{"a":"\u0000"}`, `{"a":"한\u2028"}`,
	} {
		want := strings.TrimSpace(arguments)
		for _, c := range []struct{ dialect, message string }{
			{"openai", `{"type":"function_call","call_id":"c","name":"a","arguments":` + outer(arguments) + `}`},
			{"openai", `{"type":"function_call","call_id":"c","name":"a","arguments":` + arguments + `}`},
			{"openai-chat", `{"id":"c","function":{"name":"a","arguments":` + outer(arguments) + `}}`},
			{"anthropic", `{"type":"tool_use","id":"c","name":"a","input":` + arguments + `}`},
			{"anthropic", `{"type":"tool_use","id":"c","name":"a","input":` + outer(arguments) + `}`},
			{"gemini", `{"functionCall":{"name":"a","args":` + arguments + `}}`},
			{"mcp", `{"name":"a","arguments":` + arguments + `}`},
		} {
			calls, err := dialect.Lookup(c.dialect).Calls([]byte(c.message))
			if err != nil || len(calls) != 1 || string(calls[0].Arguments) != want {
				t.Errorf("%s: %s: got %q, %v", c.dialect, c.message, calls, err)
			}
		}
	}
	// A half of a pair in the outer string stays visible.
	calls, err := dialect.Lookup("openai").Calls([]byte(`{"type":"function_call","call_id":"c","name":"a","arguments":"{\"a\":\"\ud83dx\ude00\ud83d\ude00\"}"}`))
	if want := `{"a":"\ud83dx\ude00😀"}`; err != nil || string(calls[0].Arguments) != want {
		t.Errorf("got %s, %v, want %s", calls[0].Arguments, err, want)
	}
}

// outer is a JSON string that holds a text, which need not be UTF-8.
func outer(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// TestErrorsQuoteNoWords: an error shows a stranger's text only cleaned.
func TestErrorsQuoteNoWords(t *testing.T) {
	for _, message := range []string{
		`{"see https://evil.example/x \u001b[31m":1}`,
		`{"type":"https://evil.example/\u202e"}`,
		`{"role":"` + strings.Repeat("x", 1000) + `"}`,
		`{"error":{"type":"https://evil.example"}}`,
		`[{"type":"function_call","call_id":"c"},{"type":"function_call","call_id":"c\u001b","name":"https://evil.example"}]`,
		`[{"type":"function_call","name":"https://evil.example/\u001b","arguments":""}]`,
	} {
		_, err := dialect.Lookup("openai").Calls([]byte(message))
		if err == nil {
			t.Errorf("%s: no error", message)
			continue
		}
		if s := err.Error(); strings.Contains(s, "evil.example") || bytes.ContainsRune([]byte(s), 0x1b) || len(s) > 400 {
			t.Errorf("%s: %q", message, s)
		}
	}
}

// TestLongArgumentsAreHandedOn: it is the check that refuses a long record, so
// that the model gets an answer.
func TestLongArgumentsAreHandedOn(t *testing.T) {
	record := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
	calls, err := dialect.Lookup("anthropic").Calls([]byte(`{"type":"tool_use","id":"c","name":"a","input":` + record + `}`))
	if err != nil || string(calls[0].Arguments) != record {
		t.Fatal(len(calls), err)
	}
}
