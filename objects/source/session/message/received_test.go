package message_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// tail is the tail of an ObjectUpdate row after the hover text.
var tail = wire(4, v1("http://media"), v1("particles"), v1("extra"), 66)

// full lays out a row of ObjectUpdate.
func full(localID uint32, data, nameValue, text string) []byte {
	return wire(localID, uint8(0x21), id(7), 4, uint8(9), 2, world.Vec3{X: 1, Y: 2, Z: 3}, v1(data), uint32(77), 4+23,
		v2("textures"), v1("anim"), v2(nameValue), v2("\x05"), v1(text), tail)
}

var (
	header = wire(uint64(1000*256)<<32|uint64(2000*256), uint16(65535))
	place  = world.Vec3{X: 128.5, Y: 64.25, Z: 25}
	turn   = world.Quat{X: 0, Y: 0, Z: 0.6, W: 0.8}
	floats = wire(place, 12+12, turn, 12)
)

// compressed lays out a row of ObjectUpdateCompressed.
func compressed(flags uint32, rest ...any) []byte {
	return wire(4, v2(wire(id(7), uint32(42), uint8(9), uint8(0x21), 4+1+1, world.Vec3{X: 1, Y: 2, Z: 3}, place, turn, flags, 16, wire(rest...))))
}

func described(change func(*message.Object)) message.Object {
	o := message.Object{
		LocalID: 42, ID: id(7), PCode: 9, State: 0x21, Scale: world.Vec3{X: 1, Y: 2, Z: 3},
		Position: place, Rotation: turn, Placed: true,
	}
	change(&o)
	return o
}

const handle = uint64(1000*256)<<32 | 2000*256

