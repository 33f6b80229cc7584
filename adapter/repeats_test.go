package adapter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// mood tells how far an answer has gone: "" for the first time, "told" for a
// repeated mistake, "stop".
func mood(answer json.RawMessage) string {
	message := gjson.GetBytes(answer, "error.message").Str
	switch {
	case strings.HasPrefix(message, "stop: "):
		return "stop"
	case strings.HasSuffix(message, "; you sent this very call before"):
		return "told"
	}
	return ""
}

// TestRepeatedMistakes sends sequences of calls and reads how the answers
// change.
func TestRepeatedMistakes(t *testing.T) {
	const bad = `{"target":"/w/desk","operation":"search","arguments":{"query":7}}`
	const alike = ` {"operation":"search", "arguments":{"query":7.0},"target":"/w/desk"}`
	const other = `{"target":"/w/desk","operation":"search","arguments":{"query":8}}`
	const good = `{"target":"/w/desk","operation":"search","arguments":{"query":"7"}}`
	const absent = `{"target":"/w/nothing","operation":"close","arguments":{}}`
	const inspected = `{"target":"/w/nothing"}`
	for name, test := range map[string]struct{ calls, want []string }{
		"the same":        {[]string{bad, bad, bad, bad, bad}, []string{"", "told", "told", "stop", "stop"}},
		"in other words":  {[]string{bad, alike, bad, alike}, []string{"", "told", "told", "stop"}},
		"a success":       {[]string{bad, bad, good, bad, bad}, []string{"", "told", "", "told", "stop"}},
		"another mistake": {[]string{bad, bad, other, bad, other}, []string{"", "told", "", "told", "told"}},
		"in turn":         {[]string{bad, other, bad, other, bad, other, bad, other}, []string{"", "", "told", "told", "told", "told", "stop", "stop"}},
		"three in turn":   {[]string{bad, other, absent, bad, other, absent, bad, other, absent, bad}, []string{"", "", "", "told", "told", "told", "told", "told", "told", "stop"}},
		"others, many":    {append(append([]string{bad}, mistakes(8)...), bad), append(make([]string, 9), "")}, // as many as are remembered
		"others, a few":   {append(append([]string{bad}, mistakes(7)...), bad), append(make([]string, 8), "told")},
		"not found":       {[]string{absent, absent, absent, absent}, []string{"", "told", "told", "stop"}},
		"another tool":    {[]string{inspected, "inspect " + inspected, inspected, inspected}, []string{"", "", "told", "told"}},
		"not JSON":        {[]string{`{"a":`, `{"a":`, `{"a":`, `{"a":`}, []string{"", "told", "told", "stop"}},
		"nothing":         {[]string{``, ``}, []string{"", "told"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := adapter.New(adapter.Config{Client: (&workshop{}).open(t, true)})
			var got []string
			for _, sent := range test.calls {
				tool := "invoke"
				if rest, ok := strings.CutPrefix(sent, "inspect "); ok {
					tool, sent = "inspect", rest
				}
				answer, _ := a.Call(t.Context(), operator, tool, "", json.RawMessage(sent))
				got = append(got, mood(answer.JSON))
				if other, _ := a.Call(t.Context(), member, tool, "", json.RawMessage(sent)); mood(other.JSON) != mood(answer.JSON) {
					t.Errorf("%s: another caller is told %s", sent, other.JSON) // each counts for itself
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// mistakes returns calls that fail, no two alike.
func mistakes(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"target":"/w/nothing%d","operation":"close","arguments":{}}`, i)
	}
	return list
}

// TestRepeatsAreForgotten after a while, so that nothing is barred for ever.
func TestRepeatsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &workshop{result: func(wip.Call) (wip.Result, error) { return wip.Result{}, errors.New("broken") }}
		a := adapter.New(adapter.Config{Client: h.open(t, true)})
		ask := func() adapter.Answer {
			answer, _ := a.Call(t.Context(), operator, "invoke", "", json.RawMessage(`{"target":"/w/desk","operation":"desk_status","arguments":{}}`))
			return answer
		}
		for range 5 {
			ask()
		}
		h.result = nil
		if last := ask(); mood(last.JSON) != "stop" {
			t.Errorf("what is broken answers %s", last.JSON)
		}
		time.Sleep(11 * time.Minute)
		if last := ask(); mood(last.JSON) != "" { // the Host has forgotten the entry, too
			t.Errorf("eleven minutes later it answers %s", last.JSON)
		}
	})
}

// TestScriptsThatFailAlike: a program is a call like others, whatever it is that
// ends it, and what it printed stays beside the error.
func TestScriptsThatFailAlike(t *testing.T) {
	c := (&workshop{}).open(t, true)
	a := adapter.New(adapter.Config{Client: c, Code: script.NewRunner(c, script.Limits{Steps: 1000})})
	for _, code := range []string{"print(1)\nprint(nothing)", "print(1)\nfail('so')", "print(1)\nwhile_ = [x for x in range(100000)]", "print(1)\nw.desk.search(query=7)", "print(1)\nentry('/w/nothing')"} {
		record, err := json.Marshal(map[string]string{"code": code})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range 5 {
			answer, _ := a.Call(t.Context(), operator, "run_script", "", record)
			got = append(got, mood(answer.JSON))
			if printed := gjson.GetBytes(answer.JSON, "output").Str; !gjson.ValidBytes(answer.JSON) || printed != "1\n" && !strings.Contains(code, "nothing)") {
				t.Errorf("%s: the output is lost in %s", code, answer.JSON)
			}
		}
		if diff := cmp.Diff([]string{"", "told", "told", "stop", "stop"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", code, diff)
		}
	}
}

// TestRepeatsAreExplained reads what a repeated mistake is told.
func TestRepeatsAreExplained(t *testing.T) {
	c := (&workshop{}).open(t, true)
	a := adapter.New(adapter.Config{Client: c})
	strict := operations(t, c, operator, "openai-strict")
	ask := func(tool, sent string) (first, second, fourth gjson.Result) {
		var answers []gjson.Result
		for range 4 {
			answer, ok := a.Call(t.Context(), operator, tool, "", json.RawMessage(sent))
			if !ok {
				answer.JSON = strict.Answer(t.Context(), dialect.Call{Name: tool, Arguments: json.RawMessage(sent)}).JSON
			}
			answers = append(answers, gjson.GetBytes(answer.JSON, "error"))
		}
		return answers[0], answers[1], answers[3]
	}
	for _, test := range []struct{ tool, sent, second, fourth string }{
		{"invoke", `{"target":"/w/desk","operation":"search","arguments":{}}`,
			`the signature: search(query: string [1..128 bytes], include_closed: bool = false, limit: int [1..50] = 10) -> bool; a record that is understood: {"target":"/w/desk","operation":"search","arguments":{"query":"lamp"}}; sending the same again changes nothing`,
			`do not send it again: do something else, or ask who sent you for what is missing`},
		{"invoke", `{"target":"/w/desk","operation":"search","arguments":{"query":"x","limit":99}}`, `send corrected_call as it is`, `do not send it again: send corrected_call as it is, or do something else`},
		{"invoke", `{"target":"/w/issues/1","operation":"close","arguments":{}}`, `close(reason: string [1..200 bytes], dry_run: bool = false) -> bool; sending`, ``}, // no made-up example of what changes something
		{"invoke", `{"tool":"x"}`, `the tool takes invoke(target: string [1..1024 bytes], operation: string [1..256 bytes], dry_run: bool = false, arguments: {...}); a record that is understood: {"target":"/w/desk","operation":"nearby_things","arguments":{"radius_meters":20,"page_size":5}}`, ``},
		{"invoke", `{"target":"/w/nowhere","operation":"nothing","arguments":{}}`, `what there is: /w/desk: nearby_things search measure desk_status; /w/issues/1: read_body close assign link; `, `do not send it again: nothing of this name is there for you`},
		{"inspect", `{"target":"/w/nowhere"}`, `what there is: /w/desk:`, ``},
		{"inspect", `{}`, `a record that is understood: {"target":"/w/desk"}`, ``},
		{"discover", `{}`, `a record that is understood: {"query":"what is here"}`, ``},
		// In the form in which the provider's models send it.
		{"desk_search", `{"query":null,"include_closed":null,"limit":null}`, `a record that is understood: {"query":"lamp","include_closed":null,"limit":null}`, ``},
		{"issue_read_body", `{"target":7}`, `a record that is understood: {"target":"/w/issues/1"}`, ``},
	} {
		first, second, fourth := ask(test.tool, test.sent)
		if !strings.Contains(second.Get("hint").Str, test.second) || !strings.Contains(fourth.Get("hint").Str, test.fourth) || mood([]byte(`{"error":`+fourth.Raw+`}`)) != "stop" {
			t.Errorf("%s %s:\nfirst  %s\nsecond %s\nfourth %s", test.tool, test.sent, first, second, fourth)
		}
		if first.Get("class").Str != fourth.Get("class").Str || first.Get("corrected_call").Raw != fourth.Get("corrected_call").Raw {
			t.Errorf("%s %s: the last answer has another class or correction:\n%s\n%s", test.tool, test.sent, first, fourth)
		}
	}
}

// TestStoppedCallsAreNotMade: what the operator refused three times is not put
// to him again, and what is broken is not called again, until another call
// succeeded. What may come to be is looked at each time.
func TestStoppedCallsAreNotMade(t *testing.T) {
	var log bytes.Buffer
	asked := 0
	h := &workshop{result: func(wip.Call) (wip.Result, error) { return wip.Result{}, errors.New("broken") }}
	c := client.New(&client.Config{Audit: audit.New(&log), Approve: func(context.Context, client.Approval) bool { asked++; return false }})
	if err := c.Mount(t.Context(), "/w", h, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	a := adapter.New(adapter.Config{Client: c})
	ask := func(times int, sent string) (last adapter.Answer) {
		for range times {
			last, _ = a.Call(t.Context(), operator, "invoke", "", json.RawMessage(sent))
		}
		return last
	}
	const lamp, status = `{"target":"/w/lamp","operation":"set_light","arguments":{"level":1}}`, `{"target":"/w/desk","operation":"desk_status","arguments":{}}`
	if last := ask(6, lamp); asked != 3 || mood(last.JSON) != "stop" || gjson.GetBytes(last.JSON, "error.class").Str != "refused" {
		t.Errorf("the operator was asked %d times, want 3, and the last answer is %s", asked, last.JSON)
	}
	if last := ask(6, status); len(h.calls()) != 3 || mood(last.JSON) != "stop" || gjson.GetBytes(last.JSON, "error.class").Str != "unavailable" {
		t.Errorf("the last answer is %s", last.JSON)
	}
	if ask(1, lamp); asked != 3 {
		t.Errorf("the operator was asked %d times after another call that failed, want 3", asked)
	}
	h.result = nil
	ask(1, `{"target":"/w/desk","operation":"search","arguments":{"query":"lamp"}}`) // succeeds
	if ask(1, lamp); asked != 4 {
		t.Errorf("the operator was asked %d times after a call that succeeded, want 4", asked)
	}
	if last := ask(1, status); last.Failed {
		t.Errorf("what works again answers %s", last.JSON)
	}
	if got := strings.Count(log.String(), `"verb":"invoke"`); got != 16 {
		t.Errorf("%d calls are in the log, want 16", got)
	}
}

// TestRepeatsTellNothingOfWhatIsHidden compares what a visitor is told of
// hidden and of absent things, at each repetition.
func TestRepeatsTellNothingOfWhatIsHidden(t *testing.T) {
	c := (&workshop{}).open(t, true)
	for _, test := range []struct{ tool, hidden, absent string }{
		{"invoke", `{"target":"/w/lamp","operation":"set_light","arguments":{"level":1}}`, `{"target":"/w/limp","operation":"set_light","arguments":{"level":1}}`},
		{"invoke", `{"target":"/w/issues/1","operation":"close","arguments":{"reason":"r"}}`, `{"target":"/w/issues/9","operation":"close","arguments":{"reason":"r"}}`},
		{"invoke", `{"target":"/w/lamp","operation":"set_light","x":1,"arguments":{}}`, `{"target":"/w/lxxp","operation":"set_light","x":1,"arguments":{}}`},
		{"inspect", `{"target":"/w/lamp"}`, `{"target":"/w/limp"}`},
		{"inspect", `{"target":"/w/issues/1#close"}`, `{"target":"/w/issues/9#close"}`},
	} {
		hidden, absent := adapter.New(adapter.Config{Client: c}), adapter.New(adapter.Config{Client: c})
		for i := range 6 {
			a, _ := hidden.Call(t.Context(), visitor, test.tool, "", json.RawMessage(test.hidden))
			b, _ := absent.Call(t.Context(), visitor, test.tool, "", json.RawMessage(test.absent))
			if string(a.JSON) != string(b.JSON) || a.Untrusted != b.Untrusted {
				t.Errorf("time %d, %s: hidden\n%s\nabsent\n%s", i+1, test.hidden, a.JSON, b.JSON)
			}
			if strings.Contains(string(a.JSON), "lamp:") || strings.Contains(string(a.JSON), "issues") {
				t.Errorf("time %d, %s: tells of what is hidden: %s", i+1, test.hidden, a.JSON)
			}
		}
	}
}

// TestRepeatsAtOnce counts mistakes of several callers that come at once.
func TestRepeatsAtOnce(t *testing.T) {
	a := adapter.New(adapter.Config{Client: (&workshop{}).open(t, true)})
	const callers, times = 8, 6
	var all sync.WaitGroup
	moods := make([]map[string]int, callers)
	for i := range callers {
		moods[i] = map[string]int{}
		var mu sync.Mutex
		p := &policy.Principal{ID: fmt.Sprint(i), Audience: idl.PublicChat}
		for range times {
			all.Go(func() {
				answer, _ := a.Call(t.Context(), p, "invoke", "", json.RawMessage(`{"target":"/w/desk","operation":"search","arguments":{}}`))
				mu.Lock()
				defer mu.Unlock()
				moods[i][mood(answer.JSON)]++
			})
		}
	}
	all.Wait()
	for i, got := range moods {
		if diff := cmp.Diff(map[string]int{"": 1, "told": 2, "stop": times - 3}, got); diff != "" {
			t.Errorf("caller %d (-want +got):\n%s", i, diff)
		}
	}
}
