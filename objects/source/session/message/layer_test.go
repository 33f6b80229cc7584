package message_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/source/session/message"
)

// bitWriter writes bits, the highest of each byte first.
type bitWriter struct {
	b []byte
	n int // bits written
}

func (w *bitWriter) put(v uint32, k int) {
	for k--; k >= 0; k-- {
		if w.n%8 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.n/8] |= byte(v>>k&1) << (7 - w.n%8)
		w.n++
	}
}

// little writes a number of k bits in groups of eight, the lowest first.
func (w *bitWriter) little(v uint32, k int) {
	for ; k > 8; k -= 8 {
		w.put(v&0xFF, 8)
		v >>= 8
	}
	w.put(v, k)
}

// patch is a patch as it is sent.
type patch struct {
	q      uint32
	dc     float32
	span   uint32
	x, y   uint32
	coeffs [256]int // in the order of the wire
}

func (w *bitWriter) patch(p patch, large bool) {
	w.little(p.q, 8)
	w.little(math.Float32bits(p.dc), 32)
	w.little(p.span, 16)
	if large {
		w.little(p.x<<16|p.y, 32)
	} else {
		w.little(p.x<<5|p.y, 10)
	}
	last := 255
	for last >= 0 && p.coeffs[last] == 0 {
		last--
	}
	for _, c := range p.coeffs[:last+1] {
		switch {
		case c == 0:
			w.put(0, 1)
		case c > 0:
			w.put(0b110, 3)
			w.little(uint32(c), int(p.q&15)+2)
		default:
			w.put(0b111, 3)
			w.little(uint32(-c), int(p.q&15)+2)
		}
	}
	if last < 255 {
		w.put(0b10, 2)
	}
}

// layer lays out a LayerData of ground.
func layer(large bool, patches ...patch) []byte {
	kind := uint8('L')
	if large {
		kind = 'M'
	}
	var w bitWriter
	w.little(264, 16)
	w.little(16, 8)
	w.little(uint32(kind), 8)
	for _, p := range patches {
		w.patch(p, large)
	}
	w.little(97, 8)
	return wire(kind, v2(w.b))
}

// zigzag returns for each place on the wire its row and column: one down the
// diagonals, one up.
func zigzag() (at [256][2]int) {
	row, column := 0, 0
	for i := range at {
		at[i] = [2]int{row, column}
		if (row+column)%2 == 0 { // up
			switch {
			case column == 15:
				row++
			case row == 0:
				column++
			default:
				row, column = row-1, column+1
			}
		} else {
			switch {
			case row == 15:
				column++
			case column == 0:
				row++
			default:
				row, column = row+1, column-1
			}
		}
	}
	return at
}

func basis(u, n int) float64 {
	if u == 0 {
		return math.Sqrt2 / 2
	}
	return math.Cos(float64((2*n+1)*u) * math.Pi / 32)
}

func (p patch) step() float64 { return float64(p.span) / float64(int(1)<<(p.q>>4+2)) }

// heights works out a patch by the definition.
func (p patch) heights() (h [256]float64) {
	at := zigzag()
	for n := range h {
		sum := 0.0
		for i, c := range p.coeffs {
			if c != 0 {
				row, column := at[i][0], at[i][1]
				sum += float64(c*(1+2*(row+column))) * basis(row, n/16) * basis(column, n%16)
			}
		}
		h[n] = sum*2/16*p.step() + float64(p.span)/2 + float64(p.dc)
	}
	return h
}

// compress makes a patch of heights, quantised in so many bits.
func compress(x, y uint32, bits uint32, height func(x, y int) float64) patch {
	lo, hi := math.Inf(1), math.Inf(-1)
	var h [256]float64
	for n := range h {
		h[n] = height(int(x)*16+n%16, int(y)*16+n/16)
		lo, hi = min(lo, h[n]), max(hi, h[n])
	}
	p := patch{q: (bits-2)<<4 | 15, dc: float32(lo), span: uint32(hi-lo) + 1, x: x, y: y}
	for i, at := range zigzag() {
		sum := 0.0
		for n := range h {
			v := (h[n] - float64(p.dc) - float64(p.span)/2) / p.step()
			sum += v * basis(at[0], n/16) * basis(at[1], n%16)
		}
		p.coeffs[i] = int(math.Round(sum * 2 / 16 / float64(1+2*(at[0]+at[1]))))
	}
	return p
}

func decodeLayer(t interface{ Fatal(...any) }, body []byte) []message.Patch {
	var m message.LayerData
	if err := m.Decode(body); err != nil {
		t.Fatal(err)
	}
	return m.Patches
}

