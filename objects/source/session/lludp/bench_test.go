package lludp_test

import (
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/lludp"
)

func BenchmarkParse(b *testing.B) {
	var plain, coded []byte
	for _, d := range readCapture(b, "login-session.pcapng") {
		p, err := lludp.Parse(d.payload, nil)
		switch {
		case err != nil:
			b.Fatal(err)
		case p.Flags&lludp.FlagZeroCoded != 0 && len(d.payload) > 400 && coded == nil:
			coded = d.payload
		case p.Flags&lludp.FlagZeroCoded == 0 && len(d.payload) > 400 && plain == nil:
			plain = d.payload
		}
	}
	for name, datagram := range map[string][]byte{"plain": plain, "zero-coded": coded} {
		b.Run(name, func(b *testing.B) {
			scratch := make([]byte, lludp.MaxExpanded)
			b.ReportAllocs()
			b.SetBytes(int64(len(datagram)))
			for b.Loop() {
				if _, err := lludp.Parse(datagram, scratch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "packets/s")
		})
	}
}

// BenchmarkReceive replays a session into a new circuit each time, and lets it
// answer.
func BenchmarkReceive(b *testing.B) {
	var list []datagram
	for _, d := range readCapture(b, "login-session.pcapng") {
		if !d.sent {
			list = append(list, d)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		c := lludp.NewCircuit()
		for _, d := range list {
			if _, ok, err := c.Receive(d.at, d.payload); !ok || err != nil {
				b.Fatal(ok, err)
			}
			c.Due(d.at, func([]byte) {})
		}
	}
	b.ReportMetric(float64(b.N*len(list))/b.Elapsed().Seconds(), "packets/s")
}

// BenchmarkReceiveChosen receives numbers that agree in their low bits.
func BenchmarkReceiveChosen(b *testing.B) {
	c := lludp.NewCircuit()
	var sequence uint32
	datagram := pack(b, lludp.Packet{Body: []byte{0xFE}})
	b.ReportAllocs()
	for b.Loop() {
		sequence += lludp.HistorySize
		datagram[1], datagram[2], datagram[3], datagram[4] = byte(sequence>>24), byte(sequence>>16), byte(sequence>>8), byte(sequence)
		if _, ok, err := c.Receive(start, datagram); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}
