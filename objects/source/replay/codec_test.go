package replay_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/source/replay"
	"github.com/wipagent/wipagent/objects/world"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	region = world.MustUUID("aaaaaaaa-0000-4000-8000-000000000001")
	agent  = world.MustUUID("0a0a0a0a-0000-4000-8000-000000000001")
	thing  = world.MustUUID("0b1ec700-0000-4000-8000-000000000005")
	start  = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
)

func in(seconds float64) world.Stamp {
	return world.Stamp{Generation: 1, Region: region, At: start.Add(time.Duration(seconds * float64(time.Second)))}
}

func ptr[T any](v T) *T { return &v }

// unknowns makes numbers that count as unknown equal to each other.
var unknowns = cmp.Comparer(func(x, y float64) bool {
	odd := func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) }
	return odd(x) && odd(y) || math.Float64bits(x) == math.Float64bits(y)
})

// exactly makes a float32 equal to itself only, whatever it is.
var exactly = cmp.Comparer(func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })

// draw fills v with anything that its type can hold.
func draw(t *rapid.T, v reflect.Value, name string) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		seconds := rapid.Int64Range(-62167219200, 253402300799).Draw(t, name)
		*p = time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, name)).UTC()
		return
	case *[]byte:
		*p = rapid.OneOf(rapid.Just[[]byte](nil), rapid.SliceOf(rapid.Byte())).Draw(t, name)
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Int, reflect.Int32, reflect.Int64:
		bits := v.Type().Bits()
		v.SetInt(rapid.Int64().Draw(t, name) >> (64 - bits))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, name) >> (64 - v.Type().Bits()))
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(rapid.Uint64().Draw(t, name)))
	case reflect.Float32:
		*v.Addr().Interface().(*float32) = math.Float32frombits(rapid.Uint32().Draw(t, name))
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, name))
	case reflect.Array:
		for i := range v.Len() {
			draw(t, v.Index(i), name)
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, name) {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem(), name)
		}
	case reflect.Slice:
		n := rapid.IntRange(-1, 4).Draw(t, name)
		if n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range max(n, 0) {
			draw(t, v.Index(i), name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i), name+"."+v.Type().Field(i).Name)
		}
	default:
		t.Fatalf("no way to draw a %s", v.Type())
	}
}

// What is written of an update is all of it.
func TestRoundTrip(t *testing.T) {
	for _, u := range replay.Updates {
		typ := reflect.TypeOf(u)
		t.Run(typ.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := reflect.New(typ).Elem()
				draw(t, v, typ.Name())
				stamp := v.FieldByName("Stamp").Addr().Interface().(*world.Stamp)
				if stamp.Generation == 0 {
					stamp.Generation = 1
				}
				if stamp.At.IsZero() {
					stamp.At = start
				}
				want := v.Interface().(world.Update)
				line, err := replay.AppendUpdate(nil, want)
				if err != nil {
					t.Fatal(err)
				}
				if n := strings.Count(string(line), "\n"); n != 1 || !strings.HasSuffix(string(line), "\n") {
					t.Fatalf("found %d line breaks in %q", n, line)
				}
				got, err := replay.ParseUpdate(line)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if diff := cmp.Diff(want, got, unknowns, exactly); diff != "" {
					t.Fatalf("%s(-want +got):\n%s", line, diff)
				}
			})
		})
	}
}

