package message_test

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

func each(t *testing.T, check func(t *testing.T, packets []packet, want truth)) {
	for _, name := range captureNames {
		t.Run(name, func(t *testing.T) {
			packets, want := load(t, name)
			check(t, packets, want)
		})
	}
}

// decoding fails the test unless the error is nil.
func decoding(t *testing.T, p packet, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%v at %.3f s: %v", p.number, p.t, err)
	}
}

func TestCaptureCounts(t *testing.T) {
	each(t, func(t *testing.T, packets []packet, want truth) {
		received, sent := map[string]count{}, map[string]count{}
		for _, p := range packets {
			counts := received
			if p.sent {
				counts = sent
			}
			c := counts[p.number.String()]
			c.Datagrams++
			if p.first {
				c.Unique++
			}
			counts[p.number.String()] = c
		}
		if d := cmp.Diff(want.MessagesReceived, received); d != "" {
			t.Errorf("received, -want +got:\n%s", d)
		}
		if d := cmp.Diff(want.MessagesSent, sent); d != "" {
			t.Errorf("sent, -want +got:\n%s", d)
		}
	})
}

func TestCaptureEverythingDecodes(t *testing.T) {
	each(t, func(t *testing.T, packets []packet, _ truth) {
		for _, p := range packets {
			decode, ok := decoders[p.number]
			if !ok || p.sent {
				continue
			}
			_, err := decode(p.body)
			decoding(t, p, err)
		}
	})
}

// scene is what the object messages of a capture leave behind.
type scene struct {
	objects map[uint32]message.Object
	terse   map[uint32]int // of each local ID
	unknown map[string]int // terse updates of objects not described yet
	seats   []seat
	handles map[uint64]bool
}

type seat struct {
	T      float64
	UUID   string
	Parent uint32
}

func newScene(t *testing.T, packets []packet) scene {
	s := scene{objects: map[uint32]message.Object{}, terse: map[uint32]int{}, unknown: map[string]int{}, handles: map[uint64]bool{}}
	var full message.ObjectUpdate
	var terse message.ImprovedTerseObjectUpdate
	for _, p := range packets {
		if p.sent || !p.first {
			continue
		}
		switch p.number {
		case message.NumberObjectUpdate:
			decoding(t, p, full.Decode(p.body))
			s.describe(p, full)
		case message.NumberObjectUpdateCompressed:
			decoding(t, p, full.DecodeCompressed(p.body))
			s.describe(p, full)
		case message.NumberImprovedTerseObjectUpdate:
			decoding(t, p, terse.Decode(p.body))
			s.handles[terse.RegionHandle] = true
			for _, m := range terse.Objects {
				o, ok := s.objects[m.LocalID]
				if !ok {
					s.unknown[strconv.Itoa(int(m.LocalID))]++
					continue
				}
				s.terse[m.LocalID]++
				o.Position, o.Rotation = m.Position, m.Rotation
				s.objects[m.LocalID] = o
			}
		}
	}
	return s
}

