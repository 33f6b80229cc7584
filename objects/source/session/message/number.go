package message

import (
	"encoding/binary"
	"fmt"
)

// Number is a message's number in the form that is sent: 1 byte for High
// frequency, FF and a byte for Medium, FF FF and two bytes for Low, FF FF FF
// and a byte for Fixed. As an integer it has those bytes, the last one lowest,
// so H12 is 0x0C, M6 is 0xFF06, L148 is 0xFFFF0094.
//
// Source: the message template of Second Life's viewer, which OpenSimulator
// shares.
type Number uint32

// High returns the number of a High-frequency message, n from 1 to 254.
func High(n uint8) Number { return Number(n) }

// Medium returns the number of a Medium-frequency message, n from 1 to 254.
func Medium(n uint8) Number { return 0xFF00 | Number(n) }

// Low returns the number of a Low-frequency message, n from 1 to 65,279.
func Low(n uint16) Number { return 0xFFFF0000 | Number(n) }

// Fixed returns the number of a Fixed message, n from 0xFA to 0xFD.
func Fixed(n uint8) Number { return 0xFFFFFF00 | Number(n) }

// Split takes the message number off an expanded packet body.
func Split(body []byte) (n Number, rest []byte, err error) {
	switch {
	case len(body) >= 1 && body[0] != 0xFF:
		return Number(body[0]), body[1:], nil
	case len(body) >= 2 && body[1] != 0xFF:
		return Number(binary.BigEndian.Uint16(body)), body[2:], nil
	case len(body) >= 4:
		return Number(binary.BigEndian.Uint32(body)), body[4:], nil
	}
	return 0, nil, fmt.Errorf("found a body of %d bytes, expected a message number", len(body))
}

// Append appends the number as it is sent.
func (n Number) Append(b []byte) []byte {
	switch {
	case n <= 0xFF:
		return append(b, byte(n))
	case n <= 0xFFFF:
		return append(b, byte(n>>8), byte(n))
	}
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

// String returns the message's name, or its frequency and number, as in "L999",
// if it is not known here.
func (n Number) String() string {
	if name, ok := names[n]; ok {
		return name
	}
	switch {
	case n <= 0xFF:
		return fmt.Sprintf("H%d", uint32(n))
	case n <= 0xFFFF:
		return fmt.Sprintf("M%d", uint32(n)&0xFF)
	case n < 0xFFFFFF00:
		return fmt.Sprintf("L%d", uint32(n)&0xFFFF)
	}
	return fmt.Sprintf("F%d", uint32(n)&0xFF)
}
