package capture_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
)

// truth is what truth.json says about a capture as a file.
type truth struct {
	File struct {
		First    float64 `json:"first_packet_unix"`
		Duration float64 `json:"duration_seconds"`
		Frames   int     `json:"frames"`
	} `json:"file"`
	Received  map[string]struct{ Datagrams int } `json:"messages_received"`
	Sent      map[string]struct{ Datagrams int } `json:"messages_sent"`
	Sequences int                                `json:"distinct_sequence_numbers_received"`
	HTTP      map[string]int                     `json:"http"`
	Queue     struct {
		Polls []struct {
			T, Held float64
			Status  int
		}
	} `json:"event_queue"`
}

func TestFixtures(t *testing.T) {
	for _, name := range []string{"login-session", "login-session-cached"} {
		t.Run(name, func(t *testing.T) {
			c := capture.Fixture(t, name)
			var want truth
			capture.Truth(t, name, &want)
			if c.Frames != want.File.Frames {
				t.Errorf("found %d frames, expected %d", c.Frames, want.File.Frames)
			}
			if got := float64(c.Start.UnixNano()) / 1e9; math.Abs(got-want.File.First) > 1e-4 {
				t.Errorf("found a start at %f, expected %f", got, want.File.First)
			}

			var received, sent int
			sequences := map[uint32]bool{}
			for _, p := range c.Packets {
				if p.FromClient {
					sent++
					continue
				}
				received++
				sequences[binary.BigEndian.Uint32(p.Datagram[1:])] = true
			}
			if n := total(want.Received); received != n {
				t.Errorf("found %d datagrams from the simulator, expected %d", received, n)
			}
			if n := total(want.Sent); sent != n {
				t.Errorf("found %d datagrams from the client, expected %d", sent, n)
			}
			if len(sequences) != want.Sequences {
				t.Errorf("found %d sequence numbers, expected %d", len(sequences), want.Sequences)
			}

			counts := map[string]int{}
			for _, e := range c.Exchanges {
				counts[fmt.Sprintf("%s %d", kind(e), e.Status)]++
			}
			if diff := cmp.Diff(want.HTTP, counts); diff != "" {
				t.Errorf("http exchanges (-want +got):\n%s", diff)
			}
			var polls int
			for _, e := range c.Exchanges {
				if kind(e) != "event queue" {
					continue
				}
				p := want.Queue.Polls[polls]
				polls++
				t1, held := e.ResponseAt.Sub(c.Start).Seconds(), e.ResponseAt.Sub(e.RequestAt).Seconds()
				if e.Status != p.Status || math.Abs(t1-p.T) > 0.01 || math.Abs(held-p.Held) > 0.01 {
					t.Errorf("found poll %d answered %d at %.3f after %.3f s, expected %+v", polls, e.Status, t1, held, p)
				}
			}
		})
	}
}

func total(messages map[string]struct{ Datagrams int }) (n int) {
	for _, m := range messages {
		n += m.Datagrams
	}
	return n
}

// kind tells exchanges apart by what they hold.
func kind(e capture.Exchange) string {
	switch body := string(e.RequestBody); {
	case strings.Contains(body, "login_to_simulator"):
		return "login"
	case strings.Contains(body, "<string>EventQueueGet</string>"):
		return "seed"
	case strings.Contains(body, "<key>ack</key>"):
		return "event queue"
	case strings.Contains(body, "<key>folders</key>"):
		return "inventory"
	}
	return e.Path
}

func TestEventsAreInOrder(t *testing.T) {
	c := capture.Fixture(t, "login-session-cached")
	var last time.Time
	var n int
	for e := range c.Events() {
		if e.At.Before(last) {
			t.Fatalf("found event %d at %v, after one at %v", n, e.At, last)
		}
		if (e.Packet == nil) == (e.Exchange == nil) {
			t.Fatalf("found event %d with packet %v and exchange %v", n, e.Packet, e.Exchange)
		}
		last = e.At
		n++
	}
	if want := len(c.Packets) + len(c.Exchanges); n != want {
		t.Errorf("found %d events, expected %d", n, want)
	}
	for range c.Events() { // stopping is allowed
		break
	}
}

