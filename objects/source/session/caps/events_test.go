package caps_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/world"
)

const seedURL = "http://192.0.2.7:9000/CAPS/5ec4e700-0000-4000-8000-000000000001/"

var (
	someone = world.MustUUID("0a0a0a0a-0000-4000-8000-000000000002")
	aGroup  = world.MustUUID("0b0b0b0b-0000-4000-8000-000000000003")
)

// capturedEvents returns the bodies of the events of a name that a real grid
// sent, in order.
func capturedEvents(t testing.TB, fixture, name string) (bodies []llsd.Value) {
	for _, e := range capture.Fixture(t, fixture).Exchanges {
		if !strings.HasPrefix(e.Path, "/CE/") || e.Status != 200 {
			continue
		}
		v, err := llsd.Parse(e.ResponseBody)
		if err != nil {
			t.Fatal(err)
		}
		for event := range v.Get("events").Values() {
			if got, _ := event.Get("message").Str(); got == name {
				bodies = append(bodies, event.Get("body"))
			}
		}
	}
	return bodies
}

func TestParcelsCaptured(t *testing.T) {
	for _, fixture := range []string{"login-session", "login-session-cached"} {
		var truth struct {
			Parcels []struct {
				SequenceID  int32 `json:"sequence_id"`
				LocalID     int32 `json:"local_id"`
				Name        string
				Description string
				Area        int
				Flags       uint32
				BitmapCells int `json:"bitmap_cells"`
				BitmapBytes int `json:"bitmap_bytes"`
			}
		}
		capture.Truth(t, fixture, &truth)
		bodies := capturedEvents(t, fixture, "ParcelProperties")
		if len(bodies) != len(truth.Parcels) || len(bodies) == 0 {
			t.Fatalf("%s: found %d parcels, expected %d", fixture, len(bodies), len(truth.Parcels))
		}
		for i, body := range bodies {
			got, err := caps.DecodeParcelProperties(body)
			if err != nil {
				t.Fatal(err)
			}
			w := truth.Parcels[i]
			cells := 0
			for _, b := range got.Bitmap {
				for ; b != 0; b &= b - 1 {
					cells++
				}
			}
			if cells != w.BitmapCells || len(got.Bitmap) != w.BitmapBytes {
				t.Errorf("%s: found %d cells in %d bytes, expected %d in %d", fixture, cells, len(got.Bitmap), w.BitmapCells, w.BitmapBytes)
			}
			got.Bitmap = nil
			want := caps.ParcelProperties{
				SequenceID: w.SequenceID, LocalID: w.LocalID, Name: w.Name, Description: w.Description, Area: w.Area,
				AllowFly: w.Flags&1 != 0, AllowScripts: w.Flags&2 != 0, DamageEnabled: w.Flags&32 != 0, AllowBuild: w.Flags&64 != 0, Agent: true,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", fixture, diff)
			}
		}
	}
}

