package dialect_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// TestStreamIsWhole: however the arguments of however many calls are cut into
// fragments and mixed, the stream has the calls of the whole message.
func TestStreamIsWhole(t *testing.T) {
	for _, f := range []struct {
		dialect string
		whole   func([]sentCall) string
		stream  func(*rapid.T, []sentCall) []string
		objects bool // arguments are objects, so that none is cut off
	}{
		{"openai-strict", wholeResponse, streamResponse, false},
		{"openai-chat", wholeChat, streamChat, false},
		{"anthropic", wholeMessage, streamMessage, true},
		{"gemini", wholeGenerate, streamGenerate, true},
	} {
		t.Run(f.dialect, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				sent := drawCalls(t, f.objects)
				want, err := dialect.Lookup(f.dialect).Calls([]byte(f.whole(sent)))
				if err != nil || len(want) != len(sent) {
					t.Fatalf("the whole message: %d calls, %v", len(want), err)
				}
				for i, c := range want {
					if c.Name != sent[i].name || string(c.Arguments) != sent[i].read() {
						t.Fatalf("call %d is %s %s, sent %s %s", i, c.Name, c.Arguments, sent[i].name, sent[i].arguments)
					}
				}
				s := dialect.Lookup(f.dialect).Stream()
				for _, event := range f.stream(t, sent) {
					if err := s.Add([]byte(event)); err != nil {
						t.Fatalf("%s: %v", event, err)
					}
				}
				got, err := s.Calls()
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Fatalf("%v, -whole +stream:\n%s", err, diff)
				}
			})
		})
	}
}

// sentCall is a call as a model writes it.
type sentCall struct{ id, name, arguments string }

// read is what is to be read of its arguments.
func (c sentCall) read() string {
	if c.arguments == "" {
		return "{}"
	}
	return c.arguments
}

// cut reports whether the arguments lack their end.
func (c sentCall) cut() bool { return !json.Valid([]byte(c.read())) }

// drawCalls draws the calls of a message. Only the last may be cut off.
func drawCalls(t *rapid.T, objects bool) []sentCall {
	calls := make([]sentCall, rapid.IntRange(0, 5).Draw(t, "calls"))
	for i := range calls {
		calls[i] = sentCall{
			fmt.Sprintf("id_%d", i),
			rapid.SampledFrom([]string{"a", "agent_state", "region_nearby_avatars"}).Draw(t, "name"),
			drawObject(t, 3, false),
		}
		if !objects && rapid.IntRange(0, 9).Draw(t, "empty") == 0 {
			calls[i].arguments = ""
		}
	}
	if n := len(calls); n > 0 && !objects && rapid.Bool().Draw(t, "cut") {
		text := calls[n-1].arguments
		if text != "" {
			calls[n-1].arguments = strings.ToValidUTF8(text[:rapid.IntRange(1, len(text)).Draw(t, "at")], "")
		}
	}
	return calls
}

// drawObject draws the text of an object with all that is hard to cut: escapes,
// characters of two to four bytes, white space. leaves says that no object or
// array is empty but the record.
func drawObject(t *rapid.T, depth int, leaves bool) string {
	return drawMembers(t, depth, leaves, true)
}

func drawMembers(t *rapid.T, depth int, leaves, record bool) string {
	least := 0
	if leaves && !record {
		least = 1
	}
	var members []string
	for i := range rapid.IntRange(least, 3).Draw(t, "members") {
		key := strconv.Itoa(i) + rapid.SampledFrom([]string{"x", "é", "a.b", "it's", `q\"]`, "😀", ""}).Draw(t, "key")
		members = append(members, fmt.Sprintf(`"%s":%s`, key, drawValue(t, depth-1, leaves)))
	}
	if leaves {
		return "{" + strings.Join(members, ",") + "}"
	}
	return "{" + strings.Join(members, rapid.SampledFrom([]string{",", ", ", ",\n  "}).Draw(t, "space")) + "}"
}

func drawValue(t *rapid.T, depth int, leaves bool) string {
	kinds := 3
	if depth > 0 {
		kinds = 5
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"0", "-1.50", "1e3", "12345678901234567890"}).Draw(t, "number")
	case 1:
		return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "literal")
	case 4:
		return drawMembers(t, depth, leaves, false)
	case 5:
		least := 0
		if leaves {
			least = 1
		}
		var list []string
		for range rapid.IntRange(least, 3).Draw(t, "elements") {
			list = append(list, drawValue(t, depth-1, leaves))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"word", `\"`, `\\`, `\n`, `\u00e9`, `\ud83d\ude00`, "é", "日本", "😀", "\u2028", "한"}), 0, 5)
	if leaves {
		words = rapid.SliceOfN(rapid.SampledFrom([]string{"word", `\"`, `\\`, `\n`, "é", "日本", "😀", "한"}), 0, 5)
	}
	return `"` + strings.Join(words.Draw(t, "words"), "") + `"`
}

