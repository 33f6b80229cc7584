package gridtest

import (
	"encoding/binary"
	"errors"
)

// Packet flags.
const (
	flagZeroCoded = 0x80
	flagReliable  = 0x40
	flagResent    = 0x20
	flagAcks      = 0x10
)

// packet is a datagram taken apart.
type packet struct {
	flags    byte
	sequence uint32
	acks     []uint32
	body     []byte // expanded, number first
}

var errPacket = errors.New("no packet")

// parsePacket takes a client's datagram apart, as strictly as it can be.
func parsePacket(b []byte) (p packet, err error) {
	if len(b) < 7 {
		return packet{}, errPacket
	}
	p.flags, p.sequence = b[0], binary.BigEndian.Uint32(b[1:])
	extra, rest := int(b[5]), b[6:]
	if p.flags&flagAcks != 0 {
		n := int(rest[len(rest)-1])
		rest = rest[:len(rest)-1]
		if n == 0 || 4*n > len(rest) {
			return packet{}, errPacket
		}
		for tail := rest[len(rest)-4*n:]; len(tail) > 0; tail = tail[4:] {
			p.acks = append(p.acks, binary.BigEndian.Uint32(tail))
		}
		rest = rest[:len(rest)-4*n]
	}
	if p.flags&flagZeroCoded != 0 {
		if rest, err = expand(rest); err != nil {
			return packet{}, err
		}
	}
	if extra >= len(rest) {
		return packet{}, errPacket
	}
	p.body = rest[extra:]
	return p, nil
}

// expand undoes the zero coding.
func expand(coded []byte) ([]byte, error) {
	var b []byte
	for i := 0; i < len(coded); i++ {
		if coded[i] != 0 {
			b = append(b, coded[i])
			continue
		}
		run := 0
		for i++; i < len(coded) && coded[i] == 0; i++ {
			run += 256
		}
		if i == len(coded) {
			return nil, errPacket
		}
		b = append(b, make([]byte, run+int(coded[i]))...)
		if len(b) > 8192 {
			return nil, errPacket
		}
	}
	return b, nil
}

// appendPacket builds a datagram.
func appendPacket(b []byte, flags byte, sequence uint32, body []byte) []byte {
	b = append(b, flags)
	b = binary.BigEndian.AppendUint32(b, sequence)
	b = append(b, 0)
	if flags&flagZeroCoded == 0 {
		return append(b, body...)
	}
	for i := 0; i < len(body); i++ {
		b = append(b, body[i])
		if body[i] != 0 {
			continue
		}
		run := 1
		for run < 255 && i+1 < len(body) && body[i+1] == 0 {
			run++
			i++
		}
		b = append(b, byte(run))
	}
	return b
}
