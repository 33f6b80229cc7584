package world

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"
	"time"
)

// Place is a position in region metres that may be known in part only.
type Place struct {
	Vec3
	Known       bool // false: nothing is known
	HeightKnown bool // false: Z is not known
}

// maxCoordinate is the distance in metres from a region's corner beyond which
// a coordinate is no place but a fault.
const maxCoordinate = 1e6

// known returns the place at p, which is unknown if p makes no sense.
func known(p Vec3) Place {
	for _, c := range [...]float64{p.X, p.Y, p.Z} {
		if !(math.Abs(c) <= maxCoordinate) { // also NaN
			return Place{}
		}
	}
	return Place{Vec3: p, Known: true, HeightKnown: true}
}

// Direction is an eighth of the compass as seen from the observer: sectors of
// 45 degrees, the first one centred on north (+y), clockwise.
type Direction uint8

// The directions. NoDirection is that of what is within a centimetre, or of
// unknown place.
const (
	NoDirection Direction = iota
	North
	Northeast
	East
	Southeast
	South
	Southwest
	West
	Northwest
)

// minDirection is the horizontal distance in metres below which a direction
// says nothing.
const minDirection = 0.01

// Sighting is something seen from the observer's place.
type Sighting struct {
	ID    UUID
	Place Place
	// Distance is in metres, to the micrometre. Where the observer's height
	// or the other one is unknown, it is horizontal and DistanceKnown is
	// false; where a place is unknown, it is infinite.
	Distance      float64
	DistanceKnown bool
	Direction     Direction

	exact float64 // distance before rounding, which decides about a radius
}

// micrometres rounds a distance. Grids keep coordinates to about 15 µm; what
// is less than one is noise of the arithmetic, and must not decide between two
// that are equally far away.
func micrometres(metres float64) float64 { return math.Round(metres*1e6) / 1e6 }

func (s *Sighting) sighting() *Sighting { return s }

// from fills in what depends on the observer.
func (s *Sighting) from(observer Place) {
	if !s.Place.Known || !observer.Known {
		s.exact, s.Distance = math.Inf(1), math.Inf(1)
		return
	}
	dx, dy := s.Place.X-observer.X, s.Place.Y-observer.Y
	square := dx*dx + dy*dy
	if micrometres(math.Sqrt(square)) >= minDirection {
		eighths := math.Atan2(dx, dy) / (math.Pi / 4) // clockwise from north
		s.Direction = North + Direction((int(math.Floor(eighths+0.5))+8)%8)
	}
	s.DistanceKnown = s.Place.HeightKnown && observer.HeightKnown
	if s.DistanceKnown {
		dz := s.Place.Z - observer.Z
		square += dz * dz
	}
	s.exact = math.Sqrt(square)
	s.Distance = micrometres(s.exact)
}

// Avatar is somebody in the region, the agent excepted.
type Avatar struct {
	Sighting
	Name string // empty if unknown
}

// Object is the root of something that stands in the region.
type Object struct {
	Sighting
	LocalID                      uint32  // 0 if unknown
	Name, Description, HoverText *string // nil if unknown
	Scale                        Vec3    // metres along its own axes
	ScaleKnown                   bool
}

// Scene is the agent and what is around it, as of one capture. It does not
// change and is safe for concurrent use.
type Scene struct {
	// Agent is where the agent is.
	Agent Place
	// Observer is the place from which distances count: the agent's, or an
	// assumed one where there is no agent; Assumed tells.
	Observer Place
	Assumed  bool
	// Seat is the local ID of what the agent sits on, 0 if it does not sit
	// on an object; nil if unknown.
	Seat *uint32

	avatars ranking[Avatar, *Avatar]
	objects ranking[Object, *Object]
}

// ranking is a collection in the order of distance, which is made once and
// only if it is asked for.
type ranking[T any, P interface {
	*T
	sighting() *Sighting
}] struct {
	known, truncated bool

	once   sync.Once
	items  []T // as captured
	ranked []P // by distance, then UUID
	placed int // how many of ranked have a distance; the rest follows
}