// fragments cuts a text anywhere, as JSON strings: between its bytes, which
// then are no UTF-8, or between its UTF-16 units, which then are escapes.
func fragments(t *rapid.T, text string) []string {
	var units []string // each as it stands in a JSON string
	if rapid.Bool().Draw(t, "bytes") {
		for _, b := range []byte(text) {
			units = append(units, escaped(rune(b), string([]byte{b})))
		}
	} else {
		for _, u := range utf16.Encode([]rune(text)) {
			units = append(units, escaped(rune(u), fmt.Sprintf(`\u%04X`, u)))
		}
	}
	var list []string
	for len(units) > 0 {
		n := rapid.IntRange(1, min(len(units), 12)).Draw(t, "fragment")
		list = append(list, `"`+strings.Join(units[:n], "")+`"`)
		units = units[n:]
		if rapid.IntRange(0, 5).Draw(t, "pause") == 0 {
			list = append(list, `""`)
		}
	}
	return list
}

func escaped(unit rune, otherwise string) string {
	switch {
	case unit == '"' || unit == '\\':
		return `\` + string(unit)
	case unit < ' ':
		return fmt.Sprintf(`\u%04x`, unit)
	case unit < 0x7F:
		return string(unit)
	}
	return otherwise
}

// mixed merges lists at random and keeps the order of each.
func mixed(t *rapid.T, lists [][]string) []string {
	var all []string
	for {
		var open []int
		for i, l := range lists {
			if len(l) > 0 {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return all
		}
		i := rapid.SampledFrom(open).Draw(t, "next")
		all, lists[i] = append(all, lists[i][0]), lists[i][1:]
	}
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func responseItem(c sentCall, arguments string) string {
	status := "completed"
	if c.cut() {
		status = "incomplete"
	}
	return fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%q,"name":%q,"arguments":%s,"status":%q}`, c.id, c.id, c.name, arguments, status)
}

func wholeResponse(calls []sentCall) string {
	var items []string
	for _, c := range calls {
		items = append(items, `{"type":"reasoning","summary":[]}`, responseItem(c, quoted(c.arguments)))
	}
	return `{"object":"response","output":[` + strings.Join(items, ",") + `]}`
}

func streamResponse(t *rapid.T, calls []sentCall) []string {
	var lists [][]string
	for i, c := range calls {
		at := 2*i + 1
		var list []string
		for _, f := range fragments(t, c.arguments) {
			list = append(list, fmt.Sprintf(`{"type":"response.function_call_arguments.delta","output_index":%d,"delta":%s}`, at, f))
		}
		// The head may come late.
		head := 0
		if rapid.IntRange(0, 3).Draw(t, "late") == 0 {
			head = rapid.IntRange(0, len(list)).Draw(t, "head")
		}
		list = append(list[:head:head], append([]string{fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, at, responseItem(c, `""`))}, list[head:]...)...)
		if rapid.Bool().Draw(t, "done") {
			list = append(list, fmt.Sprintf(`{"type":"response.function_call_arguments.done","output_index":%d,"arguments":%s}`, at, quoted(c.arguments)))
		}
		if c.arguments == "" || rapid.Bool().Draw(t, "item done") {
			list = append(list, fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, at, responseItem(c, quoted(c.arguments))))
		}
		lists = append(lists, list)
	}
	all := append([]string{`{"type":"response.created","response":{"output":[]}}`}, mixed(t, lists)...)
	switch rapid.IntRange(0, 2).Draw(t, "end") {
	case 0:
		all = append(all, `{"type":"response.completed","response":`+wholeResponse(calls)+`}`)
	case 1:
		all = append(all, `{"type":"response.completed","response":{"output":[]}}`, "[DONE]")
	}
	return all
}

func finishReason(calls []sentCall) string {
	if n := len(calls); n > 0 && calls[n-1].cut() {
		return "length"
	}
	return "tool_calls"
}

func wholeChat(calls []sentCall) string {
	var list []string
	for _, c := range calls {
		list = append(list, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, c.id, c.name, quoted(c.arguments)))
	}
	return fmt.Sprintf(`{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[%s]},"finish_reason":%q}]}`, strings.Join(list, ","), finishReason(calls))
}