func (s *scene) describe(p packet, m message.ObjectUpdate) {
	s.handles[m.RegionHandle] = true
	for _, o := range m.Objects {
		old, ok := s.objects[o.LocalID]
		if o.PCode == world.PCodeAvatar && (ok || o.ParentID != 0) && old.ParentID != o.ParentID {
			s.seats = append(s.seats, seat{p.t, o.ID.String(), o.ParentID})
		}
		s.objects[o.LocalID] = o
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4 }

func nearVec(v world.Vec3, want [3]float64) bool {
	return near(v.X, want[0]) && near(v.Y, want[1]) && near(v.Z, want[2])
}

func TestCaptureObjects(t *testing.T) {
	each(t, func(t *testing.T, packets []packet, want truth) {
		s := newScene(t, packets)
		for handle := range s.handles {
			if handle != want.Region.Handle {
				t.Errorf("found region handle %d, expected %d", handle, want.Region.Handle)
			}
		}
		expected := map[uint32]bool{}
		for _, w := range slices.Concat(want.Roots, want.Children) {
			expected[w.LocalID] = true
			o, ok := s.objects[w.LocalID]
			if !ok {
				t.Errorf("object %d was not described", w.LocalID)
				continue
			}
			if o.ID.String() != w.UUID || o.PCode != w.PCode || o.HoverText != w.HoverText || o.ParentID != w.Parent {
				t.Errorf("found %+v, expected %+v", o, w)
			}
			if !o.Placed || !nearVec(o.Position, w.Position) || !nearVec(o.Scale, w.Scale) {
				t.Errorf("found %+v, expected %+v", o, w)
			}
			if o.PCode == world.PCodePrim && o.Rotation != (world.Quat{W: 1}) {
				t.Errorf("object %d: found rotation %+v; no prim of the region is turned", w.LocalID, o.Rotation)
			}
		}
		for _, w := range want.Attachments {
			expected[w.LocalID] = true
			o := s.objects[w.LocalID]
			got := []any{o.ID.String(), o.ParentID, o.State, o.HoverText, o.NameValue}
			if d := cmp.Diff([]any{w.UUID, w.Parent, w.State, w.HoverText, w.NameValues}, got); d != "" {
				t.Errorf("attachment %d, -want +got:\n%s", w.LocalID, d)
			}
			if !nearVec(o.Position, w.Position) {
				t.Errorf("attachment %d: found %v, expected %v", w.LocalID, o.Position, w.Position)
			}
		}
		for _, w := range want.Avatars {
			expected[w.LocalID] = true
			o := s.objects[w.LocalID]
			first, _ := message.NameValueOf(o.NameValue, "FirstName")
			last, _ := message.NameValueOf(o.NameValue, "LastName")
			got := avatar{o.ID.String(), first, last, o.LocalID, w.LastPosition, s.terse[o.LocalID]}
			if d := cmp.Diff(w, got); d != "" {
				t.Errorf("avatar, -want +got:\n%s", d)
			}
			if !nearVec(o.Position, w.LastPosition) {
				t.Errorf("avatar %v: found %v, expected %v", o.ID, o.Position, w.LastPosition)
			}
			q := o.Rotation
			if n := q.X*q.X + q.Y*q.Y + q.Z*q.Z + q.W*q.W; math.Abs(n-1) > 1e-3 {
				t.Errorf("avatar %v: found rotation %+v, expected unit length", o.ID, q)
			}
		}
		for id, o := range s.objects {
			if !expected[id] {
				t.Errorf("found object %+v, expected none of that local ID", o)
			}
		}
		if d := cmp.Diff(want.ObjectCounts.Unknown, s.unknown); d != "" {
			t.Errorf("terse updates of unknown objects, -want +got:\n%s", d)
		}
		var wantSeats []seat
		for _, w := range want.Seats {
			wantSeats = append(wantSeats, seat{w.T, w.UUID, w.Parent})
		}
		if d := cmp.Diff(wantSeats, s.seats); d != "" {
			t.Errorf("seats, -want +got:\n%s", d)
		}
	})
}

func TestCaptureCachedAndKilled(t *testing.T) {
	each(t, func(t *testing.T, packets []packet, want truth) {
		var cached message.ObjectUpdateCached
		var kill message.KillObject
		announced := map[uint32]bool{}
		type killed struct {
			T  float64
			ID uint32
		}
		var kills, wantKills []killed
		for _, p := range packets {
			switch {
			case p.sent || !p.first:
			case p.number == message.NumberObjectUpdateCached:
				decoding(t, p, cached.Decode(p.body))
				for _, id := range cached.LocalIDs {
					announced[id] = true
				}
			case p.number == message.NumberKillObject:
				decoding(t, p, kill.Decode(p.body))
				for _, id := range kill.LocalIDs {
					kills = append(kills, killed{p.t, id})
				}
			}
		}
		for _, k := range want.Kills {
			if !k.Implied {
				wantKills = append(wantKills, killed{k.T, k.LocalID})
			}
		}
		if d := cmp.Diff(wantKills, kills); d != "" {
			t.Errorf("kills, -want +got:\n%s", d)
		}
		if len(announced) != want.ObjectCounts.Cached {
			t.Errorf("found %d objects announced as cached, expected %d", len(announced), want.ObjectCounts.Cached)
		}
		for _, o := range slices.Concat(want.Roots, want.Children) {
			delete(announced, o.LocalID)
		}
		if len(announced) != 0 {
			t.Errorf("found unknown local IDs %v", announced)
		}
	})
}

func TestCaptureRegion(t *testing.T) {
	each(t, func(t *testing.T, packets []packet, want truth) {
		var teleports []string
		announced := want.Agent.Announced
		for _, p := range packets {
			if p.sent || !p.first {
				continue
			}
			switch p.number {
			case message.NumberRegionHandshake:
				var m message.RegionHandshake
				decoding(t, p, m.Decode(p.body))
				w := message.RegionHandshake{Name: want.Region.Name, WaterHeight: want.Region.WaterHeight, RegionID: world.MustUUID(want.Region.UUID)}
				if m != w {
					t.Errorf("found %+v, expected %+v", m, w)
				}
			case message.NumberAgentMovementComplete:
				var m message.AgentMovementComplete
				decoding(t, p, m.Decode(p.body))
				if !nearVec(m.Position, announced[0].Position) || m.RegionHandle != want.Region.Handle || m.ChannelVersion != want.Region.SimulatorVersion {
					t.Errorf("found %+v", m)
				}
				if n := math.Hypot(m.LookAt.X, m.LookAt.Y); math.Abs(n-1) > 0.01 {
					t.Errorf("found look at %v, expected about unit length", m.LookAt)
				}
				announced = announced[1:]
			case message.NumberTeleportStart:
				m := message.TeleportNotice{Message: "from before"}
				decoding(t, p, m.DecodeStart(p.body))
				teleports = append(teleports, p.number.String()+m.Message)
			case message.NumberTeleportLocal:
				var m message.TeleportLocal
				decoding(t, p, m.Decode(p.body))
				teleports = append(teleports, p.number.String())
				if !nearVec(m.Position, announced[0].Position) {
					t.Errorf("found %v, expected %v", m.Position, announced[0])
				}
				announced = announced[1:]
			}
		}
		if len(announced) != 0 {
			t.Errorf("missed %v", announced)
		}
		var wantTeleports []string
		for _, w := range want.Agent.Teleports {
			wantTeleports = append(wantTeleports, w.Message)
		}
		if d := cmp.Diff(wantTeleports, teleports); d != "" {
			t.Errorf("teleports, -want +got:\n%s", d)
		}
	})
}

func TestCaptureCoarse(t *testing.T) {
	each(t, func(t *testing.T, packets []packet, want truth) {
		var m message.CoarseLocationUpdate
		i := 0
		for _, p := range packets {
			if p.sent || p.number != message.NumberCoarseLocationUpdate {
				continue
			}
			decoding(t, p, m.Decode(p.body))
			if i >= len(want.CoarseCounts) || want.CoarseCounts[i].Avatars != len(m.Locations) {
				t.Errorf("at %.3f s: found %d avatars", p.t, len(m.Locations))
			}
			i++
		}
		var got []coarse
		for _, l := range m.Locations {
			got = append(got, coarse{l.ID.String(), [3]uint8{l.X, l.Y, l.Z}})
		}
		if d := cmp.Diff(want.CoarseLast.Entries, got); d != "" {
			t.Errorf("last, -want +got:\n%s", d)
		}
		if i != len(want.CoarseCounts) || m.You != want.CoarseLast.You {
			t.Errorf("found %d messages, you %d in the last; expected %d, %d", i, m.You, len(want.CoarseCounts), want.CoarseLast.You)
		}
	})
}

func TestCaptureSpeech(t *testing.T) {
	each(t, func(t *testing.T, packets []packet, want truth) {
		var chat, wantChat []message.ChatFromSimulator
		var ims, wantIMs []message.ImprovedInstantMessage
		for _, p := range packets {
			switch {
			case p.sent || !p.first:
			case p.number == message.NumberChatFromSimulator:
				var m message.ChatFromSimulator
				decoding(t, p, m.Decode(p.body))
				chat = append(chat, m)
			case p.number == message.NumberImprovedInstantMessage:
				var m message.ImprovedInstantMessage
				decoding(t, p, m.Decode(p.body))
				m.ID = world.UUID{} // of which the truth says nothing
				ims = append(ims, m)
			}
		}
		for _, c := range want.Chat {
			wantChat = append(wantChat, message.ChatFromSimulator{
				FromName: c.FromName, SourceID: world.MustUUID(c.Source), Audible: c.Audible, Empty: c.Message == "",
				SourceType: message.SourceType(c.SourceType), ChatType: message.ChatType(c.ChatType),
			})
		}
		if d := cmp.Diff(wantChat, chat); d != "" {
			t.Errorf("chat, -want +got:\n%s", d)
		}
		for _, m := range want.InstantMessages {
			w := message.ImprovedInstantMessage{
				FromID: world.MustUUID(m.From), FromName: m.FromName, Dialog: message.Dialog(m.Dialog),
				Offline: m.Offline != 0, Time: time.Unix(m.Timestamp, 0).UTC(),
			}
			if w.Dialog == message.DialogInventoryOffered {
				bucket, err := hex.DecodeString(m.Bucket)
				if err != nil {
					t.Fatal(err)
				}
				w.BucketID = world.UUID(bucket[1:17])
			}
			wantIMs = append(wantIMs, w)
		}
		if d := cmp.Diff(wantIMs, ims); d != "" {
			t.Errorf("instant messages, -want +got:\n%s", d)
		}
	})
}

func TestCaptureTerrain(t *testing.T) {
	each(t, func(t *testing.T, packets []packet, want truth) {
		heights := map[[2]int]float64{}
		layers := map[string]int{}
		var m message.LayerData
		for _, p := range packets {
			if p.sent || !p.first || p.number != message.NumberLayerData {
				continue
			}
			layers[string(p.body[0])]++
			decoding(t, p, m.Decode(p.body))
			for _, patch := range m.Patches {
				for i, h := range patch.Heights {
					heights[[2]int{patch.X + i%patch.Size, patch.Y + i/patch.Size}] = float64(h)
				}
			}
		}
		if d := cmp.Diff(want.Terrain.Layers, layers); d != "" {
			t.Errorf("layers, -want +got:\n%s", d)
		}
		if len(heights) != want.Terrain.Patches*256 {
			t.Errorf("found %d heights, expected %d", len(heights), want.Terrain.Patches*256)
		}
		for _, s := range want.Terrain.Samples {
			x, y := min(int(s.X), 254), min(int(s.Y), 254)
			for corner, at := range map[string][2]int{"sw": {x, y}, "se": {x + 1, y}, "nw": {x, y + 1}, "ne": {x + 1, y + 1}} {
				if got := heights[at]; math.Abs(got-s.Corners[corner]) > 1e-3 {
					t.Errorf("at %v: found %.4f, expected %.4f", at, got, s.Corners[corner])
				}
			}
		}
	})
}
