package lludp

import (
	"slices"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/message"
)

const (
	maxUnacked  = 1024
	maxResends  = 3
	maxLost     = 1024 // waiting to be reported
	minPatience = time.Second
	maxRTT      = 3 * time.Second
	// sequenceMask wraps our sequence numbers at 24 bits, as the viewer's
	// are: a circuit that lasts for weeks gets there.
	sequenceMask = 1<<24 - 1
)

// Lost is a packet that was sent reliably and given up.
type Lost struct {
	Sequence uint32
	Number   message.Number // of the message
}

// outgoing is a reliable packet of ours that is not acknowledged yet.
type outgoing struct {
	sequence uint32
	number   message.Number
	datagram []byte
	sent     time.Time // the first time
	due      time.Time // when it is sent again, or given up
	resends  int
}

// unacked holds outgoing packets in the order in which they were sent.
type unacked []outgoing

// remove takes a packet out, if it is there.
func (u *unacked) remove(sequence uint32) (outgoing, bool) {
	if len(*u) == 0 || sequence > sequenceMask {
		return outgoing{}, false
	}
	// Numbers wrap, but their distances from the oldest one increase.
	oldest := (*u)[0].sequence
	i, ok := slices.BinarySearchFunc(*u, sequence, func(o outgoing, sequence uint32) int {
		return int((o.sequence-oldest)&sequenceMask) - int((sequence-oldest)&sequenceMask)
	})
	if !ok {
		return outgoing{}, false
	}
	o := (*u)[i]
	*u = slices.Delete(*u, i, i+1)
	return o, true
}

// oldestUnacked returns the oldest sequence number that is not acknowledged;
// the next one if all are.
func (c *Circuit) oldestUnacked() uint32 {
	if len(c.unacked) > 0 {
		return c.unacked[0].sequence
	}
	return (c.sequence + 1) & sequenceMask
}

// resend sends again what has waited too long, or gives it up.
func (c *Circuit) resend(now time.Time, send func(datagram []byte)) {
	c.unacked = slices.DeleteFunc(c.unacked, func(o outgoing) bool {
		if o.resends < maxResends || now.Before(o.due) {
			return false
		}
		c.give(o)
		return true
	})
	for i := range c.unacked {
		o := &c.unacked[i]
		if now.Before(o.due) {
			continue
		}
		o.datagram[0] |= FlagResent
		o.due = now.Add(c.stats.patience())
		o.resends++
		c.stats.Sent++
		c.stats.Resends++
		send(o.datagram)
	}
}

// give gives up a packet. Of more than maxLost that nobody asked for by Due
// only the count is kept.
func (c *Circuit) give(o outgoing) {
	c.stats.Lost++
	if len(c.lost) < maxLost {
		c.lost = append(c.lost, Lost{Sequence: o.sequence, Number: o.number})
	}
}

// sample takes one measured round trip into account.
func (s *Stats) sample(rtt time.Duration) {
	switch rtt = min(rtt, maxRTT); {
	case rtt <= 0: // the clock was set back, or is too coarse
	case s.RTT == 0:
		s.RTT = rtt
	default:
		s.RTT += (rtt - s.RTT) / 8
	}
}

// patience returns how long to wait for an acknowledgement.
func (s *Stats) patience() time.Duration { return max(minPatience, 5*s.RTT) }
