package tracker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/examples/issue-host/tracker"
	"github.com/wipagent/wipagent/space/wip"
)

// worlds returns a tracker with a private project and one that never had it.
func worlds(t testing.TB) (with, without *tracker.Host) {
	now := func() time.Time { return time.UnixMilli(1_800_000_000_000) }
	with = open(t, newFile(t, filled), tracker.Config{Members: members.Members, Now: now})
	without = open(t, newFile(t, filledPublic), tracker.Config{Members: members.Members, Now: now})
	return with, without
}

// request is anything that can be asked of a Host.
type request struct {
	Tree bool
	Path string
	Call *wip.Call // nil asks for an entry or a tree
}

// answer returns all that the asker is told.
func (r request) answer(h wip.Host, caller wip.Caller) string {
	var got any
	var err error
	switch {
	case r.Call != nil:
		call := *r.Call
		call.Caller = caller
		var result wip.Result
		result, err = h.CallOperation(context.Background(), call)
		got = result
	case r.Tree:
		got, err = h.FetchTree(context.Background(), caller, r.Path)
	default:
		got, err = h.Fetch(context.Background(), caller, r.Path)
	}
	b, _ := json.Marshal(got)
	var f *wip.Failure
	if errors.As(err, &f) {
		return fmt.Sprintf("%s %+v", b, *f)
	}
	return fmt.Sprintf("%s %v", b, err)
}

// What is asked for: public, private, absent and odd.
var (
	pathGen = rapid.Custom(func(t *rapid.T) string {
		project := rapid.SampledFrom([]string{"harbour", "meadow", "cellar", "nowhere", "Cellar", ""}).Draw(t, "project")
		switch rapid.IntRange(0, 3).Draw(t, "depth") {
		case 0:
			return "/"
		case 1:
			return "/" + project
		case 2: // every 25th public issue refers to a private one
			return fmt.Sprintf("/%s/%d", project, 25*rapid.IntRange(0, 9).Draw(t, "25th"))
		}
		return fmt.Sprintf("/%s/%s", project, rapid.SampledFrom([]string{"1", "2", "200", "201", "01", "x", "2/3", ""}).Draw(t, "number"))
	})
	argsGen = map[string]*rapid.Generator[map[string]any]{
		"search": rapid.Custom(func(t *rapid.T) map[string]any {
			args := map[string]any{"query": rapid.SampledFrom([]string{"badge reader", "at night", "door lock", "restart", " ", "cellar"}).Draw(t, "query")}
			if rapid.Bool().Draw(t, "in a project") {
				args["project"] = pathGen.Draw(t, "project")
			}
			return args
		}),
		"close":       words("reason"),
		"add_comment": words("body"),
		"set_labels": rapid.Custom(func(t *rapid.T) map[string]any {
			return map[string]any{"labels": rapid.SliceOfN(rapid.SampledFrom([]string{"bug", "urgent", "BAD"}), 0, 3).Draw(t, "labels")}
		}),
	}
	operations = map[string][]string{
		"Tracker": {"search", "projects", "unknown"},
		"Project": {"open_issues", "labels"},
		"Issue":   {"read_body", "get_metadata", "get_related_items", "comments", "close", "add_comment", "set_labels"},
	}
)

func words(parameter string) *rapid.Generator[map[string]any] {
	return rapid.Map(rapid.SampledFrom([]string{"fixed", "seen", "", "\x00"}), func(s string) map[string]any {
		return map[string]any{parameter: s}
	})
}

var requestGen = rapid.Custom(func(t *rapid.T) request {
	r := request{Path: pathGen.Draw(t, "path")}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return r
	case 1:
		r.Tree = true
		return r
	}
	kind := []string{"Tracker", "Project", "Issue"}[min(len(strings.FieldsFunc(r.Path, func(c rune) bool { return c == '/' })), 2)]
	if rapid.IntRange(0, 9).Draw(t, "another interface") == 0 {
		kind = rapid.SampledFrom([]string{"Tracker", "Project", "Issue", "None"}).Draw(t, "interface")
	}
	call := wip.Call{
		Path: r.Path, Interface: kind, Object: strings.ToLower(kind) + strings.TrimSuffix(r.Path, "/"),
		Operation:      rapid.SampledFrom(append([]string{"close"}, operations[kind]...)).Draw(t, "operation"),
		DryRun:         rapid.IntRange(0, 3).Draw(t, "dry run") == 0,
		IdempotencyKey: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "key"),
	}
	if rapid.IntRange(0, 9).Draw(t, "another object") == 0 {
		call.Object = rapid.SampledFrom([]string{"issue/cellar/1", "project/cellar", "tracker"}).Draw(t, "object")
	}
	args := map[string]any{}
	if g := argsGen[call.Operation]; g != nil {
		args = g.Draw(t, "args")
	}
	call.Arguments, _ = json.Marshal(args)
	r.Call = &call
	return r
})

