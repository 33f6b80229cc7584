package lludp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/message"
)

// Times and bounds of a circuit.
const (
	ackDelay     = 100 * time.Millisecond // how long an acknowledgement waits for others
	ackBatch     = 200                    // how many do not wait
	maxAcks      = 4096                   // waiting; the sender of what is beyond sends it again
	maxPings     = 32                     // waiting for an answer
	pingInterval = 5 * time.Second
)

// Circuit is one end of a circuit with a simulator. It is not safe for
// concurrent use. Its first sequence number is 1.
type Circuit struct {
	stats     Stats
	lastHeard time.Time

	// What was received.
	packet   Packet
	scratch  [MaxExpanded]byte
	seen     history
	acks     []uint32  // received and not acknowledged yet
	acksFrom time.Time // when the first of acks was received
	pings    []uint8   // received and not answered yet
	ack      message.PacketAck

	// What was sent.
	sequence uint32 // the last one
	unacked  unacked
	acked    history
	lost     []Lost // not reported yet
	pingID   uint8  // the last one
	pingSent time.Time
	pinging  bool      // pingID is not answered yet
	nextPing time.Time // zero before anything was sent
	out      []byte    // the datagram that is being sent
	body     []byte    // a message of the circuit's own
	coded    []byte    // a message as it would be zero-coded

	// urgent is since when something is due at once; zero: nothing is.
	urgent time.Time
}

// NewCircuit returns a circuit over which nothing has gone.
func NewCircuit() *Circuit {
	c := &Circuit{packet: Packet{Acks: make([]uint32, 0, MaxAcks)}}
	c.seen.odd, c.acked.odd = rand.Uint32()|1, rand.Uint32()|1
	return c
}

// Renew makes the circuit fit for another stay with the same peer. Its own
// sequence numbers go on, as a peer that kept its end drops those that it has
// seen; which of the peer's were received is forgotten, as a peer that did not
// keep its end counts from the beginning.
func (c *Circuit) Renew() {
	c.seen = history{odd: c.seen.odd}
}

// Stats counts the datagrams of a circuit.
type Stats struct {
	Received   uint64 // well-formed ones, duplicates included
	Duplicates uint64 // of those, the ones received before
	Resent     uint64 // of those received, the ones flagged as resent
	Malformed  uint64 // received and not or only in part understood
	Sent       uint64 // resends included
	Resends    uint64
	Lost       uint64 // own reliable ones given up
	// RTT is the smoothed time from a packet to its acknowledgement or a ping
	// to its answer, capped at 3 s; 0 if it is not known yet.
	RTT time.Duration
}

// Stats returns what was counted so far.
func (c *Circuit) Stats() Stats { return c.stats }

// LastHeard returns when the last well-formed datagram was received; zero if
// none was.
func (c *Circuit) LastHeard() time.Time { return c.lastHeard }

// Receive takes in a datagram and returns the message in it, number first.
// Body is valid until the next call of Receive and as long as datagram is left
// alone. ok is false, and body nil, for a datagram that was received before and
// for one without a message. Acknowledgements and pings are acted on and
// returned like any message. A datagram that cannot be parsed changes nothing
// but a count; the error says what is wrong with it.
//
// A datagram that comes again after 4,096 others passes for new.
func (c *Circuit) Receive(now time.Time, datagram []byte) (body []byte, ok bool, err error) {
	p := &c.packet
	if err := p.parse(datagram, c.scratch[:0]); err != nil {
		c.stats.Malformed++
		return nil, false, err
	}
	c.stats.Received++
	c.lastHeard = now
	if p.Flags&FlagResent != 0 {
		c.stats.Resent++
	}
	for _, sequence := range p.Acks {
		c.acknowledged(now, sequence)
	}
	if p.Flags&FlagReliable != 0 {
		// A duplicate is acknowledged too: the first one's may be lost.
		c.acknowledge(now, p.Sequence)
	}
	if !c.seen.add(p.Sequence) {
		c.stats.Duplicates++
		return nil, false, nil
	}
	if len(p.Body) == 0 {
		return nil, false, nil
	}
	number, rest, err := message.Split(p.Body)
	if err != nil {
		c.stats.Malformed++
		return nil, false, err
	}
	if err := c.act(now, number, rest); err != nil {
		// What was understood of it was acted on, and who decodes the
		// message sees the error again.
		c.stats.Malformed++
	}
	return p.Body, true, nil
}

// act does what a message demands of the circuit itself.
func (c *Circuit) act(now time.Time, number message.Number, rest []byte) error {
	switch number {
	case message.NumberPacketAck:
		err := c.ack.Decode(rest)
		for _, sequence := range c.ack.Sequences {
			c.acknowledged(now, sequence)
		}
		return err
	case message.NumberStartPingCheck:
		var ping message.StartPingCheck
		if err := ping.Decode(rest); err != nil {
			return err
		}
		if len(c.pings) < maxPings {
			c.pings = append(c.pings, ping.PingID)
			c.hurry(now)
		}
	case message.NumberCompletePingCheck:
		var pong message.CompletePingCheck
		if err := pong.Decode(rest); err != nil {
			return err
		}
		if c.pinging && pong.PingID == c.pingID {
			c.pinging = false
			c.stats.sample(now.Sub(c.pingSent))
		}
	}
	return nil
}

