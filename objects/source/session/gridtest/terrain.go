package gridtest

import (
	"math"

	"github.com/wipagent/wipagent/objects/source/session/message"
)

// Patch edge and the cosines of its transform.
const patchSize = 16

// Layer types.
const (
	layerLand    = 'L'
	layerBigLand = 'M'
)

var (
	cosines = func() (c [patchSize][patchSize]float64) {
		for u := range c {
			for n := range c[u] {
				c[u][n] = math.Cos(float64(2*n+1) * float64(u) * math.Pi / (2 * patchSize))
				if u == 0 {
					c[u][n] = math.Sqrt2 / 2
				}
			}
		}
		return c
	}()
	// zigzag is the place of each cell in the stream: along the diagonals,
	// the first step to the east.
	zigzag = func() (order [patchSize * patchSize]int) {
		n := 0
		for d := range 2*patchSize - 1 {
			for k := range d + 1 {
				i, j := k, d-k // an even diagonal goes towards the east
				if d%2 == 1 {
					i, j = d-k, k
				}
				if i < patchSize && j < patchSize {
					order[j*patchSize+i] = n
					n++
				}
			}
		}
		return order
	}()
)

// EncodeLayerData returns the land of a region of sizeX by sizeY metres as
// LayerData messages of at most about 1,000 bytes. The height at a metre is
// what height says; it comes out as exact as the coding has it, which is to
// some centimetres on smooth land.
//
// Source: the layer format of Second Life, as OpenSimulator writes it.
func EncodeLayerData(sizeX, sizeY int, height func(x, y int) float64) [][]byte {
	kind := byte(layerLand)
	if sizeX > 256 || sizeY > 256 {
		kind = layerBigLand
	}
	var messages [][]byte
	var bits *bitWriter
	flush := func() {
		if bits == nil {
			return
		}
		bits.write(97, 8) // end of patches
		w := newBody(message.NumberLayerData)
		w.u8(kind)
		w.var2(bits.b)
		messages = append(messages, w.b)
		bits = nil
	}
	for py := range sizeY / patchSize {
		for px := range sizeX / patchSize {
			if bits == nil {
				bits = &bitWriter{}
				bits.write(264, 16) // stride
				bits.write(patchSize, 8)
				bits.write(uint32(kind), 8)
			}
			bits.patch(px, py, kind == layerBigLand, height)
			if len(bits.b) > 850 {
				flush()
			}
		}
	}
	flush()
	return messages
}

// patch writes one patch of land.
func (w *bitWriter) patch(px, py int, big bool, height func(x, y int) float64) {
	var h [patchSize][patchSize]float64 // row, column
	low, high := math.Inf(1), math.Inf(-1)
	for j := range h {
		for i := range h[j] {
			h[j][i] = height(px*patchSize+i, py*patchSize+j)
			low, high = min(low, h[j][i]), max(high, h[j][i])
		}
	}
	const prequant = 10
	span := uint32(min(math.Floor(high-low)+1, math.MaxUint16))
	step := float64(span) / (1 << prequant)
	for j := range h {
		for i := range h[j] {
			h[j][i] = (h[j][i]-low)/step - 1<<(prequant-1)
		}
	}

	var lines [patchSize][patchSize]float64 // row, frequency along it
	for j := range h {
		for u := range patchSize {
			for i, v := range h[j] {
				lines[j][u] += v * cosines[u][i]
			}
		}
	}
	var stream [patchSize * patchSize]int32
	last, most := -1, int32(0)
	for v := range patchSize {
		for u := range patchSize {
			var sum float64
			for j := range lines {
				sum += lines[j][u] * cosines[v][j]
			}
			c := int32(math.Round(sum * 2 / patchSize / float64(1+2*(u+v))))
			k := zigzag[v*patchSize+u]
			stream[k] = c
			if c != 0 {
				last, most = max(last, k), max(most, c, -c)
			}
		}
	}
	width := 2
	for most >= 1<<width {
		width++
	}

	w.write((prequant-2)<<4|uint32(width-2), 8)
	w.write(math.Float32bits(float32(low)), 32)
	w.write(span, 16)
	if big {
		w.write(uint32(px)<<16|uint32(py), 32)
	} else {
		w.write(uint32(px)<<5|uint32(py), 10)
	}
	for k, c := range stream {
		switch {
		case k > last:
			w.bits(0b10, 2)
			return
		case c == 0:
			w.bits(0, 1)
		case c > 0:
			w.bits(0b110, 3)
			w.write(uint32(c), width)
		default:
			w.bits(0b111, 3)
			w.write(uint32(-c), width)
		}
	}
}

// bitWriter writes bits, the highest of each byte first.
type bitWriter struct {
	b    []byte
	free int // bits of the last byte that are not written yet
}

// bits appends the low n bits of v, n up to 8, the highest first.
func (w *bitWriter) bits(v uint32, n int) {
	for n--; n >= 0; n-- {
		if w.free == 0 {
			w.b = append(w.b, 0)
			w.free = 8
		}
		w.free--
		w.b[len(w.b)-1] |= byte(v>>n&1) << w.free
	}
}

// write appends a number of n bits: the low byte first, and what is left of
// the highest last.
func (w *bitWriter) write(v uint32, n int) {
	for ; n > 8; n -= 8 {
		w.bits(v&0xFF, 8)
		v >>= 8
	}
	w.bits(v, n)
}
