package session

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
	"github.com/wipagent/wipagent/objects/world"
)

// All datagrams of a real login, decoded and applied to a world, again and
// again; their sequence numbers go on, so that none counts as a duplicate.
func BenchmarkCapture(b *testing.B) {
	for _, name := range []string{"login-session", "login-session-cached"} {
		b.Run(name, func(b *testing.B) {
			c := capture.Fixture(b, name)
			p := play(b, c, world.New(), nil)
			p.core.driver, p.core.ended = &silent{}, nil
			var received []capture.Packet
			for _, d := range c.Packets {
				if !d.FromClient {
					received = append(received, d)
				}
			}
			const span = 1 << 10 // more than the sequence numbers of one round
			packets, r := 0, p.core.root
			b.ReportAllocs()
			for b.Loop() {
				for _, d := range received {
					sequence := binary.BigEndian.Uint32(d.Datagram[1:])
					binary.BigEndian.PutUint32(d.Datagram[1:], sequence+span)
					p.core.received(d.At, r.at, d.Datagram)
				}
				packets += len(received)
				r.circuit.Due(c.Start, func([]byte) {}) // acknowledgements
			}
			if p.core.stats.malformed > 0 {
				b.Fatal("found packets that were not understood")
			}
			b.ReportMetric(float64(packets)/b.Elapsed().Seconds(), "packets/s")
		})
	}
}

// silent is a driver that does nothing.
type silent struct{}

func (*silent) send(netip.AddrPort, []byte)      {}
func (*silent) fetchSeed(*region)                {}
func (*silent) pollQueue(*region)                {}
func (*silent) crawl(*region, []caps.Folder)     {}
func (*silent) fetchNames(*region, []world.UUID) {}
func (*silent) notify(Notice)                    {}
