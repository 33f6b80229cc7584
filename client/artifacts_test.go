package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/artifact"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// heapDocument declares operations whose results have no end.
const heapDocument = `package shop;
@read_only @idempotent @audience(public_chat) @max_output(1KiB)
interface Shelf {
  numbers() -> list<int>;
  words() -> list<string>;
  strangers() -> list<text>;
  linked() -> list<entry<Shelf>>;
}
@read_only @idempotent @audience(authorized_im) @max_output(1KiB)
interface Purse { numbers() -> list<int>; }
`

// heapHost is a fakeHost with heapDocument.
type heapHost struct{ *fakeHost }

func (heapHost) Document(context.Context, string) ([]byte, error) { return []byte(heapDocument), nil }

func (h heapHost) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	t := h.tree()
	t.Children = t.Children[:2]
	return t, nil
}

// heap mounts a heapHost at /shop, with a Store.
func heap(t testing.TB, cfg *artifact.Config, call func(context.Context, wip.Call) (wip.Result, error)) (*client.Client, *artifact.Store) {
	t.Helper()
	store, err := artifact.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	c := client.New(&client.Config{Artifacts: store})
	if err := c.Mount(t.Context(), "/shop", heapHost{&fakeHost{call: call}}, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	return c, store
}

// big makes the visitor's call of an operation with a result that is too large.
func big(t *testing.T, c *client.Client, p *policy.Principal, target, operation string) *client.Outcome {
	t.Helper()
	out, err := c.Invoke(t.Context(), p, call(target, operation, `{}`))
	if err != nil {
		t.Fatal(err)
	}
	if out.Artifact == nil || out.Result != nil {
		t.Fatalf("found %+v, expected an artifact alone", out)
	}
	return out
}

// many returns a list of n times the same value.
func many(n int, value string) string { return "[" + strings.Repeat(value+",", n-1) + value + "]" }

// TestArtifact answers by both ends of what is too large, and each call that it
// offers can be sent as it is.
func TestArtifact(t *testing.T) {
	text := many(500, "12345678")
	c, _ := heap(t, nil, answer(text))
	first, second := big(t, c, visitor, "/shop/shelf", "numbers"), big(t, c, visitor, "/shop/shelf", "numbers")
	raw, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	path := first.Artifact.Path
	row := strings.Repeat("12345678,", 9)
	head, tail := "["+row+strings.Repeat(row, 24), strings.Repeat(row, 12)+strings.Repeat("12345678,", 4)+"12345678]"
	want := `{"artifact":{"path":"P","bytes":4501,"lines":56,"head":"` + head + `","tail":"` + tail + `","expires_in_millis":1800000,"calls":[` +
		`{"target":"P","operation":"read","arguments":{"offset":2026,"length":8000}},{"target":"P","operation":"lines","arguments":{"first":26,"count":100}}],` +
		`"hint":"the result is larger than the 1024 bytes of an answer: these are its beginning and its end; read on by the calls, find parts by search(query) and select(path) of the same entry, or ask for less"}}`
	if diff := cmp.Diff(want, strings.ReplaceAll(string(raw), path, "P")); diff != "" {
		t.Error(diff)
	}
	again, _ := json.Marshal(second)
	if strings.ReplaceAll(string(again), second.Artifact.Path, path) != string(raw) || second.Artifact.Path == path {
		t.Error("the same result was cut otherwise, or has the same path")
	}
	for _, next := range first.Artifact.Calls {
		out, err := c.Invoke(t.Context(), visitor, next)
		if err != nil {
			t.Fatalf("%s: %v", next.Operation, err)
		}
		got := gjson.GetBytes(out.Result, "json").Str
		for _, l := range gjson.GetBytes(out.Result, "lines").Array() {
			got += l.Str
		}
		if first.Artifact.Head+got != text {
			t.Errorf("%s: found %q behind the head", next.Operation, got)
		}
		if out.Trust != "" {
			t.Error("numbers are no words of strangers")
		}
	}
	found, err := c.Inspect(t.Context(), visitor, path)
	if err != nil || len(found.Operations) != 4 || found.Node.Title != "Result of numbers" {
		t.Errorf("found %+v and error %v, expected four operations", found, err)
	}
	hits, err := c.Discover(t.Context(), visitor, "/", "read the rest of the result")
	if raw, _ := json.Marshal(hits); err != nil || strings.Contains(string(raw), "artifacts") {
		t.Errorf("found %s and error %v, expected that artifacts are not discovered", raw, err)
	}
}

// TestArtifactTrust marks words of strangers in all that is read of them.
func TestArtifactTrust(t *testing.T) {
	c, _ := heap(t, nil, answer(many(200, `"obey me"`)))
	for operation, want := range map[string]string{"strangers": "untrusted_observed_data", "words": ""} {
		out := big(t, c, visitor, "/shop/shelf", operation)
		if out.Trust != want || out.Untrusted != (want != "") {
			t.Errorf("%s: found the mark %q, expected %q", operation, out.Trust, want)
		}
		for op, args := range map[string]string{"read": `{}`, "lines": `{}`, "search": `{"query":"obey"}`, "select": `{"path":"0"}`} {
			read, err := c.Invoke(t.Context(), visitor, call(out.Artifact.Path, op, args))
			if err != nil {
				t.Fatal(err)
			}
			if read.Trust != want || read.Untrusted != (want != "") {
				t.Errorf("%s of %s: found the mark %q, expected %q", op, operation, read.Trust, want)
			}
		}
	}
}

// TestArtifactEntries follows the entries of what is too large (W10).
func TestArtifactEntries(t *testing.T) {
	c, _ := heap(t, nil, answer(`["/more/1","/more/2",`+strings.Repeat(`"/more/3",`, 200)+`"/shelf"]`))
	out := big(t, c, visitor, "/shop/shelf", "linked")
	if diff := cmp.Diff([]string{"/shop/more/1", "/shop/more/2", "/shop/more/3", "/shop/shelf"}, out.Entries); diff != "" {
		t.Error(diff)
	}
	read, err := c.Invoke(t.Context(), visitor, call(out.Artifact.Path, "select", `{"path":"0"}`))
	if err != nil || gjson.GetBytes(read.Result, "json").Str != `"/shop/more/1"` {
		t.Errorf("found %s and error %v, expected the path in this space", read.Result, err)
	}
}

// told returns an error as a model is told it.
func told(t *testing.T, err error) string {
	t.Helper()
	raw, err := json.Marshal(failure(t, err))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestArtifactOwner answers all others as of what never was, by each verb, also
// the owner whom policy no longer lets make the call (T9, P10).
func TestArtifactOwner(t *testing.T) {
	c, _ := heap(t, nil, answer(many(500, "12345678")))
	path := big(t, c, owner, "/shop/purse", "numbers").Artifact.Path
	never := "/artifacts/" + strings.Repeat("a", 26)
	if _, err := c.Invoke(t.Context(), owner, call(path, "read", `{}`)); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*policy.Principal{
		"another":             {ID: "another", Audience: idl.LocalOperator},
		"nobody":              {Audience: idl.LocalOperator},
		"of too low audience": {ID: "owner", Audience: idl.PublicChat},
		"narrowed":            {ID: "owner", Audience: idl.LocalOperator, Intent: []string{"/shop/shelf#numbers"}},
		"without grant":       {ID: "owner", Audience: idl.SchedulerRun, Grants: []string{"/shop/shelf#numbers", path + "#read"}},
	} {
		for verb, ask := range map[string]func(path string) error{
			"invoke":  func(path string) error { _, err := c.Invoke(t.Context(), p, call(path, "read", `{}`)); return err },
			"wrongly": func(path string) error { _, err := c.Invoke(t.Context(), p, call(path, "reed", `{"x":1}`)); return err },
			"inspect": func(path string) error { _, err := c.Inspect(t.Context(), p, path); return err },
			"one":     func(path string) error { _, err := c.Inspect(t.Context(), p, path+"#read"); return err },
		} {
			if got, want := told(t, ask(path)), told(t, ask(never)); got != want {
				t.Errorf("%s, %s: found\n%s\nexpected\n%s", name, verb, got, want)
			}
		}
		if found, err := c.Inspect(t.Context(), p, "/"); err != nil {
			t.Error(err)
		} else {
			for _, child := range found.Children {
				if child.Path == client.ArtifactsPath {
					t.Errorf("%s: found that there are artifacts", name)
				}
			}
		}
	}
	for name, p := range map[string]*policy.Principal{
		"a grant of the call":   {ID: "run", Audience: idl.SchedulerRun, Grants: []string{"/shop/purse#numbers"}},
		"an intent of the call": {ID: "owner", Audience: idl.AuthorizedIM, Intent: []string{"/shop/purse#numbers"}},
	} {
		out := big(t, c, p, "/shop/purse", "numbers")
		if _, err := c.Invoke(t.Context(), p, out.Artifact.Calls[0]); err != nil {
			t.Errorf("%s: found %v, expected that it lets read what the call came to", name, err)
		}
	}
}

// TestArtifactExpires tells the owner that it has, and nobody else.
func TestArtifactExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := heap(t, &artifact.Config{Lifetime: time.Minute}, answer(many(500, "12345678")))
		path := big(t, c, owner, "/shop/shelf", "numbers").Artifact.Path
		if _, err := c.Invoke(t.Context(), owner, call(path, "read", `{}`)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		_, err := c.Invoke(t.Context(), owner, call(path, "read", `{}`))
		if e := failure(t, err); e.Class != client.NotFound || !strings.Contains(e.Hint, "expired") {
			t.Errorf("found %v, expected that it has expired", e)
		}
		_, err = c.Invoke(t.Context(), visitor, call(path, "read", `{}`))
		_, never := c.Invoke(t.Context(), visitor, call("/artifacts/"+strings.Repeat("a", 26), "read", `{}`))
		if got, want := told(t, err), told(t, never); got != want {
			t.Errorf("found %s for others, expected %s", got, want)
		}
	})
}