// TestDecode is about what the captures do not hold.
func TestDecode(t *testing.T) {
	dirt := map[message.Number][]byte{}
	for _, name := range captureNames {
		packets, _ := load(t, name)
		for _, p := range packets {
			if !p.sent && len(p.body) > len(dirt[p.number]) {
				dirt[p.number] = p.body
			}
		}
	}
	reusing := table(true)
	item := wire(48, 5*4, uint8(0), 16, int8(3), int8(3), 4, 1, 4)
	for _, c := range []struct {
		name   string
		number message.Number
		body   []byte
		want   any
	}{
		{
			"every optional piece of a compressed row", message.NumberObjectUpdateCompressed,
			wire(header, uint8(1), compressed(0x080|0x020|0x001|0x004|0x200|0x008|0x010|0x100,
				12, uint32(77), v4(strings.Repeat("scratch", 50)), "hover\n文\x00", 4, "http://media\x00", 86,
				uint8(2), 2, v4("param"), 2, v4(""), 25, "Key STRING RW SV value\x00", 23, v4("textures"))),
			&message.ObjectUpdate{RegionHandle: handle, Objects: []message.Object{described(func(o *message.Object) {
				o.ParentID, o.HoverText, o.NameValue = 77, "hover\n文", "Key STRING RW SV value"
			})}},
		},
		{
			"a tree of 113 bytes between two prims", message.NumberObjectUpdateCompressed,
			wire(header, uint8(3), compressed(0x004, "a\x00", 4, uint8(0)), compressed(0x002, uint8(1), uint8(0), 23, uint32(0)), compressed(0, uint8(0))),
			&message.ObjectUpdate{RegionHandle: handle, Objects: []message.Object{
				described(func(o *message.Object) { o.HoverText = "a" }), described(func(*message.Object) {}), described(func(*message.Object) {}),
			}},
		},
		{
			"a tree's species instead of a scratch pad", message.NumberObjectUpdateCompressed,
			wire(header, uint8(1), compressed(0x001|0x002|0x004, uint8(1), "a\x00", 4, uint8(0))),
			&message.ObjectUpdate{RegionHandle: handle, Objects: []message.Object{described(func(o *message.Object) { o.HoverText = "a" })}},
		},
		{
			"properties", message.NumberObjectProperties,
			wire(uint8(2),
				id(1), 48, 8, 20, 4, 1, 4, 3, 4, 2, 64, v1("Name\x00"), v1("Description\x00"), v1("touch\x00"), v1("sit\x00"), v1(""),
				id(2), 48, 8, 20, 4, 1, 4, 3, 4, 2, 64, v1(""), v1("x"), v1(""), v1(""), v1("")),
			&message.ObjectProperties{Objects: []message.ObjectName{{ID: id(1), Name: "Name", Description: "Description"}, {ID: id(2), Description: "x"}}},
		},
		{
			"properties of a family", message.NumberObjectPropertiesFamily,
			wire(4, id(1), 32, 20, 4, 1, 4, 4, 16, v1("Name\x00"), v1("Description\x00")),
			&message.ObjectProperties{Objects: []message.ObjectName{{ID: id(1), Name: "Name", Description: "Description"}}},
		},
		{
			"progress", message.NumberTeleportProgress,
			wire(16, 4, v1("sending_dest\x00")), &message.TeleportNotice{Message: "sending_dest"},
		},
		{
			"failure", message.NumberTeleportFailed,
			wire(16, v1("no\x00"), uint8(1), v1("id"), v1("extra")), &message.TeleportNotice{Message: "no"},
		},
		{"health", message.NumberHealthMessage, wire(float32(12.5)), &message.HealthMessage{Health: 12.5}},
		{
			"region info", message.NumberRegionInfo,
			wire(32, v1("Region\x00"), 4+4+4+1+1+4+4, float32(21.5), 40), &message.RegionInfo{Name: "Region", WaterHeight: 21.5},
		},
		{
			"a handshake with what later versions add", message.NumberRegionHandshake,
			wire(5, v1("Region\x00"), 17, float32(21.5), 4+16+128+32, id(9), 8, v1("a"), v1("b"), v1("c"), uint8(1), 16, 99),
			&message.RegionHandshake{Name: "Region", WaterHeight: 21.5, RegionID: id(9)},
		},
		{"kick", message.NumberKickUser, wire(6, 32, v2("Bye\x00")), &message.KickUser{Reason: "Bye"}},
		{
			"names", message.NumberUUIDNameReply,
			wire(uint8(2), id(1), v1("A\x00"), v1("Resident\x00"), id(2), v1("Ü\x00"), v1("日本\x00")),
			&message.UUIDNameReply{Names: []message.AvatarName{{ID: id(1), First: "A", Last: "Resident"}, {ID: id(2), First: "Ü", Last: "日本"}}},
		},
		{
			"a new item", message.NumberUpdateCreateInventoryItem,
			wire(33, uint8(2), id(1), id(2), 4, item, v1("Name\x00"), v1("Description\x00"), int32(1500000000), 4,
				id(3), id(2), 4, item, v1(""), v1(""), int32(-1), 4),
			&message.InventoryUpdate{Items: []message.InventoryItem{
				{ID: id(1), FolderID: id(2), Name: "Name", AssetType: 3, Created: 1500000000}, {ID: id(3), FolderID: id(2), AssetType: 3, Created: -1},
			}},
		},
		{
			"a folder", message.NumberUpdateInventoryFolder,
			wire(32, uint8(1), id(1), id(2), int8(-1), v1("Folder\x00")),
			&message.InventoryUpdate{Folders: []message.InventoryFolder{{ID: id(1), ParentID: id(2), Name: "Folder", Type: -1}}},
		},
		{
			"a bulk update with placeholders", message.NumberBulkUpdateInventory,
			wire(32, uint8(2), id(0), id(0), int8(0), v1(""), id(1), id(2), int8(8), v1("Folder\x00"),
				uint8(2), id(0), 4, id(0), item, v1(""), v1(""), int32(0), 4, id(3), 4, id(1), item, v1("Name\x00"), v1(""), int32(7), 4),
			&message.InventoryUpdate{
				Folders: []message.InventoryFolder{{ID: id(1), ParentID: id(2), Name: "Folder", Type: 8}},
				Items:   []message.InventoryItem{{ID: id(3), FolderID: id(1), Name: "Name", AssetType: 3, Created: 7}},
			},
		},
		{
			"moved items", message.NumberMoveInventoryItem,
			wire(33, uint8(2), id(1), id(2), v1(""), id(3), id(2), v1("New\x00")),
			&message.MoveInventoryItem{Items: []message.MovedItem{{ID: id(1), FolderID: id(2)}, {ID: id(3), FolderID: id(2), NewName: "New"}}},
		},
		{"removed items", message.NumberRemoveInventoryItem, wire(32, uint8(2), id(1), id(2)), &message.InventoryRemoved{IDs: []world.UUID{id(1), id(2)}}},
		{"removed folders", message.NumberRemoveInventoryFolder, wire(32, uint8(2), id(0), id(2)), &message.InventoryRemoved{IDs: []world.UUID{id(2)}}},
		{
			"removed objects", message.NumberRemoveInventoryObjects,
			wire(32, uint8(1), id(1), uint8(2), id(0), id(2)), &message.InventoryRemoved{IDs: []world.UUID{id(1), id(2)}},
		},
		{
			"a group's notice", message.NumberImprovedInstantMessage,
			wire(id(1), 16, uint8(1), 16+4+16+12, uint8(1), uint8(32), id(2), uint32(1500000000), v1("Author\x00"), v2("Subject|Words\x00"),
				v2(wire(uint8(1), uint8(3), id(5), "item\x00")), uint32(1), uint8(1), v2("meta")),
			&message.ImprovedInstantMessage{
				FromID: id(1), FromName: "Author", FromGroup: true, Dialog: message.DialogGroupNotice, Offline: true,
				ID: id(2), Time: time.Unix(1500000000, 0).UTC(), BucketID: id(5),
			},
		},
		{
			"an object's offer, whose bucket has no ID", message.NumberImprovedInstantMessage,
			wire(id(1), 16, uint8(0), 16+4+16+12, uint8(0), uint8(9), id(2), uint32(0), v1("Object\x00"), v2("'Item'\x00"), v2("\x03"), uint32(1)),
			&message.ImprovedInstantMessage{FromID: id(1), FromName: "Object", Dialog: message.DialogTaskInventoryOffered, ID: id(2)},
		},
		{
			"an offer with too short a bucket", message.NumberImprovedInstantMessage,
			wire(id(1), 16, uint8(0), 16+4+16+12, uint8(0), uint8(4), id(2), uint32(0), v1("A B\x00"), v2("Item\x00"), v2(wire(uint8(3), 15)), uint32(1)),
			&message.ImprovedInstantMessage{FromID: id(1), FromName: "A B", Dialog: message.DialogInventoryOffered, ID: id(2)},
		},
		{
			"fewer agents than locations", message.NumberCoarseLocationUpdate,
			wire(uint8(2), uint8(1), uint8(2), uint8(255), uint8(4), uint8(5), uint8(6), int16(1), int16(-1), uint8(1), id(1)),
			&message.CoarseLocationUpdate{You: 1, Locations: []world.CoarseLocation{{ID: id(1), X: 1, Y: 2, Z: 255}, {X: 4, Y: 5, Z: 6}}},
		},
		{
			"more agents than locations, and you beyond", message.NumberCoarseLocationUpdate,
			wire(uint8(1), uint8(1), uint8(2), uint8(3), int16(1), int16(-1), uint8(2), id(1), id(2)),
			&message.CoarseLocationUpdate{You: -1, Locations: []world.CoarseLocation{{ID: id(1), X: 1, Y: 2, Z: 3}}},
		},
		{
			"nobody", message.NumberCoarseLocationUpdate,
			wire(uint8(0), int16(-1), int16(-1), uint8(0)), &message.CoarseLocationUpdate{You: -1},
		},
		{
			"terse: up to the rotation", message.NumberImprovedTerseObjectUpdate,
			wire(header, uint8(1), v1(wire(uint32(1), 1, uint8(0), place, 12, uint16(32767), uint16(32767), uint16(32767), uint16(65535))), v2("")),
			&message.ImprovedTerseObjectUpdate{RegionHandle: handle, Objects: []message.TerseObject{{LocalID: 1, Position: place, Rotation: world.Quat{W: 1}}}},
		},
		{
			"terse: with a plane, without, and longer", message.NumberImprovedTerseObjectUpdate,
			wire(header, uint8(3),
				v1(wire(uint32(1), 1, uint8(1), 16, place, 12, uint16(0), uint16(32768), uint16(32767), uint16(65535), 6)), v2("textures"),
				v1(wire(uint32(2), 1, uint8(0), place, 12, uint16(32767), uint16(32768), uint16(32768), uint16(65535), 6)), v2(""),
				v1(wire(uint32(3), 1, uint8(0), place, 12, uint16(65535), uint16(32768), uint16(32768), uint16(32767), 6, 9)), v2("")),
			&message.ImprovedTerseObjectUpdate{RegionHandle: handle, Objects: []message.TerseObject{
				{LocalID: 1, Position: place, Rotation: world.Quat{X: -1, W: 1}},
				{LocalID: 2, Position: place, Rotation: world.Quat{W: 1}},
				{LocalID: 3, Position: place, Rotation: world.Quat{X: 1}},
			}},
		},
		{"chat of nothing", message.NumberChatFromSimulator, wire(v1("A\x00"), id(1), 16, uint8(1), uint8(4), uint8(255), 12, v2("\x00")), &message.ChatFromSimulator{
			FromName: "A", SourceID: id(1), SourceType: message.SourceAgent, ChatType: message.ChatTypingStart, Audible: 255, Empty: true,
		}},
		{"acknowledgements", message.NumberPacketAck, wire(uint8(2), uint32(1), uint32(0xFFFFFFFF)), &message.PacketAck{Sequences: []uint32{1, 0xFFFFFFFF}}},
		{"a text of every odd kind", message.NumberKickUser, wire(6, 32, v2("\x00a\xff\xfeb\x1b\x00\x00")), &message.KickUser{Reason: "\x00a\uFFFDb\x1b\x00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decoders[c.number](c.body)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmpopts.EquateEmpty(), cmpopts.EquateApprox(0, 1e-7)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			longer, err := decoders[c.number](append(slices.Clone(c.body), 1, 2, 3))
			if d := cmp.Diff(got, longer); d != "" || err != nil {
				t.Errorf("with bytes behind it: %v, -without +with:\n%s", err, d)
			}
			reusing[c.number](dirt[c.number])
			reused, err := reusing[c.number](c.body)
			if d := cmp.Diff(got, reused, cmpopts.EquateEmpty()); d != "" || err != nil {
				t.Errorf("in a message that held another: %v, -fresh +reused:\n%s", err, d)
			}
		})
	}
}

