package objects_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	here  = world.MustUUID("aaaaaaaa-0000-4000-8000-000000000001")
	there = world.MustUUID("bbbbbbbb-0000-4000-8000-000000000002")
	self  = world.MustUUID("0a0a0a0a-0000-4000-8000-000000000001")
	other = world.MustUUID("0b0b0b0b-0000-4000-8000-000000000002")
	box   = world.MustUUID("0c0c0c0c-0000-4000-8000-000000000003")
	stamp = world.Stamp{Generation: 1, Region: here}
)

func ptr[T any](v T) *T { return &v }

// lived returns a world in which a session is ready, with these updates.
func lived(updates ...world.Update) *world.World {
	w := world.New()
	w.Apply(
		world.SessionStarted{Stamp: stamp, Source: "test", Agent: self},
		world.RegionEntered{Stamp: stamp, Name: "Test Region", WaterHeight: ptr(20.0)},
		world.RegionReady{Stamp: stamp},
		world.Covered{Stamp: stamp, Collection: world.Avatars},
		world.Covered{Stamp: stamp, Collection: world.Objects},
		world.Covered{Stamp: stamp, Collection: world.Inventory},
		world.Covered{Stamp: stamp, Collection: world.Participants},
		world.AgentPlaced{Stamp: stamp, Position: world.Vec3{X: 128, Y: 128, Z: 25}},
	)
	w.Apply(updates...)
	return w
}

// operation is one that the documents declare, and the Object that offers it.
type operation struct {
	*idl.Operation
	call wip.Call // of usual arguments
}

// operations are all that the documents declare, by name. They are found as a
// client finds them, so that a new one is tested without being named here.
var operations = sync.OnceValue(func() map[string]operation {
	h := objects.New(world.New(), nil)
	tree, err := h.FetchTree(context.Background(), wip.Caller{}, "/")
	if err != nil {
		panic(err)
	}
	all := map[string]operation{}
	for _, c := range tree.Children {
		for _, ref := range c.Entry.Object.Interfaces {
			documents, err := idl.Compile(idl.FSLoader(interfaces.FS()), ref.Document)
			if err != nil {
				panic(err)
			}
			for _, o := range documents[0].Interface(ref.Interface).Operations {
				if other, ok := all[o.Name]; ok {
					panic(fmt.Sprintf("%s and %s both have an operation %s: tests, goldens and models tell operations apart by name", other.call.Path, c.Entry.Path, o.Name))
				}
				all[o.Name] = operation{o, wip.Call{
					Path: c.Entry.Path, Object: c.Entry.Object.ID, Interface: ref.Interface,
					Operation: o.Name, Arguments: usualArguments(o),
				}}
			}
		}
	}
	return all
})

// usualArguments are what a client sends that fills in the defaults, and of
// an operation that cannot do without arguments, those of its first example.
func usualArguments(o *idl.Operation) json.RawMessage {
	sent := json.RawMessage(`{}`)
	switch {
	case o.Name == "inventory_search":
		sent = json.RawMessage(`{"query":"hat"}`)
	case slices.ContainsFunc(o.Params, (*idl.Param).Required) && len(o.Examples) > 0:
		sent = o.Examples[0]
	}
	args, err := o.DecodeArgs(sent)
	if err != nil {
		panic(fmt.Sprintf("%s needs arguments: give it an @example in its document", o.Name))
	}
	return args.Record
}

// callOf returns the call of an operation with its usual arguments.
func callOf(name string) wip.Call { return operations()[name].call }

func operate(t testing.TB, h *objects.Host, operation string) (map[string]any, wip.Result) {
	t.Helper()
	r, err := h.CallOperation(t.Context(), callOf(operation))
	if err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
	var v map[string]any
	if err := json.Unmarshal(r.Value, &v); err != nil {
		t.Fatalf("%s: %v in %s", operation, err, r.Value)
	}
	return v, r
}

