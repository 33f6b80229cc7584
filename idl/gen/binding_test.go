package gen_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen/testdata/tracker"
)

// board implements the fixture over snapshots that are no more than a string.
type board struct {
	t        *testing.T
	search   tracker.SearchArgs // as received
	closed   tracker.CloseArgs
	snapshot string
	err      error
	asked    []int // items that a page projected
}

var (
	_ tracker.Issue[string]      = (*board)(nil)
	_ tracker.Clock[observation] = clock{}
)

func (b *board) ReadBody(_ context.Context, snap string) (string, error) {
	b.snapshot = snap
	return "see http://evil.example/ \xff\x00" + strings.Repeat("é", 3000), b.err
}

func (b *board) GetMetadata(context.Context, string) (tracker.Metadata, error) {
	parent := idl.EntryPath("/issues/1")
	return tracker.Metadata{
		Title: `a "quoted" title`, State: tracker.StateOpen, Author: idl.ID{0xab, 15: 1}, Created: time.UnixMilli(1000), Age: 1500 * time.Microsecond,
		Digest: []byte{0, 1}, Labels: []string{"x", "y"}, Parent: &parent,
		Estimates: map[string]idl.FactOf[float64]{"b": idl.Known(1e-9), "a": idl.Known(math.NaN()), "c": idl.Unknown[float64]("never_asked")},
		Origin:    idl.Known(tracker.Point{X: math.Inf(1)}),
		Outline:   idl.Known([]tracker.Point{{X: 1}, {X: 2, Y: ptr(0.5)}}),
		Offsets:   &map[string]tracker.Point{"o": {X: 1e21}},
		Draft:     true, ClosedAt: idl.Known[*time.Time](nil),
	}, nil
}

func ptr[T any](v T) *T { return &v }

func (b *board) GetRelatedItems(context.Context, string) ([]idl.EntryPath, error) {
	return []idl.EntryPath{"/issues/2", "/issues/3"}, nil
}

func (b *board) Parent(context.Context, string) (*idl.EntryPath, error) { return nil, nil }

func (b *board) Votes(context.Context, string) (map[string]int64, error) {
	return map[string]int64{"up": 3, "down": -1}, nil
}

func (b *board) Effort(context.Context, string) (idl.FactOf[[]float64], error) {
	return idl.Known([]float64{1, math.NaN()}), nil
}

func (b *board) Thread(context.Context, string) (idl.FactOf[*tracker.Comment], error) {
	return idl.Known(&tracker.Comment{Body: "first", Replies: []tracker.Comment{{Body: "second"}}}), nil
}

func (b *board) Search(_ context.Context, _ string, args tracker.SearchArgs) (idl.Selection[tracker.Hit], error) {
	b.search = args
	return idl.Select(25, func(i int) tracker.Hit {
		b.asked = append(b.asked, i)
		return tracker.Hit{Issue: "/issues/9", Title: "t", Score: float64(i)}
	}, true), nil
}

func (b *board) Close(_ context.Context, _ string, args tracker.CloseArgs) (idl.EntryPath, error) {
	b.closed = args
	return "/issues/4", nil
}

type observation idl.Observation

func (o observation) Observation() idl.Observation { return idl.Observation(o) }

type clock struct{}

func (clock) Now(context.Context, observation) (tracker.Moment, error) {
	return tracker.Moment{At: time.UnixMilli(7), Uptime: time.Minute}, nil
}