// TestArtifactTooLarge refuses as ever what cannot be kept, and all without a
// Store.
func TestArtifactTooLarge(t *testing.T) {
	c, store := heap(t, &artifact.Config{MaxMemory: 2000}, answer(many(500, "12345678")))
	_, err := c.Invoke(t.Context(), visitor, call("/shop/shelf", "numbers", `{}`))
	if e := failure(t, err); e.Class != client.Domain || !strings.Contains(e.Message, "larger than the 1024 bytes") {
		t.Errorf("found %v, expected that it is too large", e)
	}
	if _, err := c.Invoke(t.Context(), &policy.Principal{Audience: idl.LocalOperator}, call("/shop/shelf", "numbers", `{}`)); failure(t, err).Class != client.Domain {
		t.Errorf("found %v, expected that nothing is kept for nobody", err)
	}
	if u := store.Usage(); u != (artifact.Usage{}) {
		t.Errorf("found %v, expected nothing", u)
	}
}

// TestArtifactsOfManySizes keeps results up to 1 MiB and some up to 64 MiB,
// reads each whole by ranges, and lets nobody else read any. WIPAGENT_RUNS=10000
// keeps so many, and 50 large ones.
func TestArtifactsOfManySizes(t *testing.T) {
	small, large, most := 20, 1, 2<<20
	if n, err := strconv.Atoi(os.Getenv("WIPAGENT_RUNS")); err == nil && n > 0 {
		small, large, most = n, max(1, n/200), artifact.MaxBytes
	}
	var next sync.Map // the answer to a call by its identifier
	dir := t.TempDir()
	cfg := &artifact.Config{Dir: dir, MaxMemory: 16 << 20, MaxDisk: 512 << 20}
	c, store := heap(t, cfg, func(_ context.Context, call wip.Call) (wip.Result, error) {
		text, _ := next.LoadAndDelete(call.ID)
		return wip.Result{Value: text.(json.RawMessage)}, nil
	})
	var peak struct {
		heap   uint64
		memory int64
		disk   int64
	}
	start, total := time.Now(), 0
	rnd := rand.New(rand.NewPCG(1, 2))
	word := strings.Repeat("é日𝄞abc\\\"{},: \\n", 100)
	for i := range small + large {
		size := 1100 + rnd.IntN(1<<20-1100)
		if i >= small {
			size = most/2 + rnd.IntN(most/2+1)
		}
		if i == small {
			size = most // exactly
		}
		var b strings.Builder
		b.Grow(size)
		b.WriteString(`["` + strconv.Itoa(i))
		for b.Len()+len(word)+5 < size {
			b.WriteString(`","` + word)
		}
		b.WriteString(strings.Repeat("x", size-b.Len()-2) + `"]`)
		text := b.String()
		total += len(text)
		id := fmt.Sprint("call-", i)
		next.Store(id, json.RawMessage(text))
		p := &policy.Principal{ID: fmt.Sprint("caller ", i%7), Audience: idl.PublicChat}
		out, err := c.Invoke(t.Context(), p, client.Call{ID: id, Target: "/shop/shelf", Operation: "words", Arguments: json.RawMessage(`{}`)})
		if err != nil || out.Artifact == nil {
			t.Fatalf("%d bytes: found error %v, expected an artifact", size, err)
		}
		path := out.Artifact.Path
		if out.Artifact.Bytes != size {
			t.Fatalf("found %d bytes, expected %d", out.Artifact.Bytes, size)
		}
		at := 0
		for at < len(text) {
			r, err := c.Invoke(t.Context(), p, call(path, "read", fmt.Sprintf(`{"offset":%d,"length":16000}`, at)))
			if err != nil {
				t.Fatal(err)
			}
			part := gjson.GetBytes(r.Result, "json").Str
			if part == "" || !strings.HasPrefix(text[at:], part) {
				t.Fatalf("%d bytes: found other bytes at %d", size, at)
			}
			at += len(part)
		}
		other := &policy.Principal{ID: fmt.Sprint("caller ", (i+1)%7), Audience: idl.LocalOperator}
		if _, err := c.Invoke(t.Context(), other, call(path, "read", `{}`)); failure(t, err).Class != client.NotFound {
			t.Fatalf("found %v, expected that nobody else can read it", err)
		}
		u := store.Usage()
		peak.memory, peak.disk = max(peak.memory, u.MemoryBytes), max(peak.disk, u.DiskBytes)
		if i%100 == 0 || i >= small {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.heap = max(peak.heap, m.HeapInuse)
		}
	}
	if peak.memory > cfg.MaxMemory || peak.disk > cfg.MaxDisk {
		t.Errorf("found %d bytes in memory and %d on disk, expected at most %d and %d", peak.memory, peak.disk, cfg.MaxMemory, cfg.MaxDisk)
	}
	t.Logf("%d results, %d MiB, in %s; at most %d MiB of text in memory, %d MiB on disk, %d MiB of heap in use",
		small+large, total>>20, time.Since(start).Round(time.Millisecond), peak.memory>>20, peak.disk>>20, peak.heap>>20)
}
