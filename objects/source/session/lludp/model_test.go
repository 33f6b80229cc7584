package lludp_test

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/source/session/message"
)

// numberModel is of the messages that the model's ends send each other.
var numberModel = message.Low(60_000)

// flight is a datagram on its way.
type flight struct {
	to      *end
	arrives time.Time
	bytes   []byte
}

// network loses, doubles, delays and so reorders datagrams.
type network struct {
	random     *rand.Rand
	loss, dup  float64
	delay, lag time.Duration // of most; of one in fifty
	flights    []flight      // by arrival
}

func (n *network) carry(now time.Time, to *end, datagram []byte) {
	copies := 1
	if n.random.Float64() < n.dup {
		copies += 1 + n.random.IntN(2)
	}
	for range copies {
		if n.random.Float64() < n.loss {
			continue
		}
		most := n.delay
		if n.random.IntN(50) == 0 {
			most = n.lag
		}
		arrives := now.Add(time.Duration(n.random.Int64N(int64(most) + 1)))
		i, _ := slices.BinarySearchFunc(n.flights, arrives, func(f flight, at time.Time) int {
			return cmp.Or(f.arrives.Compare(at), -1) // behind those of the same time
		})
		n.flights = slices.Insert(n.flights, i, flight{to, arrives, slices.Clone(datagram)})
	}
}

// end is one end of the model's circuit.
type end struct {
	*lludp.Circuit
	name      string
	peer      *end
	plan      []time.Time       // when to send messages, in order
	sent      uint32            // messages sent
	sequences map[uint32]uint32 // of reliable messages
	sendings  map[uint32]int    // of reliable packets, by sequence number
	delivered map[uint32]int    // messages of the peer
	lost      map[uint32]bool   // sequence numbers reported lost
}

func newEnd(name string) *end {
	return &end{Circuit: lludp.NewCircuit(), name: name,
		sequences: map[uint32]uint32{}, sendings: map[uint32]int{}, delivered: map[uint32]int{}, lost: map[uint32]bool{}}
}

// say sends the next message: two of three are reliable.
func (e *end) say(t *rapid.T, n *network, now time.Time) {
	body := binary.BigEndian.AppendUint32(numberModel.Append(nil), e.sent)
	body = append(body, make([]byte, n.random.IntN(300))...)
	opts := lludp.SendOptions{Reliable: e.sent%3 != 0, ZeroCoded: e.sent%2 == 0}
	datagram, sequence := e.Send(now, body, opts)
	if opts.Reliable {
		e.sequences[e.sent] = sequence
	}
	e.sent++
	e.post(t, n, now, datagram)
}

// post gives a datagram to the network.
func (e *end) post(t *rapid.T, n *network, now time.Time, datagram []byte) {
	p, err := lludp.Parse(datagram, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Flags&lludp.FlagReliable != 0 {
		if again := p.Flags&lludp.FlagResent != 0; again != (e.sendings[p.Sequence] > 0) {
			t.Fatalf("%s: packet %d is sent for the %d. time, and flagged as resent: %v", e.name, p.Sequence, e.sendings[p.Sequence]+1, again)
		}
		if e.sendings[p.Sequence]++; e.sendings[p.Sequence] > 4 {
			t.Fatalf("%s: packet %d is sent five times", e.name, p.Sequence)
		}
	}
	n.carry(now, e.peer, datagram)
}

// hear takes in a datagram.
func (e *end) hear(t *rapid.T, now time.Time, datagram []byte) {
	body, ok, err := e.Receive(now, datagram)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return
	}
	number, rest, err := message.Split(body)
	if err != nil {
		t.Fatal(err)
	}
	if number == numberModel {
		e.delivered[binary.BigEndian.Uint32(rest)]++
	}
}

// settle lets the circuit do what is due.
func (e *end) settle(t *rapid.T, n *network, now time.Time) {
	next := e.Next()
	var sent int
	lost := e.Due(now, func(datagram []byte) {
		sent++
		e.post(t, n, now, datagram)
	})
	if (next.IsZero() || next.After(now)) != (sent == 0 && len(lost) == 0) {
		t.Fatalf("%s: Next says %v at %v, and %d are sent and %d lost", e.name, next, now, sent, len(lost))
	}
	if again := e.Next(); !again.IsZero() && !again.After(now) {
		t.Fatalf("%s: Due leaves something due", e.name)
	}
	for _, l := range lost {
		if l.Number != numberModel || e.lost[l.Sequence] {
			t.Fatalf("%s: found %+v lost, expected one of our own, once", e.name, l)
		}
		e.lost[l.Sequence] = true
	}
}

