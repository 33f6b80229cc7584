package space_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// host is a Host made of a table. Its fields must not be changed while it is
// in use, except through change.
type host struct {
	mu        sync.Mutex
	entries   map[string]wip.Entry
	documents map[string]string
	seen      func(wip.Caller, string) bool // which entries the caller may see; nil: all
	err       error                         // what every request answers with
	asked     []string                      // the requests so far
}

func newHost(documents map[string]string, entries ...wip.Entry) *host {
	h := &host{entries: map[string]wip.Entry{}, documents: documents}
	for _, e := range entries {
		h.entries[e.Path] = e
	}
	return h
}

func (h *host) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *host) ask(request string) error {
	h.asked = append(h.asked, request)
	return h.err
}

func (h *host) Fetch(_ context.Context, c wip.Caller, path string) (wip.Entry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.ask("fetch " + path); err != nil {
		return wip.Entry{}, err
	}
	e, ok := h.entries[path]
	if !ok || h.seen != nil && !h.seen(c, path) {
		return wip.Entry{}, &wip.Failure{Class: wip.NotFound, Message: "no such entry"}
	}
	return e, nil
}

func (h *host) FetchTree(_ context.Context, c wip.Caller, path string) (wip.Tree, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.ask("tree " + path); err != nil {
		return wip.Tree{}, err
	}
	var grow func(at string) wip.Tree
	grow = func(at string) wip.Tree {
		t := wip.Tree{Entry: h.entries[at]}
		for _, p := range slices.Sorted(maps.Keys(h.entries)) {
			if p != at && nearestAbove(h.entries, p) == at && (h.seen == nil || h.seen(c, p)) {
				t.Children = append(t.Children, grow(p))
			}
		}
		return t
	}
	if _, ok := h.entries[path]; !ok || h.seen != nil && !h.seen(c, path) {
		return wip.Tree{}, &wip.Failure{Class: wip.NotFound, Message: "no such entry"}
	}
	return grow(path), nil
}

// nearestAbove returns the entry that holds path.
func nearestAbove(entries map[string]wip.Entry, path string) string {
	for path != "/" {
		path = path[:strings.LastIndexByte(path, '/')]
		if path == "" {
			path = "/"
		}
		if _, ok := entries[path]; ok {
			return path
		}
	}
	return ""
}

func (h *host) Document(_ context.Context, name string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.ask("document " + name); err != nil {
		return nil, err
	}
	d, ok := h.documents[name]
	if !ok {
		return nil, &wip.Failure{Class: wip.NotFound, Message: "no such document"}
	}
	return []byte(d), nil
}

func (h *host) CallOperation(context.Context, wip.Call) (wip.Result, error) {
	return wip.Result{}, &wip.Failure{Class: wip.Internal, Message: "nothing here is called"}
}

// folder and object make entries that are indexable.
func folder(path, title string) wip.Entry {
	return wip.Entry{Path: path, Title: title, Indexable: true}
}

func object(path, title, document string, names ...string) wip.Entry {
	e := wip.Entry{Path: path, Title: title, Indexable: true, Object: &wip.Object{ID: "object " + path}}
	for _, n := range names {
		e.Object.Interfaces = append(e.Object.Interfaces, wip.InterfaceRef{Document: document, Interface: n})
	}
	return e
}

// hidden makes an entry one that is not to be indexed.
func hidden(e wip.Entry) wip.Entry {
	e.Indexable = false
	return e
}

func all(*space.Node, *idl.Operation) bool { return true }

// grid is a Host with the grid's interfaces and nothing behind them.
func grid(t testing.TB) *host {
	t.Helper()
	documents := map[string]string{}
	names, err := fs.Glob(interfaces.FS(), "*.wip")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		source, err := fs.ReadFile(interfaces.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		documents[name] = string(source)
	}
	return newHost(documents,
		folder("/", "Grid"),
		object("/agent", "Agent", "agent.wip", "Agent"),
		object("/region", "Region", "region.wip", "Region"),
		object("/parcel", "Parcel", "parcel.wip", "Parcel"),
		object("/inventory", "Inventory", "inventory.wip", "Inventory"),
	)
}

// questionSpace mounts the made-up Hosts of testdata/questions and the grid.
func questionSpace(t testing.TB, cfg *space.Config) *space.Space {
	t.Helper()
	s := space.New(cfg)
	source, err := os.ReadFile("testdata/questions/hosts.json")
	if err != nil {
		t.Fatal(err)
	}
	var hosts []struct {
		Mount, Title, Summary string
		Entries               []struct {
			Path, Title, Summary, Document string
			Interfaces                     []string
		}
	}
	if err := json.Unmarshal(source, &hosts); err != nil {
		t.Fatal(err)
	}
	for _, h := range hosts {
		documents := map[string]string{}
		entries := []wip.Entry{folder("/", "")}
		for _, e := range h.Entries {
			text, err := os.ReadFile("testdata/questions/" + e.Document)
			if err != nil {
				t.Fatal(err)
			}
			documents[e.Document] = string(text)
			entry := object(e.Path, e.Title, e.Document, e.Interfaces...)
			entry.Summary = e.Summary
			entries = append(entries, entry)
		}
		mount(t, s, h.Mount, newHost(documents, entries...), &space.MountOptions{Title: h.Title, Summary: h.Summary})
	}
	mount(t, s, "/grid", grid(t), &space.MountOptions{Title: "Grid", Summary: "The virtual world that the agent is in.", Trusted: true})
	if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
		t.Fatal(err)
	}
	return s
}

func mount(t testing.TB, s *space.Space, path string, h wip.Host, opt *space.MountOptions) {
	t.Helper()
	if err := s.Mount(path, h, opt); err != nil {
		t.Fatal(err)
	}
}
