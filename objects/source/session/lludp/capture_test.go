package lludp_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/source/session/message"
)

const (
	captures = "../testdata/captures"
	simPort  = 9000
)

// datagram is one of a capture.
type datagram struct {
	at      time.Time
	payload []byte
	sent    bool // by the client
}

// readCapture returns the datagrams of a capture.
func readCapture(t testing.TB, name string) []datagram {
	t.Helper()
	f, err := os.Open(filepath.Join(captures, name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := pcapgo.NewNgReader(unzipped, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	var list []datagram
	for {
		frame, info, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		packet := gopacket.NewPacket(frame, r.LinkType(), gopacket.NoCopy)
		if udp, ok := packet.TransportLayer().(*layers.UDP); ok {
			list = append(list, datagram{at: info.Timestamp, payload: udp.Payload, sent: udp.DstPort == simPort})
		}
	}
}

// count is what truth.json counts of one message.
type count struct {
	Datagrams  int `json:"datagrams"`
	Unique     int `json:"unique"`
	Duplicates int `json:"duplicates"`
	Resent     int `json:"resent_flag"`
	Reliable   int `json:"reliable"`
	ZeroCoded  int `json:"zerocoded"`
	Acks       int `json:"appended_acks"`
	Bytes      int `json:"bytes"`
}

func (c *count) add(p *lludp.Packet, size int, fresh bool) {
	c.Datagrams++
	if fresh {
		c.Unique++
	} else {
		c.Duplicates++
	}
	if p.Flags&lludp.FlagResent != 0 {
		c.Resent++
	}
	if p.Flags&lludp.FlagReliable != 0 {
		c.Reliable++
	}
	if p.Flags&lludp.FlagZeroCoded != 0 {
		c.ZeroCoded++
	}
	c.Acks += len(p.Acks)
	c.Bytes += size
}

// TestCaptures replays both ends of real sessions and compares every count with
// the right answers. The simulator's datagrams go into one circuit, the
// client's into another.
func TestCaptures(t *testing.T) {
	var truth struct {
		Captures map[string]struct {
			Received  map[string]count `json:"messages_received"`
			Sent      map[string]count `json:"messages_sent"`
			Sequences int              `json:"distinct_sequence_numbers_received"`
		} `json:"captures"`
	}
	text, err := os.ReadFile(filepath.Join(captures, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	if len(truth.Captures) != 2 {
		t.Fatalf("found %d captures, expected 2", len(truth.Captures))
	}
	for name, want := range truth.Captures {
		t.Run(name, func(t *testing.T) {
			received, sent := map[string]count{}, map[string]count{}
			var datagrams, fresh, acknowledged int
			client, simulator := lludp.NewCircuit(), lludp.NewCircuit()
			list := readCapture(t, name)
			for _, d := range list {
				p, err := lludp.Parse(d.payload, nil)
				if err != nil {
					t.Fatal(err)
				}
				circuit, counts := client, received
				if d.sent {
					circuit, counts = simulator, sent
				}
				body, ok, err := circuit.Receive(d.at, d.payload)
				if err != nil {
					t.Fatal(err)
				}
				if ok && string(body) != string(p.Body) {
					t.Fatalf("packet %d: found body %x, expected %x", p.Sequence, body, p.Body)
				}
				number, _, err := message.Split(p.Body)
				if err != nil {
					t.Fatal(err)
				}
				c := counts[number.String()]
				c.add(&p, len(d.payload), ok)
				counts[number.String()] = c
				if d.sent {
					continue
				}
				if datagrams++; ok {
					fresh++
				}
				if p.Flags&lludp.FlagReliable != 0 {
					acknowledged++
				}
				client.Due(d.at, func(out []byte) { acknowledged -= acksIn(t, out) })
			}
			last := list[len(list)-1].at
			client.Due(last.Add(time.Second), func(out []byte) { acknowledged -= acksIn(t, out) })

			if diff := cmp.Diff(want.Received, received); diff != "" {
				t.Errorf("received: %s", diff)
			}
			if diff := cmp.Diff(want.Sent, sent); diff != "" {
				t.Errorf("sent: %s", diff)
			}
			stats := client.Stats()
			if fresh != want.Sequences || stats.Received != uint64(datagrams) || stats.Duplicates != uint64(datagrams-fresh) || stats.Malformed != 0 {
				t.Errorf("found %d new of %d datagrams and %+v, expected %d new", fresh, datagrams, stats, want.Sequences)
			}
			if acknowledged != 0 {
				t.Errorf("found %d more reliable packets than acknowledgements", acknowledged)
			}
			if got := client.LastHeard(); got.After(last) || last.Sub(got) > 6*time.Second {
				t.Errorf("found %v as last heard, expected close to %v", got, last)
			}
		})
	}
}

// acksIn returns how many packets a datagram acknowledges.
func acksIn(t testing.TB, datagram []byte) int { return len(acksOf(t, datagram)) }

// acksOf returns the acknowledgements of a datagram: none if it is no
// PacketAck.
func acksOf(t testing.TB, datagram []byte) []uint32 {
	t.Helper()
	p, err := lludp.Parse(datagram, nil)
	if err != nil {
		t.Fatal(err)
	}
	number, rest, err := message.Split(p.Body)
	if err != nil {
		t.Fatal(err)
	}
	if number != message.NumberPacketAck {
		return nil
	}
	var m message.PacketAck
	if err := m.Decode(rest); err != nil {
		t.Fatal(err)
	}
	return m.Sequences
}
