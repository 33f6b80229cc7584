package message_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

var session = message.Session{AgentID: id(1), SessionID: id(2), CircuitCode: 0xDDCCBBAA}

func TestEncode(t *testing.T) {
	agent := wire(id(1), id(2))
	number := func(n message.Number) []byte { return n.Append(nil) }
	for _, c := range []struct {
		name string
		got  []byte
		want []byte
	}{
		{"UseCircuitCode", message.AppendUseCircuitCode(nil, session), wire("\xFF\xFF\x00\x03", uint32(0xDDCCBBAA), id(2), id(1))},
		{"CompleteAgentMovement", message.AppendCompleteAgentMovement(nil, session), wire("\xFF\xFF\x00\xF9", agent, uint32(0xDDCCBBAA))},
		{
			"RegionHandshakeReply", message.AppendRegionHandshakeReply(nil, session, message.HandshakeCacheEmpty|message.HandshakeAppearance),
			wire("\xFF\xFF\x00\x95", agent, uint32(6)),
		},
		{
			"AgentThrottle", message.AppendAgentThrottle(nil, session, message.Throttle{Resend: 1, Land: 2, Wind: 3, Cloud: 4, Task: 5, Texture: 6, Asset: 7}),
			wire("\xFF\xFF\x00\x51", agent, uint32(0xDDCCBBAA), uint32(0), v1(wire(float32(1), float32(2), float32(3), float32(4), float32(5), float32(6), float32(7)))),
		},
		{
			"AgentUpdate", message.AppendAgentUpdate(nil, session, message.AgentUpdate{BodyRotation: world.Quat{X: 0.36, Y: 0.48, W: -0.8}, CameraCenter: place, Far: 128}),
			wire("\x04", agent, world.Quat{X: -0.36, Y: -0.48, Z: math.Copysign(0, -1)}, world.Quat{}, uint8(0), place,
				world.Vec3{X: 1}, world.Vec3{Y: 1}, world.Vec3{Z: 1}, float32(128), uint32(0), uint8(0)),
		},
		{"LogoutRequest", message.AppendLogoutRequest(nil, session), wire("\xFF\xFF\x00\xFC", agent)},
		{
			"RequestMultipleObjects", message.AppendRequestMultipleObjects(nil, session, []uint32{7, 0x01020304}),
			wire("\xFF\x03", agent, uint8(2), uint8(0), uint32(7), uint8(0), uint32(0x01020304)),
		},
		{"RequestObjectPropertiesFamily", message.AppendRequestObjectPropertiesFamily(nil, session, id(9)), wire("\xFF\x05", agent, uint32(0), id(9))},
		{"UUIDNameRequest", message.AppendUUIDNameRequest(nil, []world.UUID{id(8), id(9)}), wire("\xFF\xFF\x00\xEB", uint8(2), id(8), id(9))},
		{"StartPingCheck", message.AppendStartPingCheck(nil, message.StartPingCheck{PingID: 5, OldestUnacked: 6}), wire(number(message.NumberStartPingCheck), uint8(5), uint32(6))},
		{"CompletePingCheck", message.AppendCompletePingCheck(nil, 5), wire(number(message.NumberCompletePingCheck), uint8(5))},
		{"PacketAck", message.AppendPacketAck(nil, []uint32{1, 2}), wire("\xFF\xFF\xFF\xFB", uint8(2), uint32(1), uint32(2))},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("%s: found\n% x, expected\n% x", c.name, c.got, c.want)
		}
		if n, _, err := message.Split(c.got); err != nil || n.String() != c.name {
			t.Errorf("%s: found number %v, %v", c.name, n, err)
		}
	}
}

// TestEncodeCaptured encodes again what the captures' client sent.
func TestEncodeCaptured(t *testing.T) {
	each(t, func(t *testing.T, packets []packet, want truth) {
		var s message.Session
		requested := map[uint32]bool{}
		for _, p := range packets {
			if !p.sent {
				continue
			}
			r := unwire{p.body}
			var got []byte
			switch p.number {
			case message.NumberUseCircuitCode:
				s.CircuitCode, s.SessionID, s.AgentID = r.u32(), r.uuid(), r.uuid()
				if s.AgentID.String() != want.Agent.UUID {
					t.Errorf("found agent %v, expected %v", s.AgentID, want.Agent.UUID)
				}
				got = message.AppendUseCircuitCode(nil, s)
			case message.NumberCompleteAgentMovement:
				got = message.AppendCompleteAgentMovement(nil, s)
			case message.NumberRegionHandshakeReply:
				r.uuid()
				r.uuid()
				got = message.AppendRegionHandshakeReply(nil, s, r.u32())
			case message.NumberLogoutRequest:
				got = message.AppendLogoutRequest(nil, s)
			case message.NumberRequestMultipleObjects:
				r.uuid()
				r.uuid()
				var ids []uint32
				for n := r.u8(); n > 0; n-- {
					r.u8()
					ids = append(ids, r.u32())
					requested[ids[len(ids)-1]] = true
				}
				got = message.AppendRequestMultipleObjects(nil, s, ids)
			case message.NumberCompletePingCheck:
				var m message.CompletePingCheck
				decoding(t, p, m.Decode(p.body))
				got = message.AppendCompletePingCheck(nil, m.PingID)
			case message.NumberPacketAck:
				var m message.PacketAck
				decoding(t, p, m.Decode(p.body))
				got = message.AppendPacketAck(nil, m.Sequences)
			default:
				t.Errorf("found a %v, which nothing encodes", p.number)
			}
			if sent := append(p.number.Append(nil), p.body...); !bytes.Equal(got, sent) {
				t.Errorf("%v at %.3f s: encoded %d bytes, expected the %d that were sent", p.number, p.t, len(got), len(sent))
			}
		}
		if len(requested) != want.ObjectCounts.Requested {
			t.Errorf("found %d objects requested, expected %d", len(requested), want.ObjectCounts.Requested)
		}
	})
}

