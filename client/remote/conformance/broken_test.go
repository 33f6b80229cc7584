package conformance_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/space/wip"
)

// lamps is a sound Host: a house of lamps that can be switched on.
type lamps struct {
	mu     sync.Mutex
	lit    map[string]bool
	done   map[string]json.RawMessage // by idempotency key
	source string
}

const lampsDocument = `package lamps;
interface Lamp {
  /// Whether it is lit.
  @read_only @idempotent @example(of: "anybody")
  lit(of: string [1..20 bytes] = "me") -> bool;
  /// What it says.
  @read_only @max_output(64B)
  words() -> list<string>;
  /// Switches it on.
  @mutating @dry_run @example()
  light() -> bool;
}
`

func newLamps() *lamps {
	return &lamps{lit: map[string]bool{}, done: map[string]json.RawMessage{}, source: lampsDocument}
}

var errNotFound = &wip.Failure{Class: wip.NotFound, Message: "there is no such thing"}

func (l *lamps) FetchTree(ctx context.Context, _ wip.Caller, path string) (wip.Tree, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return wip.Tree{}, err
	}
	sum := sha256.Sum256([]byte(l.source))
	t := wip.Tree{Entry: wip.Entry{Path: "/", Title: "House", Tag: "house"}}
	for _, name := range []string{"hall", "attic"} {
		e := wip.Entry{
			Path: "/" + name, Title: "Lamp", Summary: fmt.Sprintf("lit: %v", l.lit[name]), Indexable: true, Tag: fmt.Sprintf("v-%v", l.lit[name]),
			Object: &wip.Object{ID: "lamp-" + name, Interfaces: []wip.InterfaceRef{{Document: "lamps.wip", Interface: "Lamp", SHA256: hex.EncodeToString(sum[:])}}},
		}
		if path == e.Path {
			return wip.Tree{Entry: e}, nil
		}
		t.Children = append(t.Children, wip.Tree{Entry: e})
	}
	if path != "/" {
		return wip.Tree{}, errNotFound
	}
	return t, nil
}

func (l *lamps) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	t, err := l.FetchTree(ctx, caller, path)
	return t.Entry, err
}

func (l *lamps) Document(ctx context.Context, name string) ([]byte, error) {
	if name != "lamps.wip" {
		return nil, errNotFound
	}
	return []byte(l.source), ctx.Err()
}

func (l *lamps) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	if err := ctx.Err(); err != nil {
		return wip.Result{}, err
	}
	name := strings.TrimPrefix(call.Path, "/")
	if name != "hall" && name != "attic" || call.Object != "lamp-"+name || call.Interface != "Lamp" {
		return wip.Result{}, errNotFound
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch call.Operation {
	case "lit":
		return wip.Result{Value: json.RawMessage(fmt.Sprint(l.lit[name]))}, nil
	case "words":
		return wip.Result{Value: json.RawMessage(`["hello"]`)}, nil
	case "light":
		was := json.RawMessage(fmt.Sprint(l.lit[name]))
		if call.DryRun {
			return wip.Result{Value: was}, nil
		}
		if before, ok := l.done[call.IdempotencyKey]; ok {
			return wip.Result{Value: before}, nil
		}
		l.lit[name] = true
		l.done[call.IdempotencyKey] = was
		return wip.Result{Value: was}, nil
	}
	return wip.Result{}, errNotFound
}

// broken is a sound Host, but for what one of these does.
type broken struct {
	*lamps
	tree     func(wip.Tree) wip.Tree
	fetch    func(wip.Entry, string) (wip.Entry, error)
	document func(string) ([]byte, error)
	call     func(context.Context, wip.Call) (wip.Result, error) // nothing at all is passed on
}

func (b *broken) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	t, err := b.lamps.FetchTree(ctx, caller, path)
	if err == nil && b.tree != nil && path == "/" {
		t = b.tree(t)
	}
	if err != nil && b.fetch != nil {
		if e, _ := b.fetch(wip.Entry{}, path); e.Path != "" {
			return wip.Tree{Entry: e}, nil
		}
	}
	return t, err
}

func (b *broken) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	e, err := b.lamps.Fetch(ctx, caller, path)
	if b.fetch != nil {
		changed, wrong := b.fetch(e, path)
		if changed.Path != "" || wrong != nil {
			return changed, wrong
		}
	}
	return e, err
}

func (b *broken) Document(ctx context.Context, name string) ([]byte, error) {
	if b.document != nil {
		if text, err := b.document(name); text != nil || err != nil {
			return text, err
		}
	}
	return b.lamps.Document(ctx, name)
}

