package tracker_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wipagent/wipagent/examples/issue-host/tracker"
	"github.com/wipagent/wipagent/space/wip"
)

// TestDryRun proves that a dry run says what would be done and does nothing.
func TestDryRun(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	cfg := members
	cfg.Now = func() time.Time { return now }
	h := open(t, newFile(t, filled), cfg)
	issue := firstOpen(t, h, "harbour")
	before := h.Dump()
	for _, call := range []wip.Call{
		issueCall(outsider, issue, "close", `{"reason":"fixed"}`),
		issueCall(outsider, issue, "add_comment", `{"body":"seen"}`),
		issueCall(outsider, issue, "set_labels", `{"labels":["bug","new-one"]}`),
	} {
		call.IdempotencyKey, call.DryRun = "k", true
		tried := must(t, h, call)
		if h.Dump() != before {
			t.Fatalf("a dry run of %s changed the file", call.Operation)
		}
		call.DryRun = false
		if done := must(t, h, call); done.Raw != tried.Raw {
			t.Errorf("%s was tried as %s and done as %s", call.Operation, tried.Raw, done.Raw)
		}
		if before == h.Dump() {
			t.Fatalf("%s changed nothing", call.Operation)
		}
		before = h.Dump()
	}
	again := issueCall(outsider, issue, "close", `{"reason":"again"}`)
	again.DryRun = true
	if _, err := h.CallOperation(t.Context(), again); class(err) != wip.Domain {
		t.Errorf("a dry run of closing a closed issue: %v", err)
	}
	read := issueCall(outsider, issue, "read_body", `{}`)
	read.DryRun = true
	if _, err := h.CallOperation(t.Context(), read); class(err) != wip.Domain {
		t.Errorf("a dry run of what declares none: %v", err)
	}
}

// TestKeys proves that a key is answered alike, also after a restart, and that
// what it stands for is done once.
func TestKeys(t *testing.T) {
	file := newFile(t, filled)
	now := time.UnixMilli(1_800_000_000_000)
	cfg := members
	cfg.Now = func() time.Time { return now }
	h := open(t, file, cfg)
	issue := firstOpen(t, h, "harbour")
	call := issueCall(outsider, issue, "close", `{"reason":"fixed"}`)
	call.IdempotencyKey = "run-1/call-1"
	first := must(t, h, call)
	now = now.Add(time.Hour)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = open(t, file, cfg)
	if again := must(t, h, call); again.Raw != first.Raw {
		t.Errorf("found %s the second time, %s the first", again.Raw, first.Raw)
	}
	other := call
	other.Arguments = []byte(`{"reason":"another"}`)
	if _, err := h.CallOperation(t.Context(), other); class(err) != wip.Domain {
		t.Errorf("the key with other arguments: %v", err)
	}
	for what, change := range map[string]func(*wip.Call){
		"no key":       func(c *wip.Call) { c.IdempotencyKey = "" },
		"another key":  func(c *wip.Call) { c.IdempotencyKey += "0" },
		"other caller": func(c *wip.Call) { c.Caller = insider },
	} {
		fresh := call
		change(&fresh)
		if _, err := h.CallOperation(t.Context(), fresh); class(err) != wip.Domain {
			t.Errorf("%s: %v, expected that the issue is closed already", what, err)
		}
	}
	// A week later the answer may be forgotten, and the next call forgets it.
	now = now.Add(tracker.Remembered + time.Minute)
	must(t, h, issueCall(outsider, issue, "add_comment", `{"body":"later"}`))
	if n := h.Answers(); n != 0 {
		t.Errorf("%d answers are remembered after %v", n, tracker.Remembered)
	}
}

// TestOnce sends the same call many times at once.
func TestOnce(t *testing.T) {
	h := open(t, newFile(t, filled), members)
	issue := firstOpen(t, h, "quarry")
	before := must(t, h, issueCall(insider, issue, "get_metadata", `{}`)).Get("comments").Int()
	call := issueCall(outsider, issue, "add_comment", `{"body":"once"}`)
	call.IdempotencyKey = "k"
	answers := make([]string, 20)
	var wg sync.WaitGroup
	for n := range answers {
		wg.Go(func() {
			r, err := h.CallOperation(context.Background(), call)
			answers[n] = fmt.Sprint(string(r.Value), err)
		})
	}
	wg.Wait()
	for _, a := range answers {
		if a != answers[0] || !strings.Contains(a, "once") {
			t.Errorf("found %s and %s", a, answers[0])
		}
	}
	if after := must(t, h, issueCall(insider, issue, "get_metadata", `{}`)).Get("comments").Int(); after != before+1 {
		t.Errorf("%d comments became %d", before, after)
	}
}

