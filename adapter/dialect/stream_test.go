package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// TestStreamBounds: a stream without end is refused before it fills the memory.
func TestStreamBounds(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name, dialect string
		event         func(i int) string
		want          string
	}{
		{"fragments of one call", "openai", func(int) string {
			return `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"` + long + `"}`
		}, "fragments of more than 16777216 bytes"},
		{"pieces of a name", "openai-chat", func(i int) string {
			return fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"%d"}}]}}]}`, i)
		}, "a name of more than 1024 bytes"},
		{"values of a call", "gemini", func(i int) string {
			return fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"%s","partialArgs":[{"jsonPath":"$.x%d","stringValue":"%s"}],"willContinue":true}}]}}]}`, strings.Repeat("a", max(0, 1-i)), i, long)
		}, "calls of more than 16777216 bytes"},
		{"calls", "openai-chat", func(i int) string {
			return fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"a","arguments":"{}"}}]}}]}`, i, i)
		}, "more than 128 items"},
		{"gemini's calls", "gemini", func(i int) string {
			return `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a"}}]}}]}`
		}, "more than 128 calls"},
		{"blocks", "anthropic", func(i int) string {
			return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text"}}`, i)
		}, "more than 4096 items"},
		{"items", "openai", func(i int) string {
			return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"message"}}`, i)
		}, "more than 4096 items"},
		{"steps of a path", "gemini", func(int) string {
			return `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","partialArgs":[{"jsonPath":"$` + strings.Repeat(".a", 65) + `","numberValue":1}]}}]}}]}`
		}, "more than 64 steps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := dialect.Lookup(c.dialect).Stream()
			var err error
			for i := 0; err == nil && i < 5000; i++ {
				err = s.Add([]byte(c.event(i)))
			}
			expectError(t, c.name, err, c.want)
			if again := s.Add([]byte(`{}`)); again != err {
				t.Errorf("the failed stream goes on: %v", again)
			}
			if _, of := s.Calls(); of != err {
				t.Errorf("the failed stream has calls: %v", of)
			}
		})
	}
	// More than MaxCalls calls among many other items are an error too.
	s := dialect.Lookup("openai").Stream()
	for i := range dialect.MaxCalls + 1 {
		if err := s.Add([]byte(fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"function_call","call_id":"c%d","name":"a"}}`, i, i))); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Calls()
	expectError(t, "129 calls", err, "more than 128 calls")
}

// TestStreamPassesOverWords: texts and pictures of any length are no calls and
// count for nothing.
func TestStreamPassesOverWords(t *testing.T) {
	long := strings.Repeat("x", 4<<20)
	for name, event := range map[string]string{
		"openai": `{"type":"response.output_text.delta","output_index":0,"delta":"` + long + `"}`,
		"gemini": `{"candidates":[{"content":{"parts":[{"inlineData":{"data":"` + long + `"}}]}}]}`,
	} {
		s := dialect.Lookup(name).Stream()
		for range 5 {
			if err := s.Add([]byte(event)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if calls, err := s.Calls(); err != nil || len(calls) != 0 {
			t.Errorf("%s: %v, %v", name, calls, err)
		}
	}
}

// TestStreamNeverRunsMore: a stream that breaks off anywhere gives only calls
// of the whole message, and each either whole or as no JSON, so that nothing
// is run that the model did not finish asking for.
func TestStreamNeverRunsMore(t *testing.T) {
	for _, c := range []struct {
		dialect string
		events  []string
	}{
		{"openai", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"a","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"x\":1"}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c2","name":"b","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"delta":",\"y\":2}"}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}`,
		}},
		{"openai-chat", []string{
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":""}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":",\"y\":2}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"b","arguments":""}}]}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		}},
		{"anthropic", []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"a","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":",\"y\":2}"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c2","name":"b","input":{}}}`,
			`{"type":"content_block_stop","index":1}`,
		}},
		{"gemini", []string{
			`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"c1","name":"a","willContinue":true}}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.x","numberValue":1}],"willContinue":true}}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.y","numberValue":2}]}}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"c2","name":"b"}}]}}]}`,
		}},
	} {
		for n := range len(c.events) + 1 {
			s := dialect.Lookup(c.dialect).Stream()
			for _, e := range c.events[:n] {
				if err := s.Add([]byte(e)); err != nil {
					t.Fatal(err)
				}
			}
			calls, err := s.Calls()
			if err != nil {
				t.Fatalf("%s, %d events: %v", c.dialect, n, err)
			}
			for _, call := range calls {
				whole := map[string]string{"c1": `{"x":1,"y":2}`, "c2": `{}`}[call.ID]
				if got := string(call.Arguments); got != whole && validJSON(got) {
					t.Errorf("%s, %d events: %s %s would run, expected %s or no JSON", c.dialect, n, call.Name, got, whole)
				}
				if n == len(c.events) && string(call.Arguments) != whole {
					t.Errorf("%s: %s %s at the end", c.dialect, call.Name, call.Arguments)
				}
			}
			if n == len(c.events) && len(calls) != 2 {
				t.Errorf("%s: %d calls at the end", c.dialect, len(calls))
			}
		}
	}
}
