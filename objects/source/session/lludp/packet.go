package lludp

import (
	"encoding/binary"
	"fmt"
)

// The flags of a packet. The other bits mean nothing here, and are kept.
const (
	FlagZeroCoded byte = 0x80 // runs of zeros in the body are shortened
	FlagReliable  byte = 0x40 // the receiver acknowledges the packet
	FlagResent    byte = 0x20 // the packet may have been received before
	FlagAcks      byte = 0x10 // acknowledgements follow the body
)

// Sizes in bytes.
const (
	MaxDatagram = 8192 // of what is parsed or built
	MaxExpanded = 8192 // of a body, without its zero coding
	MTU         = 1200 // of what is best sent: larger datagrams may be lost
)

// MaxAcks is how many acknowledgements a packet holds.
const MaxAcks = 255

const (
	headerSize  = 6 // flags, sequence number, length of an extra header
	minDatagram = headerSize + 1
)

// Packet is one datagram: a message with its number, a sequence number, and
// acknowledgements of packets that went the other way.
type Packet struct {
	Flags byte
	// Sequence counts the sender's packets of one circuit. It may start at 0
	// and may wrap, at 24 bits for some senders.
	Sequence uint32
	// Acks are the sequence numbers that follow the body, in order; at most
	// MaxAcks.
	Acks []uint32
	// Body is the message number and the message, never zero-coded. It is
	// empty in a packet that only acknowledges.
	Body []byte
}

// Parse takes a datagram apart. Body aliases datagram, or scratch if the
// packet is zero-coded; with a scratch of MaxExpanded bytes nothing but Acks is
// allocated. An extra header is passed over. It fails for a datagram that is
// too short or over MaxDatagram, whose acknowledgements or extra header do not
// fit, or that expands to over MaxExpanded.
//
// Source: packets of Second Life's viewer and of OpenSimulator.
func Parse(datagram, scratch []byte) (Packet, error) {
	var p Packet
	if err := p.parse(datagram, scratch); err != nil {
		return Packet{}, err
	}
	return p, nil
}

// parse is Parse into p, whose Acks are used again.
func (p *Packet) parse(datagram, scratch []byte) error {
	if len(datagram) < minDatagram || len(datagram) > MaxDatagram {
		return fmt.Errorf("found a datagram of %d bytes, expected %d to %d", len(datagram), minDatagram, MaxDatagram)
	}
	p.Flags = datagram[0]
	p.Sequence = binary.BigEndian.Uint32(datagram[1:])
	p.Acks = p.Acks[:0]
	extra := int(datagram[5])
	rest := datagram[headerSize:]

	// The acknowledgements are never zero-coded: they come off first.
	if p.Flags&FlagAcks != 0 {
		last := len(rest) - 1
		n := int(rest[last])
		if 4*n > last {
			return fmt.Errorf("found %d bytes before an acknowledgement count of %d, expected %d", last, n, 4*n)
		}
		for tail := rest[last-4*n : last]; len(tail) > 0; tail = tail[4:] {
			p.Acks = append(p.Acks, binary.BigEndian.Uint32(tail))
		}
		rest = rest[:last-4*n]
	}
	if p.Flags&FlagZeroCoded != 0 {
		var err error
		if rest, err = expand(scratch[:0], rest); err != nil {
			return err
		}
	}
	// The extra header lies inside the coded part.
	if extra > len(rest) {
		return fmt.Errorf("found %d bytes, expected an extra header of %d", len(rest), extra)
	}
	p.Body = rest[extra:]
	return nil
}

// AppendPacket appends p as it is sent. Body is zero-coded if the flag says so,
// even where that makes it longer; the flag for acknowledgements is set if
// there are any. It fails, and returns dst as it was, for a packet that Parse
// would not take: one that is empty or too large.
func AppendPacket(dst []byte, p *Packet) ([]byte, error) {
	if len(p.Body) > MaxExpanded {
		return dst, fmt.Errorf("found a body of %d bytes, expected at most %d", len(p.Body), MaxExpanded)
	}
	if len(p.Acks) > MaxAcks {
		return dst, fmt.Errorf("found %d acknowledgements, expected at most %d", len(p.Acks), MaxAcks)
	}
	flags := p.Flags
	if len(p.Acks) > 0 {
		flags |= FlagAcks
	}
	b := append(dst, flags)
	b = binary.BigEndian.AppendUint32(b, p.Sequence)
	b = append(b, 0)
	if flags&FlagZeroCoded != 0 {
		b = appendCoded(b, p.Body)
	} else {
		b = append(b, p.Body...)
	}
	if flags&FlagAcks != 0 {
		for _, sequence := range p.Acks {
			b = binary.BigEndian.AppendUint32(b, sequence)
		}
		b = append(b, byte(len(p.Acks)))
	}
	if size := len(b) - len(dst); size < minDatagram || size > MaxDatagram {
		return dst, fmt.Errorf("found a datagram of %d bytes, expected %d to %d", size, minDatagram, MaxDatagram)
	}
	return b, nil
}
