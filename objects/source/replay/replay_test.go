package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/source/replay"
	"github.com/wipagent/wipagent/objects/world"
)

// view is all that a snapshot shows.
type view struct {
	Fence                              world.Fence
	Source, RegionName                 string
	Observed                           time.Time
	Agent                              world.UUID
	Health, WaterHeight, TerrainHeight *float64
	Parcel                             *world.Parcel
	Place, Observer                    world.Place
	Assumed                            bool
	Seat                               *uint32
	Avatars                            world.Selection[*world.Avatar]
	Objects                            world.Selection[*world.Object]
	Items                              world.Selection[*world.Item]
	Paths                              []string
	People                             world.Selection[world.Participant]
	Known                              [4]bool
}

func look(t testing.TB, w *world.World) view {
	t.Helper()
	s, err := w.Capture(t.Context())
	if err != nil {
		t.Fatalf("Capture: %v", err)
	}
	v := view{
		Fence: s.Fence, Source: s.Source, RegionName: s.RegionName, Observed: s.Observed, Agent: s.Agent,
		Health: s.Health, WaterHeight: s.WaterHeight, TerrainHeight: s.TerrainHeight, Parcel: s.Parcel,
		Place: s.Scene.Agent, Observer: s.Scene.Observer, Assumed: s.Scene.Assumed, Seat: s.Scene.Seat,
	}
	v.Avatars, v.Known[0] = s.Scene.Avatars(1e9)
	v.Objects, v.Known[1] = s.Scene.Objects(1e9)
	v.Items, v.Known[2] = s.Belongings.Search("")
	v.People, v.Known[3] = s.People.Recent()
	for _, i := range v.Items.Items {
		path, _ := i.Path()
		v.Paths = append(v.Paths, path)
	}
	return v
}

func checkViews(t *testing.T, want, got view, opts ...cmp.Option) {
	t.Helper()
	opts = append(opts, cmp.AllowUnexported(world.Parcel{}),
		cmpopts.IgnoreUnexported(world.Fence{}, world.Item{}, world.Sighting{}))
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// record returns a recording of updates.
func record(t testing.TB, updates ...world.Update) []byte {
	t.Helper()
	var b bytes.Buffer
	r := replay.NewRecorder(&b, &replay.RecorderConfig{World: "test"})
	for _, u := range updates {
		r.Observe(u)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// begin is what makes a world ready.
func begin(s world.Stamp) []world.Update {
	return []world.Update{
		world.SessionStarted{Stamp: s, Source: "test", Agent: agent},
		world.RegionEntered{Stamp: s, Name: "Test Region"},
		world.RegionReady{Stamp: s},
		world.Covered{Stamp: s, Collection: world.Avatars},
		world.Covered{Stamp: s, Collection: world.Objects},
		world.Covered{Stamp: s, Collection: world.Participants},
		world.AgentPlaced{Stamp: s, Position: world.Vec3{X: 128, Y: 128, Z: 25}},
	}
}

func health(seconds float64, value float64) world.Update {
	return world.AgentHealth{Stamp: in(seconds), Health: value}
}

// recordDemo records the demo for a while and returns what it showed at last.
func recordDemo(t *testing.T, d time.Duration) ([]byte, view) {
	w := world.New()
	var b bytes.Buffer
	r := replay.NewRecorder(&b, &replay.RecorderConfig{World: "demo"})
	remove := w.Tap(r.Observe)
	ctx, cancel := context.WithCancel(t.Context())
	done := demo.New(nil).Start(ctx, w)
	time.Sleep(d + time.Millisecond)
	synctest.Wait()
	v := look(t, w)
	remove()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-done
	return b.Bytes(), v
}

func TestLoadShowsWhatWasRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		b, want := recordDemo(t, 90*time.Second)
		time.Sleep(time.Hour)
		w := world.New()
		rec, err := replay.Load(t.Context(), bytes.NewReader(b), w, &replay.Config{Generation: 5})
		if err != nil {
			t.Fatal(err)
		}
		last := began.Add(90 * time.Second)
		want.Fence.Generation, want.Source, want.Observed = 5, "recording of demo", last
		checkViews(t, want, look(t, w))
		if len(want.Avatars.Items) == 0 || len(want.Objects.Items) == 0 || len(want.Items.Items) == 0 || len(want.People.Items) == 0 || want.Parcel == nil {
			t.Error("the demo showed too little to compare")
		}
		if rec.World != "demo" || !rec.Started.Equal(began) || !rec.First.Equal(began) || !rec.Last.Equal(last) || rec.Sessions != 1 || rec.CutOff ||
			rec.Updates != strings.Count(string(b), "\n")-1 {
			t.Errorf("found %+v", rec)
		}
		// A recording of a recording shows the same.
		var again bytes.Buffer
		r := replay.NewRecorder(&again, nil)
		other := world.New()
		remove := other.Tap(r.Observe)
		if err := rec.Load(t.Context(), other, nil); err != nil {
			t.Fatal(err)
		}
		remove()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		third := world.New()
		if _, err := replay.Load(t.Context(), &seeker{Reader: bytes.NewReader(again.Bytes())}, third, nil); err != nil {
			t.Fatal(err)
		}
		want.Fence.Generation = 1
		checkViews(t, want, look(t, third))
	})
}