func TestInventoryUpdateCaptured(t *testing.T) {
	var truth struct {
		InventoryUpdates []struct {
			Items []struct {
				UUID       world.UUID
				Name       string
				AssetType  int `json:"asset_type"`
				Created    int64
				FolderUUID world.UUID `json:"folder_uuid"`
			}
		} `json:"inventory_updates"`
	}
	capture.Truth(t, "login-session", &truth)
	bodies := capturedEvents(t, "login-session", "BulkUpdateInventory")
	if len(bodies) != len(truth.InventoryUpdates) || len(bodies) == 0 {
		t.Fatalf("found %d updates, expected %d", len(bodies), len(truth.InventoryUpdates))
	}
	for i, body := range bodies {
		got, err := caps.DecodeBulkUpdateInventory(body)
		if err != nil {
			t.Fatal(err)
		}
		var want caps.InventoryUpdate
		for _, item := range truth.InventoryUpdates[i].Items {
			want.Items = append(want.Items, caps.ItemRow{ID: item.UUID, FolderID: item.FolderUUID, Name: item.Name, AssetType: item.AssetType, Created: item.Created})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// rows is a block of one row, as most events have it.
func rows(members ...llsd.Member) llsd.Value { return llsd.Array(llsd.Map(members...)) }

func TestParcelProperties(t *testing.T) {
	with := func(members ...llsd.Member) llsd.Value {
		return llsd.Map(entry("ParcelData", rows(append([]llsd.Member{
			entry("LocalID", llsd.Integer(5)), entry("SequenceID", llsd.Integer(0)), entry("ParcelFlags", llsd.Integer(0)),
		}, members...)...)))
	}
	for _, test := range []struct {
		name string
		body llsd.Value
		want caps.ParcelProperties
	}{
		{"little", with(), caps.ParcelProperties{LocalID: 5, Agent: true}},
		{"row without an array", llsd.Map(entry("ParcelData", with().Get("ParcelData").Index(0))), caps.ParcelProperties{LocalID: 5, Agent: true}},
		{"binary flags", with(entry("ParcelFlags", llsd.BinaryU32(0x80000063))), caps.ParcelProperties{LocalID: 5, Agent: true, AllowFly: true, AllowScripts: true, DamageEnabled: true, AllowBuild: true}},
		{"negative flags", with(entry("ParcelFlags", llsd.Integer(-0x7FFFFFDF))), caps.ParcelProperties{LocalID: 5, Agent: true, AllowFly: true, DamageEnabled: true}},
		{"flags in a string", with(entry("ParcelFlags", llsd.String("64"))), caps.ParcelProperties{LocalID: 5, Agent: true, AllowBuild: true}},
		{"selection", with(entry("SequenceID", llsd.Integer(-10000))), caps.ParcelProperties{SequenceID: -10000, LocalID: 5}},
		{"binary sequence", with(entry("SequenceID", llsd.Binary([]byte{0xFF, 0xFF, 0xD8, 0xF0}))), caps.ParcelProperties{SequenceID: -10000, LocalID: 5}},
		{"several parcels there", with(entry("RequestResult", llsd.Integer(1))), caps.ParcelProperties{LocalID: 5, Agent: true}},
		{"nonsense beside it", with(entry("Area", llsd.String("large")), entry("Bitmap", llsd.String("x")), entry("Name", llsd.Array()), entry("Desc", llsd.String("d\x00"))),
			caps.ParcelProperties{LocalID: 5, Agent: true, Description: "d"}},
		{"negative area", with(entry("Area", llsd.Integer(-1))), caps.ParcelProperties{LocalID: 5, Agent: true}},
	} {
		got, err := caps.DecodeParcelProperties(test.body)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if _, err := caps.DecodeParcelProperties(with(entry("RequestResult", llsd.Integer(-1)))); !errors.Is(err, caps.ErrNoParcel) {
		t.Errorf("found %v, expected %v", err, caps.ErrNoParcel)
	}
	for _, body := range []llsd.Value{
		{}, llsd.Map(), llsd.Array(), llsd.Map(entry("ParcelData", llsd.Array())), llsd.Map(entry("ParcelData", rows())),
		with(entry("ParcelFlags", llsd.Undef())), with(entry("ParcelFlags", llsd.Integer(1<<40))),
		with(entry("LocalID", llsd.Undef())), with(entry("LocalID", llsd.Integer(1<<31))), with(entry("SequenceID", llsd.Integer(-1<<40))),
		with(entry("Bitmap", llsd.Binary(make([]byte, 1<<20)))),
	} {
		if got, err := caps.DecodeParcelProperties(body); err == nil {
			t.Errorf("found %+v, expected an error", got)
		}
	}
}

func TestArrivals(t *testing.T) {
	row := []llsd.Member{
		entry("SimIP", llsd.Binary([]byte{192, 0, 2, 7})), entry("SimPort", llsd.Integer(9001)),
		entry("RegionHandle", llsd.BinaryU64(1099511628032000)), entry("SeedCapability", llsd.String(seedURL)),
	}
	want := caps.Arrival{Simulator: netip.MustParseAddrPort("192.0.2.7:9001"), RegionHandle: 1099511628032000}
	with := func(m ...llsd.Member) []llsd.Member { return append(append([]llsd.Member{}, row...), m...) }
	check := func(name string, decode func(llsd.Value) (caps.Arrival, error), body llsd.Value, want caps.Arrival) {
		t.Helper()
		got, err := decode(body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if got.Seed.Reveal() != seedURL {
			t.Errorf("%s: found another seed capability", name)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }), cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Seed" }, cmp.Ignore())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		noURL(t, got)
	}
	finish := func(m ...llsd.Member) llsd.Value { return llsd.Map(entry("Info", rows(m...))) }
	check("teleport", caps.DecodeTeleportFinish, finish(row...), want)
	want.SizeX, want.SizeY = 512, 1024
	check("teleport into a large region", caps.DecodeTeleportFinish, finish(with(entry("RegionSizeX", llsd.BinaryU32(512)), entry("RegionSizeY", llsd.Integer(1024)))...), want)
	want.SizeX, want.SizeY = 0, 0
	check("teleport into one of no size", caps.DecodeTeleportFinish, finish(with(entry("RegionSizeX", llsd.Integer(-1)), entry("RegionSizeY", llsd.Integer(1<<30)))...), want)
	check("texts", caps.DecodeTeleportFinish, finish(with(entry("SimIP", llsd.String("192.0.2.7")), entry("SimPort", llsd.String("9001")), entry("RegionHandle", llsd.String("1099511628032000")))...), want)
	crossed := func(m []llsd.Member, info ...llsd.Member) llsd.Value {
		return llsd.Map(entry("RegionData", rows(m...)), entry("Info", rows(info...)))
	}
	check("crossing without a place", caps.DecodeCrossedRegion, crossed(row), want)
	want.Position = &world.Vec3{X: 1, Y: 2.5, Z: 30}
	check("crossing", caps.DecodeCrossedRegion, crossed(row, entry("Position", llsd.Array(llsd.Real(1), llsd.Real(2.5), llsd.Integer(30)))), want)

	for _, m := range []llsd.Member{
		entry("SimIP", llsd.Undef()), entry("SimIP", llsd.Binary([]byte{0, 0, 0, 0})), entry("SimIP", llsd.Binary([]byte{1, 2, 3})),
		entry("SimPort", llsd.Integer(0)), entry("SimPort", llsd.Integer(65536)), entry("SimPort", llsd.Undef()),
		entry("RegionHandle", llsd.Undef()), entry("RegionHandle", llsd.Integer(-1)),
		entry("SeedCapability", llsd.Undef()), entry("SeedCapability", llsd.String("")), entry("SeedCapability", llsd.String("file:///5ec4e7")),
	} {
		if _, err := caps.DecodeTeleportFinish(finish(with(m)...)); err == nil {
			t.Errorf("found a teleport with %s %s, expected an error", m.Key, m.Value)
		} else {
			noURL(t, err)
		}
		if _, err := caps.DecodeCrossedRegion(crossed(with(m))); err == nil {
			t.Errorf("found a crossing with %s %s, expected an error", m.Key, m.Value)
		}
	}

	body := llsd.Map(entry("agent-id", llsd.String(someone.String())), entry("sim-ip-and-port", llsd.String("192.0.2.7:9001")), entry("seed-capability", llsd.String(seedURL)))
	c, err := caps.DecodeEstablishAgentCommunication(body)
	if err != nil || c.AgentID != someone || c.Simulator != want.Simulator || c.Seed.Reveal() != seedURL {
		t.Errorf("found %+v, %v", c, err)
	}
	noURL(t, c)
	for _, missing := range []string{"sim-ip-and-port", "seed-capability"} {
		var some []llsd.Member
		for k, v := range body.All() {
			if k != missing {
				some = append(some, entry(k, v))
			}
		}
		if _, err := caps.DecodeEstablishAgentCommunication(llsd.Map(some...)); err == nil {
			t.Errorf("found no error without %s", missing)
		}
	}
}

func TestInvitation(t *testing.T) {
	const said = "what was said"
	params := func(m ...llsd.Member) llsd.Value {
		return llsd.Map(
			entry("session_name", llsd.String("The Group")), entry("from_id", llsd.UUID(someone)),
			entry("instantmessage", llsd.Map(entry("message_params", llsd.Map(append([]llsd.Member{
				entry("id", llsd.UUID(aGroup)), entry("from_id", llsd.UUID(someone)), entry("from_name", llsd.String("Second Resident")),
				entry("type", llsd.Integer(17)), entry("timestamp", llsd.Integer(1795986026)), entry("message", llsd.String(said)),
				entry("data", llsd.Map(entry("binary_bucket", llsd.Binary([]byte("The Group"))))),
			}, m...)...)))))
	}
	want := caps.Invitation{SessionID: aGroup, FromID: someone, FromName: "Second Resident", Dialog: 17, Time: time.Unix(1795986026, 0).UTC()}
	group, quiet := want, want
	group.Group = true
	quiet.Time, quiet.Dialog = time.Time{}, 0
	for _, test := range []struct {
		name string
		body llsd.Value
		want caps.Invitation
	}{
		{"conference", params(), want},
		{"group", params(entry("from_group", llsd.Boolean(true))), group},
		{"group in a letter", params(entry("from_group", llsd.String("Y"))), group},
		{"no group in a letter", params(entry("from_group", llsd.String("N"))), want},
		{"texts", params(entry("id", llsd.String(aGroup.String())), entry("timestamp", llsd.BinaryU32(1795986026)), entry("type", llsd.String("17"))), want},
		{"no time and dialog", params(entry("timestamp", llsd.Integer(0)), entry("type", llsd.Integer(300))), quiet},
		{"sender outside", params(entry("from_id", llsd.Undef())), want},
		{"immediate", llsd.Map(entry("session_id", llsd.UUID(aGroup)), entry("from_id", llsd.UUID(someone)), entry("from_name", llsd.String("Second Resident")), entry("immediate", llsd.Boolean(true))), quiet},
		{"voice", llsd.Map(entry("session_id", llsd.UUID(aGroup)), entry("from_id", llsd.UUID(someone)), entry("voice", llsd.Map())), caps.Invitation{SessionID: aGroup, FromID: someone, Voice: true}},
	} {
		got, err := caps.DecodeChatterBoxInvitation(test.body)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if strings.Contains(fmt.Sprintf("%+v", got), said) {
			t.Errorf("%s: found the words", test.name)
		}
	}
	for _, body := range []llsd.Value{{}, params(entry("id", llsd.Undef())), llsd.Map(entry("session_id", llsd.UUID(aGroup)))} {
		if got, err := caps.DecodeChatterBoxInvitation(body); err == nil {
			t.Errorf("found %+v, expected an error", got)
		}
	}
}

func TestBulkUpdateInventory(t *testing.T) {
	got, err := caps.DecodeBulkUpdateInventory(llsd.Map(
		entry("FolderData", llsd.Array(
			llsd.Map(entry("FolderID", llsd.UUID(world.UUID{})), entry("ParentID", llsd.UUID(world.UUID{}))),
			llsd.Map(entry("FolderID", llsd.String(aGroup.String())), entry("ParentID", llsd.UUID(world.UUID{})), entry("Name", llsd.String("A\x00")), entry("Type", llsd.Integer(3))),
			llsd.Map(entry("FolderID", llsd.UUID(someone)), entry("ParentID", llsd.UUID(aGroup))),
			llsd.Map(entry("FolderID", llsd.UUID(someone))),
			llsd.Undef(),
		)),
		entry("ItemData", llsd.Array(
			llsd.Map(entry("ItemID", llsd.UUID(someone)), entry("FolderID", llsd.UUID(aGroup)), entry("Type", llsd.String("landmark")), entry("CreationDate", llsd.Date(time.Unix(7, 0)))),
			llsd.Map(entry("ItemID", llsd.UUID(someone)), entry("FolderID", llsd.UUID(aGroup)), entry("Type", llsd.Undef()), entry("CreationDate", llsd.Integer(-1))),
			llsd.Map(entry("ItemID", llsd.String("nobody"))),
		)),
	))
	if err != nil {
		t.Fatal(err)
	}
	want := caps.InventoryUpdate{
		Folders: []caps.FolderRow{{ID: aGroup, Name: "A", Type: 3}, {ID: someone, ParentID: aGroup, Type: -1}},
		Items:   []caps.ItemRow{{ID: someone, FolderID: aGroup, AssetType: 3, Created: 7}, {ID: someone, FolderID: aGroup, AssetType: -1, Created: -1}},
		Skipped: 3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := caps.DecodeBulkUpdateInventory(llsd.Map()); err == nil {
		t.Errorf("found %+v, expected an error", got)
	}
}

func TestSmallEvents(t *testing.T) {
	groups, err := caps.DecodeGroups(llsd.Map(entry("GroupData", llsd.Array(
		llsd.Map(entry("GroupID", llsd.UUID(aGroup)), entry("GroupPowers", llsd.BinaryU64(1))), llsd.Map(entry("GroupID", llsd.UUID(world.UUID{}))), llsd.Undef(),
		llsd.Map(entry("GroupID", llsd.String(someone.String()))),
	))))
	if diff := cmp.Diff([]world.UUID{aGroup, someone}, groups); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if groups, err = caps.DecodeGroups(llsd.Map(entry("GroupData", llsd.Array()))); err != nil || len(groups) != 0 {
		t.Errorf("found %v, %v, expected to be in no group", groups, err)
	}
	if _, err = caps.DecodeGroups(llsd.Map()); err == nil {
		t.Error("found no error without groups")
	}

	if reason, err := caps.DecodeTeleportFailed(llsd.Map(entry("Info", rows(entry("Reason", llsd.String("no_host")))))); err != nil || reason != "no_host" {
		t.Errorf("found %q, %v", reason, err)
	}
	if _, err := caps.DecodeTeleportFailed(llsd.Undef()); err == nil {
		t.Error("found no error without a block")
	}

	name, err := caps.DecodeDisplayNameUpdate(llsd.Map(
		entry("agent_id", llsd.UUID(someone)), entry("old_display_name", llsd.String("Second")),
		entry("agent", llsd.Map(entry("display_name", llsd.String("Zweite")), entry("username", llsd.String("second.resident")), entry("is_display_name_default", llsd.Boolean(false))))))
	want := caps.Name{ID: someone, Display: "Zweite", Username: "second.resident", First: "second", Last: "resident"}
	if diff := cmp.Diff(want, name); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	name, err = caps.DecodeDisplayNameUpdate(llsd.Map(entry("agent", llsd.Map(
		entry("id", llsd.UUID(someone)), entry("display_name", llsd.String("Second Resident")), entry("is_display_name_default", llsd.Integer(1)),
		entry("legacy_first_name", llsd.String("Second")), entry("legacy_last_name", llsd.String("Resident"))))))
	want = caps.Name{ID: someone, Display: "Second Resident", First: "Second", Last: "Resident", Default: true}
	if diff := cmp.Diff(want, name); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, body := range []llsd.Value{{}, llsd.Map(entry("agent_id", llsd.UUID(someone))), llsd.Map(entry("agent", llsd.Map(entry("username", llsd.String("x")))))} {
		if got, err := caps.DecodeDisplayNameUpdate(body); err == nil {
			t.Errorf("found %+v, expected an error", got)
		}
	}
}

// decodeAll runs a body through every decoder.
func decodeAll(body llsd.Value) (errs []error) {
	decode := func(_ any, err error) { errs = append(errs, err) }
	decode(caps.DecodeParcelProperties(body))
	decode(caps.DecodeTeleportFinish(body))
	decode(caps.DecodeCrossedRegion(body))
	decode(caps.DecodeEstablishAgentCommunication(body))
	decode(caps.DecodeGroups(body))
	decode(caps.DecodeChatterBoxInvitation(body))
	decode(caps.DecodeBulkUpdateInventory(body))
	decode(caps.DecodeDisplayNameUpdate(body))
	decode(caps.DecodeTeleportFailed(body))
	return errs
}

// FuzzEvents: no body harms a decoder, or makes it report a failure of ours.
func FuzzEvents(f *testing.F) {
	for _, name := range []string{"ParcelProperties", "BulkUpdateInventory"} {
		for _, body := range capturedEvents(f, "login-session", name) {
			f.Add(body.AppendXML(nil))
		}
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		body, err := llsd.Parse(document)
		if err != nil {
			return
		}
		for _, err := range decodeAll(body) {
			if err != nil && strings.Contains(err.Error(), "internal") {
				t.Error(err)
			}
		}
	})
}

func BenchmarkDecodeParcelProperties(b *testing.B) {
	body := capturedEvents(b, "login-session", "ParcelProperties")[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := caps.DecodeParcelProperties(body); err != nil {
			b.Fatal(err)
		}
	}
}
