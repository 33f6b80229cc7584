package remote_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/space/wip"
)

// BenchmarkCall measures one call at a time by each way: what it takes beyond
// the one in process is the wire's.
func BenchmarkCall(b *testing.B) {
	c := wip.Call{Path: "/region", Object: "region", Interface: "Region", Operation: "world_location", Arguments: []byte(`{}`)}
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			host := way.reach(b, "grid")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := host.CallOperation(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCalls measures calls that are made at once over one connection,
// where the way has one for all of them.
func BenchmarkCalls(b *testing.B) {
	c := wip.Call{Path: "/region", Object: "region", Interface: "Region", Operation: "world_location", Arguments: []byte(`{}`)}
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			host := way.reach(b, "grid")
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := host.CallOperation(b.Context(), c); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

// BenchmarkTree fetches a tree of 100,000 entries over HTTP, from a server in
// this process: the whole of it, what has changed when ten entries have, and
// that nothing has. Peak-MB is how much more was on the heap than before.
func BenchmarkTree(b *testing.B) {
	f := newFake()
	f.tree = large(100_000)
	h := served(b, f, nil, nil)
	first, err := h.FetchTreeSince(b.Context(), wip.Caller{}, "/", "")
	if err != nil {
		b.Fatal(err)
	}
	tag := first.Tag
	fetch := func(name, tag string, sound func(wip.Change) bool) {
		b.Run(name, func(b *testing.B) {
			defer peak(b)()
			b.ReportAllocs()
			for b.Loop() {
				c, err := h.FetchTreeSince(b.Context(), wip.Caller{}, "/", tag)
				if err != nil || !sound(c) {
					b.Fatalf("found %d trees: %v", len(c.Replaced), err)
				}
			}
		})
	}
	fetch("whole", "", func(c wip.Change) bool { return c.Whole != nil })
	fetch("unchanged", tag, func(c wip.Change) bool { return c.Whole == nil && c.Tag == tag })
	changed(&f.tree, 10)
	fetch("ten changes", tag, func(c wip.Change) bool { return len(c.Replaced) == 10 })
}

// changed gives n entries of a large tree another title.
func changed(t *wip.Tree, n int) {
	for i := range n {
		folder := &t.Children[i*len(t.Children)/n]
		folder.Children[i%len(folder.Children)].Entry.Title = "Another"
	}
}

// BenchmarkTreeClient is the client's part of fetching a whole tree: the
// server's answers are there already.
func BenchmarkTreeClient(b *testing.B) {
	f := newFake()
	f.tree = large(100_000)
	pages := recorded{}
	server := remote.NewHandler(f, nil)
	for cursor := ""; ; {
		body := post(server, fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"fetch_tree","params":{"path":"/","cursor":%q}}`, cursor)).Body.String()
		pages[cursor] = body
		var next struct {
			Result struct {
				Cursor string `json:"next_cursor"`
			}
		}
		if err := json.Unmarshal([]byte(body), &next); err != nil {
			b.Fatal(err)
		}
		if cursor = next.Result.Cursor; cursor == "" {
			break
		}
	}
	defer peak(b)()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := remote.Over(pages).FetchTree(b.Context(), wip.Caller{}, "/"); err != nil {
			b.Fatal(err)
		}
	}
}

// recorded is a transport to what a server has answered, by cursor.
type recorded map[string]string

func (r recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	var asked struct {
		ID     json.RawMessage
		Params struct{ Cursor string }
	}
	if err := json.NewDecoder(req.Body).Decode(&asked); err != nil {
		return nil, err
	}
	before, after, _ := strings.Cut(r[asked.Params.Cursor], `"id":0`)
	body := io.MultiReader(strings.NewReader(before+`"id":`+string(asked.ID)), strings.NewReader(after))
	return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(body)}, nil
}

// BenchmarkApply makes changes of entries of a tree of 100,000.
func BenchmarkApply(b *testing.B) {
	tree := large(100_000)
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("%d changes", n), func(b *testing.B) {
			now := large(100_000)
			changed(&now, n)
			var c wip.Change
			for i := range now.Children {
				for j, e := range now.Children[i].Children {
					if e.Entry.Title == "Another" {
						c.Replaced = append(c.Replaced, now.Children[i].Children[j])
					}
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				remote.Apply(tree, c)
			}
		})
	}
}

// peak watches the heap until the function that it returns is called, which
// reports the most that was there beyond what there is now.
func peak(b *testing.B) (report func()) {
	read := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	runtime.GC()
	least, most := read(), uint64(0)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-tick.C:
				most = max(most, read())
			case <-end:
				tick.Stop()
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
		b.ReportMetric(float64(max(most, least)-least)/(1<<20), "peak-MB")
	}
}