// TestHidden proves T9: whoever may not see the private project is answered
// by every request as if it never was, whatever its members do meanwhile.
func TestHidden(t *testing.T) {
	with, without := worlds(t)
	rapid.Check(t, func(t *rapid.T) {
		for range 8 {
			if rapid.IntRange(0, 3).Draw(t, "a member acts") == 0 {
				call := issueCall(insider, fmt.Sprintf("cellar/%d", rapid.IntRange(1, 200).Draw(t, "issue")), "close", `{"reason":"secret"}`)
				if _, err := with.CallOperation(context.Background(), call); err != nil && class(err) != wip.Domain {
					t.Fatal(err)
				}
			}
			r := requestGen.Draw(t, "request")
			caller := rapid.SampledFrom([]wip.Caller{{}, outsider}).Draw(t, "caller")
			hidden, absent := r.answer(with, caller), r.answer(without, caller)
			if diff := cmp.Diff(absent, hidden); diff != "" {
				t.Fatalf("%+v %+v is answered otherwise (-absent +hidden):\n%s", r, r.Call, diff)
			}
		}
	})
}

// TestHiddenIsSame proves that within one tracker the private project and one
// that nobody has are answered in the same words and by the same work: the file
// is not read for it.
func TestHiddenIsSame(t *testing.T) {
	h, _ := worlds(t)
	reads := h.Reads()
	for kind, names := range operations {
		for _, operation := range names {
			args := map[string]string{"search": `{"query":"badge"}`, "close": `{"reason":"x"}`, "add_comment": `{"body":"x"}`, "set_labels": `{"labels":[]}`}[operation]
			for _, suffix := range []string{"", "/1", "/999"} {
				ask := func(project string) (request, string) {
					path := "/" + project + suffix
					r := request{Path: path, Call: &wip.Call{
						Path: path, Object: strings.ToLower(kind) + path, Interface: kind, Operation: operation, Arguments: json.RawMessage(args),
					}}
					return r, r.answer(h, outsider)
				}
				hidden, saidHidden := ask("cellar")
				absent, saidAbsent := ask("absent")
				if saidHidden != saidAbsent {
					t.Errorf("%s of %s: %s, but %s", operation, hidden.Path, saidHidden, saidAbsent)
				}
				work := func(r request) float64 {
					return testing.AllocsPerRun(10, func() { _, _ = h.CallOperation(context.Background(), *r.Call) })
				}
				if a, b := work(hidden), work(absent); a != b {
					t.Errorf("%s of %s: %v allocations, but %v of what is not there", operation, hidden.Path, a, b)
				}
				for _, tree := range []bool{false, true} {
					hidden, absent := request{Tree: tree, Path: hidden.Path}, request{Tree: tree, Path: absent.Path}
					if a, b := hidden.answer(h, outsider), absent.answer(h, outsider); a != b {
						t.Errorf("%s: %s, but %s", hidden.Path, a, b)
					}
				}
			}
		}
	}
	if n := h.Reads() - reads; n != 0 {
		t.Errorf("the file was read %d times", n)
	}
	if request := (request{Path: "/cellar"}); !strings.Contains(request.answer(h, insider), "Cellar") || h.Reads() == reads {
		t.Error("the reads of a member are not counted")
	}
}

// TestMember proves that the above is not for want of a private project.
func TestMember(t *testing.T) {
	h, _ := worlds(t)
	found := must(t, h, searchCall(insider, `{"query":"badge reader"}`))
	if !strings.HasPrefix(found.Get("items.0.issue").String(), "/cellar/") {
		t.Errorf("a member finds %s", found.Raw)
	}
	if related := must(t, h, issueCall(insider, "harbour/25", "get_related_items", `{}`)); !strings.Contains(related.Raw, "/cellar/") {
		t.Errorf("a member sees %s related", related.Raw)
	}
	if related := must(t, h, issueCall(outsider, "harbour/25", "get_related_items", `{}`)); strings.Contains(related.Raw, "cellar") {
		t.Errorf("another sees %s related", related.Raw)
	}
	if found := must(t, h, searchCall(outsider, `{"query":"badge reader"}`)); found.Get("total_matching").Int() != 0 {
		t.Errorf("another finds %s", found.Raw)
	}
}

func BenchmarkSearch(b *testing.B) {
	h := open(b, newFile(b, filled), members)
	call := searchCall(outsider, `{"query":"crane at night"}`)
	b.ReportAllocs()
	for b.Loop() {
		must(b, h, call)
	}
}

func BenchmarkSetLabels(b *testing.B) {
	h := open(b, newFile(b, filled), members)
	call := issueCall(outsider, "harbour/3", "set_labels", `{"labels":["bug"]}`)
	b.ReportAllocs()
	for b.Loop() {
		must(b, h, call)
	}
}
