package lludp_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/source/session/message"
)

// seeds are datagrams with one of each thing in them.
func seeds(t testing.TB) [][]byte {
	list := [][]byte{
		unhex(t, "00 00000000 00 01 05 00000000"),
		unhex(t, "00 00000001 00 02 01"),
		unhex(t, "40 00000002 00 ffff 0094 07"),
		unhex(t, "e0 00000002 00 ffff 0001 94 0003"),
		unhex(t, "80 00000003 02 0003 01 000007"),
		unhex(t, "00 00000004 00 fffffffb 02 01000000 02000000"),
		unhex(t, "50 00000005 00 fe 00000001 00000002 02"),
		unhex(t, "10 00ffffff 00 00000001 01"),
	}
	kinds := map[message.Number]bool{}
	for _, d := range readCapture(t, "login-session-cached.pcapng") {
		p, err := lludp.Parse(d.payload, nil)
		if err != nil {
			t.Fatal(err)
		}
		number, _, err := message.Split(p.Body)
		if err != nil {
			t.Fatal(err)
		}
		if !kinds[number] && len(d.payload) < 256 {
			kinds[number] = true
			list = append(list, d.payload)
		}
	}
	return list
}

func FuzzParse(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, datagram []byte) {
		before := bytes.Clone(datagram)
		p, err := lludp.Parse(datagram, nil)
		if !bytes.Equal(before, datagram) {
			t.Fatal("the datagram was written to")
		}
		if err != nil {
			if diff := cmp.Diff(lludp.Packet{}, p); diff != "" {
				t.Fatal(diff)
			}
			return
		}
		if len(p.Body) > lludp.MaxExpanded || len(p.Acks) > lludp.MaxAcks {
			t.Fatalf("found %d bytes and %d acknowledgements", len(p.Body), len(p.Acks))
		}
		again, err := lludp.AppendPacket(nil, &p)
		if err != nil {
			// An extra header may be all there is, and the longer form of
			// runs may be what made the packet fit.
			if len(p.Body) > 0 && len(datagram) < lludp.MaxDatagram/2 {
				t.Fatal(err)
			}
			return
		}
		got, err := lludp.Parse(again, make([]byte, 3))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// expandSlowly is Expand, one byte after another.
func expandSlowly(src []byte) []byte {
	var dst []byte
	for i := 0; i < len(src); i++ {
		if dst = append(dst, src[i]); src[i] != 0 {
			continue
		}
		for i++; i < len(src) && src[i] == 0; i++ {
			dst = append(dst, make([]byte, 256)...)
		}
		if i < len(src) {
			dst = append(dst, make([]byte, src[i]-1)...)
		}
	}
	return dst
}

func FuzzExpand(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed[6:])
	}
	f.Add(append(make([]byte, 32), 255))
	f.Add(append(make([]byte, 32), 255, 1, 1))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > lludp.MaxDatagram {
			return
		}
		want := expandSlowly(src)
		got, err := lludp.Expand(nil, src)
		if fits := len(want) <= lludp.MaxExpanded; fits != (err == nil) || fits && !bytes.Equal(got, want) {
			t.Fatalf("found %x, %v, expected %x", got, err, want)
		}
		got, err = lludp.Expand(nil, lludp.AppendCoded(nil, src))
		if err != nil || !bytes.Equal(got, src) {
			t.Fatalf("found %x, %v after coding, expected %x", got, err, src)
		}
	})
}

// FuzzCircuit plays a script: 0 and a time in tenths of a second waits, 1 and
// a length sends a message of it, 2 and a length receives the datagram of that
// length which follows, 3 does what is due.
func FuzzCircuit(f *testing.F) {
	for _, seed := range seeds(f) {
		datagram := append([]byte{2, byte(len(seed))}, seed...)
		script := append([]byte{1, 20, 1, 1}, datagram...)
		script = append(append(script, 3, 0, 15, 3), datagram...)
		f.Add(append(script, 0, 60, 3))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 1<<14 {
			return
		}
		c, now := lludp.NewCircuit(), start
		var received, sent, reliable, lost uint64
		check := func(datagram []byte) {
			if _, err := lludp.Parse(datagram, nil); err != nil {
				t.Fatalf("the circuit sends %x: %v", datagram, err)
			}
			sent++
		}
		for len(script) >= 2 {
			op, arg := script[0], script[1]
			script = script[2:]
			switch op % 4 {
			case 0:
				now = now.Add(time.Duration(arg) * 100 * time.Millisecond)
			case 1:
				datagram, sequence := c.Send(now, append(message.NumberAgentUpdate.Append(nil), make([]byte, arg)...), lludp.SendOptions{Reliable: arg%2 == 0, ZeroCoded: arg%3 == 0})
				check(datagram)
				if c.Acked(sequence) {
					t.Fatalf("packet %d is acknowledged before it is sent", sequence)
				}
				reliable += uint64(1 - arg%2)
			case 2:
				datagram := script[:min(int(arg), len(script))]
				script = script[len(datagram):]
				body, ok, err := c.Receive(now, datagram)
				if ok && (err != nil || len(body) == 0) || !ok && body != nil {
					t.Fatalf("found %x, %v, %v", body, ok, err)
				}
				if _, again, _ := c.Receive(now, datagram); again {
					t.Fatalf("%x is received twice", datagram)
				}
				received += 2
			case 3:
				lost += uint64(len(c.Due(now, check)))
				if next := c.Next(); !next.IsZero() && !next.After(now) {
					t.Fatal("Due leaves something due")
				}
			}
		}
		acks, pings, unacked, unreported := c.Waiting()
		if acks > lludp.MaxPending || pings > lludp.MaxPings || unacked > lludp.MaxUnacked || unreported > lludp.MaxLost {
			t.Fatalf("found %d, %d, %d, %d waiting", acks, pings, unacked, unreported)
		}
		stats := c.Stats()
		if stats.Received+stats.Malformed < received || stats.Sent != sent || stats.Lost != lost+uint64(unreported) || stats.Lost+uint64(unacked) > reliable {
			t.Fatalf("found %+v, expected %d received, %d sent, %d lost of %d", stats, received, sent, lost, reliable)
		}
	})
}
