package session

import "testing"

// TestOrderOfPackets: sequence numbers start anywhere, come in any order, and
// start again after 24 bits in some clients' and servers' counting.
func TestOrderOfPackets(t *testing.T) {
	for _, test := range []struct {
		name      string
		sequences []uint32
		want      []uint64
	}{
		{"from 0", []uint32{0, 1, 3, 2, 4}, []uint64{1, 2, 4, 3, 5}},
		{"from anywhere", []uint32{500, 498, 501}, []uint64{501, 499, 502}},
		{"again after 24 bits", []uint32{1<<24 - 2, 1<<24 - 1, 0, 1<<24 - 1, 1}, []uint64{1<<24 - 1, 1 << 24, 1<<24 + 1, 1 << 24, 1<<24 + 2}},
		{"on after 24 bits", []uint32{1<<24 - 1, 1 << 24, 1<<24 + 1}, []uint64{1 << 24, 1<<24 + 1, 1<<24 + 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &region{}
			for i, s := range test.sequences {
				if got := r.order(s); got != test.want[i] {
					t.Errorf("%d: found %d, expected %d", s, got, test.want[i])
				}
			}
		})
	}
	t.Run("three times round", func(t *testing.T) {
		r := &region{}
		last := uint64(0)
		for i := range uint32(48) {
			if got := r.order(i % 12 * (1 << 24 / 12)); got <= last && i > 0 {
				t.Fatalf("%d: found %d after %d", i, got, last)
			} else {
				last = got
			}
		}
	})
}
