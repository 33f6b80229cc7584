package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

const trackerDocument = `package tracker;
version 1;

/// An issue. See http://evil.example/docs for more.
@read_only @idempotent
interface Issue {
  /// Its words.
  read_body() -> text;
  related() -> list<entry<Issue>>;
  labels(from: Sort = open, import: string?) -> map<int>;
  search(query: Query) -> list<Hit>;
  tag(tags: map<string>) -> int;
  @cost(7)
  costly() -> bool;
  child() -> string;
  comments(page: int [1..100] = 1, page_size: int [1..2] = 2) -> page<text>;
  big() -> int;
  many() -> list<Hit?>;
}

/// Changes an issue.
@mutating
interface Editor {
  close(reason: string [1..500 bytes]) -> entry<Issue>;
  read_body() -> string;
}

record Query { text: string; deep: list<int>?; }
record Hit { issue: entry<Issue>; score: float; since: timestamp?; raw: bytes; }
enum Sort { open, closed }
`

// tracker is a Host with names that no script can write as such.
type tracker struct {
	mu   sync.Mutex
	fail string // of which operation
	log  []string
}

func (h *tracker) node(path string) wip.Entry {
	return wip.Entry{Path: path, Title: "Issue www.evil.example", Indexable: true, Object: &wip.Object{ID: path, Interfaces: []wip.InterfaceRef{
		{Document: "tracker.wip", Interface: "Issue"}, {Document: "tracker.wip", Interface: "Editor"},
	}}}
}

func (h *tracker) Fetch(_ context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	switch {
	case path == "/":
		return wip.Entry{Path: "/"}, nil
	case strings.Contains(path, "none"):
		return wip.Entry{}, &wip.Failure{Class: wip.NotFound, Message: "no such issue"}
	}
	return h.node(path), nil
}

func (h *tracker) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	leaf := func(path string) wip.Tree { return wip.Tree{Entry: h.node(path)} }
	one := leaf("/one")
	one.Children = []wip.Tree{leaf("/one/child"), leaf("/one/title")}
	return wip.Tree{Entry: wip.Entry{Path: "/"}, Children: []wip.Tree{one, leaf("/issue-2"), leaf("/import")}}, nil
}

func (h *tracker) Document(_ context.Context, name string) ([]byte, error) {
	return fstest.MapFS{"tracker.wip": {Data: []byte(trackerDocument)}}.ReadFile(name)
}

func (h *tracker) CallOperation(_ context.Context, call wip.Call) (wip.Result, error) {
	h.mu.Lock()
	h.log = append(h.log, call.Path+" "+call.Interface+"."+call.Operation+string(call.Arguments))
	h.mu.Unlock()
	if call.Operation == h.fail {
		return wip.Result{}, &wip.Failure{Class: wip.Domain, Message: "not now", Hint: "later"}
	}
	answers := map[string]string{
		"read_body": `"words"`, "related": `["/one", "/issue-2", "/elsewhere/x"]`, "labels": `{"b": 2, "a": 1}`,
		"search": `[{"issue": "/issue-2", "score": 5, "since": null, "raw": "YWI="}, {"issue": "/one", "score": 0.25, "since": 1700000000000, "raw": ""}]`,
		"tag":    `3`, "costly": `true`, "child": `"an operation"`, "close": `"/one"`, "big": `9007199254740991`, "many": `[null]`,
	}
	if call.Operation == "comments" {
		page := gjson.GetBytes(call.Arguments, "page").Int()
		if page == 3 && h.fail == "page" {
			return wip.Result{}, &wip.Failure{Class: wip.Domain, Message: "the third page is lost"}
		}
		next := "null"
		if page < 4 {
			next = fmt.Sprint(page + 1)
		}
		return wip.Result{Value: json.RawMessage(fmt.Sprintf(`{"items":["c%d","d%d"],"page":%d,"page_size":2,"total_matching":8,"next_page":%s,"truncated":true,"source_truncated":%v}`,
			page, page, page, next, h.fail == "source"))}, nil
	}
	return wip.Result{Value: json.RawMessage(answers[call.Operation])}, nil
}