func TestLayerFlat(t *testing.T) {
	flat := func(x, y int) float64 { return 21 }
	patches := decodeLayer(t, layer(false, compress(0, 0, 10, flat), compress(31, 5, 10, flat)))
	if len(patches) != 2 || patches[1].X != 31*16 || patches[1].Y != 5*16 || patches[1].Size != 16 {
		t.Fatalf("found %+v", patches)
	}
	for _, p := range patches {
		for _, h := range p.Heights {
			if math.Abs(float64(h)-21) > 1e-3 {
				t.Fatalf("found %v, expected 21", p.Heights)
			}
		}
	}
}

func TestLayerHills(t *testing.T) {
	hill := func(x, y int) float64 { return 22 + 6*math.Sin(float64(x)/20) + 5*math.Cos(float64(y)/26) }
	for _, large := range []bool{false, true} {
		var sent []patch
		for _, at := range [][2]uint32{{0, 0}, {3, 11}, {31, 31}} {
			if large {
				at[0], at[1] = at[0]*4, at[1]*4
			}
			sent = append(sent, compress(at[0], at[1], 10, hill))
		}
		patches := decodeLayer(t, layer(large, sent...))
		if len(patches) != len(sent) {
			t.Fatalf("found %d patches, expected %d", len(patches), len(sent))
		}
		for i, p := range patches {
			if p.X != int(sent[i].x)*16 || p.Y != int(sent[i].y)*16 {
				t.Errorf("found a patch at %d, %d; expected %d, %d", p.X, p.Y, sent[i].x*16, sent[i].y*16)
			}
			for n, h := range p.Heights {
				if want := hill(p.X+n%16, p.Y+n/16); math.Abs(float64(h)-want) > 0.1 {
					t.Fatalf("at %d, %d: found %v, expected %v", p.X+n%16, p.Y+n/16, h, want)
				}
			}
		}
	}
}

// TestLayerDefinition compares the fast transform with the definition.
func TestLayerDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		large := rapid.Bool().Draw(t, "large")
		limit := uint32(31)
		if large {
			limit = 0xFFFF
		}
		var sent []patch
		for range rapid.IntRange(1, 3).Draw(t, "patches") {
			p := patch{
				q:    rapid.Uint32Range(0, 255).Filter(func(q uint32) bool { return q != 97 }).Draw(t, "q"),
				dc:   rapid.Float32Range(-100, 4000).Draw(t, "dc"),
				span: rapid.Uint32Range(0, 500).Draw(t, "span"),
				x:    rapid.Uint32Range(0, limit).Draw(t, "x"),
				y:    rapid.Uint32Range(0, limit).Draw(t, "y"),
			}
			most := min(1<<(p.q&15+2)-1, 1000)
			for range rapid.IntRange(0, 40).Draw(t, "coefficients") {
				p.coeffs[rapid.IntRange(0, 255).Draw(t, "place")] = rapid.IntRange(-most, most).Draw(t, "coefficient")
			}
			sent = append(sent, p)
		}
		body := layer(large, sent...)
		patches := decodeLayer(t, body)
		if len(patches) != len(sent) {
			t.Fatalf("found %d patches, expected %d", len(patches), len(sent))
		}
		for i, p := range patches {
			if p.X != int(sent[i].x)*16 || p.Y != int(sent[i].y)*16 {
				t.Fatalf("found a patch at %d, %d; expected %d, %d", p.X, p.Y, sent[i].x*16, sent[i].y*16)
			}
			for n, want := range sent[i].heights() {
				scale := math.Abs(want) + 1000*sent[i].step() + 1
				if math.Abs(float64(p.Heights[n])-want) > 1e-4*scale {
					t.Fatalf("patch %d, sample %d: found %v, expected %v", i, n, p.Heights[n], want)
				}
			}
		}
		cut := rapid.IntRange(0, len(body)-1).Draw(t, "cut")
		var m message.LayerData
		if err := m.Decode(body[:cut]); cut > 0 && !errors.Is(err, message.ErrTruncated) {
			t.Fatalf("cut at %d of %d: found error %v, expected one that wraps ErrTruncated", cut, len(body), err)
		}
		for i, p := range m.Patches {
			if p.X != patches[i].X || p.Heights[255] != patches[i].Heights[255] {
				t.Fatalf("cut at %d: found patch %+v, expected %+v", cut, p, patches[i])
			}
		}
	})
}

func TestLayerOthers(t *testing.T) {
	for _, kind := range "789:W" {
		body := layer(false, patch{q: 8, span: 1})
		body[0] = byte(kind)
		if patches := decodeLayer(t, body); len(patches) != 0 {
			t.Errorf("layer %q: found %d patches, expected none", kind, len(patches))
		}
	}
}
