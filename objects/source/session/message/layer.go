package message

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// LayerData (H11) brings the ground in square patches. Layers of wind and
// clouds have no patches here.
type LayerData struct{ Patches []Patch }

// Patch is one square of ground heights.
type Patch struct {
	X, Y int // of the south-west sample, in metres
	Size int // samples a side, one a metre; always 16
	// Heights are in metres, row by row from the south, west to east.
	Heights []float32
}

const patchSize = 16

// The layers of ground: of a region of 256 m, and of a larger one, where a
// patch has a number of 32 bits.
const (
	layerLand      = 'L'
	layerLandLarge = 'M'
	endOfPatches   = 97
)

// Decode reads LayerData (H11):
//
//	LayerID    Single  Type U8
//	LayerData  Single  Data V2
//
// Data is a stream of bits: a header of stride U16, patch size U8 and layer
// type U8, then patches up to a byte 97. A patch is
//
//	a byte of two nibbles q; DC offset F32; range U16; its number, of 10 bits
//	(x>>5, y&31) or 32 (x>>16, y&0xFFFF); 256 coefficients of a discrete
//	cosine transform, each 0 (a zero), 10 (only zeros from here), 110 and a
//	positive number of bits, or 111 and a negative one
//
// where q's low nibble + 2 is how many bits a number has, and its high nibble
// + 2 in how many bits the range was quantised.
//
// Source: message template; Data: Second Life's viewer and OpenSimulator's
// terrain compressor.
func (m *LayerData) Decode(b []byte) error {
	r := reader{b: b}
	m.Patches = m.Patches[:0]
	layer := r.u8()
	size := int(r.u16())
	if layer != layerLand && layer != layerLandLarge {
		return nil
	}
	stream := bitReader{b: r.b[:min(size, len(r.b))]}
	stream.little(16)
	if side := stream.little(8); side != patchSize && !stream.short {
		r.fail("found patches of %d by %d, expected %d by %d", side, side, patchSize, patchSize)
		return r.err
	}
	stream.little(8)
	for {
		q := stream.little(8)
		if q == endOfPatches {
			return nil
		}
		p := slot(&m.Patches)
		p.decode(&stream, q, layer == layerLandLarge)
		if stream.short {
			drop(&m.Patches)
			r.fail("found %d bytes of ground, expected another patch", size)
			return r.err
		}
	}
}

// decode reads one patch after its first byte.
func (p *Patch) decode(r *bitReader, q uint32, large bool) {
	dc := math.Float32frombits(r.little(32))
	span := float32(r.little(16))
	if large {
		n := r.little(32)
		p.X, p.Y = int(n>>16)*patchSize, int(n&0xFFFF)*patchSize
	} else {
		n := r.little(10)
		p.X, p.Y = int(n>>5)*patchSize, int(n&31)*patchSize
	}
	p.Size = patchSize
	p.Heights = slices.Grow(p.Heights[:0], patchSize*patchSize)[:patchSize*patchSize]
	var t transform
	t.coefficients(r, int(q&15)+2, span/float32(uint32(1)<<(q>>4+2)))
	t.heights((*[patchSize * patchSize]float32)(p.Heights), dc+span/2)
}

// transform turns coefficients into heights: an inverse discrete cosine
// transform of the columns, then of the rows. Since
//
//	cos((2(15-n)+1)uπ/32) = (-1)^u cos((2n+1)uπ/32)
//
// half the samples give the other half, if terms of even and odd u are summed
// apart; and most coefficients are zero and cost nothing.
type transform struct {
	even, odd [patchSize][8]float32 // of each column, the sums of its first 8 samples
	width     int                   // columns that are not all zero
}

// cosines and samples hold cos((2n+1)uπ/32) for the first 8 samples n, by u
// and by n.
var cosines, samples = func() (c [patchSize][8]float32, s [8][patchSize]float32) {
	for u := range c {
		for n := range s {
			c[u][n] = float32(math.Cos(float64((2*n+1)*u) * math.Pi / (2 * patchSize)))
			s[n][u] = c[u][n]
		}
	}
	return c, s
}()

// term says where a coefficient belongs and by how much it is multiplied.
type term struct {
	row, column uint8
	weight      float32
}

// terms lists the coefficients in the order in which they are sent: along the
// diagonals, to and fro.
var terms = func() (t [patchSize * patchSize]term) {
	i := 0
	for d := range 2*patchSize - 1 {
		for k := range d + 1 {
			row, column := k, d-k
			if d%2 == 0 {
				row, column = column, row
			}
			if row >= patchSize || column >= patchSize {
				continue
			}
			weight := float64(1+2*(row+column)) * 2 / patchSize
			if row == 0 {
				weight *= math.Sqrt2 / 2
			}
			if column == 0 {
				weight *= math.Sqrt2 / 2
			}
			t[i] = term{uint8(row), uint8(column), float32(weight)}
			i++
		}
	}
	return t
}()

