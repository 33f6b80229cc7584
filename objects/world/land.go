package world

import (
	"math"
	"slices"
)

const (
	patchSide = 16 // samples
	cellSide  = 4  // metres of one bit of a parcel's bitmap
)

// land is the manager of ground and parcels.
type land struct {
	sizeX, sizeY int // metres; a sample a metre

	patches map[patchIndex]*patch
	parcels map[int32]*Parcel
	current int32 // of parcels; meaningless without hasCurrent

	hasCurrent  bool
	bitmapBytes int
}

// patchIndex is a patch's place, in patches from the south-west.
type patchIndex struct{ x, y int }

// patch is a square of heights, NaN where unknown, row by row from the south.
type patch [patchSide * patchSide]float32

// Parcel is what is known of one parcel. It is not changed once made.
type Parcel struct {
	LocalID           int32
	Name, Description string
	Area              int // square metres
	AllowFly          bool
	AllowBuild        bool
	AllowScripts      bool
	DamageEnabled     bool

	bitmap []byte
}

func newLand() land {
	return land{patches: map[patchIndex]*patch{}, parcels: map[int32]*Parcel{}}
}

func (l *land) putParcel(u ParcelUpdated) outcome {
	old := l.parcels[u.LocalID]
	if old == nil && len(l.parcels) >= MaxParcels {
		return overflow
	}
	p := &Parcel{
		LocalID:       u.LocalID,
		Name:          text(u.Name),
		Description:   text(u.Description),
		Area:          u.Area,
		AllowFly:      u.AllowFly,
		AllowBuild:    u.AllowBuild,
		AllowScripts:  u.AllowScripts,
		DamageEnabled: u.DamageEnabled,
	}
	if old != nil {
		l.bitmapBytes -= len(old.bitmap)
	}
	result := applied
	switch {
	case u.Bitmap == nil:
	case len(u.Bitmap) != l.bitmapLen():
		result = malformed // the rest of the parcel still holds
	case l.bitmapBytes+len(u.Bitmap) > MaxParcelBytes:
		result = overflow
	default:
		p.bitmap = slices.Clone(u.Bitmap)
		l.bitmapBytes += len(p.bitmap)
	}
	l.parcels[u.LocalID] = p
	if u.Current {
		l.current, l.hasCurrent = u.LocalID, true
	}
	return result
}

// bitmapLen is the length in bytes of a bitmap that covers the region.
func (l *land) bitmapLen() int {
	return (l.sizeX/cellSide*(l.sizeY/cellSide) + 7) / 8
}

// covers reports whether p's bitmap marks the cell at a place.
func (l *land) covers(p *Parcel, at Place) bool {
	x, y := int(math.Floor(at.X/cellSide)), int(math.Floor(at.Y/cellSide))
	columns := l.sizeX / cellSide
	if p.bitmap == nil || x < 0 || x >= columns || y < 0 || y >= l.sizeY/cellSide {
		return false
	}
	bit := y*columns + x
	return p.bitmap[bit/8]&(1<<(bit%8)) != 0
}

// parcelAt returns the parcel at a place, or nil. The region's word on where
// the agent is counts unless the parcel's own shape contradicts it, as it does
// between a step over the border and the region's next word; then, and where
// there is no word, the shapes decide.
func (l *land) parcelAt(at Place) *Parcel {
	if l.hasCurrent {
		p := l.parcels[l.current]
		if !at.Known || p.bitmap == nil || l.covers(p, at) {
			return p
		}
	}
	if !at.Known {
		return nil
	}
	var found *Parcel
	for _, p := range l.parcels {
		if l.covers(p, at) && (found == nil || p.LocalID < found.LocalID) {
			found = p
		}
	}
	return found
}

func (l *land) putTerrain(u TerrainUpdated) outcome {
	if u.X < 0 || u.Y < 0 || u.X >= l.sizeX || u.Y >= l.sizeY ||
		u.Width <= 0 || u.Height <= 0 || u.Width > MaxRegionSize || u.Height > MaxRegionSize ||
		len(u.Heights) != u.Width*u.Height {
		return malformed
	}
	width, height := min(u.Width, l.sizeX-u.X), min(u.Height, l.sizeY-u.Y)
	result := applied
	for py := u.Y / patchSide; py*patchSide < u.Y+height; py++ {
		for px := u.X / patchSide; px*patchSide < u.X+width; px++ {
			p := l.patch(patchIndex{px, py})
			if p == nil {
				result = overflow
				continue
			}
			// The part of the patch that the rectangle covers, row by row.
			west, east := max(px*patchSide, u.X), min((px+1)*patchSide, u.X+width)
			for y := max(py*patchSide, u.Y); y < min((py+1)*patchSide, u.Y+height); y++ {
				from := u.Heights[(y-u.Y)*u.Width+west-u.X:]
				copy(p[y%patchSide*patchSide+west%patchSide:], from[:east-west])
			}
		}
	}
	return result
}

// patch returns a patch, a new one if need be; nil if there are too many.
func (l *land) patch(at patchIndex) *patch {
	p := l.patches[at]
	if p == nil {
		if len(l.patches) >= MaxTerrain/len(p) {
			return nil
		}
		p = new(patch)
		for i := range p {
			p[i] = float32(math.NaN())
		}
		l.patches[at] = p
	}
	return p
}

// sample returns the height of one sample, NaN if unknown.
func (l *land) sample(x, y int) float64 {
	p := l.patches[patchIndex{x / patchSide, y / patchSide}]
	if p == nil {
		return math.NaN()
	}
	return float64(p[y%patchSide*patchSide+x%patchSide])
}

// heightAt returns the ground's height at a place, or nil if unknown. Between
// four samples lie two triangles, split from south-west to north-east, as the
// simulator itself has it. Outside the outermost samples their height goes on.
// Where a corner is unknown, the nearest sample speaks for the place.
func (l *land) heightAt(at Place) *float64 {
	if !at.Known || l.sizeX == 0 || l.sizeY == 0 {
		return nil
	}
	x := min(max(at.X, 0), float64(l.sizeX-1))
	y := min(max(at.Y, 0), float64(l.sizeY-1))
	west, south := int(x), int(y)
	east, north := min(west+1, l.sizeX-1), min(south+1, l.sizeY-1)
	dx, dy := x-float64(west), y-float64(south)

	sw, ne := l.sample(west, south), l.sample(east, north)
	var h float64
	if dx > dy {
		se := l.sample(east, south)
		h = blend(sw, 1-dx, se, dx-dy, ne, dy)
	} else {
		nw := l.sample(west, north)
		h = blend(sw, 1-dy, nw, dy-dx, ne, dx)
	}
	if !finite(h) {
		h = l.sample(int(math.Round(x)), int(math.Round(y)))
	}
	if !finite(h) {
		return nil
	}
	return &h
}

// blend weighs three heights; one without weight need not be known.
func blend(a, wa, b, wb, c, wc float64) float64 {
	var sum float64
	for _, t := range [...][2]float64{{a, wa}, {b, wb}, {c, wc}} {
		if t[1] != 0 {
			sum += t[0] * t[1]
		}
	}
	return sum
}
