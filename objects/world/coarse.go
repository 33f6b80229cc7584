package world

import "time"

const (
	// goneAfter is how long an avatar that is described as an object may be
	// missing from the coarse lists before it counts as gone.
	goneAfter = 15 * time.Second
	// fullCoarse is the length from which a coarse list may have been cut
	// by the grid, so that being missing from it says nothing.
	fullCoarse = 60
)

// coarse is one avatar's rough place.
type coarse struct {
	id    UUID
	place Place
}

func (s *scene) locate(u CoarseLocations, at time.Time) outcome {
	s.version++
	result := applied
	s.coarse, s.coarseYou = nil, nil
	present := make(map[UUID]bool, min(len(u.Entries), MaxCoarse))
	for i, e := range u.Entries {
		if i == MaxCoarse {
			s.avatars.limited = true
			result = overflow
			break
		}
		c := coarse{e.ID, s.coarsePlace(e)}
		switch {
		case i == u.You, e.ID == s.agent && !e.ID.IsZero():
			s.coarseYou = &c
		case e.ID.IsZero() || present[e.ID]:
		default:
			present[e.ID] = true
			s.coarse = append(s.coarse, c)
		}
	}
	for id, r := range s.people {
		switch _, waiting := s.absent[id]; {
		case r.id == s.agent:
		case present[r.id] || len(u.Entries) >= fullCoarse:
			delete(s.absent, id)
		case !waiting:
			s.absent[id] = at
		}
	}
	return result
}

// coarsePlace scales what is on the wire: both grids give 8 bits a side, and
// leave the height at one end of the scale where it does not fit.
func (s *scene) coarsePlace(e CoarseLocation) Place {
	return Place{
		Vec3: Vec3{
			X: float64(e.X) * float64(s.sizeX) / 256,
			Y: float64(e.Y) * float64(s.sizeY) / 256,
			Z: float64(e.Z) * 4,
		},
		Known:       true,
		HeightKnown: e.Z != 0 && e.Z != 255,
	}
}

// sweep removes avatars that have been missing for too long at time now.
func (s *scene) sweep(now time.Time) {
	for id, since := range s.absent {
		if now.Sub(since) > goneAfter {
			s.version++
			s.kill(id, 0)
			delete(s.absent, id)
		}
	}
}
