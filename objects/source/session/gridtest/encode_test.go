package gridtest_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// id returns a UUID for a test.
func id(n byte) world.UUID {
	return world.UUID{n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, n}
}

var (
	turned  = world.Quat{X: 0.5, Y: -0.5, Z: 0.5, W: 0.5}
	objects = []message.Object{
		{LocalID: 1, ID: id(1), PCode: 9, Scale: world.Vec3{X: 0.5, Y: 1, Z: 2}, Position: world.Vec3{X: 12.5, Y: 200.25, Z: -3},
			Rotation: turned, Placed: true, HoverText: "hover ü 日本"},
		{LocalID: 2, ID: id(2), PCode: 47, ParentID: 1, Scale: world.Vec3{X: 0.5, Y: 0.5, Z: 2}, Position: world.Vec3{Z: 1.5},
			Rotation: world.Quat{W: 1}, Placed: true, NameValue: "FirstName STRING RW SV Ünï\nLastName STRING RW SV 日本"},
		{LocalID: 4 + 16, ID: id(3), PCode: 9, State: 32, ParentID: 2, Scale: world.Vec3{X: 1, Y: 1, Z: 1}, Position: world.Vec3{X: 0.125},
			Rotation: world.Quat{W: 1}, Placed: true, HoverText: "hat", NameValue: "AttachItemID STRING RW SV " + id(9).String()},
		{LocalID: 8, ID: id(4), PCode: 255, Scale: world.Vec3{X: 1, Y: 1, Z: 1}, Position: world.Vec3{X: 1000, Y: 900, Z: 21},
			Rotation: world.Quat{W: 1}, Placed: true},
		{LocalID: 31, ID: id(5), PCode: 9, ParentID: 8, Scale: world.Vec3{X: 1, Y: 1, Z: 1}, Position: world.Vec3{X: 1, Y: 2, Z: 3},
			Rotation: world.Quat{W: 1}, Placed: true, HoverText: "all of it", NameValue: "Title STRING RW SV none"},
	}
	item   = message.InventoryItem{ID: id(20), FolderID: id(21), Name: "a landmark ü", AssetType: 3, Created: 1_700_000_000}
	folder = message.InventoryFolder{ID: id(21), ParentID: id(22), Name: "Landmarks", Type: -1}
)