func failureOf(t *testing.T, err error) *wip.Failure {
	t.Helper()
	var f *wip.Failure
	if !errors.As(err, &f) {
		t.Fatalf("found %v, expected a failure", err)
	}
	return f
}

func TestTree(t *testing.T) {
	h := objects.New(lived(), nil)
	tree, err := h.FetchTree(t.Context(), wip.Caller{}, "/")
	if err != nil {
		t.Fatal(err)
	}
	if tree.Entry.Path != "/" || tree.Entry.Object != nil || !tree.Entry.Indexable {
		t.Errorf("root: found %+v", tree.Entry)
	}
	var paths []string
	ids := map[string]bool{}
	for _, c := range tree.Children {
		e := c.Entry
		paths = append(paths, e.Path)
		if e.Title == "" || e.Summary == "" || !e.Indexable || e.Object == nil || len(c.Children) != 0 {
			t.Errorf("found %+v", e)
			continue
		}
		if ids[e.Object.ID] {
			t.Errorf("two Objects have the ID %q", e.Object.ID)
		}
		ids[e.Object.ID] = true
		for _, ref := range e.Object.Interfaces {
			document, err := h.Document(t.Context(), ref.Document)
			if err != nil {
				t.Errorf("%s: %v", e.Path, err)
			}
			if sum := sha256.Sum256(document); hex.EncodeToString(sum[:]) != ref.SHA256 {
				t.Errorf("%s: the document does not have the digest %s", e.Path, ref.SHA256)
			}
			if !strings.Contains(string(document), "interface "+ref.Interface+" {") {
				t.Errorf("%s: no interface %s in %s", e.Path, ref.Interface, ref.Document)
			}
		}
		alone, err := h.Fetch(t.Context(), wip.Caller{}, e.Path)
		if diff := cmp.Diff(e, alone); diff != "" || err != nil {
			t.Errorf("Fetch and FetchTree differ: %v\n%s", err, diff)
		}
	}
	if diff := cmp.Diff([]string{"/agent", "/region", "/parcel", "/inventory"}, paths); diff != "" {
		t.Error(diff)
	}
	// What a caller changes, it changes for itself.
	tree.Children[0].Entry.Object.ID = "changed"
	if e, _ := h.Fetch(t.Context(), wip.Caller{}, "/agent"); e.Object.ID == "changed" {
		t.Error("a caller can change the Host's tree")
	}
}

// Nothing in the tree is of the world: it may be indexed and shown to anyone.
func TestTreeIsStatic(t *testing.T) {
	a, err := objects.New(world.New(), nil).FetchTree(t.Context(), wip.Caller{}, "/")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := objects.New(lived(), nil).FetchTree(t.Context(), wip.Caller{ID: "somebody"}, "/")
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
}

func TestImportsAreServed(t *testing.T) {
	h := objects.New(lived(), nil)
	want, err := interfaces.FS().Open("types.wip")
	if err != nil {
		t.Fatal(err)
	}
	want.Close()
	if d, err := h.Document(t.Context(), "types.wip"); err != nil || len(d) == 0 {
		t.Errorf("found %d bytes, %v", len(d), err)
	}
}