func (b *broken) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	if b.call != nil {
		if r, err := b.call(ctx, call); r.Value != nil || err != nil {
			return r, err
		}
	}
	return b.lamps.CallOperation(ctx, call)
}

// returns makes an operation answer with a value.
func returns(operation, value string) func(context.Context, wip.Call) (wip.Result, error) {
	return func(_ context.Context, call wip.Call) (wip.Result, error) {
		if call.Operation == operation && call.Object == "lamp-hall" && call.Path == "/hall" && call.Interface == "Lamp" {
			return wip.Result{Value: json.RawMessage(value)}, nil
		}
		return wip.Result{}, nil
	}
}

// fails makes an operation fail.
func fails(operation string, err error) func(context.Context, wip.Call) (wip.Result, error) {
	return func(_ context.Context, call wip.Call) (wip.Result, error) {
		if call.Operation == operation && call.Object == "lamp-hall" && call.Path == "/hall" && call.Interface == "Lamp" {
			return wip.Result{}, err
		}
		return wip.Result{}, nil
	}
}

// sourced is a Host that says wrongly what has changed.
type sourced struct {
	*lamps
	change func(tag string, whole wip.Tree) wip.Change
}

func (s *sourced) FetchTreeSince(ctx context.Context, caller wip.Caller, path, tag string) (wip.Change, error) {
	t, err := s.FetchTree(ctx, caller, path)
	return s.change(tag, t), err
}