// seeker hides whatever else its reader can do.
type seeker struct{ *bytes.Reader }

func TestPlayKeepsThePace(t *testing.T) {
	for _, speed := range []float64{0, 1, 4} {
		t.Run(fmt.Sprint(speed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				old := world.Stamp{Generation: 3, Region: region, At: start.Add(-1000 * time.Hour)}
				at := func(seconds int) world.Stamp {
					s := old
					s.At = s.At.Add(time.Duration(seconds) * time.Second)
					return s
				}
				b := record(t, append(begin(old),
					world.AgentHealth{Stamp: old, Health: 1},
					world.AgentHealth{Stamp: at(60), Health: 2},
					world.Heard{Stamp: at(60), ID: thing, Channel: world.LocalChat},
					world.Heard{Stamp: at(60), ID: thing, Channel: world.DirectIM, Active: at(50).At},
					world.AgentHealth{Stamp: at(120), Health: 3})...)
				rec, err := replay.Open(t.Context(), bytes.NewReader(b))
				if err != nil {
					t.Fatal(err)
				}
				w := world.New()
				began := time.Now()
				minute := time.Minute
				if speed > 0 {
					minute = time.Duration(float64(minute) / speed)
				}
				ended := make(chan error, 1)
				go func() { ended <- rec.Play(t.Context(), w, &replay.Config{Speed: speed}) }()

				for i, want := range []float64{1, 2} {
					time.Sleep(minute / 2)
					synctest.Wait()
					v := look(t, w)
					if *v.Health != want || !v.Observed.Equal(time.Now()) || v.Source != "recording of test" || v.Fence.Generation != 1 {
						t.Errorf("after %d minutes and a half: found health %v of generation %d as of %v, expected %v as of now", i, *v.Health, v.Fence.Generation, v.Observed, want)
					}
					time.Sleep(minute / 2)
				}
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != 2*minute {
					t.Errorf("took %v, expected %v", took, 2*minute)
				}
				time.Sleep(time.Hour)
				v := look(t, w)
				if *v.Health != 3 || !v.Observed.Equal(began.Add(2*minute)) {
					t.Errorf("after the end: found health %v as of %v", *v.Health, v.Observed)
				}
				want := []world.Participant{
					{ID: thing, Channel: world.LocalChat, LastActive: began.Add(minute).UTC()},
					{ID: thing, Channel: world.DirectIM, LastActive: began.Add(minute - 10*time.Second).UTC()},
				}
				if diff := cmp.Diff(want, v.People.Items); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A world that stood still when it was recorded is of its own time.
func TestStandingWorld(t *testing.T) {
	saved := start.Add(-time.Hour)
	still := begin(in(0))
	still[0] = world.SessionStarted{Stamp: in(0), Source: "archive", AsOf: saved}
	frozen := append(begin(in(0)), world.Frozen{Stamp: in(3)}, health(4, 5))
	for name, test := range map[string]struct {
		updates []world.Update
		want    time.Time
	}{
		"as of":  {still, saved},
		"frozen": {frozen, in(3).At},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec, err := replay.Open(t.Context(), bytes.NewReader(record(t, test.updates...)))
				if err != nil {
					t.Fatal(err)
				}
				w := world.New()
				if err := rec.Load(t.Context(), w, nil); err != nil {
					t.Fatal(err)
				}
				if v := look(t, w); !v.Observed.Equal(test.want) {
					t.Errorf("loaded: found %v, expected %v", v.Observed, test.want)
				}
				w = world.New()
				began := time.Now()
				if err := rec.Play(t.Context(), w, nil); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				if name == "frozen" {
					test.want = began.Add(3 * time.Second)
				}
				if v := look(t, w); !v.Observed.Equal(test.want) {
					t.Errorf("played: found %v, expected %v", v.Observed, test.want)
				}
			})
		})
	}
}

func TestPlayEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec, err := replay.Open(t.Context(), bytes.NewReader(record(t, append(begin(in(0)), health(60, 1))...)))
		if err != nil {
			t.Fatal(err)
		}
		w := world.New()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := rec.Play(ctx, w, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("found %v", err)
		}
		if _, err := w.Fence(); !errors.Is(err, world.ErrDisconnected) {
			t.Errorf("the world: found %v", err)
		}
		if err := rec.Play(ctx, world.New(), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second time: found %v", err)
		}
	})
}

// Sessions follow each other as they did, under numbers of the world's.
func TestSeveralSessions(t *testing.T) {
	second := world.Stamp{Generation: 9, Region: region, At: in(20).At}
	updates := append(begin(in(0)), world.Disconnected{Stamp: in(10)})
	updates = append(updates, begin(second)...)
	b := record(t, append(updates, world.AgentHealth{Stamp: second, Health: 42})...)

	w := world.New()
	w.Apply(begin(world.Stamp{Generation: 6, Region: region})...)
	rec, err := replay.Load(t.Context(), bytes.NewReader(b), w, &replay.Config{Generation: 7})
	if err != nil {
		t.Fatal(err)
	}
	v := look(t, w)
	if v.Fence.Generation != 8 || *v.Health != 42 || rec.Sessions != 2 || !v.Observed.Equal(in(20).At) {
		t.Errorf("found generation %d, health %v, %d sessions, as of %v", v.Fence.Generation, *v.Health, rec.Sessions, v.Observed)
	}
	// A session that the world has had is not had again, nor ended.
	for name, play := range map[string]func(context.Context, *world.World, *replay.Config) error{"Load": rec.Load, "Play": rec.Play} {
		if err := play(t.Context(), w, &replay.Config{Generation: 8}); err == nil || !strings.Contains(err.Error(), "generation 8") {
			t.Errorf("%s: found %v", name, err)
		}
		if after := look(t, w); after.Source != v.Source || *after.Health != 42 {
			t.Errorf("%s changed the world", name)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	const head = `{"wipagent_recording":1,"started":"2026-11-29T12:00:00Z"}` + "\n"
	const session = `{"type":"session_started","generation":1,"at":"2026-11-29T12:00:00Z"}` + "\n"
	const ready = `{"type":"region_ready","generation":1,"at":"2026-11-29T12:00:00Z"}` + "\n"
	tests := []struct{ name, file, want string }{
		{"nothing", "", "line 1: found nothing, expected a recording"},
		{"an archive", "\x1f\x8b\x08\x00", "line 1: found text that is not UTF-8, expected the header of a recording"},
		{"prose", "Hello there\n", "line 1: found no valid JSON: invalid character 'H' looking for beginning of value"},
		{"other JSON", `{"name":"x"}` + "\n", `line 1: found "name" first, expected wipagent_recording`},
		{"an empty object", "{}\n", "line 1: found an empty object, expected the header of a recording"},
		{"a later version", `{"wipagent_recording":2}` + "\n", `line 1: found a recording of version "2", expected version 1`},
		{"a later header", `{"wipagent_recording":1,"mood":1}` + "\n", `line 1: found the unknown field "mood"`},
		{"a header alone", head, "found no update, expected a recording of some"},
		{"no session", head + ready, "line 2: found an update before any session_started"},
		{"another session", head + session + strings.Replace(ready, ":1,", ":2,", 1), "line 3: found an update of generation 2 in generation 1"},
		{"a session twice", head + session + session, "line 3: found generation 1 after generation 1, expected a later one"},
		{"a later type", head + session + "\n" + `{"type":"gossip","generation":1}` + "\n" + ready, `line 4: found the unknown type "gossip"`},
		{"broken in the middle", head + session + `{"type":"reg` + "\n" + ready, "line 3: found the line's end in the middle of a JSON value"},
		{"broken in the middle, not UTF-8", head + session + "\xff\n" + ready, "line 3: found text that is not UTF-8"},
		{"a long line", head + session + `{"type":"` + strings.Repeat("x", replay.MaxLine) + `"}` + "\n", "line 3: found more than 8388608 bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := world.New()
			_, err := replay.Load(t.Context(), strings.NewReader(test.file), w, nil)
			var e *replay.Error
			if !errors.As(err, &e) || err.Error() != test.want {
				t.Errorf("found %v\nexpected %s", err, test.want)
			}
			if w.Stats() != (world.Stats{}) {
				t.Errorf("the world was told %+v", w.Stats())
			}
		})
	}
	if _, err := replay.Open(t.Context(), hugeFile{}); err == nil || !strings.Contains(err.Error(), "expected a recording of at most") {
		t.Errorf("a huge file: found %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	long := head + session + strings.Repeat(ready, 1000)
	if _, err := replay.Open(ctx, strings.NewReader(long)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: found %v", err)
	}
}

type hugeFile struct{ io.Reader }

func (hugeFile) Seek(int64, int) (int64, error) { return replay.MaxFile + 1, nil }

// A recorder that was killed leaves half a line; all before it counts.
func TestCutOff(t *testing.T) {
	whole := record(t, append(begin(in(0)), health(1, 7), health(2, 8))...)
	line := bytes.LastIndexByte(bytes.TrimSuffix(whole, []byte("\n")), '\n') + 1
	for n := line; n < len(whole); n++ {
		w := world.New()
		rec, err := replay.Load(t.Context(), bytes.NewReader(whole[:n]), w, nil)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		want, cut := 7.0, n > line
		if n == len(whole)-1 { // the line break alone is missing
			want, cut = 8.0, false
		}
		if got := *look(t, w).Health; rec.CutOff != cut || got != want {
			t.Errorf("%d bytes: found health %v, cut off %v, expected %v, %v", n, got, rec.CutOff, want, cut)
		}
	}
}

// reviewed are all fields of all updates, each looked at for whether it could
// hold a secret (a password, a session, a capability) or what anybody said. A
// new field belongs here after the same look, or not into an update.
var reviewed = map[string]string{
	"AgentHealth":      "Health",
	"AgentPlaced":      "Position Assumed",
	"AvatarNamed":      "ID Name Complete",
	"CoarseLocations":  "Entries You",
	"CoarseLocation":   "ID X Y Z",
	"Covered":          "Collection Truncated",
	"Disconnected":     "",
	"Alive":            "",
	"Frozen":           "",
	"Heard":            "ID Channel Active", // that somebody spoke, never what
	"InventoryFolder":  "ID ParentID Name Root",
	"InventoryItem":    "ID ParentID Name AssetType Created", // an asset's UUID would open it
	"InventoryMoved":   "ID ParentID Name",
	"InventoryRemoved": "IDs",
	"ObjectMoved":      "Order LocalID Position Rotation",
	"ObjectNamed":      "ID Name Description",
	"ObjectUpdated":    "Order LocalID ID PCode ParentID Position Rotation Scale HoverText Name Description FirstName LastName Attachment",
	"ObjectsKilled":    "Order LocalIDs",
	"ObjectsOffered":   "LocalIDs",
	"ParcelUpdated":    "LocalID Name Description Area AllowFly AllowBuild AllowScripts DamageEnabled Bitmap Current",
	"Quat":             "X Y Z W",
	"RegionEntered":    "Name SizeX SizeY WaterHeight",
	"RegionLeaving":    "",
	"RegionReady":      "",
	"RegionStayed":     "",
	"SessionStarted":   "Source Agent AsOf OwnLocalIDs",
	"Stamp":            "Generation Region At",
	"TerrainUpdated":   "X Y Width Height Heights",
	"Vec3":             "X Y Z",
}

func TestEveryFieldWasReviewed(t *testing.T) {
	seen := map[string]bool{}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(typ.Elem())
			return
		case reflect.Struct:
			if typ == reflect.TypeFor[time.Time]() || seen[typ.Name()] {
				return
			}
		default:
			return
		}
		seen[typ.Name()] = true
		var names []string
		for i := range typ.NumField() {
			if f := typ.Field(i); !f.Anonymous {
				names = append(names, f.Name)
			}
			walk(typ.Field(i).Type)
		}
		want, ok := reviewed[typ.Name()]
		if got := strings.Join(names, " "); !ok || got != want {
			t.Errorf("%s: found the fields %q, reviewed were %q", typ.Name(), got, want)
		}
	}
	for _, u := range replay.Updates {
		walk(reflect.TypeOf(u))
	}
	if len(seen) != len(reviewed) {
		t.Errorf("found %d types, reviewed were %d", len(seen), len(reviewed))
	}
}

// An hour of the demo.
func BenchmarkLoad(b *testing.B) {
	var file bytes.Buffer
	r := replay.NewRecorder(&file, nil)
	d := demo.New(nil)
	for _, u := range d.Open(start) {
		r.Observe(u)
	}
	for n := range 3600 {
		for _, u := range d.Moved(start.Add(time.Duration(n) * time.Second)) {
			r.Observe(u)
		}
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := replay.Load(b.Context(), bytes.NewReader(file.Bytes()), world.New(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