func TestObjectData(t *testing.T) {
	word := func(f, lo, hi float64) uint16 { return uint16(math.Round((f - lo) / (hi - lo) * 65535)) }
	words := wire(word(place.X, -128, 384), word(place.Y, -128, 384), word(place.Z, -256, 4096), 6+6,
		word(turn.X, -1, 1), word(turn.Y, -1, 1), word(turn.Z, -1, 1), word(turn.W, -1, 1), 6)
	for _, c := range []struct {
		data []byte
		size int
		near float64 // 0: not placed
	}{
		{floats, 60, 1e-6},
		{wire(16, floats), 76, 1e-6},
		{wire(floats, 64), 124, 1e-6},
		{wire(16, floats, 64), 140, 1e-6},
		{words, 32, 0.04},
		{wire(16, words), 48, 0.04},
		{wire(words, 32), 64, 0.04},
		{wire(16, words, 32), 80, 0.04},
		{wire(16), 16, 0},
		{wire(59), 59, 0},
		{nil, 0, 0},
	} {
		if len(c.data) != c.size {
			t.Fatalf("laid out %d bytes, expected %d", len(c.data), c.size)
		}
		var m message.ObjectUpdate
		if err := m.Decode(wire(header, uint8(2), full(42, string(c.data), "A\x00", "b\x00"), full(43, string(floats), "", ""))); err != nil {
			t.Fatal(err)
		}
		want := []message.Object{described(func(o *message.Object) { o.ParentID, o.NameValue, o.HoverText = 77, "A", "b" }),
			described(func(o *message.Object) { o.ParentID, o.LocalID = 77, 43 })}
		if c.near == 0 {
			want[0].Position, want[0].Rotation, want[0].Placed = world.Vec3{}, world.Quat{}, false
		}
		if d := cmp.Diff(want, m.Objects, cmpopts.EquateApprox(0, max(c.near, 1e-6))); d != "" {
			t.Errorf("%d bytes, -want +got:\n%s", c.size, d)
		}
	}
}