// brokenHosts are broken in one way each, by the rule that they break.
var brokenHosts = []struct {
	name, rule string
	make       func() wip.Host
}{
	{"an operation panics", "no-defects", func() wip.Host {
		return &broken{lamps: newLamps(), call: func(_ context.Context, c wip.Call) (wip.Result, error) {
			if c.Operation == "words" {
				panic("oh")
			}
			return wip.Result{}, nil
		}}
	}},
	{"an error is no failure", "no-defects", func() wip.Host {
		return &broken{lamps: newLamps(), call: fails("words", errors.New("oh"))}
	}},
	{"a failure has no class", "failure-class", func() wip.Host {
		return &broken{lamps: newLamps(), call: fails("words", &wip.Failure{Class: "odd", Message: "oh"})}
	}},
	{"the root is elsewhere", "tree-root", func() wip.Host {
		return &broken{lamps: newLamps(), tree: func(t wip.Tree) wip.Tree { return t.Children[0] }}
	}},
	{"the tree is a cycle", "tree-ends", func() wip.Host {
		return &broken{lamps: newLamps(), tree: func(t wip.Tree) wip.Tree {
			for range 40 {
				t = wip.Tree{Entry: wip.Entry{Path: "/"}, Children: []wip.Tree{t}}
				rename(&t, "")
			}
			return t
		}}
	}},
	{"a path goes up", "entry-path", func() wip.Host {
		return &broken{lamps: newLamps(), tree: child("/../etc")}
	}},
	{"an entry is below another", "entry-below", func() wip.Host {
		return &broken{lamps: newLamps(), tree: func(t wip.Tree) wip.Tree {
			t.Children[0].Children, t.Children = t.Children[1:], t.Children[:1]
			return t
		}}
	}},
	{"two siblings have one path", "entry-duplicate", func() wip.Host {
		return &broken{lamps: newLamps(), tree: func(t wip.Tree) wip.Tree {
			t.Children = append(t.Children, t.Children[0])
			return t
		}}
	}},
	{"a tag stays when the entry changes", "entry-tag", func() wip.Host {
		return &broken{lamps: newLamps(), fetch: func(e wip.Entry, _ string) (wip.Entry, error) {
			if e.Path != "" {
				e.Title += "!"
			}
			return e, nil
		}}
	}},
	{"what is fetched alone is different", "fetch-agrees", func() wip.Host {
		untagged := func(t wip.Tree) wip.Tree {
			t.Children[0].Entry.Tag = ""
			return t
		}
		return &broken{lamps: newLamps(), tree: untagged, fetch: func(e wip.Entry, path string) (wip.Entry, error) {
			if path == "/hall" {
				e.Title, e.Tag = "Chandelier", ""
				return e, nil
			}
			return wip.Entry{}, nil
		}}
	}},
	{"what is below is not there", "subtree-agrees", func() wip.Host {
		shelf := wip.Entry{Path: "/hall/shelf", Tag: "shelf"}
		return &broken{lamps: newLamps(), tree: func(t wip.Tree) wip.Tree {
			t.Children[0].Children = []wip.Tree{{Entry: shelf}}
			return t
		}, fetch: func(_ wip.Entry, path string) (wip.Entry, error) {
			if path == shelf.Path {
				return shelf, nil
			}
			return wip.Entry{}, nil
		}}
	}},
	{"a title has two lines", "entry-text", func() wip.Host {
		change := func(e wip.Entry) wip.Entry {
			if e.Path == "/" {
				e.Title = "House\nof lamps"
			}
			return e
		}
		return &broken{lamps: newLamps(), tree: func(t wip.Tree) wip.Tree {
			t.Entry = change(t.Entry)
			return t
		}, fetch: func(e wip.Entry, _ string) (wip.Entry, error) { return change(e), nil }}
	}},
	{"an interface is named twice", "object-interfaces", func() wip.Host {
		change := func(e wip.Entry) wip.Entry {
			if e.Path == "/hall" {
				e.Object.Interfaces = append(e.Object.Interfaces, e.Object.Interfaces...)
			}
			return e
		}
		return &broken{lamps: newLamps(), tree: func(t wip.Tree) wip.Tree {
			t.Children[0].Entry = change(t.Children[0].Entry)
			return t
		}, fetch: func(e wip.Entry, _ string) (wip.Entry, error) { return change(e), nil }}
	}},
	{"requests at once are mixed up", "concurrency", func() wip.Host {
		var mu sync.Mutex
		under := 0
		return &broken{lamps: newLamps(), fetch: func(e wip.Entry, _ string) (wip.Entry, error) {
			mu.Lock()
			under++
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			if under--; under > 0 {
				e.Path = "/elsewhere"
			}
			return e, nil
		}}
	}},
	{"the limits let nothing through", "handshake", func() wip.Host { return limited{newLamps()} }},
	{"a tag changes by itself", "entry-tag", func() wip.Host {
		n := 0
		return &broken{lamps: newLamps(), tree: func(t wip.Tree) wip.Tree {
			n++
			t.Entry.Tag = fmt.Sprint(n)
			return t
		}, fetch: func(e wip.Entry, path string) (wip.Entry, error) {
			if path == "/" {
				e.Tag = "1"
				return e, nil
			}
			return wip.Entry{}, nil
		}}
	}},
	{"two Objects have one ID", "object-id", func() wip.Host {
		l := newLamps()
		l.source += "interface Bulb { @read_only glows() -> bool; }\n"
		other := func(e wip.Entry) wip.Entry {
			e.Path, e.Object = "/bulb", &wip.Object{ID: "lamp-hall", Interfaces: []wip.InterfaceRef{{Document: "lamps.wip", Interface: "Bulb"}}}
			return e
		}
		return &broken{lamps: l, tree: func(t wip.Tree) wip.Tree {
			t.Children = append(t.Children, wip.Tree{Entry: other(t.Children[0].Entry)})
			return t
		}, fetch: func(_ wip.Entry, path string) (wip.Entry, error) {
			if path == "/bulb" {
				e, _ := l.Fetch(context.Background(), wip.Caller{}, "/hall")
				return other(e), nil
			}
			return wip.Entry{}, nil
		}, call: func(_ context.Context, c wip.Call) (wip.Result, error) {
			if c.Interface == "Bulb" && c.Path == "/bulb" {
				return wip.Result{Value: json.RawMessage(`true`)}, nil
			}
			return wip.Result{}, nil
		}}
	}},
	{"a document is not served", "document-served", func() wip.Host {
		return &broken{lamps: newLamps(), document: func(string) ([]byte, error) { return nil, errNotFound }}
	}},
	{"a document has another digest", "document-digest", func() wip.Host {
		return &broken{lamps: newLamps(), document: func(name string) ([]byte, error) {
			if name == "lamps.wip" {
				return []byte(newLamps().source + "\n"), nil
			}
			return nil, nil
		}}
	}},
	{"a document has an error", "document-compiles", func() wip.Host {
		l := newLamps()
		l.source = strings.Replace(l.source, "-> bool", "-> boolean", 1)
		return l
	}},
	{"an interface is not declared", "document-interface", func() wip.Host {
		l := newLamps()
		l.source = strings.Replace(l.source, "interface Lamp", "interface Lantern", 1)
		return l
	}},
	{"any document is there", "document-unknown", func() wip.Host {
		return &broken{lamps: newLamps(), document: func(string) ([]byte, error) { return []byte(newLamps().source), nil }}
	}},
	{"what is hidden is told", "entry-unknown", func() wip.Host {
		return &broken{lamps: newLamps(), fetch: func(e wip.Entry, path string) (wip.Entry, error) {
			if path == "/hall/no-such-entry-7c1f" {
				return e, &wip.Failure{Class: wip.NotFound, Message: "you may not see this"}
			}
			return wip.Entry{}, nil
		}}
	}},
	{"an unknown operation is a domain failure", "call-unknown", func() wip.Host {
		return &broken{lamps: newLamps(), call: fails("no_such_operation", &wip.Failure{Class: wip.Domain, Message: "no"})}
	}},
	{"an example is not found", "example-callable", func() wip.Host {
		return &broken{lamps: newLamps(), call: fails("words", errNotFound)}
	}},
	{"a result is of another type", "result-type", func() wip.Host {
		return &broken{lamps: newLamps(), call: returns("words", `"hello"`)}
	}},
	{"a result is too large", "result-size", func() wip.Host {
		return &broken{lamps: newLamps(), call: returns("words", `["`+strings.Repeat("x", 100)+`"]`)}
	}},
	{"a deadline is not heeded", "deadline", func() wip.Host {
		return &broken{lamps: newLamps(), call: func(_ context.Context, c wip.Call) (wip.Result, error) {
			if c.Operation == "words" {
				time.Sleep(2 * time.Second)
			}
			return wip.Result{}, nil
		}}
	}},
	{"only a deadline is heeded", "cancellation", func() wip.Host {
		return &broken{lamps: newLamps(), call: func(ctx context.Context, c wip.Call) (wip.Result, error) {
			if c.Operation == "words" {
				end, _ := ctx.Deadline()
				time.Sleep(min(max(time.Until(end), 0), 2*time.Second))
				if end.IsZero() {
					time.Sleep(2 * time.Second)
				}
			}
			return wip.Result{}, nil
		}}
	}},
	{"a long name is a defect", "limits", func() wip.Host {
		return &broken{lamps: newLamps(), document: func(name string) ([]byte, error) {
			if len(name) > 1000 {
				return nil, errors.New("too long")
			}
			return nil, nil
		}}
	}},
	{"a dry run switches it on", "dry-run", func() wip.Host {
		l := newLamps()
		return &broken{lamps: l, call: func(ctx context.Context, c wip.Call) (wip.Result, error) {
			c.DryRun = false
			return l.CallOperation(ctx, c)
		}}
	}},
	{"a key is not kept", "idempotency-key", func() wip.Host {
		l, n := newLamps(), 0
		return &broken{lamps: l, call: func(ctx context.Context, c wip.Call) (wip.Result, error) {
			n++
			c.IdempotencyKey += fmt.Sprint(n)
			return l.CallOperation(ctx, c)
		}}
	}},
	{"changes lead elsewhere", "tree-since", func() wip.Host {
		return &sourced{newLamps(), func(tag string, whole wip.Tree) wip.Change {
			if tag == "t" {
				return wip.Change{Tag: "t", Removed: []string{"/hall"}}
			}
			return wip.Change{Tag: "t", Whole: &whole}
		}}
	}},
	{"an unknown tag is believed", "tree-since-unknown", func() wip.Host {
		return &sourced{newLamps(), func(tag string, whole wip.Tree) wip.Change {
			if tag != "" {
				return wip.Change{Tag: "t"}
			}
			return wip.Change{Tag: "t", Whole: &whole}
		}}
	}},
}

// limited is a Host with limits that let nothing through.
type limited struct{ *lamps }

func (limited) Capabilities(context.Context) (remote.Capabilities, error) {
	return remote.Capabilities{Callers: "own", MaxRequestBytes: 10, MaxResponseBytes: 1 << 20, MaxConcurrent: 1, MaxMillis: 1000}, nil
}

// child makes the tree have one more entry.
func child(path string) func(wip.Tree) wip.Tree {
	return func(t wip.Tree) wip.Tree {
		t.Children = append(t.Children, wip.Tree{Entry: wip.Entry{Path: path}})
		return t
	}
}

// rename puts a tree of one line below a path.
func rename(t *wip.Tree, above string) {
	for i := range t.Children {
		c := &t.Children[i]
		if c.Entry.Path == "/" || strings.HasSuffix(c.Entry.Path, "/n") {
			c.Entry.Path = above + "/n"
			rename(c, c.Entry.Path)
		} else {
			c.Entry.Path = above + c.Entry.Path[strings.LastIndexByte(c.Entry.Path, '/'):]
		}
	}
}