// TestEncodersAgainstDecoders holds the two sides of the layouts, which were
// written apart from each other, together.
func TestEncodersAgainstDecoders(t *testing.T) {
	agent, session := id(40), id(41)
	full := &message.ObjectUpdate{RegionHandle: 256000<<32 | 256256, Objects: objects}
	terse := &message.ImprovedTerseObjectUpdate{RegionHandle: 256000 << 32, Objects: []message.TerseObject{
		{LocalID: 1, Position: world.Vec3{X: 1, Y: 2, Z: 3}, Rotation: turned},
		{LocalID: 2, Position: world.Vec3{X: 255.5, Y: 2, Z: 3}, Rotation: world.Quat{W: 1}},
	}}
	cached := &message.ObjectUpdateCached{RegionHandle: 1 << 32, LocalIDs: []uint32{7, 8, 1 << 31}}
	kill := &message.KillObject{LocalIDs: []uint32{7, 7, 8}}
	coarse := &message.CoarseLocationUpdate{You: 1, Locations: []world.CoarseLocation{{ID: id(1), X: 255, Y: 1, Z: 6}, {ID: id(2), Y: 128, Z: 255}}}
	nobody := &message.CoarseLocationUpdate{You: -1}
	names := &message.ObjectProperties{Objects: []message.ObjectName{{ID: id(1), Name: "Chair", Description: "to sit"}, {ID: id(2)}}}
	handshake := &message.RegionHandshake{Name: "Alpha ü", WaterHeight: 20.5, RegionID: id(50)}
	info := &message.RegionInfo{Name: "Alpha", WaterHeight: 19.5}
	complete := &message.AgentMovementComplete{Position: world.Vec3{X: 128, Y: 127.5, Z: 25}, LookAt: world.Vec3{X: 1}, RegionHandle: 5<<32 | 6, ChannelVersion: "gridtest 1"}
	chat := &message.ChatFromSimulator{FromName: "Second Resident", SourceID: id(2), SourceType: message.SourceAgent, ChatType: message.ChatShout, Audible: 1}
	typing := &message.ChatFromSimulator{FromName: "x", SourceID: id(2), SourceType: message.SourceAgent, ChatType: message.ChatTypingStart, Empty: true}
	im := &message.ImprovedInstantMessage{FromID: id(2), FromName: "Second Resident", Dialog: message.DialogMessage, ID: id(8), Time: time.Unix(1_700_000_000, 0).UTC()}
	offer := &message.ImprovedInstantMessage{FromID: id(2), FromName: "x", Dialog: message.DialogInventoryOffered, Offline: true, ID: id(8), BucketID: id(9)}
	notice := &message.ImprovedInstantMessage{FromID: id(2), FromGroup: true, FromName: "x", Dialog: message.DialogGroupNotice, ID: id(8), BucketID: id(2)}
	people := &message.UUIDNameReply{Names: []message.AvatarName{{ID: id(1), First: "A", Last: "B"}, {ID: id(2), First: "日本", Last: "Resident"}}}
	bulk := &message.InventoryUpdate{Folders: []message.InventoryFolder{folder}, Items: []message.InventoryItem{item, item}}
	moved := &message.MoveInventoryItem{Items: []message.MovedItem{{ID: id(1), FolderID: id(2)}, {ID: id(3), FolderID: id(4), NewName: "new"}}}

	decode := map[string]struct {
		encoded []byte
		number  message.Number
		want    any
		decode  func([]byte) (any, error)
	}{
		"StartPingCheck":    {gridtest.EncodeStartPingCheck(message.StartPingCheck{PingID: 3, OldestUnacked: 99}), message.NumberStartPingCheck, &message.StartPingCheck{PingID: 3, OldestUnacked: 99}, by((*message.StartPingCheck).Decode)},
		"CompletePingCheck": {gridtest.EncodeCompletePingCheck(message.CompletePingCheck{PingID: 3}), message.NumberCompletePingCheck, &message.CompletePingCheck{PingID: 3}, by((*message.CompletePingCheck).Decode)},
		"PacketAck":         {gridtest.EncodePacketAck(&message.PacketAck{Sequences: []uint32{1, 1 << 24}}), message.NumberPacketAck, &message.PacketAck{Sequences: []uint32{1, 1 << 24}}, by((*message.PacketAck).Decode)},

		"ObjectUpdate":              {gridtest.EncodeObjectUpdate(full), message.NumberObjectUpdate, full, by((*message.ObjectUpdate).Decode)},
		"ObjectUpdateCompressed":    {gridtest.EncodeObjectUpdateCompressed(full), message.NumberObjectUpdateCompressed, full, by((*message.ObjectUpdate).DecodeCompressed)},
		"ImprovedTerseObjectUpdate": {gridtest.EncodeImprovedTerseObjectUpdate(terse, map[uint32]bool{2: true}), message.NumberImprovedTerseObjectUpdate, terse, by((*message.ImprovedTerseObjectUpdate).Decode)},
		"ObjectUpdateCached":        {gridtest.EncodeObjectUpdateCached(cached), message.NumberObjectUpdateCached, cached, by((*message.ObjectUpdateCached).Decode)},
		"KillObject":                {gridtest.EncodeKillObject(kill), message.NumberKillObject, kill, by((*message.KillObject).Decode)},
		"CoarseLocationUpdate":      {gridtest.EncodeCoarseLocationUpdate(coarse), message.NumberCoarseLocationUpdate, coarse, by((*message.CoarseLocationUpdate).Decode)},
		"nobody coarse":             {gridtest.EncodeCoarseLocationUpdate(nobody), message.NumberCoarseLocationUpdate, nobody, by((*message.CoarseLocationUpdate).Decode)},
		"ObjectProperties":          {gridtest.EncodeObjectProperties(names), message.NumberObjectProperties, names, by((*message.ObjectProperties).Decode)},
		"ObjectPropertiesFamily": {gridtest.EncodeObjectPropertiesFamily(names.Objects[0]), message.NumberObjectPropertiesFamily,
			&message.ObjectProperties{Objects: names.Objects[:1]}, by((*message.ObjectProperties).DecodeFamily)},

		"RegionHandshake":       {gridtest.EncodeRegionHandshake(handshake), message.NumberRegionHandshake, handshake, by((*message.RegionHandshake).Decode)},
		"RegionInfo":            {gridtest.EncodeRegionInfo(agent, session, info), message.NumberRegionInfo, info, by((*message.RegionInfo).Decode)},
		"AgentMovementComplete": {gridtest.EncodeAgentMovementComplete(agent, session, complete), message.NumberAgentMovementComplete, complete, by((*message.AgentMovementComplete).Decode)},
		"HealthMessage":         {gridtest.EncodeHealthMessage(message.HealthMessage{Health: 87.5}), message.NumberHealthMessage, &message.HealthMessage{Health: 87.5}, by((*message.HealthMessage).Decode)},
		"TeleportStart":         {gridtest.EncodeTeleportStart(), message.NumberTeleportStart, &message.TeleportNotice{}, by((*message.TeleportNotice).DecodeStart)},
		"TeleportProgress":      {gridtest.EncodeTeleportProgress(agent, "sending"), message.NumberTeleportProgress, &message.TeleportNotice{Message: "sending"}, by((*message.TeleportNotice).DecodeProgress)},
		"TeleportFailed":        {gridtest.EncodeTeleportFailed(agent, "no"), message.NumberTeleportFailed, &message.TeleportNotice{Message: "no"}, by((*message.TeleportNotice).DecodeFailed)},
		"TeleportLocal":         {gridtest.EncodeTeleportLocal(agent, message.TeleportLocal{Position: complete.Position}), message.NumberTeleportLocal, &message.TeleportLocal{Position: complete.Position}, by((*message.TeleportLocal).Decode)},
		"KickUser":              {gridtest.EncodeKickUser(agent, session, message.KickUser{Reason: "out ü"}), message.NumberKickUser, &message.KickUser{Reason: "out ü"}, by((*message.KickUser).Decode)},

		"ChatFromSimulator":      {gridtest.EncodeChatFromSimulator(chat, ""), message.NumberChatFromSimulator, chat, by((*message.ChatFromSimulator).Decode)},
		"typing":                 {gridtest.EncodeChatFromSimulator(typing, ""), message.NumberChatFromSimulator, typing, by((*message.ChatFromSimulator).Decode)},
		"ImprovedInstantMessage": {gridtest.EncodeImprovedInstantMessage(agent, im, ""), message.NumberImprovedInstantMessage, im, by((*message.ImprovedInstantMessage).Decode)},
		"offer":                  {gridtest.EncodeImprovedInstantMessage(agent, offer, ""), message.NumberImprovedInstantMessage, offer, by((*message.ImprovedInstantMessage).Decode)},
		"notice":                 {gridtest.EncodeImprovedInstantMessage(agent, notice, "words"), message.NumberImprovedInstantMessage, notice, by((*message.ImprovedInstantMessage).Decode)},
		"UUIDNameReply":          {gridtest.EncodeUUIDNameReply(people), message.NumberUUIDNameReply, people, by((*message.UUIDNameReply).Decode)},

		"UpdateCreateInventoryItem": {gridtest.EncodeUpdateCreateInventoryItem(agent, bulk.Items), message.NumberUpdateCreateInventoryItem, &message.InventoryUpdate{Items: bulk.Items}, by((*message.InventoryUpdate).DecodeUpdateCreate)},
		"BulkUpdateInventory":       {gridtest.EncodeBulkUpdateInventory(agent, bulk), message.NumberBulkUpdateInventory, bulk, by((*message.InventoryUpdate).DecodeBulk)},
		"UpdateInventoryFolder":     {gridtest.EncodeUpdateInventoryFolder(agent, session, bulk.Folders), message.NumberUpdateInventoryFolder, &message.InventoryUpdate{Folders: bulk.Folders}, by((*message.InventoryUpdate).DecodeFolder)},
		"MoveInventoryItem":         {gridtest.EncodeMoveInventoryItem(agent, session, moved), message.NumberMoveInventoryItem, moved, by((*message.MoveInventoryItem).Decode)},
		"RemoveInventoryItem":       {gridtest.EncodeRemoveInventoryItem(agent, session, []world.UUID{id(1), id(2)}), message.NumberRemoveInventoryItem, &message.InventoryRemoved{IDs: []world.UUID{id(1), id(2)}}, by((*message.InventoryRemoved).DecodeItems)},
		"RemoveInventoryFolder":     {gridtest.EncodeRemoveInventoryFolder(agent, session, []world.UUID{id(1)}), message.NumberRemoveInventoryFolder, &message.InventoryRemoved{IDs: []world.UUID{id(1)}}, by((*message.InventoryRemoved).DecodeFolders)},
		"RemoveInventoryObjects":    {gridtest.EncodeRemoveInventoryObjects(agent, session, []world.UUID{id(1)}, []world.UUID{id(2)}), message.NumberRemoveInventoryObjects, &message.InventoryRemoved{IDs: []world.UUID{id(1), id(2)}}, by((*message.InventoryRemoved).DecodeObjects)},
	}
	for name, tt := range decode {
		t.Run(name, func(t *testing.T) {
			n, rest, err := message.Split(tt.encoded)
			if err != nil || n != tt.number {
				t.Fatalf("found number %v and error %v, expected %v", n, err, tt.number)
			}
			got, err := tt.decode(rest)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 2e-5), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
		})
	}
}

