package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/artifact"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/remote/conformance"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// stories are what is done with each Host from one end to the other: as a model
// does it, by the three verbs.
var stories = map[string]func(*session){"world": worldStory, "issues": issuesStory}

// TestEndToEnd tells each story by all ways to reach the Host. What the model
// reads is the same, byte for byte, but for what is new each time.
func TestEndToEnd(t *testing.T) {
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			told := ""
			for i, way := range ways {
				if testing.Short() && i > 1 { // one without and one with a wire
					break
				}
				t.Run(way.name, func(t *testing.T) {
					keepIssues(t)
					s := newSession(t, way.reach(t, name), name)
					story(s)
					if told == "" {
						told = s.told.String()
					}
					if diff := cmp.Diff(told, s.told.String()); diff != "" {
						t.Errorf("a model reads something else than in process (-in process +%s):\n%s", way.name, diff)
					}
				})
			}
			if n := strings.Count(told, "\n"); n < 60 {
				t.Errorf("found %d lines, expected a whole story", n)
			}
		})
	}
}

// TestConformance asks for the rules by all ways, for everybody and a member.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("one request at a time, at length: nothing for the race detector")
	}
	for name := range stories {
		t.Run(name, func(t *testing.T) {
			keepIssues(t)
			each(t, name, func(t *testing.T, host wip.Host) {
				report := conformance.Check(t.Context(), host, conformance.Options{Caller: wip.Caller{ID: operator.ID}, Mutate: true})
				for _, rule := range report.Rules {
					changes := rule.ID == "dry-run" || rule.ID == "idempotency-key"
					if rule.Status == "fail" || changes && (rule.Status == "pass") != (name == "issues") {
						t.Errorf("%s: %s: %+v", rule.ID, rule.Status, rule.Findings)
					}
				}
			})
		})
	}
}

// Who calls.
var (
	operator = &policy.Principal{ID: "operator", Audience: idl.LocalOperator}
	stranger = &policy.Principal{ID: "stranger", Audience: idl.LocalOperator}
	chat     = &policy.Principal{ID: "chat", Audience: idl.PublicChat}
)

// session is a client with one Host at the path of its name, and what was said.
type session struct {
	*testing.T
	client   *client.Client
	adapter  *adapter.Adapter
	lossy    *lossy
	approves bool // what the operator says
	asked    int  // how often he was asked
	calls    int
	told     strings.Builder
	quiet    bool // nothing is told
}

