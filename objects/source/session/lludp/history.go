package lludp

// historySize is how many sequence numbers a history remembers.
const (
	historyBits = 12
	historySize = 1 << historyBits
)

// history is the set of the sequence numbers that were added last. It does not
// allocate.
type history struct {
	added int
	// odd is a random odd number: the upper bits of its product with a
	// sequence number choose the bucket (multiply-shift hashing), so that
	// nobody can choose numbers that meet in one. If it is 0 all do, and the
	// set is slow.
	odd uint32
	// ring holds the numbers in the order in which they were added. Those of
	// one bucket are chained, the newest first: heads and next hold indices
	// of ring plus one, and 0 ends a chain.
	ring  [historySize]uint32
	heads [historySize]uint16
	next  [historySize]uint16
}

// bucket returns the head of the chain that sequence belongs to.
func (h *history) bucket(sequence uint32) *uint16 {
	return &h.heads[h.odd*sequence>>(32-historyBits)]
}

// has reports whether sequence is among those added last.
func (h *history) has(sequence uint32) bool {
	for i := *h.bucket(sequence); i != 0; i = h.next[i-1] {
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
		link := h.bucket(h.ring[i])
		for int(*link) != i+1 {
			link = &h.next[*link-1]
		}
		*link = 0 // the oldest number ends its chain
	}
	head := h.bucket(sequence)
	h.ring[i], h.next[i], *head = sequence, *head, uint16(i+1)
	h.added++
	return true
}