// acknowledge notes that a packet is to be acknowledged.
func (c *Circuit) acknowledge(now time.Time, sequence uint32) {
	if len(c.acks) == maxAcks {
		return
	}
	if len(c.acks) == 0 {
		c.acksFrom = now
	}
	c.acks = append(c.acks, sequence)
	if len(c.acks) >= ackBatch {
		c.hurry(now)
	}
}

// acknowledged notes that a packet of ours has arrived. Whoever acknowledges
// what does not wait for it is not heard.
func (c *Circuit) acknowledged(now time.Time, sequence uint32) {
	o, ok := c.unacked.remove(sequence)
	if !ok {
		return
	}
	c.acked.add(sequence)
	if o.resends == 0 { // or it is not known which one has arrived
		c.stats.sample(now.Sub(o.sent))
	}
}

// SendOptions says how a message is sent.
type SendOptions struct {
	Reliable  bool // again, until it is acknowledged
	ZeroCoded bool // if that makes it shorter
}

// Send builds the datagram of a message, number first, for the caller to send,
// and returns it with its sequence number. The datagram is valid until the next
// call of Send or Due. Of more than 1,024 reliable packets that are not acknowledged the
// oldest is given up, which Due reports.
//
// A body that is empty or does not fit into MaxDatagram is a fault of the
// caller's, and a panic.
func (c *Circuit) Send(now time.Time, body []byte, opts SendOptions) (datagram []byte, sequence uint32) {
	c.sequence = (c.sequence + 1) & sequenceMask
	p := Packet{Sequence: c.sequence, Body: body}
	if opts.Reliable {
		p.Flags |= FlagReliable
	}
	if opts.ZeroCoded {
		if c.coded = appendCoded(c.coded[:0], body); len(c.coded) < len(body) {
			p.Flags |= FlagZeroCoded
		}
	}
	number, _, err := message.Split(body)
	if err == nil {
		c.out, err = AppendPacket(c.out[:0], &p)
	}
	if err != nil {
		panic(fmt.Errorf("lludp: sending a message: %w", err))
	}
	if opts.Reliable {
		if len(c.unacked) == maxUnacked {
			c.give(c.unacked[0])
			c.unacked = slices.Delete(c.unacked, 0, 1)
			c.hurry(now)
		}
		c.unacked = append(c.unacked, outgoing{
			sequence: c.sequence, number: number, datagram: slices.Clone(c.out), sent: now, due: now.Add(c.stats.patience()),
		})
	}
	if c.nextPing.IsZero() {
		c.nextPing = now.Add(pingInterval)
	}
	c.stats.Sent++
	return c.out, c.sequence
}

// Acked reports whether the reliable packet of this number was acknowledged.
// It is false for what was acknowledged before 4,096 others.
func (c *Circuit) Acked(sequence uint32) bool { return c.acked.has(sequence) }

// Due sends, by calling send, what the circuit itself has to say by now:
// acknowledgements, answers to pings, a ping of its own every five seconds, and
// again what was sent reliably and has not been acknowledged. It returns the
// packets that are given up, in the order in which they were sent: those sent
// four times in vain, and those that Send gave up. Send must not call the
// circuit, nor keep the datagram.
func (c *Circuit) Due(now time.Time, send func(datagram []byte)) []Lost {
	c.urgent = time.Time{}
	for _, id := range c.pings {
		c.body = message.AppendCompletePingCheck(c.body[:0], id)
		c.post(now, send)
	}
	c.pings = c.pings[:0]
	if n := len(c.acks); n >= ackBatch || n > 0 && now.Sub(c.acksFrom) >= ackDelay {
		for batch := range slices.Chunk(c.acks, MaxAcks) {
			c.body = message.AppendPacketAck(c.body[:0], batch)
			c.post(now, send)
		}
		c.acks = c.acks[:0]
	}
	if !c.nextPing.IsZero() && !now.Before(c.nextPing) {
		c.pingID++
		c.pingSent, c.pinging, c.nextPing = now, true, now.Add(pingInterval)
		c.body = message.AppendStartPingCheck(c.body[:0], message.StartPingCheck{PingID: c.pingID, OldestUnacked: c.oldestUnacked()})
		c.post(now, send)
	}
	c.resend(now, send)
	lost := c.lost
	c.lost = nil
	return lost
}

// post sends c.body unreliably.
func (c *Circuit) post(now time.Time, send func(datagram []byte)) {
	datagram, _ := c.Send(now, c.body, SendOptions{})
	send(datagram)
}

// Next returns when Due has something to do; zero if it has nothing to do
// until the next call of Receive or Send.
func (c *Circuit) Next() time.Time {
	next := earlier(c.urgent, c.nextPing)
	if len(c.acks) > 0 {
		next = earlier(next, c.acksFrom.Add(ackDelay))
	}
	for i := range c.unacked {
		next = earlier(next, c.unacked[i].due)
	}
	return next
}

// hurry makes Due due.
func (c *Circuit) hurry(now time.Time) { c.urgent = earlier(c.urgent, now) }

// earlier returns the earlier one of two times, of which a zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
