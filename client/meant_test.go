package client_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// issuesHost is a fakeHost whose entries are fetched one by one, but for the
// harbour. Their numbers have three digits, and their names are plain.
type issuesHost struct{ *fakeHost }

func (issuesHost) Document(context.Context, string) ([]byte, error) {
	return []byte(`package issues;
@audience(public_chat)
interface Issue {
  @mutating @dry_run close(reason: string = "done") -> bool;
  @read_only get_metadata() -> int;
  @mutating link(to: entry<Issue>) -> bool;
}
@audience(public_chat) @read_only
interface Project { size() -> int; }
`), nil
}

func issue(path, kind string) wip.Entry {
	return wip.Entry{Path: path, Indexable: kind == "Project", Object: &wip.Object{ID: path, Interfaces: []wip.InterfaceRef{{Document: "issues.wip", Interface: kind}}}}
}

func (issuesHost) Fetch(_ context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	switch {
	case path == "/harbour":
		return issue(path, "Project"), nil
	case regexp.MustCompile(`^/harbour/([0-9]{3}|mooring-plan|plan2-1)$`).MatchString(path):
		return issue(path, "Issue"), nil
	}
	return wip.Entry{}, &wip.Failure{Class: wip.NotFound}
}

func (issuesHost) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	return wip.Tree{Entry: wip.Entry{Path: "/"}, Children: []wip.Tree{{Entry: issue("/harbour", "Project")}}}, nil
}

// A corrected call leads one that changes things to the entry that was named, in
// whatever form, and to no other; and a number is never taken for another.
func TestCorrectedEntry(t *testing.T) {
	host := issuesHost{&fakeHost{call: answer(`true`)}}
	for name, test := range map[string]struct {
		seen              string // what the caller has looked at
		target, operation string
		corrected, hint   string // target#operation of the corrected call; what the hint has
	}{
		"a digit more":              {"/issues/harbour/876", "/issues/harbour/87600", "close", "", ""},
		"a digit less":              {"/issues/harbour/897", "/issues/harbour/89", "close", "", ""},
		"another number":            {"/issues/harbour/897", "/issues/harbour/99999", "close", "", ""},
		"only one is known":         {"/issues/harbour/897", "/issues/harbour/x", "close", "", ""},
		"a digit more, to read":     {"/issues/harbour/876", "/issues/harbour/8760", "get_metadata", "", ""},
		"the folder, to change":     {"/issues/harbour/876", "/issues/harbour", "close", "", ""},
		"the folder, to read":       {"/issues/harbour/876", "/issues/harbour", "get_metadata", "", ""},
		"digits apart":              {"/issues/harbour/plan2-1", "/issues/harbour/plan-21", "get_metadata", "", ""},
		"a slip, to read":           {"/issues/harbour/876", "/issues/harbor/876", "get_metadata", "/issues/harbour/876#get_metadata", "did you mean /issues/harbour/876?"},
		"a slip, to change":         {"/issues/harbour/876", "/issues/harbor/876", "close", "", "did you mean /issues/harbour/876?"},
		"a slip in a name":          {"/issues/harbour/mooring-plan", "/issues/harbour/moorin-plan", "close", "", "did you mean /issues/harbour/mooring-plan?"},
		"another folder":            {"/issues/harbour/876", "/issues/pier/876", "close", "", "did you mean /issues/harbour/876?"},
		"the last of it":            {"/issues/harbour/876", "876", "close", "", "did you mean /issues/harbour/876?"},
		"no slash in front":         {"/issues/harbour/876", "issues/harbour/876/", "close", "/issues/harbour/876#close", "did you mean"},
		"capitals and separators":   {"/issues/harbour/mooring-plan", "/issues/Harbour/mooring_plan", "close", "/issues/harbour/mooring-plan#close", "did you mean"},
		"the form that inspect has": {"/issues/harbour/876", "/issues/harbour/876#close", "close", "/issues/harbour/876#close", "did you mean"},
		"another operation":         {"/issues/harbour/876", "/issues/harbour/876", "clone", "", "did you mean close?"},
		"its form alone":            {"/issues/harbour/876", "/issues/harbour/876", "Close", "/issues/harbour/876#close", "did you mean close?"},
		"a slip in what only reads": {"/issues/harbour/876", "/issues/harbour/876", "get_metadate", "/issues/harbour/876#get_metadata", "did you mean get_metadata?"},
		"the operation in the path": {"/issues/harbour/876", "/issues/harbour/876/close", "", "/issues/harbour/876#close", "did you mean"},
	} {
		for _, trusted := range []bool{true, false} {
			c := client.New(nil)
			if err := c.Mount(t.Context(), "/issues", host, &client.MountOptions{Trusted: trusted}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Inspect(t.Context(), visitor, test.seen); err != nil {
				t.Fatal(err)
			}
			_, err := c.Invoke(t.Context(), visitor, call(test.target, test.operation, `{}`))
			e := failure(t, err)
			got := ""
			if e.Corrected != nil {
				r := gjson.ParseBytes(e.Corrected)
				got = r.Get("target").Str + "#" + r.Get("operation").Str
			}
			want := test.corrected
			if !trusted && strings.HasPrefix(name, "a slip") { // which may do anything
				want = ""
			}
			if e.Class != client.NotFound || got != want || !strings.Contains(e.Hint, test.hint) || test.hint == "" && strings.Contains(e.Hint, test.seen) {
				t.Errorf("%s, trusted %t: corrected to %q, hint %q, want %q and %q", name, trusted, got, e.Hint, want, test.hint)
			}
		}
	}
}

// So does an argument: of a call that changes things only the form of a path is
// put right.
func TestCorrectedEntryInArguments(t *testing.T) {
	c := client.New(&client.Config{Approve: func(context.Context, client.Approval) bool { return true }})
	if err := c.Mount(t.Context(), "/issues", issuesHost{&fakeHost{call: answer(`true`)}}, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	p := &policy.Principal{ID: "p", Audience: idl.PublicChat}
	for _, path := range []string{"/issues/harbour/876", "/issues/harbour/123"} {
		if _, err := c.Inspect(t.Context(), p, path); err != nil {
			t.Fatal(err)
		}
	}
	for to, want := range map[string]string{
		"/issues/harbour/8760": "", "/issues/pier/876": "", "876": "", "87-6": "",
		"issues/harbour/876/": "/issues/harbour/876", "/issues/Harbour/876": "/issues/harbour/876",
	} {
		_, err := c.Invoke(t.Context(), p, call("/issues/harbour/123", "link", `{"to":"`+to+`"}`))
		if got := gjson.GetBytes(failure(t, err).Corrected, "arguments.to").Str; got != want {
			t.Errorf("%s: corrected to %q, want %q", to, got, want)
		}
	}
}