func TestNotFound(t *testing.T) {
	h := objects.New(lived(), nil)
	for _, path := range []string{"", "/nothing", "/agent/", "/Agent", "agent", "//", "/agent/seat"} {
		if _, err := h.Fetch(t.Context(), wip.Caller{}, path); failureOf(t, err).Class != wip.NotFound {
			t.Errorf("Fetch %q: found %v", path, err)
		}
		if _, err := h.FetchTree(t.Context(), wip.Caller{}, path); failureOf(t, err).Class != wip.NotFound {
			t.Errorf("FetchTree %q: found %v", path, err)
		}
	}
	for _, name := range []string{"", "nothing.wip", "../host.go", "interfaces.go", "./types.wip"} {
		if _, err := h.Document(t.Context(), name); failureOf(t, err).Class != wip.NotFound {
			t.Errorf("Document %q: found %v", name, err)
		}
	}
	for _, change := range []func(*wip.Call){
		func(c *wip.Call) { c.Path = "/" },
		func(c *wip.Call) { c.Path = "/nothing" },
		func(c *wip.Call) { c.Object = "agent" },
		func(c *wip.Call) { c.Object = "" },
		func(c *wip.Call) { c.Interface = "Agent" },
		func(c *wip.Call) { c.Operation = "agent_state" },
		func(c *wip.Call) { c.Operation = "" },
	} {
		c := callOf("world_location")
		change(&c)
		if _, err := h.CallOperation(t.Context(), c); failureOf(t, err).Class != wip.NotFound {
			t.Errorf("%+v: found %v", c, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	h := objects.New(lived(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err1 := h.Fetch(ctx, wip.Caller{}, "/")
	_, err2 := h.Document(ctx, "agent.wip")
	_, err3 := h.CallOperation(ctx, callOf("world_location"))
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("found %v", err)
		}
	}
}

// Each reason why there is no snapshot has words of its own (P2, T6).
func TestDomainFailures(t *testing.T) {
	messages := map[string]bool{}
	for _, test := range []struct {
		name  string
		world *world.World
		cause error
	}{
		{"no session", world.New(), world.ErrNotReady},
		{"not ready", func() *world.World {
			w := world.New()
			w.Apply(world.SessionStarted{Stamp: stamp}, world.RegionEntered{Stamp: stamp})
			return w
		}(), world.ErrNotReady},
		{"moving", lived(world.RegionLeaving{Stamp: stamp}), world.ErrMoving},
		{"disconnected", lived(world.Disconnected{Stamp: stamp}), world.ErrDisconnected},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := objects.New(test.world, nil)
			for operation := range operations() {
				_, err := h.CallOperation(t.Context(), callOf(operation))
				f := failureOf(t, err)
				if f.Class != wip.Domain || !errors.Is(err, test.cause) || f.Message == "" || f.Hint == "" || f.RetryAfter <= 0 {
					t.Errorf("%s: found %+v", operation, f)
				}
				messages[f.Message] = true
			}
		})
	}
	if len(messages) != 3 {
		t.Errorf("found %d different messages, expected one a reason: %v", len(messages), messages)
	}
}

// A cached snapshot does not outlive the stay it was taken in.
func TestInvalidation(t *testing.T) {
	in := func(generation uint64, region world.UUID, name string) []world.Update {
		s := world.Stamp{Generation: generation, Region: region}
		return []world.Update{world.RegionEntered{Stamp: s, Name: name}, world.RegionReady{Stamp: s}}
	}
	for _, test := range []struct {
		name    string
		updates []world.Update
		want    string // region name, or none if the call must fail
	}{
		{"crossing", in(1, there, "There"), "There"},
		{"leaving", []world.Update{world.RegionLeaving{Stamp: stamp}}, ""},
		{"restart of the region", append([]world.Update{world.RegionLeaving{Stamp: stamp}}, in(1, here, "Again")...), "Again"},
		{"there and back", append(in(1, there, "There"), in(1, here, "Back")...), "Back"},
		{"disconnect", []world.Update{world.Disconnected{Stamp: stamp}}, ""},
		{"new generation", append([]world.Update{world.SessionStarted{Stamp: world.Stamp{Generation: 2}}}, in(2, here, "New")...), "New"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := lived()
			h := objects.New(w, nil)
			operate(t, h, "world_location")
			w.Apply(test.updates...)
			r, err := h.CallOperation(t.Context(), callOf("world_location"))
			if test.want == "" {
				if failureOf(t, err).Class != wip.Domain {
					t.Errorf("found %v", err)
				}
				return
			}
			if err != nil || r.CacheHit || !strings.Contains(string(r.Value), test.want) {
				t.Errorf("found %s, cached %v, %v", r.Value, r.CacheHit, err)
			}
		})
	}
}

func millis(t time.Time) float64 { return float64(t.UnixMilli()) }