func newSession(t *testing.T, host wip.Host, name string) *session {
	t.Helper()
	kept, err := artifact.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	s := &session{T: t, lossy: &lossy{Host: host}}
	s.client = client.New(&client.Config{Artifacts: kept, Approve: s.approve})
	s.adapter = adapter.New(adapter.Config{Client: s.client})
	if _, ok := host.(wip.Prompt); !ok {
		host = s.lossy
	}
	for path, mounted := range map[string]struct {
		host    wip.Host
		trusted bool
	}{"/" + name: {host, true}, "/tight": {tight{host}, true}, "/claims": {host, false}} {
		if err := s.client.Mount(t.Context(), path, mounted.host, &client.MountOptions{Title: "It", Trusted: mounted.trusted}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// approve is the operator, who is told what is to be approved.
func (s *session) approve(_ context.Context, a client.Approval) bool {
	s.asked++
	s.tell("asked", a.Question())
	return s.approves
}

// anew is what differs between two tellings: names that were made up, and times.
var anew = regexp.MustCompile(`("(?:snapshot_id|ref|freshness)":)"[^"]*"|("\w*_millis":)\d+|(\(ref: )\w+|(/artifacts/)\w+`)

func (s *session) tell(what, said string) {
	if !s.quiet {
		s.told.WriteString(settled(what + ": " + said + "\n"))
	}
}

// settled is a text without what is new each time.
func settled(text string) string { return anew.ReplaceAllString(text, "$1$2$3$4*") }

// call calls a tool as a model does, under an identifier of the tool call.
func (s *session) call(ctx context.Context, p *policy.Principal, id, tool, record string) gjson.Result {
	s.Helper()
	answer, ok := s.adapter.Call(ctx, p, tool, id, json.RawMessage(record))
	if !ok {
		s.Fatalf("there is no tool %s", tool)
	}
	s.tell(p.ID+" "+tool+" "+record, string(answer.JSON))
	return gjson.ParseBytes(answer.JSON)
}

// invokes calls an operation; args is a record. What comes may be an error.
func (s *session) invokes(p *policy.Principal, target, operation, args string) gjson.Result {
	s.Helper()
	s.calls++
	return s.call(s.Context(), p, fmt.Sprint("call-", s.calls), "invoke", record(target, operation, args))
}

func record(target, operation, args string) string {
	return fmt.Sprintf(`{"target":%q,"operation":%q,"arguments":%s}`, target, operation, args)
}

// must is invokes where no error may come; it returns the result.
func (s *session) must(p *policy.Principal, target, operation, args string) gjson.Result {
	s.Helper()
	answer := s.invokes(p, target, operation, args)
	if !answer.Get("result").Exists() {
		s.Fatalf("%s of %s: %s", operation, target, answer.Raw)
	}
	return answer.Get("result")
}

// refused is invokes where an error of a class must come.
func (s *session) refused(class client.Class, p *policy.Principal, target, operation, args string) gjson.Result {
	s.Helper()
	answer := s.invokes(p, target, operation, args).Get("error")
	if answer.Get("class").String() != string(class) {
		s.Errorf("%s of %s by %s: %s, expected %s", operation, target, p.ID, answer.Raw, class)
	}
	return answer
}

// corrected makes a call with wrong arguments, and then the one that the error
// proposes, as it stands.
func (s *session) corrected(p *policy.Principal, target, operation, args string) {
	s.Helper()
	right := s.refused(client.BadArguments, p, target, operation, args).Get("corrected_call")
	if !right.Exists() {
		s.Errorf("%s of %s with %s is not corrected", operation, target, args)
		return
	}
	if answer := s.call(s.Context(), p, "corrected", "invoke", right.Raw); !answer.Get("result").Exists() {
		s.Errorf("the corrected call %s: %s", right.Raw, answer.Raw)
	}
}

// inspects looks at an entry that must be there.
func (s *session) inspects(p *policy.Principal, target string) gjson.Result {
	s.Helper()
	answer := s.call(s.Context(), p, "", "inspect", fmt.Sprintf(`{"target":%q}`, target))
	if answer.Get("error").Exists() {
		s.Errorf("inspect of %s: %s", target, answer.Raw)
	}
	return answer
}

// pages reads all pages of an operation, some items each, and returns the items;
// args is the beginning of a record.
func (s *session) pages(p *policy.Principal, target, operation, args string, size int) (items []gjson.Result) {
	s.Helper()
	for page := int64(1); ; {
		r := s.must(p, target, operation, fmt.Sprintf(`%s"page":%d,"page_size":%d}`, args, page, size))
		items = append(items, r.Get("items").Array()...)
		next := r.Get("next_page")
		switch {
		case next.Type == gjson.Null:
			if total := int(r.Get("total_matching").Int()); len(items) != total {
				s.Errorf("%s of %s: found %d items on all pages, expected %d", operation, target, len(items), total)
			}
			return items
		case next.Int() != page+1 || page > 50:
			s.Fatalf("%s of %s: page %s comes after %d", operation, target, next.Raw, page)
		}
		page++
	}
}

// alike asks for something that is hidden and for something that never was, by
// all three verbs: the answers are the same to the last byte.
func (s *session) alike(p *policy.Principal, hidden, absent, operation, args string) {
	s.Helper()
	ask := func(path string) (said []string) {
		for _, request := range [][2]string{
			{"discover", fmt.Sprintf(`{"query":"what is here","scope":%q}`, path)}, {"inspect", fmt.Sprintf(`{"target":%q}`, path)},
			{"invoke", record(path, operation, args)},
		} {
			answer := s.call(s.Context(), p, "", request[0], request[1])
			if request[0] != "discover" && answer.Get("error.class").String() != string(client.NotFound) {
				s.Errorf("%s of %s by %s: %s", request[0], path, p.ID, answer.Raw)
			}
			said = append(said, strings.ReplaceAll(answer.Raw, path, "PATH"))
		}
		return said
	}
	if diff := cmp.Diff(ask(absent), ask(hidden)); diff != "" {
		s.Errorf("%s is answered otherwise than %s (-absent +hidden):\n%s", hidden, absent, diff)
	}
}

// ends cuts a call that the Host is working on short, by its caller and by the
// clock, and proves that the Host was told.
func (s *session) ends(p *policy.Principal, target, operation, args string) {
	s.Helper()
	cutShort := func(ctx context.Context, end func()) {
		answer := make(chan string)
		go func() {
			a, _ := s.adapter.Call(ctx, p, "invoke", holdCall, json.RawMessage(record(target, operation, args)))
			answer <- string(a.JSON)
		}()
		s.call(s.Context(), p, begunCall, "invoke", record(target, operation, args))
		end()
		s.tell("cut short", <-answer)
		ended := s.call(s.Context(), p, endedCall, "invoke", record(target, operation, args))
		if ended.Get("error.message").String() != "a held call has ended" {
			s.Errorf("the Host was not told of the end: %s", ended.Raw)
		}
	}
	ctx, cancel := context.WithCancel(s.Context())
	cutShort(ctx, cancel)
	ctx, cancel = context.WithTimeout(s.Context(), 200*time.Millisecond)
	defer cancel()
	cutShort(ctx, func() {})
	s.must(p, target, operation, args)
}

// overflows reads a result that is over its maximum, which a tighter document
// gives, back from where it is kept.
func (s *session) overflows(p *policy.Principal, whole gjson.Result, target, operation, args string) {
	s.Helper()
	s.quiet = whole.Get("snapshot_id").Exists() // the text then has times, and so bytes that are other ones each time
	kept := s.invokes(p, target, operation, args).Get("artifact")
	size, path := int(kept.Get("bytes").Int()), kept.Get("path").String()
	if size == 0 {
		s.Errorf("%s of %s is not kept: %s", operation, target, kept.Raw)
		return
	}
	text := ""
	for len(text) < size {
		part := s.must(p, path, "read", fmt.Sprintf(`{"offset":%d,"length":700}`, len(text)))
		if part.Get("bytes").Int() == 0 {
			s.Fatalf("nothing is read at %d of %d bytes", len(text), size)
		}
		text += part.Get("json").String()
	}
	if diff := cmp.Diff(settled(strings.ReplaceAll(whole.Raw, "/issues/", "/tight/")), settled(text)); diff != "" {
		s.Errorf("what is kept is not the result (-result +kept):\n%s", diff)
	}
	s.must(p, path, "lines", `{}`)
	s.must(p, path, "search", `{"query":"total_matching"}`)
	s.must(p, path, "select", `{"path":"total_matching"}`)
	s.alike(stranger, path, "/artifacts/NEVERWASANYTHINGHERE", "read", `{}`)
}

// The identifiers of calls that a holder does not pass on.
const (
	holdCall  = "hold"
	begunCall = "begun"
	endedCall = "ended"
)

// holder is a Host that holds some calls until they are cut short, and tells when
// they have begun and ended.
type holder struct {
	wip.Host
	begun, ended chan struct{}
}

func newHolder(host wip.Host) holder {
	return holder{host, make(chan struct{}, 8), make(chan struct{}, 8)}
}

func (h holder) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	await := func(event chan struct{}, said string) error {
		select {
		case <-event:
			return &wip.Failure{Class: wip.Domain, Message: said}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	switch call.ID {
	case holdCall:
		h.begun <- struct{}{}
		<-ctx.Done()
		h.ended <- struct{}{}
		return wip.Result{}, ctx.Err()
	case begunCall:
		return wip.Result{}, await(h.begun, "a held call has begun")
	case endedCall:
		return wip.Result{}, await(h.ended, "a held call has ended")
	}
	return h.Host.CallOperation(ctx, call)
}

// promptHolder holds calls of a Host that ends them in time.
type promptHolder struct{ holder }

func (promptHolder) Prompt() {}

// lossy loses an answer, once the call has been carried out.
type lossy struct {
	wip.Host
	lose atomic.Bool
}

func (l *lossy) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	r, err := l.Host.CallOperation(ctx, call)
	if call.IdempotencyKey != "" && l.lose.CompareAndSwap(true, false) {
		return wip.Result{}, &wip.Failure{Class: wip.Transient, Message: "the connection was lost", MaybeDone: true, Err: err}
	}
	return r, err
}

// FetchTreeSince is the Host's, if it has one.
func (l *lossy) FetchTreeSince(ctx context.Context, caller wip.Caller, path, tag string) (wip.Change, error) {
	if source, ok := l.Host.(wip.TreeSource); ok {
		return source.FetchTreeSince(ctx, caller, path, tag)
	}
	tree, err := l.FetchTree(ctx, caller, path)
	return wip.Change{Whole: &tree}, err
}

// tight is a Host whose operations may return no more than a kibibyte.
type tight struct{ wip.Host }

var maximum = regexp.MustCompile(`@max_output\(\w+\)`)

func (h tight) Document(ctx context.Context, name string) ([]byte, error) {
	text, err := h.Host.Document(ctx, name)
	text = maximum.ReplaceAll(text, nil)
	return bytes.ReplaceAll(text, []byte("@informational"), []byte("@informational @max_output(1KiB)")), err
}

func (h tight) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	e, err := h.Host.Fetch(ctx, caller, path)
	return unsigned(e), err
}

func (h tight) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	t, err := h.Host.FetchTree(ctx, caller, path)
	t.Entry = unsigned(t.Entry)
	for i := range t.Children {
		t.Children[i].Entry = unsigned(t.Children[i].Entry)
	}
	return t, err
}

// unsigned is an entry that takes any text for its documents.
func unsigned(e wip.Entry) wip.Entry {
	if e.Object != nil {
		for i := range e.Object.Interfaces {
			e.Object.Interfaces[i].SHA256 = ""
		}
	}
	return e
}