// judge checks what has come of every message.
func (e *end) judge(t *rapid.T) {
	if acks, pings, unacked, lost := e.Waiting(); acks+pings+unacked+lost != 0 {
		t.Errorf("%s: found %d, %d, %d, %d still waiting", e.name, acks, pings, unacked, lost)
	}
	for id := range e.sent {
		delivered := e.peer.delivered[id]
		if delivered > 1 {
			t.Errorf("%s: message %d is delivered %d times", e.name, id, delivered)
		}
		sequence, reliable := e.sequences[id]
		if !reliable {
			continue
		}
		if e.Acked(sequence) == e.lost[sequence] {
			t.Errorf("%s: packet %d is acknowledged: %v, lost: %v", e.name, sequence, e.Acked(sequence), e.lost[sequence])
		}
		if delivered == 0 && !e.lost[sequence] {
			t.Errorf("%s: message %d is neither delivered nor reported lost", e.name, id)
		}
	}
	if stats := e.Stats(); stats.Lost != uint64(len(e.lost)) || stats.Malformed != 0 {
		t.Errorf("%s: found %+v, expected %d lost", e.name, stats, len(e.lost))
	}
}

// TestModel joins two circuits by a bad network and lets them talk for a while.
func TestModel(t *testing.T) {
	var delivered, reported uint64
	rapid.Check(t, func(t *rapid.T) {
		n := &network{
			random: rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed"))),
			loss:   rapid.SampledFrom([]float64{0, 0.1, 0.25, 0.4}).Draw(t, "loss"),
			dup:    rapid.SampledFrom([]float64{0, 0.05, 0.3}).Draw(t, "dup"),
			delay:  rapid.SampledFrom([]time.Duration{0, 30 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second}).Draw(t, "delay"),
			lag:    rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "lag"),
		}
		a, b := newEnd("a"), newEnd("b")
		a.peer, b.peer = b, a
		ends := []*end{a, b}
		talk := rapid.SampledFrom([]int{100, 20_000}).Draw(t, "talk") // ms
		for _, e := range ends {
			// Together with acknowledgements and pings these are fewer than a
			// circuit remembers, and more than it waits for.
			for range rapid.SampledFrom([]int{0, 1, 5, 10, 20, 40, 60, 80, 100, 150, 200, 1500}).Draw(t, e.name) {
				e.plan = append(e.plan, after(n.random.IntN(talk)))
			}
			slices.SortFunc(e.plan, time.Time.Compare)
		}
		// By then everything has arrived or was given up: four times the
		// longest patience, and the lag of the last datagram.
		until := after(talk + 4*15_000 + 60_000)
		now := start
		for steps := 0; now.Before(until); steps++ {
			if steps > 100_000 {
				t.Fatal("the circuits do not come to rest")
			}
			for _, e := range ends {
				for len(e.plan) > 0 && !e.plan[0].After(now) {
					e.say(t, n, now)
					e.plan = e.plan[1:]
				}
			}
			for len(n.flights) > 0 && !n.flights[0].arrives.After(now) {
				n.flights[0].to.hear(t, now, n.flights[0].bytes)
				n.flights = n.flights[1:]
			}
			next := until
			for _, e := range ends {
				e.settle(t, n, now)
				if at := e.Next(); !at.IsZero() && at.Before(next) {
					next = at
				}
				if len(e.plan) > 0 && e.plan[0].Before(next) {
					next = e.plan[0]
				}
			}
			if len(n.flights) > 0 && n.flights[0].arrives.Before(next) {
				next = n.flights[0].arrives
			}
			now = next
		}
		for _, e := range ends {
			e.judge(t)
			if fair := n.loss == 0 && n.delay <= 300*time.Millisecond && n.lag <= time.Second && e.sent <= 200; fair && len(e.peer.delivered) != int(e.sent) {
				t.Errorf("%s: found %d of %d messages delivered by a network that loses nothing", e.name, len(e.peer.delivered), e.sent)
			} else if fair && (len(e.lost) > 0 || max(n.delay, n.lag) <= 300*time.Millisecond && e.Stats().Resends > 0) {
				t.Errorf("%s: found %d packets lost and %+v with a network that loses nothing", e.name, len(e.lost), e.Stats())
			}
			delivered += uint64(len(e.delivered))
			reported += uint64(len(e.lost))
		}
	})
	t.Logf("%d delivered, %d lost", delivered, reported)
	if delivered == 0 || reported == 0 {
		t.Errorf("found %d delivered and %d lost, expected some of both", delivered, reported)
	}
}