// coefficients reads the coefficients, of so many bits each, and sums them up
// the columns.
func (t *transform) coefficients(r *bitReader, width int, scale float32) {
	for i := 0; i < len(terms); i++ {
		switch r.peek(3) {
		default: // 0
			i += r.zeros(len(terms)-i) - 1
		case 0b100, 0b101:
			r.take(2)
			return
		case 0b110:
			r.take(3)
			t.add(terms[i], scale*float32(r.little(width)))
		case 0b111:
			r.take(3)
			t.add(terms[i], -scale*float32(r.little(width)))
		}
		if r.short {
			return
		}
	}
}

// add sums a coefficient up its column.
func (t *transform) add(at term, c float32) {
	c *= at.weight
	sums, by := &t.even[at.column%patchSize], &cosines[at.row%patchSize]
	if at.row%2 == 1 {
		sums = &t.odd[at.column%patchSize]
	}
	for n := range sums {
		sums[n] += c * by[n]
	}
	t.width = max(t.width, int(at.column)+1)
}

// heights sums up the rows and adds the base.
func (t *transform) heights(out *[patchSize * patchSize]float32, base float32) {
	for n := range 8 {
		// The columns' values in row n and in row 15-n.
		var near, far [patchSize]float32
		for u := range t.width {
			e, o := t.even[u%patchSize][n], t.odd[u%patchSize][n]
			near[u%patchSize], far[u%patchSize] = e+o, e-o
		}
		nearRow := (*[patchSize]float32)(out[n*patchSize:])
		farRow := (*[patchSize]float32)(out[(patchSize-1-n)*patchSize:])
		for x := range 8 {
			by := &samples[x]
			var nearEven, nearOdd, farEven, farOdd float32
			for u := 0; u < t.width; u += 2 {
				even, odd := by[u%patchSize], by[(u+1)%patchSize]
				nearEven += near[u%patchSize] * even
				nearOdd += near[(u+1)%patchSize] * odd
				farEven += far[u%patchSize] * even
				farOdd += far[(u+1)%patchSize] * odd
			}
			nearRow[x] = base + nearEven + nearOdd
			nearRow[patchSize-1-x] = base + nearEven - nearOdd
			farRow[x] = base + farEven + farOdd
			farRow[patchSize-1-x] = base + farEven - farOdd
		}
	}
}

// bitReader reads bits, the highest of each byte first.
type bitReader struct {
	b    []byte
	bits uint64 // the next n bits, from the top
	n    int
	// short is set, and stays, once there were fewer bits than asked for.
	short bool
}

// fill makes sure of the next 32 bits, as far as there are so many.
func (r *bitReader) fill() {
	if len(r.b) >= 8 {
		r.bits |= binary.BigEndian.Uint64(r.b) >> uint(r.n)
		taken := (64 - r.n) / 8
		r.b = r.b[taken:]
		r.n += 8 * taken
		return
	}
	for r.n <= 56 && len(r.b) > 0 {
		r.bits |= uint64(r.b[0]) << uint(56-r.n)
		r.n += 8
		r.b = r.b[1:]
	}
}

// peek returns the next k bits, at most 32, zeros in place of missing ones.
func (r *bitReader) peek(k int) uint32 {
	if r.n < k {
		r.fill()
	}
	return uint32(r.bits >> uint(64-k))
}

// take returns the next k bits, at most 32.
func (r *bitReader) take(k int) uint32 {
	v := r.peek(k)
	r.bits <<= uint(k)
	if r.n -= k; r.n < 0 {
		*r = bitReader{short: true}
		return 0
	}
	return v
}

// zeros takes the zero bits that come next, at most limit, and at least one if
// any is there.
func (r *bitReader) zeros(limit int) int {
	z := min(bits.LeadingZeros64(r.bits), r.n, limit)
	if z == 0 {
		r.short = true
	}
	r.bits <<= uint(z)
	r.n -= z
	return z
}

// little returns a number of k bits, at most 32, which are sent in groups of
// eight, the lowest first, so that what is left over is the highest.
func (r *bitReader) little(k int) uint32 {
	v := r.take(k)
	if k <= 8 {
		return v
	}
	var n uint32
	for shift := 0; k > 0; shift += 8 {
		group := min(8, k)
		k -= group
		n |= v >> uint(k) & (1<<uint(group) - 1) << uint(shift)
	}
	return n
}
