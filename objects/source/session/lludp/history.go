package lludp

// historySize is how many sequence numbers a history remembers.
const historySize = 4096

// history is the set of the sequence numbers that were added last. It does not
// allocate, and takes constant time as long as numbers are close together, as
// an honest sender's are; chosen ones cost a walk over all of them at worst.
type history struct {
	added int
	// ring holds the numbers in the order in which they were added. Those
	// that agree in their low bits are chained, the newest first: heads and
	// next hold indices of ring plus one, and 0 ends a chain.
	ring  [historySize]uint32
	heads [historySize]uint16
	next  [historySize]uint16
}

// has reports whether sequence is among those added last.
func (h *history) has(sequence uint32) bool {
	for i := h.heads[sequence%historySize]; i != 0; i = h.next[i-1] {
		if h.ring[i-1] == sequence {
			return true
		}
	}
	return false
}

// add remembers sequence, at the cost of the oldest, and reports whether it
// was new.
func (h *history) add(sequence uint32) bool {
	if h.has(sequence) {
		return false
	}
	i := h.added % historySize
	if h.added >= historySize {
		link := &h.heads[h.ring[i]%historySize]
		for int(*link) != i+1 {
			link = &h.next[*link-1]
		}
		*link = h.next[i]
	}
	head := &h.heads[sequence%historySize]
	h.ring[i], h.next[i], *head = sequence, *head, uint16(i+1)
	h.added++
	return true
}
