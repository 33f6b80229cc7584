package remote_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/examples/issue-host/tracker"
	"github.com/wipagent/wipagent/space/wip"
)

// issuesFile is the variable that says where the tracker is, to a child too.
const issuesFile = "WIPAGENT_TEST_ISSUES"

// issues opens the tracker; its time stands still.
func issues(t testing.TB) wip.Host {
	h, err := tracker.Open(os.Getenv(issuesFile), &tracker.Config{
		Members: []string{operator.ID}, Now: func() time.Time { return time.UnixMilli(1_800_000_000_000) },
	})
	if err != nil {
		panic(err)
	}
	if t != nil {
		t.Cleanup(func() { h.Close() })
	}
	return h
}

// filledIssues is the file of a tracker as it begins.
var filledIssues = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "issues")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "issues.db")
	h, err := tracker.Open(file, nil)
	if err != nil {
		return nil, err
	}
	if err := h.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// keepIssues gives the test a tracker of its own.
func keepIssues(t *testing.T) {
	t.Helper()
	content, err := filledIssues()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "issues.db")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(issuesFile, file)
}

// issuesStory finds an issue, reads all about it and changes it.
func issuesStory(s *session) {
	issue := s.findIssue()
	s.readIssue(issue)

	s.corrected(chat, "/issues", "search", `{"qery":"fuel pump","page":0,"page_size":"5"}`)
	s.corrected(chat, issue, "comments", `{"page_size":1000}`)
	s.corrected(chat, issue, "read_body", `{"format":"text"}`)
	s.refused(client.BadArguments, chat, "/issues", "search", `{"query":"pump","project":"/issues/absent"}`)
	s.refused(client.BadArguments, chat, "/issues", "search", fmt.Sprintf(`{"query":"pump","project":%q}`, issue))

	s.closeIssue(issue)
	s.changeOnce(issue)
	s.hideProject()
	s.ends(chat, issue, "get_metadata", `{}`)
	found := `{"query":"crane stalls","page_size":20}`
	s.overflows(chat, s.must(chat, "/issues", "search", found), "/tight", "search", found)
}

// findIssue finds an open issue by all that lists some.
func (s *session) findIssue() (issue string) {
	hits := s.call(s.Context(), chat, "", "discover", `{"query":"find an issue about a pump"}`).Get("hits.#.path").Array()
	if len(hits) == 0 {
		s.Fatal("nothing is discovered")
	}
	for _, hit := range hits {
		if strings.Count(hit.String(), "/") > 2 {
			s.Errorf("an issue is discovered: %s", hit)
		}
	}
	if n := s.inspects(chat, "/issues").Get("children.#").Int(); n != 5 {
		s.Errorf("found %d projects, expected 5", n)
	}
	for _, project := range s.must(chat, "/issues", "projects", `{}`).Array() {
		s.inspects(chat, project.String())
	}
	s.pages(chat, "/issues/harbour", "labels", `{`, 3)
	s.must(chat, "/issues/harbour", "open_issues", `{"page":1000}`)
	if all := s.pages(chat, "/issues", "search", `{"query":"fuel pump at night",`, 3); len(all) < 5 {
		s.Errorf("found %d issues of all projects, expected some pages", len(all))
	}
	for _, found := range s.pages(chat, "/issues", "search", `{"query":"crane stalls","project":"/issues/harbour",`, 8) {
		path := found.Get("issue").String()
		if !strings.HasPrefix(path, "/issues/harbour/") {
			s.Errorf("found %s outside the project", path)
		}
		if issue == "" && found.Get("state").String() == "open" && s.must(chat, path, "get_related_items", `{}`).Get("#").Int() > 0 {
			issue = path
		}
	}
	if issue == "" {
		s.Fatal("no open issue was found")
	}
	return issue
}

// readIssue reads an issue and follows what it refers to.
func (s *session) readIssue(issue string) {
	s.inspects(chat, issue)
	s.inspects(operator, issue+"#close")
	if body := s.must(chat, issue, "read_body", `{}`); !strings.Contains(body.String(), "crane") {
		s.Errorf("read_body: %s", body)
	}
	if state := s.must(chat, issue, "get_metadata", `{}`).Get("state").String(); state != "open" {
		s.Errorf("the issue is %s", state)
	}
	s.pages(chat, issue, "comments", `{`, 1)
	for _, related := range s.must(chat, issue, "get_related_items", `{}`).Array() {
		s.inspects(chat, related.String())
		s.must(chat, related.String(), "read_body", `{}`)
		s.pages(chat, related.String(), "comments", `{`, 2)
	}
}