func streamChat(t *rapid.T, calls []sentCall) []string {
	manner := rapid.SampledFrom([]string{"heads once", "heads always", "no index", "index 0"}).Draw(t, "manner")
	var lists [][]string
	for i, c := range calls {
		var list []string
		for n, f := range append([]string{`""`}, fragments(t, c.arguments)...) {
			head, at := "", fmt.Sprintf(`"index":%d,`, i)
			if n == 0 || manner != "heads once" {
				head = fmt.Sprintf(`"id":%q,"type":"function",`, c.id)
			}
			switch manner {
			case "no index":
				at = ""
			case "index 0":
				at = `"index":0,`
			}
			name := ""
			if head != "" {
				name = fmt.Sprintf(`"name":%q,`, c.name)
			}
			list = append(list, fmt.Sprintf(`{%s%s"function":{%s"arguments":%s}}`, at, head, name, f))
		}
		lists = append(lists, list)
	}
	var all []string
	if manner == "no index" || manner == "index 0" { // then calls come in order
		for _, l := range lists {
			all = append(all, l...)
		}
	} else {
		all = mixed(t, lists)
	}
	events := []string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}`}
	for len(all) > 0 {
		n := rapid.IntRange(1, min(len(all), 3)).Draw(t, "together")
		events = append(events, `data: {"choices":[{"index":0,"delta":{"tool_calls":[`+strings.Join(all[:n], ",")+`]},"finish_reason":null}]}`)
		all = all[n:]
	}
	return append(events, fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, finishReason(calls)), "data: [DONE]")
}

func wholeMessage(calls []sentCall) string {
	var list []string
	for _, c := range calls {
		list = append(list, `{"type":"text","text":"x"}`, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, c.id, c.name, c.read()))
	}
	return `{"type":"message","role":"assistant","content":[` + strings.Join(list, ",") + `],"stop_reason":"tool_use"}`
}

func streamMessage(t *rapid.T, calls []sentCall) []string {
	var lists [][]string
	for i, c := range calls {
		at := 2*i + 1
		list := []string{fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, at, c.id, c.name)}
		text := c.arguments
		if text == "{}" && rapid.Bool().Draw(t, "nothing") {
			text = ""
		}
		for _, f := range fragments(t, text) {
			list = append(list, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, at, f))
		}
		list = append(list, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, at))
		lists = append(lists, list, []string{
			fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`, at-1),
			fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":"x"}}`, at-1),
		})
	}
	return append(mixed(t, lists), `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`)
}

func generatePart(c sentCall) string {
	return fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s}}`, c.id, c.name, c.read())
}

func wholeGenerate(calls []sentCall) string {
	var list []string
	for _, c := range calls {
		list = append(list, `{"text":"x"}`, generatePart(c))
	}
	return `{"candidates":[{"content":{"role":"model","parts":[` + strings.Join(list, ",") + `]},"finishReason":"STOP"}]}`
}

func streamGenerate(t *rapid.T, calls []sentCall) []string {
	var events []string
	for len(calls) > 0 {
		n := rapid.IntRange(0, len(calls)).Draw(t, "together")
		events = append(events, wholeGenerate(calls[:n]))
		calls = calls[n:]
	}
	return events
}

// TestPartialArgsAreWhole: arguments that Gemini streams value by value come
// to the record that they were taken from.
func TestPartialArgsAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := drawObject(t, 4, true)
		decoder := json.NewDecoder(strings.NewReader(record))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		partial := partialArgs(t, "$", value)
		s := dialect.Lookup("gemini").Stream()
		add := func(call string) {
			if err := s.Add([]byte(`{"candidates":[{"content":{"parts":[{"functionCall":` + call + `}]}}]}`)); err != nil {
				t.Fatalf("%s: %v", call, err)
			}
		}
		add(`{"name":"a","willContinue":true}`)
		for len(partial) > 0 {
			n := rapid.IntRange(1, len(partial)).Draw(t, "together")
			add(`{"partialArgs":[` + strings.Join(partial[:n], ",") + `],"willContinue":true}`)
			partial = partial[n:]
		}
		add(`{}`)
		calls, err := s.Calls()
		if err != nil || len(calls) != 1 {
			t.Fatal(calls, err)
		}
		var got any
		decoder = json.NewDecoder(strings.NewReader(string(calls[0].Arguments)))
		decoder.UseNumber()
		if err := decoder.Decode(&got); err != nil {
			t.Fatalf("%s: %v", calls[0].Arguments, err)
		}
		if diff := cmp.Diff(value, got); diff != "" {
			t.Fatalf("%s, -sent +joined:\n%s", record, diff)
		}
	})
}

// partialArgs takes a value apart.
func partialArgs(t *rapid.T, path string, value any) (list []string) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			step := "['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(key) + "']"
			if !strings.ContainsAny(key, `.[]'"\`) && rapid.Bool().Draw(t, "dot") {
				step = "." + key
			}
			list = append(list, partialArgs(t, path+step, v[key])...)
		}
	case []any:
		for i, element := range v {
			list = append(list, partialArgs(t, fmt.Sprintf("%s[%d]", path, i), element)...)
		}
	case string:
		pieces := fragments(t, v)
		for _, f := range pieces {
			list = append(list, fmt.Sprintf(`{"jsonPath":%s,"stringValue":%s,"willContinue":true}`, quoted(path), f))
		}
		list = append(list, fmt.Sprintf(`{"jsonPath":%s,"stringValue":"","willContinue":false}`, quoted(path)))
	case json.Number:
		list = append(list, fmt.Sprintf(`{"jsonPath":%s,"numberValue":%s}`, quoted(path), v))
	case bool:
		list = append(list, fmt.Sprintf(`{"jsonPath":%s,"boolValue":%v}`, quoted(path), v))
	case nil:
		list = append(list, fmt.Sprintf(`{"jsonPath":%s,"nullValue":"NULL_VALUE"}`, quoted(path)))
	}
	return list
}