// TestRefusals proves that what is refused, cancelled or too much changes nothing.
func TestRefusals(t *testing.T) {
	file := newFile(t, filled)
	h := open(t, file, members)
	issue := firstOpen(t, h, "meadow")
	before := h.Dump()
	for _, call := range []wip.Call{
		issueCall(outsider, issue, "close", `{"reason":""}`),
		issueCall(outsider, issue, "close", `{"reason":" "}`),
		issueCall(outsider, issue, "close", `{"reason":"a\u0000b"}`),
		issueCall(outsider, issue, "close", `{"reason":"`+strings.Repeat("x", 501)+`"}`),
		issueCall(outsider, issue, "close", `{"reason":7`),
		issueCall(outsider, issue, "set_labels", `{"labels":["bug","bug"]}`),
		issueCall(outsider, issue, "set_labels", `{"labels":["Not One"]}`),
		issueCall(wip.Caller{ID: strings.Repeat("x", 129)}, issue, "add_comment", `{"body":"seen"}`),
	} {
		if _, err := h.CallOperation(t.Context(), call); class(err) != wip.Domain {
			t.Errorf("%s %.40s: %v, expected a domain failure", call.Operation, call.Arguments, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.CallOperation(cancelled, issueCall(outsider, issue, "close", `{"reason":"fixed"}`)); err == nil {
		t.Error("a cancelled call was answered")
	}
	if h.Dump() != before {
		t.Error("a refused call changed the file")
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	full := open(t, file, tracker.Config{MaxBytes: 1})
	if _, err := full.CallOperation(t.Context(), issueCall(outsider, issue, "close", `{"reason":"fixed"}`)); class(err) != wip.Domain {
		t.Errorf("a full tracker: %v", err)
	}
	must(t, full, issueCall(outsider, issue, "read_body", `{}`))
}

// victimFile names the tracker that a victim writes to.
const victimFile = "ISSUE_HOST_VICTIM"

// victimIssue takes its comments.
const victimIssue = "harbour/7"

// victim adds comments and says so after each, until it is killed.
func victim() {
	h, err := tracker.Open(os.Getenv(victimFile), nil)
	for n := 0; err == nil; n++ {
		call := issueCall(outsider, victimIssue, "add_comment", fmt.Sprintf(`{"body":"number %d"}`, n))
		call.IdempotencyKey = fmt.Sprint("key-", n)
		if _, err = h.CallOperation(context.Background(), call); err == nil {
			fmt.Println(n)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestKilled kills a process while it writes, again and again. What it said was
// done is there after that, once, also if it is sent again.
func TestKilled(t *testing.T) {
	for round := range 5 {
		file := newFile(t, filled)
		acknowledged := kill(t, file, 1+rand.IntN(40))
		h := open(t, file, members)
		for n := range acknowledged + 2 { // and the one that was not acknowledged
			call := issueCall(outsider, victimIssue, "add_comment", fmt.Sprintf(`{"body":"number %d"}`, n))
			call.IdempotencyKey = fmt.Sprint("key-", n)
			must(t, h, call)
		}
		count := map[string]int{}
		for page := int64(1); page != 0; {
			found := must(t, h, issueCall(outsider, victimIssue, "comments", fmt.Sprintf(`{"page":%d}`, page)))
			for _, c := range found.Get("items").Array() {
				count[c.Get("body").String()]++
			}
			page = found.Get("next_page").Int()
		}
		for n := range acknowledged + 2 {
			if body := fmt.Sprintf("number %d", n); count[body] != 1 {
				t.Errorf("round %d: %q of %d acknowledged is there %d times", round, body, acknowledged, count[body])
			}
		}
	}
}

// kill starts a victim, kills it after some acknowledgements, and returns the
// number of the last one.
func kill(t *testing.T, file string, after int) (last int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), victimFile+"="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	last = -1
	for n := 0; ; n++ {
		if n == after {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			if err != io.EOF || n < after {
				t.Errorf("after %d acknowledgements: %v", n, err)
			}
			break
		}
		if _, err := fmt.Sscan(line, &last); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait() // it was killed
	return last
}
