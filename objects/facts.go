package objects

import (
	"math"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
	"github.com/wipagent/wipagent/objects/world"
)

// known turns what may be nil into a fact.
func known[T any](v *T) idl.FactOf[T] {
	if v == nil {
		return idl.FactOf[T]{}
	}
	return idl.Known(*v)
}

// selection turns a manager's selection into one that projects item by item,
// so that a page costs no more than its items.
func selection[S, T any](s world.Selection[S], ok bool, project func(S) T) idl.FactOf[idl.Selection[T]] {
	if !ok {
		return idl.FactOf[idl.Selection[T]]{}
	}
	at := func(i int) T { return project(s.Items[i]) }
	return idl.Known(idl.Select(len(s.Items), at, s.Truncated))
}

func position(p world.Place) idl.FactOf[interfaces.Position] {
	if !p.Known {
		return idl.FactOf[interfaces.Position]{}
	}
	at := interfaces.Position{X: metres(p.X), Y: metres(p.Y)}
	if p.HeightKnown {
		at.Z = idl.Known(metres(p.Z))
	}
	return idl.Known(at)
}

func height(h *float64) idl.FactOf[float64] {
	if h == nil {
		return idl.FactOf[float64]{}
	}
	return idl.Known(metres(*h))
}

// metres rounds to a millimetre: grids keep coordinates as 32-bit floats, and
// the digits below that are noise that a model would have to read. Distances
// are given to the micrometre, so that their order can be seen in them.
func metres(v float64) float64 { return math.Round(v*1000)/1000 + 0 }