func TestNotANumber(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	var m message.TeleportLocal
	if err := m.Decode(wire(20, nan, inf, float32(1))); err != nil || !math.IsNaN(m.Position.X) || !math.IsInf(m.Position.Y, 1) {
		t.Errorf("found %v, %v; expected them as they are", m.Position, err)
	}
	var u message.ObjectUpdate
	data := wire(place, 24, nan, float32(0), float32(0), 12)
	if err := u.Decode(wire(header, uint8(1), full(1, string(data), "", ""))); err != nil || !math.IsNaN(u.Objects[0].Rotation.X) {
		t.Errorf("found %+v, %v", u, err)
	}
}

// TestMalformed is about what is kept of a message that is broken, beside what
// every truncation of the captures' messages tells.
func TestMalformed(t *testing.T) {
	kept := described(func(*message.Object) {})
	for _, c := range []struct {
		name   string
		number message.Number
		body   []byte
		want   any
	}{
		{
			"a compressed row with a hover text that does not end", message.NumberObjectUpdateCompressed,
			wire(header, uint8(2), compressed(0x020|0x004, uint32(77), "never ends"), compressed(0, uint8(0))),
			&message.ObjectUpdate{RegionHandle: handle, Objects: []message.Object{described(func(o *message.Object) { o.ParentID = 77 }), kept}},
		},
		{
			"a compressed row with an extra parameter beyond its end", message.NumberObjectUpdateCompressed,
			wire(header, uint8(2), compressed(0x100, uint8(1), 2, uint32(0xFFFFFFFF)), compressed(0, uint8(0))),
			&message.ObjectUpdate{RegionHandle: handle, Objects: []message.Object{kept, kept}},
		},
		{
			"a compressed row too short to place anything", message.NumberObjectUpdateCompressed,
			wire(header, uint8(2), 4, v2(wire(63)), compressed(0, uint8(0))),
			&message.ObjectUpdate{RegionHandle: handle, Objects: []message.Object{kept}},
		},
		{
			"a compressed row beyond the end", message.NumberObjectUpdateCompressed,
			wire(header, uint8(2), compressed(0, uint8(0)), 4, uint16(9000), 100),
			&message.ObjectUpdate{RegionHandle: handle, Objects: []message.Object{kept}},
		},
		{
			"a name value beyond the end", message.NumberObjectUpdate,
			wire(header, uint8(2), full(42, string(floats), "", ""), full(43, string(floats), "", "")[:180], uint16(9000)),
			&message.ObjectUpdate{RegionHandle: handle, Objects: []message.Object{described(func(o *message.Object) { o.ParentID = 77 })}},
		},
		{
			"a terse row too short", message.NumberImprovedTerseObjectUpdate,
			wire(header, uint8(2), v1(wire(4, 1, uint8(1), 32)), v2(""), v1(wire(uint32(2), 1, uint8(0), place, 12, uint16(32767), uint16(32767), uint16(32767), uint16(65535), 6)), v2("")),
			&message.ImprovedTerseObjectUpdate{RegionHandle: handle, Objects: []message.TerseObject{{LocalID: 2, Position: place, Rotation: world.Quat{W: 1}}}},
		},
		{"fewer killed than counted", message.NumberKillObject, wire(uint8(200), uint32(1), uint32(2)), &message.KillObject{LocalIDs: []uint32{1, 2}}},
		{
			"no index", message.NumberCoarseLocationUpdate,
			wire(uint8(1), uint8(1), uint8(2), uint8(3)), &message.CoarseLocationUpdate{You: -1, Locations: []world.CoarseLocation{{X: 1, Y: 2, Z: 3}}},
		},
		{
			"a name beyond the end", message.NumberUUIDNameReply,
			wire(uint8(2), id(1), v1("A"), v1("B"), id(2), v1("C"), uint8(9), "D"), &message.UUIDNameReply{Names: []message.AvatarName{{ID: id(1), First: "A", Last: "B"}}},
		},
		{
			"an object without a place", message.NumberObjectUpdate,
			wire(header, uint8(2), full(42, string(floats), "", ""), full(43, string(floats), "", "")[:40]),
			&message.ObjectUpdate{RegionHandle: handle, Objects: []message.Object{described(func(o *message.Object) { o.ParentID = 77 })}},
		},
		{"a handshake of no region", message.NumberRegionHandshake, wire(5, v1("Region\x00"), 17, float32(21.5), 180), &message.RegionHandshake{Name: "Region", WaterHeight: 21.5}},
		{
			"an arrival that breaks off", message.NumberAgentMovementComplete,
			wire(32, float32(5)), &message.AgentMovementComplete{Position: world.Vec3{X: 5}},
		},
		{"an arrival nowhere", message.NumberTeleportLocal, wire(20), &message.TeleportLocal{}},
		{"half an item's ID", message.NumberRemoveInventoryItem, wire(32, uint8(2), id(1), 8), &message.InventoryRemoved{IDs: []world.UUID{id(1)}}},
		{
			"half an agent's ID", message.NumberCoarseLocationUpdate,
			wire(uint8(1), uint8(1), uint8(2), uint8(3), int16(0), int16(-1), uint8(1), 8), &message.CoarseLocationUpdate{Locations: []world.CoarseLocation{{X: 1, Y: 2, Z: 3}}},
		},
		{"a message about nothing", message.NumberImprovedInstantMessage, wire(id(1), 16, uint8(0)), &message.ImprovedInstantMessage{FromID: id(1)}},
		{"patches of another size", message.NumberLayerData, wire(uint8('L'), v2(wire(2, uint8(32), uint8('L'), 500))), &message.LayerData{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decoders[c.number](c.body)
			if !errors.Is(err, message.ErrTruncated) {
				t.Errorf("found error %v, expected one that wraps ErrTruncated", err)
			}
			if d := cmp.Diff(c.want, got, cmpopts.EquateEmpty(), cmpopts.EquateApprox(0, 1e-6)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// TestLostZeros cuts the zeros off the end of messages, as Second Life's
// simulator does at times.
func TestLostZeros(t *testing.T) {
	row := full(42, string(floats), "A\x00", "b\x00")
	clear(row[len(row)-66:])
	body := wire(header, uint8(1), row)
	whole, err := decoders[message.NumberObjectUpdate](body)
	if err != nil {
		t.Fatal(err)
	}
	for _, lost := range []int{5, 37, 66} {
		got, err := decoders[message.NumberObjectUpdate](body[:len(body)-lost])
		if err != nil || !reflect.DeepEqual(got, whole) {
			t.Errorf("%d bytes lost: found %+v, %v", lost, got, err)
		}
	}
	var h message.HealthMessage
	if err := h.Decode(nil); err != nil || h.Health != 0 {
		t.Errorf("found %+v, %v", h, err)
	}
	var k message.KillObject
	if err := k.Decode(wire(uint8(1), uint8(7))); err != nil || !slices.Equal(k.LocalIDs, []uint32{7}) {
		t.Errorf("found %+v, %v", k, err)
	}
}

// TestReuse decodes messages into values that held others before.
func TestReuse(t *testing.T) {
	var m message.ObjectUpdate
	bodies := [][]byte{
		wire(header, uint8(2), compressed(0x004|0x100, "hover\x00", 4, uint8(0), "names\x00"), compressed(0x020, uint32(5), uint8(0))),
		wire(header, uint8(2), compressed(0x020, uint32(5), uint8(0)), compressed(0x004, "other\x00", 4, uint8(0))),
		wire(header, uint8(0)),
		wire(header, uint8(3), compressed(0, uint8(0)), compressed(0, uint8(0)), compressed(0x002, uint8(1), uint8(0))),
	}
	for range 2 {
		for i, b := range bodies {
			var fresh message.ObjectUpdate
			if err := errors.Join(m.DecodeCompressed(b), fresh.DecodeCompressed(b)); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(fresh, m, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("body %d, -fresh +reused:\n%s", i, d)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { m.DecodeCompressed(bodies[0]) }); n != 0 {
		t.Errorf("found %v allocations for a message like the last, expected none", n)
	}
}

func TestNameValueOf(t *testing.T) {
	names := "FirstName STRING RW SV Ünï\nLastName STRING RW SV van  der Two\nTitle STRING RW SV \nEmpty STRING RW SV\nFirstName STRING RW SV Second"
	for _, c := range []struct {
		key, want string
		ok        bool
	}{
		{"FirstName", "Ünï", true},
		{"LastName", "van  der Two", true},
		{"Title", "", true},
		{"Empty", "", true},
		{"First", "", false},
		{"Name", "", false},
		{"AttachItemID", "", false},
	} {
		if got, ok := message.NameValueOf(names, c.key); got != c.want || ok != c.ok {
			t.Errorf("%s: found %q, %v; expected %q, %v", c.key, got, ok, c.want, c.ok)
		}
	}
}
