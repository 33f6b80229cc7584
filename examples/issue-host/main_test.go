package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/examples/issue-host/tracker"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// asProgram makes the test binary the program.
const asProgram = "ISSUE_HOST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

var (
	operator = &policy.Principal{ID: "operator", Audience: idl.LocalOperator}
	stranger = &policy.Principal{ID: "stranger", Audience: idl.LocalOperator}
	chat     = &policy.Principal{ID: "chat", Audience: idl.PublicChat}
)

// TestEndToEnd does the same with the Host in this process, over HTTP and over
// stdio.
func TestEndToEnd(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) wip.Host{"in process": inProcess, "http": overHTTP, "stdio": overStdio} {
		t.Run(name, func(t *testing.T) { endToEnd(t, start(t)) })
	}
}

func inProcess(t *testing.T) wip.Host {
	h, err := tracker.Open(filepath.Join(t.TempDir(), "issues.db"), &tracker.Config{Members: []string{operator.ID}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func overHTTP(t *testing.T) wip.Host {
	const token = "a-token-for-tests-only"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serve(t, "--token-file", file)
	if h, err := remote.Dial(t.Context(), url, nil); err == nil {
		h.Close()
		t.Error("one without a token was let in")
	}
	h, err := remote.Dial(t.Context(), url, &remote.Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// serve runs the program over HTTP and returns its URL.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	args = append(args, "--data", t.TempDir(), "--http", "127.0.0.1:0", "--member", operator.ID)
	go func() {
		ended <- run(ctx, args, nil, io.Discard, write)
		write.Close()
	}()
	lines := bufio.NewReader(read)
	line, err := lines.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving issues on ")
	if err != nil || !ok {
		cancel()
		t.Fatalf("the program says %q, %v", line, err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("the program ended with %d", code)
		}
		<-drained
	})
	return url
}

func overStdio(t *testing.T) wip.Host {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h, err := remote.Spawn(t.Context(), []string{self, "--data", t.TempDir(), "--stdio", "--member", operator.ID},
		&remote.Options{Env: append(os.Environ(), asProgram+"=1")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// mount returns a client with the tracker at /issues.
func mount(t *testing.T, h wip.Host, trusted bool, approve func(client.Approval) bool) *client.Client {
	t.Helper()
	c := client.New(&client.Config{Approve: func(_ context.Context, a client.Approval) bool { return approve(a) }})
	if err := c.Mount(t.Context(), "/issues", h, &client.MountOptions{Title: "Issues", Trusted: trusted}); err != nil {
		t.Fatal(err)
	}
	return c
}

// invoke makes a call; its failure is returned by class.
func invoke(t *testing.T, c *client.Client, p *policy.Principal, target, operation, args string) (gjson.Result, *client.Outcome, client.Class) {
	t.Helper()
	out, err := c.Invoke(t.Context(), p, client.Call{Target: target, Operation: operation, Arguments: json.RawMessage(args)})
	var e *client.Error
	switch {
	case errors.As(err, &e):
		return gjson.Result{}, nil, e.Class
	case err != nil:
		t.Fatal(err)
	}
	return gjson.ParseBytes(out.Result), out, ""
}

func endToEnd(t *testing.T, h wip.Host) {
	approved, asked := false, 0
	approve := func(client.Approval) bool { asked++; return approved }
	c := mount(t, h, true, approve)

	// Discover finds the operation that searches, and no issue: before and after.
	found, err := c.Discover(t.Context(), chat, "/", "find an issue about a crane")
	if err != nil || len(found.Hits) == 0 || found.Hits[0].Path != "/issues" {
		t.Fatalf("Discover: %+v, %v", found, err)
	}
	about, err := c.Inspect(t.Context(), chat, "/issues")
	if err != nil || len(about.Children) != 5 {
		t.Fatalf("Inspect: %+v, %v", about, err)
	}
	result, out, class := invoke(t, c, chat, "/issues", "search", `{"query":"crane stalls","project":"/issues/harbour"}`)
	if class != "" || len(out.Entries) == 0 || !out.Untrusted {
		t.Fatalf("search: %s, %+v, %s", result.Raw, out, class)
	}
	issue := ""
	for _, item := range result.Get("items").Array() {
		if item.Get("state").String() == "open" {
			issue = item.Get("issue").String()
		}
	}
	if !strings.HasPrefix(issue, "/issues/harbour/") {
		t.Fatalf("found %q in %s", issue, result.Raw)
	}
	again, err := c.Discover(t.Context(), chat, "/issues", "crane stalls")
	if err != nil {
		t.Fatal(err)
	}
	for _, hit := range again.Hits {
		if strings.Count(hit.Path, "/") > 2 {
			t.Errorf("discover found the issue %s", hit.Path)
		}
	}
	if body, _, class := invoke(t, c, chat, issue, "read_body", `{}`); class != "" || !strings.Contains(body.String(), "crane") {
		t.Errorf("read_body: %s, %s", body.Raw, class)
	}
	for _, operation := range []string{"get_metadata", "get_related_items", "comments"} {
		if _, _, class := invoke(t, c, chat, issue, operation, `{}`); class != "" {
			t.Errorf("%s: %s", operation, class)
		}
	}

	// What changes things is not there for a chat, and asked about for others.
	if _, _, class := invoke(t, c, chat, issue, "close", `{"reason":"fixed"}`); class != client.NotFound {
		t.Errorf("close in a chat: %s", class)
	}
	if asked != 0 {
		t.Errorf("approval was asked for %d times by then", asked)
	}
	if _, _, class := invoke(t, c, operator, issue, "close", `{"reason":"fixed"}`); class != client.Refused || asked != 1 {
		t.Errorf("close without approval: %s, asked %d times", class, asked)
	}
	approved = true
	if closed, _, class := invoke(t, c, operator, issue, "close", `{"reason":"fixed"}`); class != "" || closed.Get("issue").String() != issue {
		t.Errorf("close: %s, %s", closed.Raw, class)
	}
	if _, _, class := invoke(t, c, operator, issue, "close", `{"reason":"fixed"}`); class != client.Domain {
		t.Errorf("close of a closed issue: %s", class)
	}
	if m, _, _ := invoke(t, c, chat, issue, "get_metadata", `{}`); m.Get("state").String() != "closed" || m.Get("closed_reason").String() != "fixed" {
		t.Errorf("a closed issue: %s", m.Raw)
	}
	if said, _, class := invoke(t, c, operator, issue, "add_comment", `{"body":"see https://example.org/x"}`); class != "" ||
		said.Get("author").String() != operator.ID || strings.Contains(said.Get("body").String(), "https") {
		t.Errorf("add_comment: %s, %s", said.Raw, class)
	}

	// A Host that nobody vouches for is not believed that it only reads.
	approved = false
	untrusted := mount(t, h, false, approve)
	if _, _, class := invoke(t, untrusted, chat, issue, "read_body", `{}`); class != client.Refused {
		t.Errorf("read_body of an untrusted Host: %s", class)
	}
	hiding(t, c)
}

// hiding proves that the private project is there for its member alone, by all
// three verbs.
func hiding(t *testing.T, c *client.Client) {
	t.Helper()
	if about, err := c.Inspect(t.Context(), operator, "/issues/cellar"); err != nil || len(about.Operations) == 0 {
		t.Errorf("Inspect by a member: %+v, %v", about, err)
	}
	result, _, class := invoke(t, c, operator, "/issues", "search", `{"query":"badge reader"}`)
	secret := result.Get("items.0.issue").String()
	if class != "" || !strings.HasPrefix(secret, "/issues/cellar/") {
		t.Fatalf("search by a member: %s, %s", result.Raw, class)
	}
	for _, path := range []string{"/issues/cellar", secret, "/issues/absent", "/issues/absent/1"} {
		if _, err := c.Inspect(t.Context(), stranger, path); !isNotFound(err) {
			t.Errorf("Inspect of %s by another: %v", path, err)
		}
		if _, _, class := invoke(t, c, stranger, path, "close", `{"reason":"x"}`); class != client.NotFound {
			t.Errorf("close of %s by another: %s", path, class)
		}
		args, _ := json.Marshal(map[string]string{"query": "badge", "project": path})
		if _, _, class := invoke(t, c, stranger, "/issues", "search", string(args)); class != client.BadArguments {
			t.Errorf("search in %s by another: %s", path, class)
		}
	}
	found, err := c.Discover(t.Context(), stranger, "/", "locks and alarms of the cellar")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(found); bytes.Contains(b, []byte("/issues/cellar")) {
		t.Errorf("another discovers %s", b)
	}
}

func isNotFound(err error) bool {
	var e *client.Error
	return errors.As(err, &e) && e.Class == client.NotFound
}

// TestAnybody proves that over HTTP without a token nobody becomes somebody.
func TestAnybody(t *testing.T) {
	h, err := remote.Dial(t.Context(), serve(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	tree, err := h.FetchTree(t.Context(), operator.Caller(), "/")
	if err != nil || len(tree.Children) != 5 {
		t.Errorf("one who says that he is a member sees %d projects, %v", len(tree.Children), err)
	}
}

func TestUsage(t *testing.T) {
	short := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(short, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want int
	}{
		{"--help", 0},
		{"", exitUsage},
		{"--stdio", exitUsage},
		{"--data d", exitUsage},
		{"--data d --stdio --http 127.0.0.1:0", exitUsage},
		{"--data d --http 0.0.0.0:7070", exitUsage},
		{"--data d --http :7070", exitUsage},
		{"--data d --http 127.0.0.1", exitUsage},
		{"--data d --stdio --token-file " + short, exitUsage},
		{"--data d --http 127.0.0.1:0 --token-file " + short, exitUsage},
		{"--data d --stdio --member=", exitUsage},
		{"--data d --stdio more", exitUsage},
		{"--data " + file + " --stdio", exitUnavailable},
	} {
		var out, errs strings.Builder
		got := run(t.Context(), strings.Fields(c.args), strings.NewReader(""), &out, &errs)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s%s", c.args, diff, errs.String())
		}
		if said := errs.Len() > 0; said != (c.want != 0) {
			t.Errorf("%q writes %q to stderr", c.args, errs.String())
		}
	}
}
