package lludp_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/source/session/message"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// after returns a time so many milliseconds after the start.
func after(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

// pack builds a datagram.
func pack(t testing.TB, p lludp.Packet) []byte {
	t.Helper()
	b, err := lludp.AppendPacket(nil, &p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reliable builds the reliable datagram of a message that nobody knows.
func reliable(t testing.TB, sequence uint32) []byte {
	return pack(t, lludp.Packet{Flags: lludp.FlagReliable, Sequence: sequence, Body: []byte{0xFE, 7}})
}

// due calls Due and returns the packets that it sends.
func due(t testing.TB, c *lludp.Circuit, now time.Time) ([]lludp.Packet, []lludp.Lost) {
	t.Helper()
	var list []lludp.Packet
	lost := c.Due(now, func(datagram []byte) {
		p, err := lludp.Parse(slices.Clone(datagram), nil)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	})
	return list, lost
}

// receive hands in a datagram that must be one with a new message.
func receive(t testing.TB, c *lludp.Circuit, now time.Time, datagram []byte) {
	t.Helper()
	if _, ok, err := c.Receive(now, datagram); !ok || err != nil {
		t.Fatalf("found %v, %v, expected a message", ok, err)
	}
}

func TestReceive(t *testing.T) {
	c := lludp.NewCircuit()
	if !c.LastHeard().IsZero() || !c.Next().IsZero() {
		t.Error("a new circuit has heard something or has something to do")
	}
	for _, tt := range []struct {
		name     string
		datagram []byte
		body     string
		ok       bool
		err      string
		stats    lludp.Stats
	}{
		{"message", unhex(t, "00 00000000 00 fe07"), "\xfe\x07", true, "", lludp.Stats{Received: 1}},
		{"duplicate", unhex(t, "20 00000000 00 fe07"), "", false, "", lludp.Stats{Received: 1, Duplicates: 1, Resent: 1}},
		{"resent and new", unhex(t, "20 00000007 00 fe07"), "\xfe\x07", true, "", lludp.Stats{Received: 1, Resent: 1}},
		{"zero-coded", unhex(t, "80 00000008 00 fe0002"), "\xfe\x00\x00", true, "", lludp.Stats{Received: 1}},
		{"plain after zero-coded", unhex(t, "00 00000009 00 fe07"), "\xfe\x07", true, "", lludp.Stats{Received: 1}},
		{"before the first one", unhex(t, "00 ffffffff 00 fe07"), "\xfe\x07", true, "", lludp.Stats{Received: 1}},
		{"no message", unhex(t, "10 00000010 00 00000007 01"), "", false, "", lludp.Stats{Received: 1}},
		{"half a message number", unhex(t, "00 00000011 00 ffff"), "", false, "found a body of 2 bytes, expected a message number", lludp.Stats{Received: 1, Malformed: 1}},
		{"a ping whose zeros were lost", unhex(t, "00 00000012 00 01"), "\x01", true, "", lludp.Stats{Received: 1}},
		{"half a PacketAck", unhex(t, "00 00000014 00 fffffffb 02 00000000"), "\xff\xff\xff\xfb\x02\x00\x00\x00\x00", true, "", lludp.Stats{Received: 1, Malformed: 1}},
		{"short", unhex(t, "00 00000015 00"), "", false, "found a datagram of 6 bytes, expected 7 to 8192", lludp.Stats{Malformed: 1}},
		{"the same, whole", unhex(t, "00 00000015 00 fe"), "\xfe", true, "", lludp.Stats{Received: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := c.Stats()
			body, ok, err := c.Receive(start, tt.datagram)
			if string(body) != tt.body || ok != tt.ok || errorText(err) != tt.err {
				t.Errorf("found %x, %v, %v, expected %x, %v, %s", body, ok, err, tt.body, tt.ok, tt.err)
			}
			stats := c.Stats()
			stats.Received -= before.Received
			stats.Duplicates -= before.Duplicates
			stats.Resent -= before.Resent
			stats.Malformed -= before.Malformed
			if diff := cmp.Diff(tt.stats, stats); diff != "" {
				t.Error(diff)
			}
		})
	}
	if c.LastHeard() != start {
		t.Errorf("found %v as last heard, expected %v", c.LastHeard(), start)
	}
}

func TestAcks(t *testing.T) {
	c := lludp.NewCircuit()
	receive(t, c, after(0), reliable(t, 5))
	c.Receive(after(50), reliable(t, 5)) // a duplicate is acknowledged too
	receive(t, c, after(60), pack(t, lludp.Packet{Sequence: 6, Body: []byte{0xFE}}))
	receive(t, c, after(99), reliable(t, 0))
	if next := c.Next(); next != after(100) {
		t.Errorf("found %v, expected %v", next, after(100))
	}
	if list, _ := due(t, c, after(99)); len(list) != 0 {
		t.Errorf("found %v after 99 ms, expected nothing", list)
	}
	list, _ := due(t, c, after(100))
	want := []lludp.Packet{{Sequence: 1, Body: message.AppendPacketAck(nil, []uint32{5, 5, 0})}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if list, _ := due(t, c, after(300)); len(list) != 0 {
		t.Errorf("found %v, expected nothing", list)
	}
	// 200 do not wait, and fit into one packet.
	for i := range 200 {
		if c.Next() == after(400) {
			t.Fatalf("%d acknowledgements do not wait", i)
		}
		receive(t, c, after(400), reliable(t, 100+uint32(i)))
	}
	if next := c.Next(); next != after(400) {
		t.Errorf("found %v, expected %v", next, after(400))
	}
	if list, _ := due(t, c, after(400)); len(list) != 1 || list[0].Flags != 0 || len(list[0].Body) != 4+1+200*4 {
		t.Errorf("found %v, expected one plain packet of 200 acknowledgements", list)
	}
}

func TestPings(t *testing.T) {
	c := lludp.NewCircuit()
	receive(t, c, after(0), pack(t, lludp.Packet{Sequence: 1, Body: message.AppendStartPingCheck(nil, message.StartPingCheck{PingID: 77})}))
	if c.Next() != after(0) {
		t.Errorf("found %v, expected an answer to be due at once", c.Next())
	}
	list, _ := due(t, c, after(0))
	if diff := cmp.Diff([]lludp.Packet{{Sequence: 1, Body: []byte{2, 77}}}, list); diff != "" {
		t.Error(diff)
	}
	// Our own come every five seconds from the first packet on, and name the
	// oldest packet that is not acknowledged, or the next one.
	if next := c.Next(); next != after(5000) {
		t.Errorf("found %v, expected %v", next, after(5000))
	}
	list, _ = due(t, c, after(5001))
	want := []lludp.Packet{{Sequence: 2, Body: message.AppendStartPingCheck(nil, message.StartPingCheck{PingID: 1, OldestUnacked: 2})}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if next := c.Next(); next != after(10_001) {
		t.Errorf("found %v, expected %v", next, after(10_001))
	}
	answer := func(sequence uint32, id uint8) []byte {
		return pack(t, lludp.Packet{Sequence: sequence, Body: message.AppendCompletePingCheck(nil, id)})
	}
	receive(t, c, after(5021), answer(2, 9)) // to no ping of ours
	if rtt := c.Stats().RTT; rtt != 0 {
		t.Errorf("found %v, expected no round trip yet", rtt)
	}
	receive(t, c, after(5041), answer(3, 1))
	receive(t, c, after(9000), answer(4, 1)) // again
	if rtt := c.Stats().RTT; rtt != 40*time.Millisecond {
		t.Errorf("found %v, expected 40ms", rtt)
	}
	_, sequence := c.Send(after(10_000), []byte{0xFE}, lludp.SendOptions{Reliable: true})
	list, _ = due(t, c, after(10_001))
	want = []lludp.Packet{{Sequence: 4, Body: message.AppendStartPingCheck(nil, message.StartPingCheck{PingID: 2, OldestUnacked: sequence})}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

// ack acknowledges packets, as a message or behind one.
func ack(t testing.TB, c *lludp.Circuit, now time.Time, sequence uint32, appended bool, acks ...uint32) {
	t.Helper()
	p := lludp.Packet{Sequence: sequence, Body: []byte{0xFE}, Acks: acks}
	if !appended {
		p = lludp.Packet{Sequence: sequence, Body: message.AppendPacketAck(nil, acks)}
	}
	receive(t, c, now, pack(t, p))
}

func TestResend(t *testing.T) {
	c := lludp.NewCircuit()
	body := message.NumberUseCircuitCode.Append(nil)
	datagram, sequence := c.Send(start, body, lludp.SendOptions{Reliable: true})
	first := slices.Clone(datagram)
	if sequence != 1 || string(first) != string(pack(t, lludp.Packet{Flags: lludp.FlagReliable, Sequence: 1, Body: body})) {
		t.Fatalf("found %d, %x", sequence, first)
	}
	for i := 1; i <= 3; i++ {
		if list, lost := due(t, c, after(i*1000-1)); len(list)+len(lost) != 0 {
			t.Fatalf("found %v, %v a moment before resend %d", list, lost, i)
		}
		if next := c.Next(); next != after(i*1000) {
			t.Errorf("found %v, expected %v", next, after(i*1000))
		}
		list, lost := due(t, c, after(i*1000))
		want := []lludp.Packet{{Flags: lludp.FlagReliable | lludp.FlagResent, Sequence: 1, Body: body}}
		if diff := cmp.Diff(want, list); diff != "" || lost != nil {
			t.Errorf("resend %d: %s%v", i, diff, lost)
		}
	}
	list, lost := due(t, c, after(4000))
	if diff := cmp.Diff([]lludp.Lost{{Sequence: 1, Number: message.NumberUseCircuitCode}}, lost); diff != "" || len(list) != 0 {
		t.Errorf("%s%v", diff, list)
	}
	ack(t, c, after(4001), 1, false, 1) // too late
	if c.Acked(1) || c.Stats().RTT != 0 {
		t.Error("a packet that was given up is acknowledged")
	}
	if diff := cmp.Diff(lludp.Stats{Received: 1, Sent: 4, Resends: 3, Lost: 1}, c.Stats()); diff != "" {
		t.Error(diff)
	}
}

func TestAcknowledged(t *testing.T) {
	for _, appended := range []bool{false, true} {
		c := lludp.NewCircuit()
		for range 4 {
			c.Send(start, []byte{0xFE}, lludp.SendOptions{Reliable: true})
		}
		ack(t, c, after(80), 1, appended, 3, 1, 3, 99, 0, 1<<24|2, 1<<32-1)
		for sequence, want := range map[uint32]bool{0: false, 1: true, 2: false, 3: true, 4: false, 99: false, 1<<24 | 2: false} {
			if got := c.Acked(sequence); got != want {
				t.Errorf("appended %v, %d: found %v, expected %v", appended, sequence, got, want)
			}
		}
		if rtt := c.Stats().RTT; rtt != 80*time.Millisecond {
			t.Errorf("found %v, expected 80ms", rtt)
		}
		due(t, c, after(1000))
		ack(t, c, after(1001), 2, appended, 2) // resent: it says nothing of the round trip
		if rtt := c.Stats().RTT; !c.Acked(2) || rtt != 80*time.Millisecond {
			t.Errorf("found %v, expected 80ms", rtt)
		}
		if c.Oldest() != 4 {
			t.Errorf("found %d as the oldest, expected 4", c.Oldest())
		}
	}
}

// TestPatience says that resends wait for five round trips.
func TestPatience(t *testing.T) {
	c := lludp.NewCircuit()
	c.Send(start, []byte{0xFE}, lludp.SendOptions{Reliable: true})
	ack(t, c, after(800), 1, false, 1)
	c.Send(after(900), []byte{0xFE}, lludp.SendOptions{Reliable: true})
	if next := c.Next(); next != after(900+4000) {
		t.Errorf("found %v, expected %v", next, after(4900))
	}
	ack(t, c, after(900+1600), 2, false, 2)
	if rtt := c.Stats().RTT; rtt != 900*time.Millisecond { // an eighth of the way
		t.Errorf("found %v, expected 900ms", rtt)
	}
	// Neither a clock that is set back nor an answer after hours spoils it.
	c.Send(after(3000), []byte{0xFE}, lludp.SendOptions{Reliable: true})
	ack(t, c, after(1000), 3, false, 3)
	c.Send(after(3000), []byte{0xFE}, lludp.SendOptions{Reliable: true})
	ack(t, c, after(9e6), 4, false, 4)
	if rtt := c.Stats().RTT; rtt != 900*time.Millisecond+2100*time.Millisecond/8 {
		t.Errorf("found %v", rtt)
	}
}

// TestSequenceWraps sends past 24 bits.
func TestSequenceWraps(t *testing.T) {
	c := lludp.NewCircuit()
	c.Skip(1<<24 - 3)
	var sent []uint32
	for range 5 {
		datagram, sequence := c.Send(start, []byte{0xFE}, lludp.SendOptions{Reliable: true})
		if wire := binary.BigEndian.Uint32(datagram[1:]); wire != sequence {
			t.Errorf("found %d on the wire, expected %d", wire, sequence)
		}
		sent = append(sent, sequence)
	}
	if diff := cmp.Diff([]uint32{1<<24 - 2, 1<<24 - 1, 0, 1, 2}, sent); diff != "" {
		t.Error(diff)
	}
	for i, sequence := range []uint32{0, 1<<24 - 2, 2, 1<<24 - 1, 1} {
		ack(t, c, after(10), uint32(i), false, sequence)
		if !c.Acked(sequence) {
			t.Errorf("%d is not acknowledged", sequence)
		}
	}
	if _, _, unacked, _ := c.Waiting(); unacked != 0 {
		t.Errorf("found %d waiting, expected none", unacked)
	}
}

func TestSendZeroCoded(t *testing.T) {
	c := lludp.NewCircuit()
	for _, tt := range []struct {
		body []byte
		want string
	}{
		{[]byte{4, 0, 0, 0, 0, 5}, "80 00000001 00 04 0004 05"},
		{[]byte{4, 0, 0, 5}, "00 00000002 00 04 0000 05"}, // no shorter
		{[]byte{4, 0, 5}, "00 00000003 00 04 00 05"},
	} {
		if got, _ := c.Send(start, tt.body, lludp.SendOptions{ZeroCoded: true}); string(got) != string(unhex(t, tt.want)) {
			t.Errorf("found %x, expected %s", got, tt.want)
		}
	}
}

func TestSendFaults(t *testing.T) {
	for _, body := range [][]byte{nil, {0xFF}, make([]byte, lludp.MaxDatagram)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a body of %d bytes is sent", len(body))
				}
			}()
			lludp.NewCircuit().Send(start, body, lludp.SendOptions{})
		}()
	}
}

// TestSendTooMany sends more than anyone waits for.
func TestSendTooMany(t *testing.T) {
	c := lludp.NewCircuit()
	const extra = 5
	for range lludp.MaxUnacked + extra {
		c.Send(start, []byte{0xFE}, lludp.SendOptions{Reliable: true})
	}
	if c.Next() != start {
		t.Errorf("found %v, expected the losses to be due", c.Next())
	}
	list, lost := due(t, c, start)
	if len(list) != 0 || len(lost) != extra || lost[0] != (lludp.Lost{Sequence: 1, Number: 0xFE}) || lost[extra-1].Sequence != extra {
		t.Errorf("found %v, %v, expected the first %d as lost", list, lost, extra)
	}
	if c.Oldest() != extra+1 {
		t.Errorf("found %d, expected %d as the oldest", c.Oldest(), extra+1)
	}
	// Of losses that nobody asks for the count is left.
	for range 5000 {
		c.Send(start, []byte{0xFE}, lludp.SendOptions{Reliable: true})
	}
	if _, lost := due(t, c, start); len(lost) != lludp.MaxLost || c.Stats().Lost != extra+5000 {
		t.Errorf("found %d lost and %+v, expected %d and %d", len(lost), c.Stats(), lludp.MaxLost, extra+5000)
	}
}

// TestFloods hands in more than anyone answers at once.
func TestFloods(t *testing.T) {
	c := lludp.NewCircuit()
	ping := message.AppendStartPingCheck(nil, message.StartPingCheck{PingID: 1})
	hostile := make([]uint32, lludp.MaxAcks)
	for i := range uint32(lludp.MaxPending + 100) {
		for j := range hostile {
			hostile[j] = i + uint32(j)
		}
		c.Receive(start, pack(t, lludp.Packet{Flags: lludp.FlagReliable, Sequence: i * lludp.HistorySize, Body: ping, Acks: hostile}))
	}
	acks, pings, unacked, lost := c.Waiting()
	if acks != lludp.MaxPending || pings != lludp.MaxPings || unacked != 0 || lost != 0 {
		t.Errorf("found %d, %d, %d, %d waiting", acks, pings, unacked, lost)
	}
	list, _ := due(t, c, start)
	if want := lludp.MaxPings + (lludp.MaxPending+lludp.MaxAcks-1)/lludp.MaxAcks; len(list) != want {
		t.Errorf("found %d packets, expected %d", len(list), want)
	}
	for _, p := range list {
		if len(p.Body) > lludp.MTU {
			t.Errorf("found a message of %d bytes", len(p.Body))
		}
	}
	if acks, pings, _, _ := c.Waiting(); acks+pings != 0 {
		t.Errorf("found %d acknowledgements and %d answers still waiting", acks, pings)
	}
}

func TestHistory(t *testing.T) {
	for name, tt := range map[string]struct{ odd, step uint32 }{
		"consecutive": {0x9E3779B1, 1}, "apart": {0x9E3779B1, lludp.HistorySize}, "backwards": {0x9E3779B1, 1<<32 - 1},
		"few buckets": {1, 1}, "one bucket": {0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := lludp.NewHistory(tt.odd)
			if h.Has(0) {
				t.Error("an empty history has 0")
			}
			const n = lludp.HistorySize + 1000
			for i := range uint32(n) {
				if !h.Add(i*tt.step) || h.Add(i*tt.step) {
					t.Fatalf("%d: added wrongly", i)
				}
			}
			for i := range uint32(n) {
				if want := i >= n-lludp.HistorySize; h.Has(i*tt.step) != want {
					t.Fatalf("%d: found %v, expected %v", i, !want, want)
				}
			}
		})
	}
}

// TestReceiveAllocates says that an ordinary packet costs no memory.
func TestReceiveAllocates(t *testing.T) {
	c := lludp.NewCircuit()
	datagram := pack(t, lludp.Packet{Flags: lludp.FlagReliable | lludp.FlagZeroCoded, Acks: []uint32{1, 2}, Body: append(message.NumberPacketAck.Append(nil), 1, 1, 0, 0, 0)})
	var sequence uint32
	allocs := testing.AllocsPerRun(20_000, func() {
		sequence++
		binary.BigEndian.PutUint32(datagram[1:], sequence)
		c.Receive(start, datagram)
		c.Due(after(int(sequence)), func([]byte) {})
	})
	if allocs != 0 {
		t.Errorf("found %v allocations a packet, expected none", allocs)
	}
}

// TestRenew: own numbers go on, the peer's may begin again.
func TestRenew(t *testing.T) {
	c, now := lludp.NewCircuit(), time.Unix(1_000, 0)
	_, first := c.Send(now, body(message.NumberLogoutReply), lludp.SendOptions{})
	peer, err := lludp.AppendPacket(nil, &lludp.Packet{Flags: lludp.FlagReliable, Sequence: 3, Body: body(message.NumberLogoutReply)})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := c.Receive(now, peer); !ok {
		t.Error("found the first packet to be dropped")
	}
	if _, ok, _ := c.Receive(now, peer); ok {
		t.Error("found a duplicate to be taken")
	}
	c.Renew()
	if _, ok, _ := c.Receive(now, peer); !ok {
		t.Error("found a packet of the next stay to be dropped")
	}
	if _, second := c.Send(now, body(message.NumberLogoutReply), lludp.SendOptions{}); second != first+1 {
		t.Errorf("found sequence number %d after %d, expected it to go on", second, first)
	}
}

// body is a message without fields.
func body(n message.Number) []byte { return n.Append(nil) }