// foreign returns a client with the tracker at /my-tracker and its Host; approve
// may be nil.
func foreign(t testing.TB, trusted bool, approve func(context.Context, client.Approval) bool) (*client.Client, *tracker) {
	t.Helper()
	host := &tracker{}
	c := client.New(&client.Config{Approve: approve})
	if err := c.Mount(t.Context(), "/jobs/my-tracker", host, &client.MountOptions{Trusted: trusted}); err != nil {
		t.Fatal(err)
	}
	return c, host
}

// TestForeign runs one expression a row on a Host that is no grid.
func TestForeign(t *testing.T) {
	yes := func(context.Context, client.Approval) bool { return true }
	const one = `jobs["my-tracker"].one`
	for _, test := range []struct{ src, want string }{
		{`jobs["my-tracker"]`, `jobs["my-tracker"]`},
		{`jobs["my-tracker"]["import"].read_body()`, "words"},
		{`jobs["my-tracker"].child("issue-2")`, `jobs["my-tracker"]["issue-2"]`},
		{`[x for x in ` + one + `.related()]`, `[jobs["my-tracker"].one, jobs["my-tracker"]["issue-2"], jobs["my-tracker"].elsewhere.x]`},
		{one + `.related()[2].read_body()`, "words"},
		{one + `.related()[0] == ` + one, "True"},
		{one + `.labels()`, `{"a": 1, "b": 2}`},
		{one + `.labels(**{"from": "closed", "import": "x"})`, `{"a": 1, "b": 2}`},
		{one + `.search({"text": "x"})`, "! arguments"},
		{one + `.search(query={"text": "x"})[0]`, `Hit(issue=jobs["my-tracker"]["issue-2"], score=5.0, since=None, raw="YWI=")`},
		{one + `.search(query={"text": "x", "deep": [1]})[1].since`, "1700000000000"},
		{one + `.search({"query": {"text": "x"}})`, "! arguments"}, // is it the record of all, or the query?
		{one + `.search("x")`, "! arguments"},
		{one + `.tag({"a": "b"})`, "! arguments"},
		{one + `.tag(tags={"a": "b"})`, "3"},
		{one + `.tag(tags={1: "b"})`, "! arguments: " + one + ".tag: found a key of type int"},
		{one + `.child()`, "an operation"},
		{one + `["child"]`, `jobs["my-tracker"].one.child`},
		{one + `.title`, `jobs["my-tracker"].one.title`},
		{one + `["none"]`, "! not_found"},
		{one + `.none`, "! not_found"},
		{one + `.big() + 1`, "9007199254740992"},
		{one + `.many()`, "[None]"},
		{one + `.close("done")`, `jobs["my-tracker"].one`},
		{one + `.close("")`, "! arguments"},
		{`getattr(` + one + `, "Editor.read_body")()`, "words"},
		{`hasattr(` + one + `, "Editor.read_body")`, "True"},
		{`len([x for x in ` + one + `.comments()])`, "8"},
		{`[x for x in ` + one + `.comments(page=3)]`, `["c3", "d3", "c4", "d4"]`},
		{`"c2" in ` + one + `.comments()`, "True"},
		{`sorted(` + one + `.comments(), reverse=True)[0]`, "d4"},
		{`list(zip(` + one + `.comments(), range(2)))`, `[("c1", 0), ("d1", 1)]`},
		{one + `.comments()[0]`, "c1"},
		{one + `.comments()[3]`, "d2"}, // of the second page
		{one + `.comments()[:3]`, `["c1", "d1", "c2"]`},
		{one + `.comments()[2:4]`, `["c2", "d2"]`},
		{one + `.comments()[9:]`, "[]"},
		{one + `.comments()[3:1]`, "[]"},
		{one + `.comments()[99]`, "! found the index 99 into a page, expected less"},
		{one + `.comments()[1 << 70]`, "! found the index 1180591620717411303424 into a page"},
		{one + `.comments()[-1]`, "! found the index -1 into a page, expected 0 or more"},
		{one + `.comments()[-2:]`, "! found a slice of a page from its end"},
		{one + `.comments()[:-1]`, "! found a slice of a page from its end"},
		{one + `.comments()[::2]`, "! found a slice of a page from its end or with steps"},
		{`attempt(lambda: ` + one + `.comments()[-2:])[1].kind`, "script"},
		{one + `.comments()["total_matching"]`, "8"},
		{`json.encode({"e": ` + one + `})`, `{"e":"/jobs/my-tracker/one"}`},
		{one + `.labels(x=` + one + `)`, "! arguments"},
		{one + `.labels(**{"from": lambda: 1})`, "! arguments: " + one + ".labels: found a value of type function"},
		{one + `.labels(**{"import": "x" * 70000})`, "! arguments: " + one + ".labels: found a string of 70000 bytes"},
		{`entry("jobs")`, "! not_found"},
		{`entry("/jobs/my-tracker/one").related`, `<operation jobs["my-tracker"].one.related>`},
		{`attempt(entry("/jobs/my-tracker/one").close, "")[1].corrected_call if False else 1`, "1"},
		{`inspect(` + one + `.close).interfaces[0].operations[0].risk`, "mutating"},
	} {
		c, _ := foreign(t, true, yes)
		var out bytes.Buffer
		e := script.New(script.Config{Client: c, Principal: owner, Output: &out})
		err := e.Run(t.Context(), "x", []byte("print("+test.src+")"))
		got := strings.TrimSuffix(out.String(), "\n")
		var fail *script.Error
		if errors.As(err, &fail) {
			got = "! " + fail.Message
		}
		if got != test.want && !(strings.HasPrefix(test.want, "! ") && strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: got %s, want %s", test.src, got, test.want)
		}
	}
}