// TestBindings calls each operation as a Host would, with arguments that
// DecodeArgs passed, and shapes the result as a client would.
func TestBindings(t *testing.T) {
	docs, err := idl.Compile(idl.FSLoader(os.DirFS("testdata")), "tracker.wip")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ operation, args, want string }{
		{"read_body", `{}`, `"see [link removed] ` + "\ufffd " + strings.Repeat("é", (4000-23)/2) + `"`},
		{"get_metadata", `{}`, `{"trust":"untrusted_observed_data","title":"a \"quoted\" title","state":"open",` +
			`"author":"ab000000-0000-0000-0000-000000000001","created":1000,"age":1,"digest":"AAE=","labels":["x","y"],"parent":"/issues/1",` +
			`"estimates":{"a":{"status":"unknown","reason":"manager_cache_unavailable"},"b":1e-09,"c":{"status":"unknown","reason":"never_asked"}},` +
			`"origin":{"status":"unknown","reason":"manager_cache_unavailable"},"outline":[{"x":1,"y":null},{"x":2,"y":0.5}],` +
			`"offsets":{"o":{"x":1e+21,"y":null}},"draft":true,"closed_at":null}`},
		{"get_related_items", `{}`, `["/issues/2","/issues/3"]`},
		{"parent", `{}`, `null`},
		{"votes", `{}`, `{"down":-1,"up":3}`},
		{"effort", `{}`, `{"status":"unknown","reason":"manager_cache_unavailable"}`},
		{"thread", `{}`, `{"status":"observed","trust":"untrusted_observed_data","body":"first",` +
			`"replies":[{"trust":"untrusted_observed_data","body":"second","replies":[],"quoted":{"status":"unknown","reason":"manager_cache_unavailable"},"previous":null}],` +
			`"quoted":{"status":"unknown","reason":"manager_cache_unavailable"},"previous":null}`},
		{"search", `{"filter":{"states":["closed"],"min_votes":3},"weights":{"a":0.5},"page":3}`,
			`{"items":[` + hit(20) + `,` + hit(21) + `,` + hit(22) + `,` + hit(23) + `,` + hit(24) + `],"page":3,"page_size":10,"total_matching":25,` +
				`"next_page":null,"truncated":false,"source_truncated":true}`},
		{"close", `{"reason":"done","at":5,"key":"AAE=","by":"ab000000-0000-0000-0000-000000000001"}`, `"/issues/4"`},
	} {
		t.Run(c.operation, func(t *testing.T) {
			b := &board{t: t}
			op := docs[0].Interface("Issue").Operation(c.operation)
			args, err := op.DecodeArgs([]byte(c.args))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := tracker.CallIssue(t.Context(), b, "snap", c.operation, args.Record)
			if err != nil {
				t.Fatal(err)
			}
			got, err := op.Shape(raw, idl.ShapeOptions{})
			if err != nil {
				t.Fatalf("%v\n%s", err, raw)
			}
			if diff := cmp.Diff(c.want, string(got.JSON)); diff != "" {
				t.Error(diff)
			}
			switch c.operation {
			case "search":
				want := tracker.SearchArgs{Filter: tracker.Filter{States: []tracker.State{tracker.StateClosed}, MinVotes: ptr(int64(3))},
					Weights: &map[string]float64{"a": 0.5}}
				if diff := cmp.Diff(want, b.search); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff([]int{20, 21, 22, 23, 24}, b.asked); diff != "" {
					t.Errorf("projected items: %s", diff)
				}
			case "close":
				want := tracker.CloseArgs{Reason: "done", At: ptr(time.UnixMilli(5).UTC()), Key: &[]byte{0, 1}, By: &idl.ID{0xab, 15: 1}, State: tracker.StateClosed}
				if diff := cmp.Diff(want, b.closed); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func hit(i int) string {
	score, _ := json.Marshal(i)
	return `{"trust":"untrusted_observed_data","issue":"/issues/9","title":"t","score":` + string(score) + `}`
}

func TestBindingsReportFaults(t *testing.T) {
	b := &board{t: t, err: errors.New("board is gone")}
	if _, err := tracker.CallIssue(t.Context(), b, "s", "read_body", nil); err != b.err || b.snapshot != "s" {
		t.Errorf("got error %v with snapshot %q, want the implementation's own", err, b.snapshot)
	}
	if _, err := tracker.CallIssue(t.Context(), b, "s", "drop", nil); err == nil || !strings.Contains(err.Error(), `"drop"`) {
		t.Errorf("got error %v, want one that names the operation", err)
	}
	if _, err := tracker.CallIssue(t.Context(), b, "s", "search", json.RawMessage(`{"page":0,"page_size":1}`)); err == nil {
		t.Error("got page 0, want an error")
	}
	if raw, err := tracker.CallClock(t.Context(), clock{}, observation{}, "now", nil); err == nil {
		t.Errorf("got %s of an observation without a time, want an error", raw)
	}
	raw, err := tracker.CallClock(t.Context(), clock{}, observation{ObservedAt: time.Now().Add(time.Hour), Source: "test"}, "now", nil)
	if err != nil || !strings.Contains(string(raw), `"age_millis":0,`) {
		t.Errorf("got %s, %v, want no negative age", raw, err)
	}
}
