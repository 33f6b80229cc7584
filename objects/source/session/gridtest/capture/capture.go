// Package capture reads captures of a client's traffic with a grid (pcapng
// files): the datagrams of its circuits and the HTTP exchanges of its logins
// and capabilities, so that real traffic runs through the decoders in tests.
// It is for tests; captures are trusted files of the repository.
package capture

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/gopacket/gopacket/tcpassembly"
)

// Packet is one UDP datagram.
type Packet struct {
	At time.Time
	// FromClient says who sent it: the client is who sent the first datagram
	// between two endpoints.
	FromClient bool
	Datagram   []byte
}

// Exchange is one HTTP request and its response.
type Exchange struct {
	// RequestAt and ResponseAt are when all of each had been captured.
	RequestAt, ResponseAt time.Time
	Method, Path          string // the path with its query
	RequestBody           []byte
	Status                int
	ResponseBody          []byte
}

// Event is a packet or an exchange, whichever is not nil.
type Event struct {
	At       time.Time // of an exchange, when the response was there
	Packet   *Packet
	Exchange *Exchange
}

// Capture is all of one file. It is not changed after Open.
type Capture struct {
	Start  time.Time // of the first frame
	Frames int
	// Skipped counts frames that are neither UDP nor TCP over IP, and HTTP
	// messages that break off or have no partner.
	Skipped   int
	Packets   []Packet   // in order of time
	Exchanges []Exchange // in order of ResponseAt
}

// Open reads a pcapng file to its end; gunzipping is the caller's work. The
// link types are Ethernet and both loopback forms. A frame that was cut by
// the capturing program is an error.
func Open(r io.Reader) (*Capture, error) {
	in, err := pcapgo.NewNgReader(r, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		return nil, fmt.Errorf("reading the capture's head: %w", err)
	}
	var (
		c       = &Capture{}
		clients = map[flow]bool{}
		streams = &streams{halves: map[flow]*half{}}
		tcp     = tcpassembly.NewAssembler(tcpassembly.NewStreamPool(streams))
	)
	for {
		data, info, err := in.ReadPacketData()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading frame %d: %w", c.Frames+1, err)
		}
		if info.CaptureLength < info.Length {
			return nil, fmt.Errorf("found %d bytes of frame %d, expected %d", info.CaptureLength, c.Frames+1, info.Length)
		}
		if c.Frames == 0 {
			c.Start = info.Timestamp
		}
		c.Frames++
		p := gopacket.NewPacket(data, in.LinkType(), gopacket.NoCopy)
		switch t := p.TransportLayer().(type) {
		case *layers.UDP:
			f := flowOf(p.NetworkLayer(), uint16(t.SrcPort), uint16(t.DstPort))
			if _, known := clients[f]; !known {
				clients[f], clients[f.reverse()] = true, false
			}
			c.Packets = append(c.Packets, Packet{At: info.Timestamp, FromClient: clients[f], Datagram: t.Payload})
		case *layers.TCP:
			tcp.AssembleWithTimestamp(p.NetworkLayer().NetworkFlow(), t, info.Timestamp)
		default:
			c.Skipped++
		}
	}
	tcp.FlushAll()
	c.Exchanges = streams.exchanges(&c.Skipped)
	slices.SortStableFunc(c.Packets, func(a, b Packet) int { return a.At.Compare(b.At) })
	slices.SortStableFunc(c.Exchanges, func(a, b Exchange) int { return a.ResponseAt.Compare(b.ResponseAt) })
	return c, nil
}

// Events returns packets and exchanges together in order of time. What they
// point to belongs to the capture.
func (c *Capture) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		packets, exchanges := c.Packets, c.Exchanges
		for len(packets) > 0 || len(exchanges) > 0 {
			var e Event
			if len(exchanges) == 0 || len(packets) > 0 && !packets[0].At.After(exchanges[0].ResponseAt) {
				e = Event{At: packets[0].At, Packet: &packets[0]}
				packets = packets[1:]
			} else {
				e = Event{At: exchanges[0].ResponseAt, Exchange: &exchanges[0]}
				exchanges = exchanges[1:]
			}
			if !yield(e) {
				return
			}
		}
	}
}

// flow is one direction between two endpoints.
type flow struct{ from, to netip.AddrPort }

func (f flow) reverse() flow { return flow{f.to, f.from} }

func flowOf(network gopacket.NetworkLayer, from, to uint16) flow {
	src, dst := network.NetworkFlow().Endpoints()
	a, _ := netip.AddrFromSlice(src.Raw())
	b, _ := netip.AddrFromSlice(dst.Raw())
	return flow{netip.AddrPortFrom(a, from), netip.AddrPortFrom(b, to)}
}
