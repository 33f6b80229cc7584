package gen_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/artifact"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
	"github.com/wipagent/wipagent/idl/gen/testdata/tracker"
	"github.com/wipagent/wipagent/idl/gen/testdata/trackerclient"
	"github.com/wipagent/wipagent/space/wip"
)

// servesVariable makes the test's own program a server of the tracker, for
// clients in other languages.
const servesVariable = "WIPAGENT_TEST_SERVES_TRACKER"

func TestMain(m *testing.M) {
	if os.Getenv(servesVariable) == "" {
		os.Exit(m.Run())
	}
	ctx := context.Background()
	c, err := trackerSpace(ctx)
	if err == nil {
		err = mcp.ServeStdio(ctx, mcp.Config{Client: c, Principal: operator, Version: "test"}, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var operator = &client.Principal{ID: "test", Audience: idl.LocalOperator}

// trackerSpace mounts the tracker at /board. What changes issue 1 is approved,
// and nothing else.
func trackerSpace(ctx context.Context) (*client.Client, error) {
	kept, err := artifact.New(nil)
	if err != nil {
		return nil, err
	}
	c := client.New(&client.Config{Artifacts: kept, Approve: func(_ context.Context, a client.Approval) bool { return a.Call.Target == "/board/issues/1" }})
	return c, c.Mount(ctx, "/board", boardHost{}, &client.MountOptions{Trusted: true})
}

// boardHost is a Host with issues and a clock.
type boardHost struct{}

func (boardHost) tree() wip.Tree {
	object := func(path, iface string) wip.Tree {
		return wip.Tree{Entry: wip.Entry{Path: path, Indexable: true, Object: &wip.Object{
			ID: path, Interfaces: []wip.InterfaceRef{{Document: "shelf.wip", Interface: "Shelf"}, {Document: "tracker.wip", Interface: iface}},
		}}}
	}
	issues := wip.Tree{Entry: wip.Entry{Path: "/issues"}}
	for _, n := range []string{"1", "2", "3", "4", "9"} {
		issues.Children = append(issues.Children, object("/issues/"+n, "Issue"))
	}
	return wip.Tree{Entry: wip.Entry{Path: "/"}, Children: []wip.Tree{issues, object("/clock", "Clock")}}
}

func (h boardHost) FetchTree(_ context.Context, _ wip.Caller, path string) (wip.Tree, error) {
	var find func(wip.Tree) *wip.Tree
	find = func(t wip.Tree) *wip.Tree {
		if t.Entry.Path == path {
			return &t
		}
		for _, child := range t.Children {
			if found := find(child); found != nil {
				return found
			}
		}
		return nil
	}
	if t := find(h.tree()); t != nil {
		return *t, nil
	}
	return wip.Tree{}, &wip.Failure{Class: wip.NotFound, Message: "no such issue"}
}

func (h boardHost) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	t, err := h.FetchTree(ctx, caller, path)
	return t.Entry, err
}

// shelf is the interface that each Object has before the one that is called, with
// operations of the same names.
const shelf = `package shelf;
@read_only interface Shelf {
  now() -> bool; read_body() -> bool; read_meta() -> bool; search() -> bool; close() -> bool; thread() -> bool; history() -> bool;
}
`

func (boardHost) Document(_ context.Context, name string) ([]byte, error) {
	if name == "shelf.wip" {
		return []byte(shelf), nil
	}
	return os.ReadFile(filepath.Join("testdata", "tracker.wip"))
}

func (boardHost) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	b := &board{}
	switch {
	case call.Interface == "Shelf":
		return wip.Result{Value: []byte("true")}, nil
	case call.Interface == "Clock":
		seen := observation{Generation: 2, RegionID: idl.ID{1}, ObservedAt: time.UnixMilli(1000), SnapshotID: "s-1", Source: "test", AssumedObserver: &[3]float64{1, 2, 3}}
		raw, err := tracker.CallClock(ctx, clock{}, seen, call.Operation, call.Arguments)
		return wip.Result{Value: raw}, err
	case call.Operation == "read_body" && call.Path == "/issues/3":
		return wip.Result{}, &wip.Failure{Class: wip.Domain, Message: "the issue is locked", Hint: "wait until it is not", RetryAfter: 1500 * time.Millisecond}
	case call.Operation == "get_related_items" && call.Path == "/issues/9":
		raw, err := json.Marshal(slices.Repeat([]string{"/issues/2"}, 5000))
		return wip.Result{Value: raw}, err
	case call.Operation == "read_body" && call.Path == "/issues/4":
		return wip.Result{}, errors.New("a defect")
	}
	raw, err := tracker.CallIssue(ctx, b, "", call.Operation, call.Arguments)
	if call.Operation == "close" && err == nil {
		raw, err = json.Marshal("/issues/4")
		if b.closed.State != tracker.StateClosed || b.closed.Within != 1500*time.Millisecond || b.closed.Key == nil || string(*b.closed.Key) != "\x00\xff" ||
			b.closed.DuplicateOf == nil || *b.closed.DuplicateOf != "/issues/2" {
			return wip.Result{}, &wip.Failure{Class: wip.Domain, Message: fmt.Sprintf("found %+v", b.closed)}
		}
	}
	if call.Operation == "search" && err == nil {
		want := `{"text_like":null,"states":["open","closed"],"min_votes":null,"near":{"x":1.5,"y":-2}}`
		var args struct {
			Filter json.RawMessage
			AnyOf  []json.RawMessage `json:"any_of"`
		}
		if json.Unmarshal(call.Arguments, &args) != nil || string(args.Filter) != want || len(args.AnyOf) != 1 || string(args.AnyOf[0]) != want {
			return wip.Result{}, &wip.Failure{Class: wip.Domain, Message: "found " + string(call.Arguments)}
		}
	}
	return wip.Result{Value: raw}, err
}

// TestTrackerClientIsFresh compares the Go client of the tracker with what is
// generated.
func TestTrackerClientIsFresh(t *testing.T) {
	files, err := gen.GoClient(trackerDocuments(t), "trackerclient")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join("testdata/trackerclient", f.Name)
		if *update {
			write(t, "testdata/trackerclient", f)
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != string(f.Data) {
			t.Errorf("%s is not what the generator writes: run go test ./idl/gen -update", path)
		}
	}
}

func trackerDocuments(t testing.TB) []*idl.Document {
	t.Helper()
	docs, err := idl.Compile(idl.FSLoader(os.DirFS("testdata")), "tracker.wip")
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// TestGoClient calls the tracker by its generated client.
func TestGoClient(t *testing.T) {
	ctx := t.Context()
	c, err := trackerSpace(ctx)
	if err != nil {
		t.Fatal(err)
	}
	issue := trackerclient.Issue{Client: c, Principal: operator, Path: "/board/issues/1"}

	meta, err := issue.GetMetadata(ctx)
	if err != nil {
		t.Fatal(err)
	}
	parent := idl.EntryPath("/board/issues/1")
	estimate, known := meta.Estimates["b"].Get()
	if meta.Title != `a "quoted" title` || meta.State != trackerclient.StateOpen || meta.Created.Time() != time.UnixMilli(1000).UTC() ||
		meta.Age.Duration() != time.Millisecond || string(meta.Digest) != "\x00\x01" || *meta.Parent != parent || !meta.Draft ||
		estimate != 1e-9 || !known || meta.Estimates["c"].Reason() != "never_asked" || (*meta.Offsets)["o"].X != 1e21 {
		t.Errorf("found %+v", meta)
	}
	if _, known := meta.Origin.Get(); known || meta.Origin.Reason() != idl.ManagerCacheUnavailable {
		t.Errorf("found origin %+v, expected it unknown", meta.Origin)
	}
	if closedAt, known := meta.ClosedAt.Get(); closedAt != nil || !known {
		t.Errorf("found %+v, expected it known that it was never closed", meta.ClosedAt)
	}
	if outline, _ := meta.Outline.Get(); len(outline) != 2 || outline[0].Y != nil || *outline[1].Y != 0.5 {
		t.Errorf("found outline %+v", outline)
	}
	thread, err := issue.Thread(ctx)
	if comment, known := thread.Get(); err != nil || !known || comment.Replies[0].Body != "second" {
		t.Errorf("found %+v, %v", thread, err)
	}
	if up, err := issue.Parent(ctx); up != nil || err != nil {
		t.Errorf("found parent %v, %v", up, err)
	}
	if votes, err := issue.Votes(ctx); err != nil || !cmp.Equal(votes, map[string]int64{"up": 3, "down": -1}) {
		t.Errorf("found votes %v, %v", votes, err)
	}
	related, err := issue.GetRelatedItems(ctx)
	if err != nil || !cmp.Equal(related, []idl.EntryPath{"/board/issues/2", "/board/issues/3"}) {
		t.Errorf("found related %v, %v", related, err)
	}

	filter := trackerclient.Filter{States: []trackerclient.State{"open", "closed"}, Near: &trackerclient.Spot{X: 1.5, Y: -2}}
	page, err := issue.Search(ctx, trackerclient.IssueSearchArgs{Filter: filter, AnyOf: &[]trackerclient.Filter{filter}, Page: new(int64(2))})
	if err != nil || page.Page != 2 || page.TotalMatching != 25 || !page.SourceTruncated {
		t.Fatalf("found %+v, %v", page, err)
	}
	var scores []float64
	for hit, err := range page.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, hit.Score)
	}
	if len(scores) != 15 || scores[0] != 10 || scores[14] != 24 {
		t.Errorf("found scores %v, expected 10 to 24", scores)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := page.Next(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("found error %v of a cancelled context", err)
	}

	now, err := trackerclient.Clock{Client: c, Principal: operator, Path: "/board/clock"}.Now(ctx)
	if err != nil || now.Value.Uptime.Duration() != time.Minute || now.Generation != 2 || now.SnapshotID != "s-1" || now.SchemaVersion != 3 || now.Age <= 0 {
		t.Errorf("found %+v, %v", now, err)
	}

	args := trackerclient.IssueCloseArgs{Reason: "done", Within: new(trackerclient.Millis(1500)), Key: &[]byte{0, 255}, DuplicateOf: new(idl.EntryPath("/board/issues/2"))}
	if next, err := issue.Close(ctx, args); err != nil || next != "/board/issues/4" {
		t.Errorf("found %v, %v", next, err)
	}
}

// TestGoClientErrors provokes each kind of error.
func TestGoClientErrors(t *testing.T) {
	ctx := t.Context()
	c, err := trackerSpace(ctx)
	if err != nil {
		t.Fatal(err)
	}
	issue := func(n int) trackerclient.Issue {
		return trackerclient.Issue{Client: c, Principal: operator, Path: fmt.Sprintf("/board/issues/%d", n)}
	}
	class := func(err error) client.Class {
		var failed *client.Error
		if !errors.As(err, &failed) {
			t.Fatalf("found error %v, expected a *client.Error", err)
		}
		return failed.Class
	}
	_, err = issue(3).ReadBody(ctx)
	var locked *client.Error
	if !errors.As(err, &locked) || locked.Class != client.Domain || locked.RetryAfter != 1500*time.Millisecond {
		t.Errorf("found %v", err)
	}
	if _, err := issue(4).ReadBody(ctx); class(err) != client.Unavailable {
		t.Errorf("found %v", err)
	}
	var large *trackerclient.TooLarge
	if _, err := issue(9).GetRelatedItems(ctx); !errors.As(err, &large) || large.Artifact.Bytes != len(`"/board/issues/2",`)*5000+1 || !strings.Contains(err.Error(), large.Artifact.Path) {
		t.Errorf("found %v, expected where 5000 paths are kept", err)
	} else if rest, err := c.Invoke(ctx, operator, large.Artifact.Calls[0]); err != nil || !strings.Contains(string(rest.Result), "/board/issues/2") {
		t.Errorf("found %v, %v behind the head", rest, err)
	}
	if _, err := issue(2).Close(ctx, trackerclient.IssueCloseArgs{Reason: "done"}); class(err) != client.Refused {
		t.Errorf("found %v", err)
	}
	_, err = issue(7).ReadBody(ctx)
	if _, ok := trackerclient.Corrected[trackerclient.IssueSearchArgs](err); class(err) != client.NotFound || ok {
		t.Errorf("found %v, expected no corrected search", err)
	}

	filter := trackerclient.Filter{States: []trackerclient.State{"open", "closed"}, Near: &trackerclient.Spot{X: 1.5, Y: -2}}
	_, err = issue(1).Search(ctx, trackerclient.IssueSearchArgs{Filter: filter, AnyOf: &[]trackerclient.Filter{filter}, PageSize: new(int64(1000))})
	if class(err) != client.BadArguments {
		t.Errorf("found %v", err)
	}
	call, ok := trackerclient.Corrected[trackerclient.IssueSearchArgs](err)
	if !ok || call.Target != "/board/issues/1" || *call.Arguments.PageSize != 50 || !cmp.Equal(call.Arguments.Filter, filter) {
		t.Fatalf("found %+v", call)
	}
	if page, err := (trackerclient.Issue{Client: c, Principal: operator, Path: call.Target}).Search(ctx, call.Arguments); err != nil || len(page.Items) != 25 {
		t.Errorf("the corrected call: found %d items, %v", len(page.Items), err)
	}
	if _, err := issue(1).Search(ctx, trackerclient.IssueSearchArgs{}); class(err) != client.BadArguments {
		t.Errorf("found %v", err)
	}
}

// answers is an Invoker that always answers the same.
type answers string

func (a answers) Invoke(context.Context, *client.Principal, client.Call) (*client.Outcome, error) {
	return &client.Outcome{Result: json.RawMessage(a)}, nil
}

// TestGoClientAndOtherResults: a result that is not of the declared type is an
// error, and never a zero.
func TestGoClientAndOtherResults(t *testing.T) {
	for result, want := range map[string]string{
		`{"at":1}`:                     "found no schema_version",
		`{"schema_version":"1"}`:       "schema_version: ",
		envelopeJSON + `}`:             "found no at",
		envelopeJSON + `,"at":null}`:   "found no at",
		envelopeJSON + `,"at":"noon"}`: "at: json: cannot unmarshal string",
		`[]`:                           "cannot unmarshal array",
	} {
		_, err := trackerclient.Clock{Client: answers(result)}.Now(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "result of now: ") {
			t.Errorf("%s: found error %v, expected one with %q", result, err, want)
		}
	}
	label := `{"status":"observed","body":"b","replies":[],"quoted":{"status":"unknown","reason":"r"},"previous":null}`
	if c, err := (trackerclient.Issue{Client: answers(label)}).Thread(t.Context()); err != nil {
		t.Errorf("found %+v, %v", c, err)
	}
	endless := `{"items":[],"page":2,"page_size":1,"total_matching":9,"next_page":2,"truncated":true,"source_truncated":false}`
	page, err := trackerclient.Issue{Client: answers(endless)}.Search(t.Context(), trackerclient.IssueSearchArgs{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range page.All(t.Context()) {
		if err == nil || !strings.Contains(err.Error(), "found page 2 behind page 2") {
			t.Errorf("found error %v of pages without end", err)
		}
	}
}

const envelopeJSON = `{"schema_version":1,"tool":"now","generation":1,"region_id":"00000000-0000-0000-0000-000000000001","observed_unix_millis":1,` +
	`"age_millis":1,"snapshot_id":"s","freshness":"cached","trust":"observed_data","provenance":{}`

// TestOtherLanguages has programs in other languages call the tracker, with
// every form of value and every kind of error.
func TestOtherLanguages(t *testing.T) {
	server, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(servesVariable, "1")
	t.Setenv("SERVER", server)
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	visit := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("testdata", "served", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	docs := trackerDocuments(t)
	t.Run("python", func(t *testing.T) {
		program(t, "python3")
		dir := t.TempDir()
		for _, f := range gen.Python(docs) {
			write(t, filepath.Join(dir, "wipagent"), f)
		}
		write(t, dir, gen.File{Name: "visit.py", Data: visit("visit.py")})
		if out := run(t, ".", "python3", "-X", "dev", "-W", "error", filepath.Join(dir, "visit.py")); out != "done\n" {
			t.Errorf("found output %s", tail(out))
		}
	})
	t.Run("typescript", func(t *testing.T) {
		program(t, "node")
		program(t, "tsc")
		dir := t.TempDir()
		for _, f := range gen.TypeScript(docs) {
			write(t, dir, f)
		}
		write(t, dir, gen.File{Name: "visit.ts", Data: visit("visit.ts")})
		write(t, dir, gen.File{Name: "package.json", Data: []byte(`{"type": "module"}`)})
		write(t, dir, gen.File{Name: "tsconfig.json", Data: []byte(strings.Replace(tsconfig, `"noEmit": true`, `"outDir": "out"`, 1))})
		run(t, dir, "tsc", "-p", ".")
		if out := run(t, ".", "node", filepath.Join(dir, "out", "visit.js")); out != "done\n" {
			t.Errorf("found output %s", tail(out))
		}
	})
}
