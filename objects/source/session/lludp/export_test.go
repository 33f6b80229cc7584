package lludp

// The zero coding, and the bounds that tests step over.
var (
	Expand      = expand
	AppendCoded = appendCoded
)

const (
	HistorySize = historySize
	MaxUnacked  = maxUnacked
	MaxPending  = maxAcks
	MaxPings    = maxPings
	MaxLost     = maxLost
)

// Skip makes sequence the last one that was sent.
func (c *Circuit) Skip(sequence uint32) { c.sequence = sequence }

// Waiting returns how much waits: acknowledgements, ping answers, packets that
// are not acknowledged and lost ones that are not reported.
func (c *Circuit) Waiting() (acks, pings, unacked, lost int) {
	return len(c.acks), len(c.pings), len(c.unacked), len(c.lost)
}

// Oldest returns the number that a ping would name.
func (c *Circuit) Oldest() uint32 { return c.oldestUnacked() }

// History is the set of sequence numbers.
type History struct{ history }

// NewHistory returns a set that hashes by odd.
func NewHistory(odd uint32) *History { return &History{history{odd: odd}} }

// Add and Has are the methods of the set.
func (h *History) Add(sequence uint32) bool { return h.add(sequence) }
func (h *History) Has(sequence uint32) bool { return h.has(sequence) }