// TestTroubledStreams reads two exchanges of one connection whose segments
// come out of order, twice, and overlapping.
func TestTroubledStreams(t *testing.T) {
	w := newWriter(t)
	const request = "POST /a?b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\none"
	const second = "GET /c HTTP/1.1\r\nHost: h\r\n\r\n"
	const answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	const again = "HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\nuntil the end"
	w.tcp(true, 99, true, "")
	w.tcp(false, 499, true, "")
	w.tcp(true, 100, false, request[:20])
	w.tcp(true, 130, false, request[30:])
	w.tcp(true, 110, false, request[10:30])
	w.tcp(true, 110, false, request[10:30])
	w.tcp(false, 500, false, answer)
	w.tcp(true, 100+uint32(len(request)), false, second)
	w.udp(true, "from the client")
	w.udp(false, "from the server")
	w.tcp(false, 500+uint32(len(answer)), false, again)
	w.tcp(true, 100+uint32(len(request)+len(second)), false, "GET /never HTTP/1.1\r\nHost: h\r\n\r\n")
	c, err := capture.Open(w.file())
	if err != nil {
		t.Fatal(err)
	}
	want := &capture.Capture{
		Start: at(0), Frames: 12, Skipped: 1,
		Packets: []capture.Packet{
			{At: at(8), FromClient: true, Datagram: []byte("from the client")},
			{At: at(9), Datagram: []byte("from the server")},
		},
		Exchanges: []capture.Exchange{
			{RequestAt: at(4), ResponseAt: at(6), Method: "POST", Path: "/a?b", RequestBody: []byte("one"), Status: 200, ResponseBody: []byte("ok")},
			{RequestAt: at(7), ResponseAt: at(10), Method: "GET", Path: "/c", RequestBody: []byte{}, Status: 502, ResponseBody: []byte("until the end")},
		},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("capture (-want +got):\n%s", diff)
	}
}

func TestOpenRefuses(t *testing.T) {
	w := newWriter(t)
	w.udp(true, "whole")
	whole := w.file().Bytes()
	for name, data := range map[string][]byte{
		"nothing":     nil,
		"no capture":  []byte("GIF89a and what follows it"),
		"breaks off":  whole[:len(whole)-6],
		"other magic": append([]byte{0}, whole...),
	} {
		if _, err := capture.Open(bytes.NewReader(data)); err == nil {
			t.Errorf("%s: found no error", name)
		}
	}
}

// at is when the frame of that index was captured.
func at(frame int) time.Time { return time.Unix(1000, 0).Add(time.Duration(frame) * time.Second).UTC() }

// writer makes captures.
type writer struct {
	t   *testing.T
	buf bytes.Buffer
	out *pcapgo.NgWriter
	n   int
}

func newWriter(t *testing.T) *writer {
	w := &writer{t: t}
	out, err := pcapgo.NewNgWriter(&w.buf, layers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	w.out = out
	return w
}

func (w *writer) file() *bytes.Buffer {
	if err := w.out.Flush(); err != nil {
		w.t.Fatal(err)
	}
	return &w.buf
}

func (w *writer) tcp(fromClient bool, seq uint32, syn bool, data string) {
	l := &layers.TCP{SrcPort: 4000, DstPort: 9000, Seq: seq, SYN: syn, ACK: true, Window: 1000}
	if !fromClient {
		l.SrcPort, l.DstPort = l.DstPort, l.SrcPort
	}
	w.frame(layers.IPProtocolTCP, l, data)
}

func (w *writer) udp(fromClient bool, data string) {
	l := &layers.UDP{SrcPort: 4001, DstPort: 9000}
	if !fromClient {
		l.SrcPort, l.DstPort = l.DstPort, l.SrcPort
	}
	w.frame(layers.IPProtocolUDP, l, data)
}

// frame writes one, with checksums that are wrong as an offloading card
// leaves them.
func (w *writer) frame(protocol layers.IPProtocol, transport gopacket.SerializableLayer, data string) {
	buf := gopacket.NewSerializeBuffer()
	local := net.IPv4(127, 0, 0, 1)
	err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true},
		&layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4},
		&layers.IPv4{Version: 4, IHL: 5, TTL: 64, Protocol: protocol, SrcIP: local, DstIP: local},
		transport, gopacket.Payload(data))
	if err != nil {
		w.t.Fatal(err)
	}
	b := buf.Bytes()
	info := gopacket.CaptureInfo{Timestamp: at(w.n), CaptureLength: len(b), Length: len(b)}
	if err := w.out.WritePacket(info, b); err != nil {
		w.t.Fatal(err)
	}
	w.n++
}