// Every update of the world has a line here.
func TestAllUpdates(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../world/update.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && len(spec.Names) == 1 && spec.Names[0].Name == "_" && len(spec.Values) == 1 {
			want = append(want, spec.Values[0].(*ast.CompositeLit).Type.(*ast.Ident).Name)
		}
		return true
	})
	for _, u := range replay.Updates {
		got = append(got, reflect.TypeOf(u).Name())
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSnakeCase(t *testing.T) {
	for name, want := range map[string]string{
		"ID": "id", "IDs": "ids", "LocalIDs": "local_ids", "ParentID": "parent_id", "X": "x", "SizeX": "size_x", "AsOf": "as_of",
		"OwnLocalIDs": "own_local_ids", "PCode": "p_code", "ObjectUpdated": "object_updated", "AllowFly": "allow_fly",
	} {
		if got := replay.SnakeCase(name); got != want {
			t.Errorf("%s: found %s, expected %s", name, got, want)
		}
	}
}

// sample has one of each update, all fields in use.
func sample() []world.Update {
	turned := world.Quat{Z: math.Sqrt2 / 2, W: math.Sqrt2 / 2}
	place := world.Vec3{X: 128, Y: 64.25, Z: 22.5}
	return []world.Update{
		world.SessionStarted{Stamp: in(0), Source: "session", Agent: agent, AsOf: start, OwnLocalIDs: true},
		world.RegionEntered{Stamp: in(0), Name: "Test Region", SizeX: 256, SizeY: 512, WaterHeight: ptr(20.0)},
		world.RegionReady{Stamp: in(0)},
		world.Covered{Stamp: in(0.5), Collection: world.Objects, Truncated: true},
		world.AgentPlaced{Stamp: in(0.5), Position: place, Assumed: true},
		world.AgentHealth{Stamp: in(0.5), Health: 99.5},
		world.ObjectUpdated{Stamp: in(1), Order: 41, LocalID: 7, ID: thing, PCode: world.PCodePrim, ParentID: 8, Position: place, Rotation: turned,
			Scale: world.Vec3{X: 1, Y: 0.5, Z: math.NaN()}, HoverText: ptr(""), Name: ptr("a \"lamp\" <b>\n\u202e"), Description: ptr("\xff"), Attachment: true},
		world.ObjectUpdated{Stamp: in(1), LocalID: 9, ID: agent, PCode: world.PCodeAvatar, FirstName: "Some", LastName: "Body"},
		world.ObjectMoved{Stamp: in(1.25), Order: 42, LocalID: 7, Position: place, Rotation: turned},
		world.ObjectNamed{Stamp: in(1.25), ID: thing, Name: "lamp", Description: "lit"},
		world.ObjectsKilled{Stamp: in(1.25), Order: 43, LocalIDs: []uint32{7, 4294967295}},
		world.ObjectsOffered{Stamp: in(1.25), LocalIDs: []uint32{10}},
		world.CoarseLocations{Stamp: in(2), You: -1, Entries: []world.CoarseLocation{{ID: agent, X: 1, Y: 2, Z: 255}, {}}},
		world.AvatarNamed{Stamp: in(2), ID: agent, Name: "Some Body (some.body)", Complete: true},
		world.ParcelUpdated{Stamp: in(2), LocalID: -1, Name: "n", Description: "d", Area: 16, AllowFly: true, AllowBuild: true,
			AllowScripts: true, DamageEnabled: true, Bitmap: []byte{0, 1, 255}, Current: true},
		world.TerrainUpdated{Stamp: in(2), X: 16, Y: 32, Width: 2, Height: 1, Heights: []float32{23.745001, float32(math.NaN())}},
		world.InventoryFolder{Stamp: in(3), ID: thing, ParentID: agent, Name: "n", Root: true},
		world.InventoryItem{Stamp: in(3), ID: thing, ParentID: agent, Name: "n", AssetType: 3, Created: 1764417600},
		world.InventoryMoved{Stamp: in(3), ID: thing, ParentID: agent, Name: "n"},
		world.InventoryRemoved{Stamp: in(3), IDs: []world.UUID{thing}},
		world.Heard{Stamp: in(3), ID: thing, Channel: world.Lure, Active: start.Add(-time.Hour)},
		world.RegionLeaving{Stamp: in(4)},
		world.RegionStayed{Stamp: in(4)},
		world.Frozen{Stamp: in(5)}, world.Alive{Stamp: in(5)},
		world.Disconnected{Stamp: in(6.000000001)},
	}
}

// The form of a recording: what was written once must stay readable.
func TestGolden(t *testing.T) {
	const golden = "testdata/sample.jsonl"
	b := []byte(`{"wipagent_recording":1,"world":"sample","started":"2026-11-29T12:00:00Z"}` + "\n")
	used := map[string]map[string]bool{} // fields by type
	for _, u := range sample() {
		v := reflect.ValueOf(u)
		if used[v.Type().Name()] == nil {
			used[v.Type().Name()] = map[string]bool{}
		}
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				used[v.Type().Name()][v.Type().Field(i).Name] = true
			}
		}
		var err error
		if b, err = replay.AppendUpdate(b, u); err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range replay.Updates {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(u)) {
			if len(f.Index) == 1 && !used[reflect.TypeOf(u).Name()][f.Name] {
				t.Errorf("the sample has no %T with its %s", u, f.Name)
			}
		}
	}
	if *update {
		if err := os.WriteFile(golden, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, line := range strings.SplitAfter(strings.TrimSuffix(string(want), "\n"), "\n")[1:] {
		got, err := replay.ParseUpdate([]byte(line))
		if err != nil {
			t.Fatalf("line %d: %v", i+2, err)
		}
		if diff := cmp.Diff(sample()[i], got, unknowns, exactly); diff != "" {
			t.Errorf("line %d (-want +got):\n%s", i+2, diff)
		}
	}
}

func TestParseUpdateRefuses(t *testing.T) {
	const stamp = `"generation":1,"at":"2026-11-29T12:00:00Z"`
	tests := []struct{ name, line, want string }{
		{"nothing", ``, "found the line's end in the middle of a JSON value"},
		{"half", `{"type":"obj`, "found the line's end in the middle of a JSON value"},
		{"no object", `[1]`, `found "[1]", expected a JSON object`},
		{"no JSON", `{"type":wrong}`, "found no valid JSON: invalid character 'w' looking for beginning of value"},
		{"two", `{"type":"region_ready",` + stamp + `}{}`, "found no valid JSON: invalid character '{' after top-level value"},
		{"no type", `{}`, "found no type"},
		{"type not first", `{"generation":1,"type":"region_ready"}`, `found "generation" first, expected the type`},
		{"unknown type", `{"type":"gossip\u001b",` + stamp + `}`, `found the unknown type "gossip\x1b"`},
		{"type of another type", `{"type":7}`, `type: found "7", expected a string`},
		{"unknown field", `{"type":"region_ready",` + stamp + `,"mood":1}`, `region_ready: found the unknown field "mood"`},
		{"another update's field", `{"type":"region_ready",` + stamp + `,"local_id":1}`, `region_ready: found the unknown field "local_id"`},
		{"a field twice", `{"type":"agent_health",` + stamp + `,"health":1,"health":2}`, `found "health" twice`},
		{"no generation", `{"type":"region_ready","at":"2026-11-29T12:00:00Z"}`, "region_ready: found no generation"},
		{"no time", `{"type":"region_ready","generation":1}`, "region_ready: found no time"},
		{"bad time", `{"type":"region_ready","generation":1,"at":"noon"}`, `region_ready: at: found "noon", expected a time such as 2026-11-29T12:00:00Z`},
		{"bad UUID", `{"type":"object_named",` + stamp + `,"id":"7"}`, "object_named: id: found 1 bytes, expected a UUID of the form 8-4-4-4-12"},
		{"null", `{"type":"object_named",` + stamp + `,"name":null}`, "object_named: name: found null, expected a value"},
		{"too large a number", `{"type":"object_moved",` + stamp + `,"local_id":4294967296}`, `object_moved: local_id: found "4294967296", expected uint32`},
		{"negative", `{"type":"object_moved",` + stamp + `,"local_id":-1}`, `object_moved: local_id: found "-1", expected uint32`},
		{"a fraction", `{"type":"object_moved",` + stamp + `,"local_id":1.5}`, `object_moved: local_id: found "1.5", expected uint32`},
		{"too few numbers", `{"type":"object_moved",` + stamp + `,"position":[1,2]}`, "object_moved: position: found 2 numbers, expected 3"},
		{"too many numbers", `{"type":"object_moved",` + stamp + `,"rotation":[1,2,3,4,5]}`, "object_moved: rotation: found 5 numbers, expected 4"},
		{"no numbers", `{"type":"object_moved",` + stamp + `,"position":["1","2","3"]}`, `object_moved: position: found "\"1\"", expected float64`},
		{"half a height", `{"type":"terrain_updated",` + stamp + `,"heights":"AAA="}`, "terrain_updated: heights: found 2 bytes, expected 4 a height"},
		{"no base64", `{"type":"terrain_updated",` + stamp + `,"heights":"!"}`, `terrain_updated: heights: found "!", expected base64`},
		{"in a list", `{"type":"coarse_locations",` + stamp + `,"entries":[{},{"x":256}]}`, `coarse_locations: entries: entry 2: x: found "256", expected uint8`},
		{"a text in pieces", `{"type":"object_named",` + stamp + `,"name":{"hex":"00"}}`, `object_named: name: found "hex", expected base64`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u, err := replay.ParseUpdate([]byte(test.line))
			if err == nil || err.Error() != test.want {
				t.Errorf("found %v, %v\nexpected %s", u, err, test.want)
			}
		})
	}
}

