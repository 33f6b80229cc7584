package world_test

import (
	cmpOrder "cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/world"
)

func folder(n, parent int, name string) world.InventoryFolder {
	f := world.InventoryFolder{Stamp: in(1), ID: id(n), Name: name}
	if parent != 0 {
		f.ParentID = id(parent)
	}
	return f
}

func item(n, parent int, name string) world.InventoryItem {
	i := world.InventoryItem{Stamp: in(1), ID: id(n), Name: name, AssetType: 7}
	if parent != 0 {
		i.ParentID = id(parent)
	}
	return i
}

// paths returns the paths of what a search finds, "?" where one is unknown.
func paths(t *testing.T, w *world.World, query string) []string {
	t.Helper()
	found, ok := capture(t, w).Belongings.Search(query)
	if !ok {
		t.Fatal("the inventory is unknown")
	}
	var list []string
	for _, i := range found.Items {
		p, ok := i.Path()
		if !ok {
			p = "? " + i.Name
		}
		list = append(list, p)
	}
	return list
}

func TestInventoryPaths(t *testing.T) {
	root := world.InventoryFolder{Stamp: in(1), ID: id(1), Name: "My Inventory", Root: true}
	deep := []world.Update{}
	for n := range world.MaxFolderDepth + 1 {
		parent := 100 + n + 1
		if n == world.MaxFolderDepth {
			parent = 0
		}
		deep = append(deep, folder(100+n, parent, "d"))
	}
	tests := []struct {
		name    string
		updates []world.Update
		want    []string
	}{
		{"below the root folder", []world.Update{root, folder(2, 1, "Scripts"), item(10, 2, "Example")}, []string{"/Scripts/Example"}},
		{"in the root folder", []world.Update{root, item(10, 1, "Example")}, []string{"/Example"}},
		{"without a root folder", []world.Update{folder(2, 0, "Scripts"), item(10, 2, "Example"), item(11, 0, "Loose")}, []string{"/Loose", "/Scripts/Example"}},
		{"item before its folders", []world.Update{item(10, 3, "Example"), folder(3, 2, "LSL"), folder(2, 1, "Scripts"), root}, []string{"/Scripts/LSL/Example"}},
		{"orphan", []world.Update{root, item(10, 99, "Lost"), item(11, 1, "Zebra")}, []string{"/Zebra", "? Lost"}},
		{"orphan folder", []world.Update{folder(2, 99, "Lost"), item(10, 2, "Example")}, []string{"? Example"}},
		{"circle", []world.Update{folder(2, 3, "A"), folder(3, 2, "B"), item(10, 2, "Example")}, []string{"? Example"}},
		{"longest circle", append(append([]world.Update{}, deep...), folder(100+world.MaxFolderDepth, 100, "d"), item(10, 100, "Example")), []string{"? Example"}},
		{"deepest", append(append([]world.Update{}, deep[1:]...), item(10, 101, "Example")), []string{strings.Repeat("/d", world.MaxFolderDepth) + "/Example"}},
		{"too deep", append(append([]world.Update{}, deep...), item(10, 100, "Example")), []string{"? Example"}},
		{"too long", []world.Update{folder(2, 0, strings.Repeat("x", world.MaxText)), folder(3, 2, strings.Repeat("y", world.MaxText)), item(10, 3, "Example")}, []string{"? Example"}},
		{"odd names", []world.Update{folder(2, 0, ".."), folder(3, 2, ""), folder(4, 0, "A/B"), item(10, 3, "x"), item(11, 4, "y")}, []string{"/..//x", "/A/B/y"}},
		{"moved", []world.Update{folder(2, 0, "A"), folder(3, 0, "B"), item(10, 2, "x"), item(10, 3, "x")}, []string{"/B/x"}},
		{"folder renamed", []world.Update{folder(2, 0, "A"), item(10, 2, "x"), folder(2, 0, "B")}, []string{"/B/x"}},
		{"its own parent", []world.Update{folder(2, 2, "A"), item(10, 2, "x")}, []string{"? x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, paths(t, after(test.updates...), "")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The order is that of the whole path, then the name, then the UUID.
func TestInventoryOrder(t *testing.T) {
	w := after(
		folder(1, 0, "A"), folder(2, 0, "A B"), folder(3, 1, "C"), folder(4, 0, "A"),
		item(10, 1, "z"), item(11, 2, "a"), item(12, 3, "a"), item(13, 1, "C"), item(14, 1, "C "),
		item(21, 0, "A/z"), item(20, 0, "A/z"), item(19, 4, "z"), item(30, 0, "Ä"), item(31, 0, "a"),
	)
	found, _ := capture(t, w).Belongings.Search("")
	var got []string
	for _, i := range found.Items {
		p, _ := i.Path()
		got = append(got, fmt.Sprintf("%s|%s|%d", p, i.Name, i.ID[15]))
	}
	want := []string{
		"/A B/a|a|11",
		"/A/C|C|13",
		"/A/C |C |14",
		"/A/C/a|a|12",
		"/A/z|A/z|20",
		"/A/z|A/z|21",
		"/A/z|z|10",
		"/A/z|z|19",
		"/a|a|31",
		"/Ä|Ä|30",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestInventorySearch(t *testing.T) {
	w := after(
		folder(1, 0, "Hats"), item(10, 1, "Red Hat"), item(11, 1, "HATBOX"), item(12, 1, "shoe"),
		item(13, 0, "Straße"), item(14, 0, "日本 hat"), item(15, 0, "two  spaces"), item(16, 0, ""), item(17, 0, "ÜBER"),
	)
	tests := []struct {
		query string
		want  []string
	}{
		{"hat", []string{"/Hats/HATBOX", "/Hats/Red Hat", "/日本 hat"}},
		{"HAT", []string{"/Hats/HATBOX", "/Hats/Red Hat", "/日本 hat"}},
		{"hats", nil}, // a folder's name is no item's
		{"strasse", []string{"/Straße"}},
		{"STRASSE", []string{"/Straße"}},
		{"über", []string{"/ÜBER"}},
		{"日本", []string{"/日本 hat"}},
		{"  ", []string{"/two  spaces"}},
		{" ", []string{"/Hats/Red Hat", "/two  spaces", "/日本 hat"}},
		{"nothing", nil},
	}
	for _, test := range tests {
		t.Run(test.query, func(t *testing.T) {
			if diff := cmp.Diff(test.want, paths(t, w, test.query)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInventoryTimesAndTypes(t *testing.T) {
	created := func(n int, seconds int64) world.InventoryItem {
		i := item(n, 0, fmt.Sprint(n))
		i.Created = seconds
		return i
	}
	link := item(20, 0, "link to a landmark")
	link.AssetType = 24
	landmark := item(21, 0, "landmark")
	landmark.AssetType = world.AssetLandmark
	w := after(created(10, 1276473600), created(11, 0), created(12, -1), created(13, 2147483647), link, landmark)
	s := capture(t, w)
	found, _ := s.Belongings.Search("1")
	var got []time.Time
	for _, i := range found.Items {
		got = append(got, i.Created)
	}
	want := []time.Time{time.Unix(1276473600, 0).UTC(), {}, {}, time.Unix(2147483647, 0).UTC()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if l, ok := s.Belongings.Landmarks(); !ok || len(l.Items) != 1 || l.Items[0].ID != id(21) {
		t.Errorf("landmarks: found %v, %v", l.Items, ok)
	}
}

func TestInventoryRemoved(t *testing.T) {
	base := []world.Update{
		folder(1, 0, "A"), folder(2, 1, "B"), folder(3, 2, "C"), folder(4, 0, "D"),
		item(10, 1, "a"), item(11, 2, "b"), item(12, 3, "c"), item(13, 4, "d"),
	}
	tests := []struct {
		name   string
		remove []world.UUID
		want   []string
		stats  world.Stats
	}{
		{"item", []world.UUID{id(10)}, []string{"/A/B/C/c", "/A/B/b", "/D/d"}, world.Stats{}},
		{"folder", []world.UUID{id(2)}, []string{"/A/a", "/D/d"}, world.Stats{}},
		{"folder and item", []world.UUID{id(1), id(13)}, nil, world.Stats{}},
		{"unknown", []world.UUID{id(77)}, []string{"/A/B/C/c", "/A/B/b", "/A/a", "/D/d"}, world.Stats{Unmatched: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := after(base...)
			before := capture(t, w)
			w.Apply(world.InventoryRemoved{Stamp: in(2), IDs: test.remove})
			if diff := cmp.Diff(test.want, paths(t, w, "")); diff != "" {
				t.Error(diff)
			}
			checkStats(t, w, test.stats)
			if found, _ := before.Belongings.Search(""); len(found.Items) != 4 {
				t.Errorf("the old snapshot changed: found %d items", len(found.Items))
			}
		})
	}
	t.Run("circle", func(t *testing.T) {
		w := after(folder(1, 2, "A"), folder(2, 1, "B"), item(10, 2, "x"), item(11, 0, "y"),
			world.InventoryRemoved{Stamp: in(2), IDs: []world.UUID{id(1)}})
		if diff := cmp.Diff([]string{"/y"}, paths(t, w, "")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestInventoryBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time, at length: nothing for the race detector")
	}
	w := after()
	for n := range world.MaxFolders + 1 {
		w.Apply(folder(n+1, 0, "f"))
	}
	checkStats(t, w, world.Stats{Overflow: 1})
	if !capture(t, w).Belongings.Truncated() {
		t.Error("folders were left out, and nothing says so")
	}
	w = after()
	for n := range world.MaxItems + 1 {
		w.Apply(item(n+1, 0, "x"))
	}
	checkStats(t, w, world.Stats{Overflow: 1})
	if !capture(t, w).Belongings.Truncated() {
		t.Error("items were left out, and nothing says so")
	}
}

func TestMalformedInventory(t *testing.T) {
	w := after(world.InventoryFolder{Stamp: in(1), Name: "no UUID"}, world.InventoryItem{Stamp: in(1), Name: "no UUID"})
	checkStats(t, w, world.Stats{Malformed: 2})
}

func TestParticipants(t *testing.T) {
	heard := func(seconds float64, n int, c world.Channel) world.Heard {
		return world.Heard{Stamp: in(seconds), ID: id(n), Channel: c}
	}
	stored := heard(50, 4, world.DirectIM)
	stored.Active = start.Add(2500 * time.Microsecond)
	w := after(
		heard(1, 2, world.LocalChat), heard(3, 2, world.LocalChat), heard(2, 2, world.LocalChat),
		heard(3, 2, world.DirectIM), heard(3, 1, world.LocalChat), heard(9, 3, world.Lure), stored,
		heard(4, 0, "telepathy"), world.Heard{Stamp: in(4), Channel: world.DirectIM}, world.Heard{Stamp: in(4), ID: self, Channel: world.LocalChat},
	)
	checkStats(t, w, world.Stats{Malformed: 3})
	recent, ok := capture(t, w).People.Recent()
	want := []world.Participant{
		{ID: id(3), Channel: world.Lure, LastActive: start.Add(9 * time.Second)},
		{ID: id(1), Channel: world.LocalChat, LastActive: start.Add(3 * time.Second)},
		{ID: id(2), Channel: world.DirectIM, LastActive: start.Add(3 * time.Second)},
		{ID: id(2), Channel: world.LocalChat, LastActive: start.Add(3 * time.Second)},
		{ID: id(4), Channel: world.DirectIM, LastActive: start.Add(2 * time.Millisecond)},
	}
	if diff := cmp.Diff(want, recent.Items); diff != "" || !ok || recent.Truncated {
		t.Errorf("known %v, truncated %v (-want +got):\n%s", ok, recent.Truncated, diff)
	}
}

func TestParticipantsForgetTheLongestSilent(t *testing.T) {
	w := after()
	for n := range world.MaxParticipants {
		w.Apply(world.Heard{Stamp: in(float64(n)), ID: id(n + 1), Channel: world.DirectIM})
	}
	w.Apply(world.Heard{Stamp: in(9000), ID: id(1), Channel: world.DirectIM})
	checkStats(t, w, world.Stats{})
	w.Apply(world.Heard{Stamp: in(9001), ID: id(99999), Channel: world.DirectIM})
	checkStats(t, w, world.Stats{Overflow: 1})
	recent, _ := capture(t, w).People.Recent()
	if !recent.Truncated || recent.Items[0].ID != id(99999) || recent.Items[1].ID != id(1) {
		t.Errorf("found truncated %v, first %v", recent.Truncated, recent.Items[:2])
	}
}

// The orders of items and participants are total and do not depend on the
// order in which they came (P12).
func TestOrderOfLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"", " ", "/", "A", "A/", "A B", "a", "ä", "A/B"})
		channel := rapid.SampledFrom([]world.Channel{world.DirectIM, world.LocalChat, world.Lure})
		var updates []world.Update
		for n := range rapid.IntRange(0, 6).Draw(t, "folders") {
			updates = append(updates, folder(n+1, rapid.IntRange(0, n+1).Draw(t, "parent"), name.Draw(t, "folder")))
		}
		items := rapid.IntRange(0, 20).Draw(t, "items")
		for n := range items {
			updates = append(updates, item(n+1, rapid.IntRange(0, 7).Draw(t, "parent"), name.Draw(t, "item")))
		}
		for range rapid.IntRange(0, 20).Draw(t, "heard") {
			updates = append(updates, world.Heard{Stamp: in(rapid.Float64Range(0, 0.003).Draw(t, "time")),
				ID: id(rapid.IntRange(1, 5).Draw(t, "who")), Channel: channel.Draw(t, "channel")})
		}
		w := after(updates...)
		first := mustCapture(t, w)
		all, _ := first.Belongings.Search("")
		if len(all.Items) != items {
			t.Fatalf("found %d of %d items", len(all.Items), items)
		}
		key := func(i *world.Item) string {
			p, ok := i.Path()
			return fmt.Sprintf("%v\x00%s\x00%s\x00%s", !ok, map[bool]string{true: p}[ok], i.Name, i.ID)
		}
		if !slices.IsSortedFunc(all.Items, func(a, b *world.Item) int { return cmpOrder.Compare(key(a), key(b)) }) {
			for _, i := range all.Items {
				t.Logf("%q", key(i))
			}
			t.Fatal("the items are not in order")
		}
		recent, _ := first.People.Recent()
		for i := 1; i < len(recent.Items); i++ {
			a, b := recent.Items[i-1], recent.Items[i]
			if c := cmpOrder.Or(b.LastActive.Compare(a.LastActive), a.ID.Compare(b.ID), cmpOrder.Compare(a.Channel, b.Channel)); c >= 0 {
				t.Fatalf("found %v before %v", a, b)
			}
		}
		again := mustCapture(t, after(rapid.Permutation(updates).Draw(t, "order")...))
		if found, _ := again.Belongings.Search(""); !slices.EqualFunc(found.Items, all.Items, func(a, b *world.Item) bool { return a.ID == b.ID }) {
			t.Fatal("the order of items depends on the order of updates")
		}
		if found, _ := again.People.Recent(); !slices.Equal(found.Items, recent.Items) {
			t.Fatal("the order of participants depends on the order of updates")
		}
	})
}

func TestInventoryMoved(t *testing.T) {
	base := []world.Update{
		world.InventoryFolder{Stamp: in(1), ID: id(1), Name: "My Inventory", Root: true},
		folder(2, 1, "Scripts"), folder(3, 1, "Attic"), folder(4, 2, "Old"), item(10, 4, "lamp"),
	}
	move := func(n, parent int, name string) world.InventoryMoved {
		u := world.InventoryMoved{Stamp: in(2), ID: id(n), Name: name}
		if parent != 0 {
			u.ParentID = id(parent)
		}
		return u
	}
	tests := []struct {
		name  string
		move  world.InventoryMoved
		want  string // empty: unknown
		stats world.Stats
	}{
		{"item", move(10, 3, ""), "/Attic/lamp", world.Stats{}},
		{"item to the top", move(10, 0, ""), "/lamp", world.Stats{}},
		{"item with another name", move(10, 3, "torch"), "/Attic/torch", world.Stats{}},
		{"item renamed", move(10, 4, "torch"), "/Scripts/Old/torch", world.Stats{}},
		{"folder", move(4, 3, ""), "/Attic/Old/lamp", world.Stats{}},
		{"folder with another name", move(4, 3, "New"), "/Attic/New/lamp", world.Stats{}},
		{"folder into a circle", move(2, 4, ""), "", world.Stats{}},
		{"item to an unknown folder", move(10, 99, ""), "", world.Stats{}},
		{"unknown", move(77, 3, ""), "/Scripts/Old/lamp", world.Stats{Unmatched: 1}},
		{"none", move(10, 10, ""), "/Scripts/Old/lamp", world.Stats{Malformed: 1}},
		{"zero", world.InventoryMoved{Stamp: in(2)}, "/Scripts/Old/lamp", world.Stats{Malformed: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := after(base...)
			capture(t, w) // which must not be shown again
			w.Apply(test.move)
			found, _ := capture(t, w).Belongings.Search("")
			if len(found.Items) != 1 {
				t.Fatalf("found %d items", len(found.Items))
			}
			path, ok := found.Items[0].Path()
			if ok != (test.want != "") || ok && path != test.want {
				t.Errorf("found %q, %v, expected %q", path, ok, test.want)
			}
			checkStats(t, w, test.stats)
		})
	}
}
