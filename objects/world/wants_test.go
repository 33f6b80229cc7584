package world_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/objects/world"
)

func offered(seconds float64, localIDs ...uint32) world.ObjectsOffered {
	return world.ObjectsOffered{Stamp: in(seconds), LocalIDs: localIDs}
}

func moved(seconds float64, localID uint32) world.ObjectMoved {
	return world.ObjectMoved{Stamp: in(seconds), LocalID: localID, Position: at(1, 1, 1)}
}

// ask is one call of Wants some seconds after the start.
type ask struct {
	seconds float64
	max     int
	want    []int // local IDs, or what id makes UUIDs of
}

func checkWants(t *testing.T, w *world.World, asks []ask, limits func(max int) world.WantLimits, got func(world.Wants) []int) {
	t.Helper()
	for _, a := range asks {
		wants := w.Wants(in(a.seconds).At, limits(a.max))
		if diff := cmp.Diff(a.want, got(wants), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("after %v s (-want +got):\n%s", a.seconds, diff)
		}
		if want := (world.Stamp{Generation: 1, Region: regionA}); wants.Stamp != want {
			t.Errorf("found stamp %v, expected %v", wants.Stamp, want)
		}
	}
}

func TestWantedObjects(t *testing.T) {
	tests := []struct {
		name    string
		updates []world.Update
		pending int
		asks    []ask
	}{
		{"nothing", nil, 0, []ask{{100, 10, nil}}},
		{"offered", []world.Update{offered(1, 9, 7, 8)}, 3, []ask{{1, 0, nil}, {1, 2, []int{9, 7}}, {1, 2, []int{8}}, {1, 2, nil}}},
		{"thrice at most, with a pause", []world.Update{offered(1, 7)}, 1,
			[]ask{{1, 9, []int{7}}, {5.9, 9, nil}, {6, 9, []int{7}}, {10, 9, nil}, {11, 9, []int{7}}, {100, 9, nil}}},
		{"offered again", []world.Update{offered(1, 7), offered(2, 7)}, 1, []ask{{2, 9, []int{7}}, {3, 9, nil}}},
		{"offered, known", []world.Update{prim(7, 0, at(1, 1, 1)), offered(2, 7)}, 0, []ask{{100, 9, nil}}},
		{"offered, then described", []world.Update{offered(1, 7), prim(7, 0, at(1, 1, 1))}, 0, []ask{{100, 9, nil}}},
		{"offered, then killed", []world.Update{offered(1, 7), world.ObjectsKilled{Stamp: in(2), LocalIDs: []uint32{7}}}, 0, []ask{{100, 9, nil}}},
		{"offered, killed and offered", []world.Update{offered(1, 7), world.ObjectsKilled{Stamp: in(2), LocalIDs: []uint32{7}}, offered(3, 7)}, 1,
			[]ask{{100, 9, []int{7}}}},
		{"no number", []world.Update{offered(1, 0), moved(1, 0)}, 0, []ask{{100, 9, nil}}},
		{"moved", []world.Update{moved(1, 7), moved(4, 7)}, 0, []ask{{5.9, 9, nil}, {6, 9, []int{7}}, {10, 9, nil}, {11, 9, []int{7}}}},
		{"moved, then described", []world.Update{moved(1, 7), prim(7, 0, at(1, 1, 1))}, 0, []ask{{100, 9, nil}}},
		{"moved, then offered", []world.Update{moved(1, 7), offered(2, 7)}, 1, []ask{{2, 9, []int{7}}, {6.9, 9, nil}, {7, 9, []int{7}}}},
		{"offered goes first", []world.Update{moved(1, 7), offered(8, 8)}, 1, []ask{{8, 1, []int{8}}, {8, 1, []int{7}}}},
		{"parent", []world.Update{prim(5, 7, at(1, 1, 1))}, 0, []ask{{5.9, 9, nil}, {6, 9, []int{7}}}},
		{"parent, described in time", []world.Update{prim(5, 7, at(1, 1, 1)), prim(7, 0, at(1, 1, 1))}, 0, []ask{{100, 9, nil}}},
		{"parent known", []world.Update{prim(7, 0, at(1, 1, 1)), prim(5, 7, at(1, 1, 1))}, 0, []ask{{100, 9, nil}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := after(test.updates...)
			if got := w.Pending(); got != test.pending {
				t.Errorf("found %d pending, expected %d", got, test.pending)
			}
			checkWants(t, w, test.asks, func(max int) world.WantLimits { return world.WantLimits{Objects: max} },
				func(wants world.Wants) (list []int) {
					for _, n := range wants.Objects {
						list = append(list, int(n))
					}
					return list
				})
			if got := w.Pending(); got != test.pending {
				t.Errorf("found %d pending after asking, expected %d", got, test.pending)
			}
		})
	}
}