// TestPagesFail loses a page in the middle of a loop.
func TestPagesFail(t *testing.T) {
	c, host := foreign(t, true, nil)
	host.fail = "page"
	for _, test := range []struct{ src, want, err string }{
		{`for x in p.comments(): print(x)`, "c1 d1 c2 d2", "domain: the third page is lost"},
		{`print(list(p.comments()))`, "", "domain: the third page is lost"},
		{`print([x for x in p.comments()])`, "", "domain: the third page is lost"},
		{`print(p.comments()[0])`, "c1", ""},
		{`print(p.comments()[:4])`, `["c1", "d1", "c2", "d2"]`, ""},
		{`print(p.comments()[:5])`, "", "domain: the third page is lost"},
		{`print(p.comments()[5])`, "", "domain: the third page is lost"},
		{`print("x" in p.comments())`, "", "domain: the third page is lost"},
		{`print(*p.comments())`, "", "domain: the third page is lost"},
		{"l = []\nl += p.comments()\nprint(l)", "", "domain: the third page is lost"},
		{`a, b, c, d, e = p.comments()`, "", "domain: the third page is lost"},
		{`v, err = attempt(list, p.comments()); print(v, err.kind, err.message); print("on")`, "None domain the third page is lost on", ""},
		{"def f():\n  for x in p.comments(): pass\nv, err = attempt(f)\nprint(err.message)\nfor i in range(3): print(i)", "the third page is lost 0 1 2", ""},
	} {
		var out bytes.Buffer
		e := script.New(script.Config{Client: c, Principal: owner, Output: &out})
		err := e.Run(t.Context(), "x", []byte("p = jobs['my-tracker'].one\n"+test.src))
		got := strings.Join(strings.Fields(out.String()), " ")
		if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: printed %q and ended with %v, want %q and %q", test.src, got, err, test.want, test.err)
		}
	}
	host.fail = "source"
	e := script.New(script.Config{Client: c, Principal: owner})
	if value, _, err := e.Eval(t.Context(), "len(jobs['my-tracker'].one.comments())"); err == nil || !strings.Contains(err.Error(), "nobody knows how many") {
		t.Errorf("the length of what nobody counted is %s, %v", value, err)
	}
	if value, _, err := e.Eval(t.Context(), "jobs['my-tracker'].one.comments()"); err != nil || !strings.Contains(value, "2 of 8 that were looked at; there are more") {
		t.Errorf("a page of what nobody counted is shown as %s, %v", value, err)
	}
}