func TestAppendUpdateRefuses(t *testing.T) {
	far := in(0)
	far.At = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, u := range map[string]world.Update{"no update": nil, "far future": world.RegionReady{Stamp: far}} {
		if _, err := replay.AppendUpdate(nil, u); err == nil {
			t.Errorf("%s: found no error", name)
		}
	}
}

// FuzzParseUpdate: whatever is read is written so that it reads the same.
func FuzzParseUpdate(f *testing.F) {
	for _, u := range sample() {
		line, err := replay.AppendUpdate(nil, u)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		u, err := replay.ParseUpdate(line)
		if err != nil {
			for _, r := range err.Error() {
				if r < ' ' || r == 0x7f {
					t.Fatalf("the error holds %U: %q", r, err)
				}
			}
			return
		}
		again, err := replay.AppendUpdate(nil, u)
		if err != nil {
			t.Fatalf("%s was read but cannot be written: %v", line, err)
		}
		back, err := replay.ParseUpdate(again)
		if err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if diff := cmp.Diff(u, back, unknowns, exactly); diff != "" {
			t.Fatalf("%s%s(-first +second):\n%s", line, again, diff)
		}
		world.New().Apply(u)
	})
}

func BenchmarkAppendUpdate(b *testing.B) {
	u := world.Update(world.ObjectMoved{Stamp: in(1.25), LocalID: 7, Position: world.Vec3{X: 1.5, Y: 2.25, Z: 22.125}, Rotation: world.Quat{W: 1}})
	line := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if line, err = replay.AppendUpdate(line[:0], u); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseUpdate(b *testing.B) {
	line, err := replay.AppendUpdate(nil, world.ObjectMoved{Stamp: in(1.25), LocalID: 7, Position: world.Vec3{X: 1.5, Y: 2.25, Z: 22.125}, Rotation: world.Quat{W: 1}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := replay.ParseUpdate(line); err != nil {
			b.Fatal(err)
		}
	}
}