// TestTransportRoundTrip decodes what the encoders of both ways encode.
func TestTransportRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sequences := rapid.SliceOfN(rapid.Uint32(), 0, 255).Draw(t, "sequences")
		ping := message.StartPingCheck{PingID: rapid.Byte().Draw(t, "ping"), OldestUnacked: rapid.Uint32().Draw(t, "oldest")}
		var acks message.PacketAck
		var start message.StartPingCheck
		var complete message.CompletePingCheck
		for _, c := range []struct {
			encoded []byte
			decode  func([]byte) error
		}{
			{message.AppendPacketAck([]byte("before"), sequences), acks.Decode},
			{message.AppendStartPingCheck([]byte("before"), ping), start.Decode},
			{message.AppendCompletePingCheck([]byte("before"), ping.PingID), complete.Decode},
		} {
			encoded, ok := bytes.CutPrefix(c.encoded, []byte("before"))
			_, body, err := message.Split(encoded)
			if err := errors.Join(err, c.decode(body)); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if !slices.Equal(acks.Sequences, sequences) || start != ping || complete.PingID != ping.PingID {
			t.Fatalf("found %v, %v, %v", acks, start, complete)
		}
	})
}

// unwire takes values off a message, which must hold them.
type unwire struct{ b []byte }

func (r *unwire) u8() (v uint8) { v, r.b = r.b[0], r.b[1:]; return v }
func (r *unwire) u32() uint32 {
	return uint32(r.u8()) | uint32(r.u8())<<8 | uint32(r.u8())<<16 | uint32(r.u8())<<24
}
func (r *unwire) uuid() (u world.UUID) { r.b = r.b[copy(u[:], r.b):]; return u }
func (r *unwire) f32() float64         { return float64(math.Float32frombits(r.u32())) }

// TestAgentUpdateHarmless checks that nothing that can be put into an
// AgentUpdate moves the agent: the flags stay 0 and rotations of unit length.
func TestAgentUpdateHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), 0}))
		quat := rapid.Custom(func(t *rapid.T) world.Quat {
			return world.Quat{X: number.Draw(t, "x"), Y: number.Draw(t, "y"), Z: number.Draw(t, "z"), W: number.Draw(t, "w")}
		})
		body := message.AppendAgentUpdate(nil, session, message.AgentUpdate{
			BodyRotation: quat.Draw(t, "body"), HeadRotation: quat.Draw(t, "head"), Far: number.Draw(t, "far"),
		})
		if len(body) != 1+114 {
			t.Fatalf("found %d bytes, expected 115", len(body))
		}
		r := unwire{body[1:]}
		r.uuid()
		r.uuid()
		for range 2 {
			x, y, z := r.f32(), r.f32(), r.f32()
			if n := x*x + y*y + z*z; !(n < 1.01) {
				t.Fatalf("found rotation %v %v %v", x, y, z)
			}
		}
		if r.u8() != 0 || !bytes.Equal(body[len(body)-5:], make([]byte, 5)) {
			t.Fatalf("found state or flags in % x", body)
		}
	})
}

func TestEncodeLimits(t *testing.T) {
	if b := message.AppendRequestMultipleObjects(nil, session, make([]uint32, message.MaxRequestedObjects)); len(b) > 1200-6 {
		t.Errorf("found %d bytes for %d objects", len(b), message.MaxRequestedObjects)
	}
	if b := message.AppendUUIDNameRequest(nil, make([]world.UUID, message.MaxRequestedNames)); len(b) > 1200-6 {
		t.Errorf("found %d bytes for %d names", len(b), message.MaxRequestedNames)
	}
	for name, b := range map[string][]byte{
		"objects": message.AppendRequestMultipleObjects(nil, session, make([]uint32, 300))[2+32:],
		"names":   message.AppendUUIDNameRequest(nil, make([]world.UUID, 300))[4:],
		"acks":    message.AppendPacketAck(nil, make([]uint32, 300))[4:],
	} {
		if size := (len(b) - 1) / 255; b[0] != 255 || len(b) != 1+255*size {
			t.Errorf("%s: found a count of %d and %d bytes", name, b[0], len(b)-1)
		}
	}
}

func TestSessionIsSecret(t *testing.T) {
	holder := struct {
		S message.Session
		P *message.Session
	}{session, &session}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "session", session, "holder", holder)
	text, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{log.String(), string(text)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		shown = append(shown, fmt.Sprintf(verb, session), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, []message.Session{session}))
	}
	for _, s := range shown {
		for _, canary := range []string{"0202", "2 2", "0x2, 0x2", "3721182122", "ddccbbaa", "AgentID:"} {
			if strings.Contains(strings.ToLower(s), strings.ToLower(canary)) {
				t.Errorf("found %q", s)
			}
		}
	}
}