// within returns what lies inside the radius, and after it what may lie there
// because its place is unknown.
func (r *ranking[T, P]) within(observer Place, radius float64) (Selection[P], bool) {
	if !r.known || !observer.Known {
		return Selection[P]{}, false
	}
	r.once.Do(func() {
		r.ranked = make([]P, len(r.items))
		for i := range r.items {
			r.ranked[i] = &r.items[i]
			r.ranked[i].sighting().from(observer)
		}
		slices.SortFunc(r.ranked, func(a, b P) int {
			x, y := a.sighting(), b.sighting()
			if c := cmp.Compare(x.Distance, y.Distance); c != 0 {
				return c
			}
			return x.ID.Compare(y.ID)
		})
		r.placed = r.first(math.Inf(1))
	})
	edge := micrometres(radius)
	inside := r.ranked[:r.first(math.Nextafter(edge, math.Inf(1)))]
	beyond := func(p P) bool { return p.sighting().exact > radius }
	if slices.ContainsFunc(inside[r.first(edge):], beyond) { // only rounding put it there
		inside = slices.DeleteFunc(slices.Clone(inside), beyond)
	}
	if r.placed < len(r.ranked) {
		inside = slices.Concat(inside, r.ranked[r.placed:])
	}
	return bound(inside, r.truncated), true
}

// first returns the index of the first that is at least so far away.
func (r *ranking[T, P]) first(distance float64) int {
	return sort.Search(len(r.ranked), func(i int) bool { return r.ranked[i].sighting().Distance >= distance })
}

// Avatars returns the avatars within the radius in metres, nearest first, then
// by UUID, and last those whose place is unknown; false if all that is
// unknown.
func (s *Scene) Avatars(radius float64) (Selection[*Avatar], bool) {
	return s.avatars.within(s.Observer, radius)
}

// Objects returns the objects within the radius in the same way.
func (s *Scene) Objects(radius float64) (Selection[*Object], bool) {
	return s.objects.within(s.Observer, radius)
}

// capture returns the scene at time now. One that has not changed is returned
// again.
func (s *scene) capture(now time.Time, ownLocalIDs bool) *Scene {
	s.sweep(now)
	if s.captured != nil && s.capturedVersion == s.version {
		return s.captured
	}
	c := &Scene{Agent: s.agentPlace()}
	c.Observer = c.Agent
	if !c.Agent.Known && s.assumed != nil {
		c.Observer, c.Assumed = known(*s.assumed), true
	}
	if self := s.self(); self != nil && !self.orphaned && !(ownLocalIDs && self.parent != 0) {
		seat := self.parent
		c.Seat = &seat
	}
	c.avatars.known, c.avatars.truncated = s.avatars.known, s.avatars.truncated()
	c.objects.known, c.objects.truncated = s.objects.known, s.objects.truncated()

	if last := s.captured; last != nil { // the next one will be about as large
		c.avatars.items = make([]Avatar, 0, len(last.avatars.items)+16)
		c.objects.items = make([]Object, 0, len(last.objects.items)+16)
	}

	rough := make(map[UUID]Place, len(s.coarse))
	for _, a := range s.coarse {
		rough[a.id] = a.place
	}
	for _, r := range s.rows {
		switch {
		case r.id == s.agent:
		case r.avatar:
			a := Avatar{Sighting{ID: r.id, Place: s.resolve(r)}, s.avatarName(r.id, r.avatarName)}
			if !a.Place.Known {
				a.Place = rough[r.id]
			}
			delete(rough, r.id)
			c.avatars.items = append(c.avatars.items, a)
		case r.parent == 0 && !r.attachment:
			c.objects.items = append(c.objects.items, s.object(r, ownLocalIDs))
		}
	}
	for id, place := range rough {
		c.avatars.items = append(c.avatars.items, Avatar{Sighting{ID: id, Place: place}, s.avatarName(id, "")})
	}
	s.captured, s.capturedVersion = c, s.version
	return c
}

func (s *scene) avatarName(id UUID, described string) string {
	known, _ := s.names.Peek(id)
	if described != "" && !known.complete {
		return described
	}
	return known.name
}

func (s *scene) object(r *row, ownLocalIDs bool) Object {
	o := Object{
		Sighting:    Sighting{ID: r.id, Place: s.resolve(r)},
		LocalID:     r.localID,
		Name:        r.name,
		Description: r.description,
		HoverText:   r.hover,
	}
	if ownLocalIDs {
		o.LocalID = 0
	}
	o.Scale, o.ScaleKnown = r.scale, r.scale.Finite()
	return o
}
