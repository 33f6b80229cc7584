package objects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

// Host serves one world. It is safe for concurrent use. Make one with New.
type Host struct {
	snapshots *snapshots
	documents map[string][]byte
	tree      wip.Tree
	objects   map[string]object // by path
}

var _ wip.Prompt = (*Host)(nil)

// object is one of the grid's Objects and how to call it.
type object struct {
	entry wip.Entry
	call  func(ctx context.Context, v view, operation string, args json.RawMessage) (json.RawMessage, error)
}

// New returns the Host of world w. A nil cfg is the zero Config.
func New(w *world.World, cfg *Config) *Host { return newHost(w, cfg) }

func newHost(w observed, cfg *Config) *Host {
	h := &Host{
		snapshots: newSnapshots(w, cfg),
		documents: readDocuments(),
		objects:   map[string]object{},
	}
	h.tree.Entry = wip.Entry{
		Path:      "/",
		Title:     "Grid",
		Summary:   "What a virtual-world session has observed of its agent and of the world around it.",
		Indexable: true,
	}
	h.add("agent", "Agent", "The agent itself: ID, position, health, seat.",
		func(ctx context.Context, v view, operation string, args json.RawMessage) (json.RawMessage, error) {
			return interfaces.CallAgent(ctx, agent{}, v, operation, args)
		})
	h.add("region", "Region", "The region around the agent: its name, the agent's place in it, avatars and objects nearby.",
		func(ctx context.Context, v view, operation string, args json.RawMessage) (json.RawMessage, error) {
			return interfaces.CallRegion(ctx, region{}, v, operation, args)
		})
	h.add("parcel", "Parcel", "The land under the agent: the parcel's name and rules, the heights of ground and water.",
		func(ctx context.Context, v view, operation string, args json.RawMessage) (json.RawMessage, error) {
			return interfaces.CallParcel(ctx, parcel{}, v, operation, args)
		})
	h.add("inventory", "Inventory", "What the agent owns: items by name, landmarks.",
		func(ctx context.Context, v view, operation string, args json.RawMessage) (json.RawMessage, error) {
			return interfaces.CallInventory(ctx, inventory{}, v, operation, args)
		})
	return h
}

// add makes the Object of one interface, whose document has the same name as
// its place.
func (h *Host) add(name, iface, summary string, call func(context.Context, view, string, json.RawMessage) (json.RawMessage, error)) {
	document := name + ".wip"
	sum := sha256.Sum256(h.documents[document])
	entry := wip.Entry{
		Path:    "/" + name,
		Title:   iface,
		Summary: summary,
		Object: &wip.Object{
			ID: name,
			Interfaces: []wip.InterfaceRef{{
				Document:  document,
				Interface: iface,
				SHA256:    hex.EncodeToString(sum[:]),
			}},
		},
		Indexable: true,
	}
	h.objects[entry.Path] = object{entry, call}
	h.tree.Children = append(h.tree.Children, wip.Tree{Entry: entry})
}

// declares reports whether the Object has an operation of that name. Clients
// ask for no other, so the document is compiled only after a call has failed.
func (o object) declares(operation string) bool {
	ref := o.entry.Object.Interfaces[0]
	documents, err := idl.Compile(idl.FSLoader(interfaces.FS()), ref.Document)
	if err != nil {
		return false
	}
	iface := documents[0].Interface(ref.Interface)
	return iface != nil && iface.Operation(operation) != nil
}

// readDocuments reads the embedded documents, which cannot fail.
func readDocuments() map[string][]byte {
	documents := map[string][]byte{}
	names, err := fs.Glob(interfaces.FS(), "*.wip")
	for _, name := range names {
		if err == nil {
			documents[name], err = fs.ReadFile(interfaces.FS(), name)
		}
	}
	if err != nil {
		panic(err)
	}
	return documents
}

// Prompt promises that calls end with their contexts: a capture observes its
// own, and what a call computes is bounded by the 2,048 entries it looks at.
func (*Host) Prompt() {}

// Fetch returns the entry at path: "/" or one of its four children.
func (h *Host) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	tree, err := h.FetchTree(ctx, caller, path)
	return tree.Entry, err
}

// FetchTree returns the entry at path and, of "/", its children.
func (h *Host) FetchTree(ctx context.Context, _ wip.Caller, path string) (wip.Tree, error) {
	if err := ctx.Err(); err != nil {
		return wip.Tree{}, err
	}
	if path == h.tree.Entry.Path {
		return clone(h.tree), nil
	}
	if o, ok := h.objects[path]; ok {
		return clone(wip.Tree{Entry: o.entry}), nil
	}
	return wip.Tree{}, notFound("no such entry")
}

// clone copies a tree as far as a caller could change it.
func clone(t wip.Tree) wip.Tree {
	if o := t.Entry.Object; o != nil {
		t.Entry.Object = &wip.Object{ID: o.ID, Interfaces: append([]wip.InterfaceRef(nil), o.Interfaces...)}
	}
	children := t.Children
	t.Children = nil
	for _, c := range children {
		t.Children = append(t.Children, clone(c))
	}
	return t
}

// Document returns one of the grid's IDL documents.
func (h *Host) Document(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if d, ok := h.documents[name]; ok {
		return append([]byte(nil), d...), nil
	}
	return nil, notFound("no such document")
}

// CallOperation answers from one snapshot. If the session or region changes
// before the answer is complete, the answer is thrown away and made anew.
func (h *Host) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	o, ok := h.objects[call.Path]
	if !ok || call.Object != o.entry.Object.ID || call.Interface != o.entry.Object.Interfaces[0].Interface {
		return wip.Result{}, notFound("no such object")
	}
	ctx, cancel := h.snapshots.deadline(ctx)
	defer cancel()
	for straddled := false; ; straddled = true {
		v, err := h.snapshots.get(ctx)
		if err != nil {
			return wip.Result{}, failure(ctx, err, straddled)
		}
		value, err := o.call(ctx, v, call.Operation, call.Arguments)
		if err != nil && !o.declares(call.Operation) {
			return wip.Result{}, notFound("no such operation")
		}
		if err != nil {
			return wip.Result{}, failure(ctx, err, straddled)
		}
		if h.snapshots.valid(v.Snapshot) {
			return wip.Result{Value: value, CacheHit: v.cached}, nil
		}
	}
}