// by makes a decoder method a function.
func by[T any](decode func(*T, []byte) error) func([]byte) (any, error) {
	return func(b []byte) (any, error) {
		var v T
		err := decode(&v, b)
		return &v, err
	}
}

func TestEncodeLayerData(t *testing.T) {
	for name, tt := range map[string]struct {
		x, y      int
		height    func(x, y int) float64
		tolerance float64
	}{
		"flat":     {256, 256, func(int, int) float64 { return 21 }, 0.001},
		"hills":    {256, 256, hills, 0.1},
		"512":      {512, 512, hills, 0.1},
		"1024":     {1024, 256, hills, 0.1},
		"cliff":    {32, 32, func(x, _ int) float64 { return float64(x/9) * 40 }, 12},
		"too deep": {16, 16, func(x, _ int) float64 { return float64(-x) }, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := make([]bool, tt.x*tt.y)
			var worst float64
			for _, m := range gridtest.EncodeLayerData(tt.x, tt.y, tt.height) {
				if len(m) > 1200 {
					t.Errorf("found a message of %d bytes, expected at most 1200", len(m))
				}
				_, rest, err := message.Split(m)
				if err != nil {
					t.Fatal(err)
				}
				var data message.LayerData
				if err := data.Decode(rest); err != nil {
					t.Fatal(err)
				}
				for _, p := range data.Patches {
					for k, h := range p.Heights {
						x, y := p.X+k%p.Size, p.Y+k/p.Size
						if seen[y*tt.x+x] {
							t.Fatalf("found metre %d, %d twice", x, y)
						}
						seen[y*tt.x+x] = true
						worst = max(worst, math.Abs(float64(h)-tt.height(x, y)))
					}
				}
			}
			for k, ok := range seen {
				if !ok {
					t.Fatalf("found no height at %d, %d", k%tt.x, k/tt.x)
				}
			}
			if !(worst <= tt.tolerance) {
				t.Errorf("found heights %.4f m off, expected at most %.4f", worst, tt.tolerance)
			}
		})
	}
}

// hills is the land of the captured region.
func hills(x, y int) float64 {
	return 22 + 6*math.Sin(float64(x)/20) + 5*math.Cos(float64(y)/26)
}