// closeIssue tries, is refused, tries what it would do, and closes.
func (s *session) closeIssue(issue string) {
	reason := `{"reason":"duplicate"}`
	s.refused(client.NotFound, chat, issue, "close", reason)
	s.refused(client.Refused, chat, "/claims"+strings.TrimPrefix(issue, "/issues"), "read_body", `{}`)
	s.asked = 0
	tried := s.call(s.Context(), operator, "trial", "invoke", fmt.Sprintf(`{"target":%q,"operation":"close","dry_run":true,"arguments":%s}`, issue, reason))
	if s.asked > 0 || !tried.Get("dry_run").Bool() {
		s.Errorf("asked %d times for a dry run: %s", s.asked, tried.Raw)
	}
	if s.refused(client.Refused, operator, issue, "close", reason); s.asked != 1 {
		s.Errorf("asked %d times, expected once", s.asked)
	}
	if state := s.must(chat, issue, "get_metadata", `{}`).Get("state").String(); state != "open" {
		s.Errorf("an issue that nobody approved of closing is %s", state)
	}
	before := s.inspects(chat, "/issues/harbour").Get("summary").String()
	s.approves = true
	if closed := s.must(operator, issue, "close", reason); closed.Raw != tried.Get("result").Raw {
		s.Errorf("closed as %s, tried as %s", closed.Raw, tried.Raw)
	}
	s.refused(client.Domain, operator, issue, "close", reason)
	if m := s.must(chat, issue, "get_metadata", `{}`); m.Get("state").String() != "closed" || m.Get("closed_reason").String() != "duplicate" {
		s.Errorf("a closed issue: %s", m.Raw)
	}
	if err := s.client.Refresh(s.Context(), "/issues"); err != nil {
		s.Error(err)
	}
	if after := s.inspects(chat, "/issues/harbour").Get("summary").String(); after == before {
		s.Errorf("the project is still described as %s", after)
	}
}

// changeOnce loses the answers to changes, and asks for each again under the same
// identifier of the tool call.
func (s *session) changeOnce(issue string) {
	again := func(operation, args string) gjson.Result {
		id := "lost-" + operation
		s.lossy.lose.Store(true)
		lost := s.call(s.Context(), operator, id, "invoke", record(issue, operation, args))
		if operation == "add_comment" && lost.Get("error.outcome").String() != client.OutcomeUnknown {
			s.Errorf("%s without an answer: %s", operation, lost.Raw)
		}
		return s.call(s.Context(), operator, id, "invoke", record(issue, operation, args)).Get("result")
	}
	before := s.must(chat, issue, "get_metadata", `{}`).Get("comments").Int()
	said := again("add_comment", `{"body":"see https://example.org/x"}`)
	if said.Get("author").String() != operator.ID || strings.Contains(said.Get("body").String(), "https") || said.Get("number").Int() != before+1 {
		s.Errorf("the comment: %s", said.Raw)
	}
	again("set_labels", `{"labels":["urgent","pump"]}`)
	m := s.must(chat, issue, "get_metadata", `{}`)
	if m.Get("comments").Int() != before+1 || m.Get("labels").Raw != `["pump","urgent"]` {
		s.Errorf("what was done once: %s", m.Raw)
	}
}

// hideProject looks for the private project as a member and as another.
func (s *session) hideProject() {
	s.inspects(operator, "/issues/cellar")
	secret := s.must(operator, "/issues", "search", `{"query":"badge reader"}`).Get("items.0.issue").String()
	if !strings.HasPrefix(secret, "/issues/cellar/") {
		s.Fatalf("a member finds %s", secret)
	}
	s.must(operator, secret, "read_body", `{}`)
	for _, hidden := range []string{"/issues/cellar", secret} {
		absent := strings.Replace(hidden, "cellar", "vellum", 1)
		s.alike(stranger, hidden, absent, "close", `{"reason":"x"}`)
		search := func(project string) string {
			return s.refused(client.BadArguments, stranger, "/issues", "search", fmt.Sprintf(`{"query":"badge","project":%q}`, project)).Raw
		}
		if diff := cmp.Diff(search(absent), search(hidden)); diff != "" {
			s.Errorf("search in %s (-absent +hidden):\n%s", hidden, diff)
		}
	}
	if n := s.must(stranger, "/issues", "search", `{"query":"badge reader"}`).Get("total_matching").Int(); n != 0 {
		s.Errorf("another finds %d issues", n)
	}
	if found := s.call(s.Context(), stranger, "", "discover", `{"query":"locks and alarms of the cellar"}`); strings.Contains(found.Raw, "cellar") {
		s.Errorf("another discovers %s", found.Raw)
	}
}

// TestTreesByTag proves that of a tree that was had before, only what has changed
// is sent: by each way that sends anything.
func TestTreesByTag(t *testing.T) {
	keepIssues(t)
	each(t, "issues", func(t *testing.T, host wip.Host) {
		source, ok := host.(wip.TreeSource)
		if !ok {
			t.Skip("nothing is sent within a process")
		}
		since := func(tag string) wip.Change {
			c, err := source.FetchTreeSince(t.Context(), wip.Caller{}, "/", tag)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		first := since("")
		if first.Whole == nil || len(first.Whole.Children) != 5 {
			t.Fatalf("found %+v, expected the whole tree", first)
		}
		if diff := cmp.Diff(wip.Change{Tag: first.Tag}, since(first.Tag)); diff != "" {
			t.Errorf("of what has not changed is sent:\n%s", diff)
		}
		open, err := host.CallOperation(t.Context(), wip.Call{Path: "/meadow", Object: "project/meadow", Interface: "Project", Operation: "open_issues", Arguments: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		issue := gjson.GetBytes(open.Value, "items.0.issue").String()
		_, err = host.CallOperation(t.Context(), wip.Call{Path: issue, Object: "issue" + issue, Interface: "Issue", Operation: "close", Arguments: []byte(`{"reason":"fixed"}`)})
		if err != nil {
			t.Fatal(err)
		}
		c := since(first.Tag)
		if c.Whole != nil || len(c.Removed) != 0 || len(c.Replaced) != 1 || c.Replaced[0].Entry.Path != "/meadow" {
			t.Errorf("found %+v, expected a change of one project", c)
		}
	})
}
