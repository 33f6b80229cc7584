package session

import (
	"net/netip"
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/world"
)

// All datagrams of a real login, decoded and applied to a world, again and
// again; a new circuit each time round, so that none counts as a duplicate.
func BenchmarkCapture(b *testing.B) {
	for _, name := range []string{"login-session", "login-session-cached"} {
		b.Run(name, func(b *testing.B) {
			c := capture.Fixture(b, name)
			p := play(b, c, world.New(), nil)
			p.core.driver, p.core.ended = &silent{}, nil
			packets, r := 0, p.core.root
			b.ReportAllocs()
			for b.Loop() {
				r.circuit = lludp.NewCircuit()
				for i := range c.Packets {
					if d := &c.Packets[i]; !d.FromClient {
						p.core.received(d.At, r.at, d.Datagram)
						packets++
					}
				}
			}
			if p.core.stats.Malformed > 0 {
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