// TestCosts counts calls by their cost.
func TestCosts(t *testing.T) {
	c, host := foreign(t, true, nil)
	e := script.New(script.Config{Client: c, Principal: owner, Limits: script.Limits{Calls: 15}})
	err := e.Run(t.Context(), "x", []byte("o = jobs['my-tracker'].one\no.costly()\no.costly()\no.big()\no.big()\n"))
	var limit *script.LimitError
	if !errors.As(err, &limit) || limit.Limit != "calls" || len(host.log) != 3 {
		t.Errorf("got %v after %d calls", err, len(host.log))
	}
}

// TestApproval asks for each call of a script as for any other.
func TestApproval(t *testing.T) {
	var asked []client.Approval
	answer := false
	c, host := foreign(t, true, func(_ context.Context, a client.Approval) bool { asked = append(asked, a); return answer })
	r := script.NewRunner(c, script.Limits{})
	a := r.Run(t.Context(), owner, "id", code("jobs['my-tracker'].one.close('done')"))
	if gjson.GetBytes(a.JSON, "error.class").Str != "refused" || len(host.log) != 0 || len(asked) != 1 || asked[0].Call.ID != "id.1" {
		t.Errorf("got %s after %d calls, asked for %+v", a.JSON, len(host.log), asked)
	}
	answer = true
	a = r.Run(t.Context(), owner, "id", code("o = jobs['my-tracker'].one\no.close('done')\no.close('done')"))
	if a.Failed || len(host.log) != 2 || len(asked) != 3 || asked[2].Call.ID != "id.2" {
		t.Errorf("got %s after %d calls, asked %d times", a.JSON, len(host.log), len(asked))
	}
	if tool := r.Tool(); tool.ReadOnly || !tool.Destructive || tool.Idempotent {
		t.Errorf("a tool that can change things is declared as %+v", tool)
	}
}

// TestUntrusted marks and cleans the words of a Host that nobody vouches for.
func TestUntrusted(t *testing.T) {
	c, _ := foreign(t, false, func(context.Context, client.Approval) bool { return true })
	r := script.NewRunner(c, script.Limits{})
	for src, marked := range map[string]bool{
		"1":                          false,
		"jobs['my-tracker'].one":     false,
		"jobs['my-tracker'].summary": true, "help(jobs['my-tracker'].one)": true, "inspect(jobs['my-tracker'].one).title": true,
		"discover('issue')": true, "jobs['my-tracker'].one.read_body()": true, "x = jobs['my-tracker'].one.read_body()\n1": true,
		"jobs['my-tracker'].one.read_body()\nfail('x')":       true,
		"attempt(jobs['my-tracker'].one.read_body)\n1":        true,
		"jobs['my-tracker']['issue-2'].summary":               true,
		"[x for x in jobs['my-tracker'].one.comments()][0]\n": true,
	} {
		a := r.Run(t.Context(), owner, "", code(src))
		if a.Untrusted != marked || !a.Failed && (gjson.GetBytes(a.JSON, "trust").Str == "untrusted_observed_data") != marked {
			t.Errorf("%s: untrusted is %v in %s", src, a.Untrusted, a.JSON)
		}
		if bytes.Contains(a.JSON, []byte("evil.example")) {
			t.Errorf("%s: a link came through: %s", src, a.JSON)
		}
	}
}

// TestIntent leaves of the methods what the intent filter leaves of the
// operations.
func TestIntent(t *testing.T) {
	c, _ := foreign(t, true, nil)
	p := &client.Principal{ID: "p", Audience: idl.LocalOperator, Intent: []string{"/jobs/my-tracker/one#big"}}
	e := script.New(script.Config{Client: c, Principal: p})
	if value, _, err := e.Eval(t.Context(), "dir(jobs['my-tracker']), dir(jobs['my-tracker'].one)"); err != nil ||
		value != `(["child", "one", "path", "summary", "title"], ["big", "child", "path", "summary", "title"])` {
		t.Errorf("got %s, %v", value, err)
	}
}
