package message

import "encoding/binary"

// Decode reads StartPingCheck (H1):
//
//	PingID  Single  PingID U8, OldestUnacked U32
//
// Source: message template.
func (m *StartPingCheck) Decode(b []byte) error {
	r := reader{b: b}
	m.PingID = r.u8()
	m.OldestUnacked = r.u32()
	return r.err
}

// AppendStartPingCheck appends StartPingCheck (H1).
func AppendStartPingCheck(b []byte, m StartPingCheck) []byte {
	b = append(NumberStartPingCheck.Append(b), m.PingID)
	return binary.LittleEndian.AppendUint32(b, m.OldestUnacked)
}

// Decode reads CompletePingCheck (H2):
//
//	PingID  Single  PingID U8
//
// Source: message template.
func (m *CompletePingCheck) Decode(b []byte) error {
	r := reader{b: b}
	m.PingID = r.u8()
	return r.err
}

// AppendCompletePingCheck appends CompletePingCheck (H2).
func AppendCompletePingCheck(b []byte, id uint8) []byte {
	return append(NumberCompletePingCheck.Append(b), id)
}

// Decode reads PacketAck (Fixed FB):
//
//	Packets  Variable  ID U32
//
// Source: message template.
func (m *PacketAck) Decode(b []byte) error {
	r := reader{b: b}
	m.Sequences = m.Sequences[:0]
	for n := r.blocks(); n > 0 && r.more(); n-- {
		m.Sequences = append(m.Sequences, r.u32())
	}
	return r.err
}

// AppendPacketAck appends PacketAck (Fixed FB). More than 255 are left out.
func AppendPacketAck(b []byte, sequences []uint32) []byte {
	sequences = sequences[:min(len(sequences), maxBlocks)]
	b = append(NumberPacketAck.Append(b), byte(len(sequences)))
	for _, s := range sequences {
		b = binary.LittleEndian.AppendUint32(b, s)
	}
	return b
}