// ints turns UUIDs back into what id made them of.
func ints(ids []world.UUID) (list []int) {
	for _, u := range ids {
		n := int(u[15]) | int(u[14])<<8
		if u != id(n) {
			n = -1
		}
		list = append(list, n)
	}
	return list
}

func TestWantedNames(t *testing.T) {
	named := func(n int, complete bool) world.Update {
		return world.AvatarNamed{Stamp: in(1), ID: id(n), Name: "Somebody", Complete: complete}
	}
	far := world.CoarseLocations{Stamp: in(1), You: 0, Entries: []world.CoarseLocation{{ID: self}, {ID: id(2)}, {ID: id(4)}}}
	tests := []struct {
		name    string
		updates []world.Update
		asks    []ask
	}{
		{"nobody", []world.Update{own(1, 0, at(1, 1, 1)), prim(5, 0, at(1, 1, 1))}, []ask{{1, 9, nil}}},
		{"described", []world.Update{avatar(3, 0, at(1, 1, 1)), avatar(2, 0, at(1, 1, 1))}, []ask{{1, 0, nil}, {1, 1, []int{2}}, {1, 9, []int{3}}, {2, 9, nil}}},
		{"described and far away", []world.Update{avatar(2, 0, at(1, 1, 1)), far}, []ask{{1, 9, []int{2, 4}}}},
		{"thrice at most, with a pause", []world.Update{far},
			[]ask{{1, 1, []int{2}}, {30.9, 9, []int{4}}, {31, 9, []int{2}}, {61, 1, []int{4}}, {61, 9, []int{2}}, {91, 9, []int{4}}, {1000, 9, nil}}},
		{"named", []world.Update{far, named(2, true), named(4, false)}, []ask{{1, 9, []int{4}}}},
		{"no avatar any more", []world.Update{avatar(2, 0, at(1, 1, 1)), prim(2, 0, at(1, 1, 1))}, []ask{{2, 9, nil}}},
		{"gone", []world.Update{avatar(2, 0, at(1, 1, 1)), world.ObjectsKilled{Stamp: in(2), LocalIDs: []uint32{2}}}, []ask{{2, 9, nil}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkWants(t, after(test.updates...), test.asks, func(max int) world.WantLimits { return world.WantLimits{Names: max} },
				func(wants world.Wants) []int { return ints(wants.Names) })
		})
	}
}

func TestWantedProperties(t *testing.T) {
	worn := prim(9, 0, at(1, 1, 1))
	worn.Attachment = true
	named := prim(8, 0, at(1, 1, 1))
	named.Name = ptr("")
	lost := prim(2, 0, at(1e9, 0, 0))
	w := after(worn, named, lost, avatar(10, 0, at(1, 1, 1)),
		prim(3, 0, at(100, 128, 25)), prim(4, 0, at(127, 128, 25)), prim(5, 0, at(128, 128, 50)), prim(6, 5, at(0, 0, 1)))
	limits := func(max int) world.WantLimits { return world.WantLimits{Properties: max} }
	list := func(wants world.Wants) []int { return ints(wants.Properties) }
	checkWants(t, w, []ask{{1, 0, nil}, {1, 2, []int{4, 5}}, {1, 9, []int{3, 2}}, {5.9, 9, nil}}, limits, list)
	w.Apply(world.ObjectNamed{Stamp: in(5), ID: id(4), Name: "lamp"})
	w.Apply(prim(5, 0, at(128, 128, 25))) // described again: it was asked for all the same
	checkWants(t, w, []ask{{6, 9, []int{5, 3, 2}}, {11, 9, []int{5, 3, 2}}, {100, 9, nil}}, limits, list)
}

