package tracker_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/client/remote/conformance"
	"github.com/wipagent/wipagent/examples/issue-host/tracker"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
	"github.com/wipagent/wipagent/space/wip"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimFile) != "" {
		victim()
		return
	}
	goleak.VerifyTestMain(m)
}

var (
	insider  = wip.Caller{ID: "insider"}
	outsider = wip.Caller{ID: "outsider"}
	members  = tracker.Config{Members: []string{insider.ID}}
)

// filled returns a file that was filled once, as bytes.
var filled = sync.OnceValues(func() ([]byte, error) { return fillFile(&tracker.Config{}) })

// filledPublic returns the same without the private project.
var filledPublic = sync.OnceValues(func() ([]byte, error) { return fillFile(tracker.Public(tracker.Config{})) })

func fillFile(cfg *tracker.Config) ([]byte, error) {
	dir, err := os.MkdirTemp("", "tracker")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "issues.db")
	h, err := tracker.Open(file, cfg)
	if err != nil {
		return nil, err
	}
	if err := h.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// newFile copies a filled file to a place of the test's own.
func newFile(t testing.TB, content func() ([]byte, error)) string {
	t.Helper()
	b, err := content()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "issues.db")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func open(t testing.TB, file string, cfg tracker.Config) *tracker.Host {
	t.Helper()
	h, err := tracker.Open(file, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// issueCall is a call of an issue's operation, as a client makes it.
func issueCall(caller wip.Caller, issue, operation, args string) wip.Call {
	return wip.Call{
		Caller: caller, Path: "/" + issue, Object: "issue/" + issue, Interface: "Issue", Operation: operation,
		Arguments: json.RawMessage(args),
	}
}

func searchCall(caller wip.Caller, args string) wip.Call {
	return wip.Call{Caller: caller, Path: "/", Object: "tracker", Interface: "Tracker", Operation: "search", Arguments: json.RawMessage(args)}
}

// must runs a call that is expected to succeed.
func must(t testing.TB, h wip.Host, call wip.Call) gjson.Result {
	t.Helper()
	r, err := h.CallOperation(context.Background(), call)
	if err != nil {
		t.Fatalf("%s of %s: %v", call.Operation, call.Path, err)
	}
	return gjson.ParseBytes(r.Value)
}

// class returns the class of a failure, and "" of none.
func class(err error) wip.Class {
	var f *wip.Failure
	if errors.As(err, &f) {
		return f.Class
	}
	return ""
}

// firstOpen returns the newest open issue of a project.
func firstOpen(t testing.TB, h wip.Host, project string) string {
	t.Helper()
	found := must(t, h, wip.Call{
		Caller: insider, Path: "/" + project, Object: "project/" + project, Interface: "Project", Operation: "open_issues",
		Arguments: json.RawMessage(`{"page_size":1}`),
	})
	return strings.TrimPrefix(found.Get("items.0.issue").String(), "/")
}

// TestBindings proves that zserver.go is what the document says.
func TestBindings(t *testing.T) {
	docs, err := idl.Compile(idl.FSLoader(os.DirFS(".")), "issue.wip")
	if err != nil {
		t.Fatal(err)
	}
	want, err := gen.Go(docs, "tracker")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("zserver.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != string(want) {
		t.Error("zserver.go is not what issue.wip says: run go generate ./examples/issue-host/tracker")
	}
}

// TestConformance asks the suite that is there for every Host.
func TestConformance(t *testing.T) {
	h := open(t, newFile(t, filled), members)
	for _, caller := range []wip.Caller{{}, insider, outsider} {
		report := conformance.Check(t.Context(), h, conformance.Options{Caller: caller, Mutate: true})
		for _, r := range report.Failed() {
			t.Errorf("%q: %s: %+v", caller.ID, r.ID, r.Findings)
		}
		if len(report.Rules) < 20 {
			t.Errorf("only %d rules were looked at", len(report.Rules))
		}
	}
}

// TestSameContent proves that two trackers begin alike.
func TestSameContent(t *testing.T) {
	again, err := fillFile(&tracker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "again.db")
	if err := os.WriteFile(file, again, 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := open(t, newFile(t, filled), tracker.Config{}), open(t, file, tracker.Config{})
	if a.Dump() != b.Dump() {
		t.Error("two trackers differ from the start")
	}
	if n := strings.Count(a.Dump(), `"Title"`); n < 3000 {
		t.Errorf("found %d issues, expected thousands", n)
	}
}

func TestSearch(t *testing.T) {
	h := open(t, newFile(t, filled), members)
	all := must(t, h, searchCall(outsider, `{"query":"CRANE stalls","page_size":5}`))
	if n := all.Get("items.#").Int(); n != 5 || all.Get("total_matching").Int() <= 5 {
		t.Fatalf("found %d items of %s", n, all.Get("total_matching"))
	}
	created := int64(1 << 62)
	for _, item := range all.Get("items").Array() {
		if title := strings.ToLower(item.Get("title").String()); !strings.Contains(title, "crane") || !strings.Contains(title, "stalls") {
			t.Errorf("found %q", title)
		}
		if c := item.Get("created").Int(); c > created {
			t.Error("found an older issue before a newer one")
		} else {
			created = c
		}
	}
	one := must(t, h, searchCall(outsider, `{"query":"at night","project":"/meadow"}`))
	for _, item := range one.Get("items").Array() {
		if path := item.Get("issue").String(); !strings.HasPrefix(path, "/meadow/") {
			t.Errorf("found %s outside the project", path)
		}
	}
	if one.Get("total_matching").Int() == 0 {
		t.Error("found nothing in the project")
	}
	if past := must(t, h, searchCall(outsider, `{"query":"crane","page":1000}`)); past.Get("items.#").Int() != 0 {
		t.Errorf("found %s on a page past the end", past.Get("items"))
	}
	for _, args := range []string{`{"query":"  "}`, `{}`, `{"query":"crane","project":"/harbour/1"}`, `{"query":"` + strings.Repeat("x", 129) + `"}`, `[]`, ``} {
		if _, err := h.CallOperation(t.Context(), searchCall(outsider, args)); class(err) != wip.Domain {
			t.Errorf("search %s: found %v, expected a domain failure", args, err)
		}
	}
}

// TestNotFound tries paths that lead nowhere.
func TestNotFound(t *testing.T) {
	h := open(t, newFile(t, filled), members)
	for _, path := range []string{"", "harbour", "//", "/harbour/", "/harbour/0", "/harbour/01", "/harbour/+1", "/harbour/901", "/harbour/1/2", "/Harbour", "/harbour/99999999999999999999"} {
		if _, err := h.Fetch(t.Context(), insider, path); class(err) != wip.NotFound {
			t.Errorf("Fetch %q: %v", path, err)
		}
		if _, err := h.FetchTree(t.Context(), insider, path); class(err) != wip.NotFound {
			t.Errorf("FetchTree %q: %v", path, err)
		}
	}
	stale := issueCall(outsider, "harbour/1", "read_body", `{}`)
	stale.Object = "issue/harbour/2"
	if _, err := h.CallOperation(t.Context(), stale); class(err) != wip.Stale {
		t.Errorf("a call of another object: %v", err)
	}
}

// TestTree proves that thousands of issues are in no tree, yet can be fetched.
func TestTree(t *testing.T) {
	h := open(t, newFile(t, filled), members)
	var paths []string
	tree, err := h.FetchTree(t.Context(), outsider, "/")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range tree.Children {
		paths = append(paths, c.Entry.Path)
		if !c.Entry.Indexable || len(c.Children) > 0 {
			t.Errorf("%s: indexable %v with %d children", c.Entry.Path, c.Entry.Indexable, len(c.Children))
		}
	}
	if diff := cmp.Diff([]string{"/harbour", "/lantern", "/meadow", "/orchard", "/quarry"}, paths); diff != "" {
		t.Error(diff)
	}
	if tree, _ = h.FetchTree(t.Context(), insider, "/"); len(tree.Children) != 6 {
		t.Errorf("a member sees %d projects, expected 6", len(tree.Children))
	}
	issue, err := h.Fetch(t.Context(), outsider, "/harbour/1")
	if err != nil || issue.Indexable {
		t.Errorf("an issue: %+v, %v", issue, err)
	}
}

// TestTags proves that a tag changes if and only if its entry does.
func TestTags(t *testing.T) {
	h := open(t, newFile(t, filled), members)
	issue := firstOpen(t, h, "harbour")
	paths := []string{"/", "/harbour", "/lantern", "/" + issue}
	entries := func() (list []wip.Entry) {
		for _, p := range paths {
			e, err := h.Fetch(t.Context(), outsider, p)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
		return list
	}
	compare := func(what string, before, after []wip.Entry, changed ...string) {
		t.Helper()
		var found []string
		for n := range before {
			a, b := before[n], after[n]
			tag := a.Tag != b.Tag
			a.Tag, b.Tag = "", ""
			if same := cmp.Equal(a, b); same == tag {
				t.Errorf("%s: %s is the same: %v, and its tag changed: %v", what, paths[n], same, tag)
			}
			if tag {
				found = append(found, paths[n])
			}
		}
		if diff := cmp.Diff(changed, found); diff != "" {
			t.Errorf("%s (-want +found):\n%s", what, diff)
		}
	}
	first := entries()
	must(t, h, issueCall(outsider, issue, "add_comment", `{"body":"seen"}`))
	second := entries()
	compare("a comment", first, second)
	must(t, h, issueCall(outsider, issue, "close", `{"reason":"fixed"}`))
	compare("closing", second, entries(), "/harbour", "/"+issue)
}

func TestOpenFaults(t *testing.T) {
	if _, err := tracker.Open(filepath.Join(t.TempDir(), "none", "issues.db"), nil); err == nil {
		t.Error("a file in no folder was opened")
	}
	if _, err := tracker.Open(filepath.Join(t.TempDir(), "issues.db"), &tracker.Config{Members: []string{""}}); err == nil {
		t.Error("nobody in particular became a member")
	}
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(strings.Repeat("no database\n", 4000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tracker.Open(file, nil); err == nil {
		t.Error("a file of another kind was opened")
	}
	busy := newFile(t, filled)
	open(t, busy, tracker.Config{})
	start := time.Now()
	if _, err := tracker.Open(busy, nil); err == nil || time.Since(start) > time.Minute {
		t.Errorf("a file in use was opened: %v after %v", err, time.Since(start))
	}
}