// What is wanted in one region or session is not in the next.
func TestWantsEndWithTheRegion(t *testing.T) {
	everything := world.WantLimits{Objects: 99, Names: 99, Properties: 99}
	base := []world.Update{offered(1, 7), moved(1, 8), avatar(2, 0, at(1, 1, 1)), prim(5, 0, at(1, 1, 1))}
	inB := world.Stamp{Generation: 1, Region: regionB}
	tests := []struct {
		name    string
		updates []world.Update
		want    world.Stamp
	}{
		{"leaving", []world.Update{world.RegionLeaving{Stamp: in(2)}}, world.Stamp{}},
		{"elsewhere", []world.Update{world.RegionEntered{Stamp: inB}}, inB},
		{"there again", []world.Update{world.RegionLeaving{Stamp: in(2)}, world.RegionEntered{Stamp: in(2)}}, world.Stamp{Generation: 1, Region: regionA}},
		{"disconnected", []world.Update{world.Disconnected{Stamp: in(2)}}, world.Stamp{}},
		{"logged in again", []world.Update{world.SessionStarted{Stamp: world.Stamp{Generation: 2}}}, world.Stamp{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := after(base...)
			w.Apply(test.updates...)
			if diff := cmp.Diff(world.Wants{Stamp: test.want}, w.Wants(in(100).At, everything), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff(world.Wants{}, world.New().Wants(start, everything)); diff != "" {
		t.Errorf("before a session (-want +got):\n%s", diff)
	}
	w := after(base...)
	w.Apply(world.RegionLeaving{Stamp: in(2)}, world.RegionStayed{Stamp: in(2)})
	if got := w.Wants(in(100).At, everything); len(got.Objects) != 2 || len(got.Names) != 1 || len(got.Properties) != 1 {
		t.Errorf("after staying: found %+v", got)
	}
}

// A grid cannot make the world want without end.
func TestWantsAreBounded(t *testing.T) {
	w := after()
	all := world.WantLimits{Objects: 1 << 30}
	for n := range uint32(2 * world.MaxHearsay) {
		w.Apply(moved(1, n+1))
	}
	if got := len(w.Wants(in(10).At, all).Objects); got != world.MaxHearsay {
		t.Errorf("heard of: found %d, expected %d", got, world.MaxHearsay)
	}
	// Those that were given up make room.
	w.Wants(in(20).At, all)
	w.Wants(in(30).At, all)
	w.Apply(moved(40, 1_000_000))
	if diff := cmp.Diff([]uint32{1_000_000}, w.Wants(in(50).At, all).Objects); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// What was offered does not, even if it was given up before.
	w.Apply(offered(50, 7))
	for n := range uint32(2 * world.MaxHearsay) {
		w.Apply(moved(51, 20_000+n))
	}
	if got := w.Pending(); got != 1 {
		t.Errorf("found %d pending, expected 1", got)
	}
	w = after()

	many := make([]uint32, world.MaxObjects+1)
	for i := range many {
		many[i] = uint32(2_000_000 + i)
	}
	w.Apply(world.ObjectsOffered{Stamp: in(52), LocalIDs: many})
	if got := w.Pending(); got != world.MaxObjects {
		t.Errorf("offered: found %d pending, expected %d", got, world.MaxObjects)
	}
	if got := len(w.Wants(in(52).At, all).Objects); got != world.MaxObjects {
		t.Errorf("offered: found %d, expected %d", got, world.MaxObjects)
	}
	o, _ := capture(t, w).Scene.Objects(256)
	if !o.Truncated {
		t.Error("the objects are not said to be truncated")
	}
	checkStats(t, w, world.Stats{Overflow: 1})
}

// A name that the grid gave on request goes before the description's, which
// goes before one that was picked up.
func TestNamePrecedence(t *testing.T) {
	chat := world.AvatarNamed{Stamp: in(1), ID: id(2), Name: "From Chat"}
	answer := world.AvatarNamed{Stamp: in(1), ID: id(2), Name: "Second Avatar (second.resident)", Complete: true}
	renamed := answer
	renamed.Name = "Other (second.resident)"
	described := avatar(2, 0, at(1, 1, 1))
	far := world.CoarseLocations{Stamp: in(1), You: -1, Entries: []world.CoarseLocation{{ID: id(2)}}}
	tests := []struct {
		name    string
		updates []world.Update
		want    string
	}{
		{"chat", []world.Update{far, chat}, "From Chat"},
		{"description", []world.Update{described, chat}, "Second"},
		{"answer", []world.Update{far, answer}, answer.Name},
		{"answer over description", []world.Update{answer, described}, answer.Name},
		{"answer over chat", []world.Update{far, chat, answer}, answer.Name},
		{"answer, then chat", []world.Update{far, answer, chat}, answer.Name},
		{"answer, then another", []world.Update{described, answer, renamed}, renamed.Name},
		{"chat, then another", []world.Update{far, chat, world.AvatarNamed{Stamp: in(2), ID: id(2), Name: "New"}}, "New"},
		{"asked in between", []world.Update{far, chat, world.RegionStayed{Stamp: in(2)}}, "From Chat"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := world.New()
			w.Apply(login()...)
			for _, u := range test.updates {
				w.Apply(u)
				capture(t, w) // which must not be shown again
				w.Wants(start.Add(time.Hour), world.WantLimits{Names: 9})
			}
			if got := avatars(t, w); len(got) != 1 || got[0].Name != test.want {
				t.Errorf("found %+v, expected %q", got, test.want)
			}
		})
	}
}
