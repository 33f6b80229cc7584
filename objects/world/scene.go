package world

import (
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// scene is the manager of the region's objects and avatars and of the agent's
// place among them.
type scene struct {
	agent        UUID // zero if there is none
	sizeX, sizeY int

	rows     map[uint32]*row // by local ID
	byID     map[UUID]uint32
	children map[uint32]map[uint32]struct{} // of a local ID, described or not
	people   map[uint32]*row                // those of rows that are avatars
	missing  missing                        // objects that are not in rows
	absent   map[uint32]time.Time           // avatars missing from the coarse lists, since when
	killed   *kills

	coarse    []coarse // without the agent
	coarseYou *coarse

	placed      *Vec3 // where the agent was last announced to be
	placedLater bool  // since its avatar's last update
	assumed     *Vec3 // where an observer is supposed

	names           *names // of avatars, kept from region to region
	avatars         coverage
	objects         coverage
	version         uint64 // grows with every change
	captured        *Scene // of version capturedVersion
	capturedVersion uint64
}

// row is one prim, tree or avatar.
type row struct {
	localID    uint32
	id         UUID
	avatar     bool
	attachment bool
	parent     uint32 // 0 is none
	orphaned   bool   // the parent was killed: parent means nothing any more
	position   Vec3
	rotation   Quat // of unit length, unless lost
	lost       bool // position or rotation make no sense
	scale      Vec3
	// described and placed are the orders of the last update of each kind.
	described, placed uint64

	hover, name, description *string
	avatarName               string // empty if unknown

	properties attempt // to learn name and description
}

func newScene(agent UUID, names *names) scene {
	return scene{
		agent:    agent,
		rows:     map[uint32]*row{},
		byID:     map[UUID]uint32{},
		children: map[uint32]map[uint32]struct{}{},
		people:   map[uint32]*row{},
		absent:   map[uint32]time.Time{},
		killed:   newKills(),
		names:    names,
	}
}

func (s *scene) coverAvatars(u Covered) outcome {
	s.version++
	return s.avatars.cover(u)
}

func (s *scene) coverObjects(u Covered) outcome {
	s.version++
	return s.objects.cover(u)
}

func (s *scene) placeAgent(u AgentPlaced) outcome {
	if !u.Position.Finite() {
		return malformed
	}
	s.version++
	position := u.Position
	if u.Assumed {
		s.assumed = &position
		return applied
	}
	s.placed, s.placedLater = &position, true
	return applied
}

func (s *scene) update(u *ObjectUpdated, at time.Time) outcome {
	if u.LocalID == 0 || u.ID.IsZero() || u.ParentID == u.LocalID {
		return malformed
	}
	own := u.ID == s.agent
	if s.killed.since(u.LocalID, u.Order) && !own {
		return stale
	}
	old := s.rows[u.LocalID]
	if old != nil && u.Order != 0 && u.Order < old.described {
		return stale
	}
	moved := s.missing.movedSince(u.LocalID, u.Order)
	s.missing.remove(u.LocalID)
	if old != nil && old.id != u.ID {
		s.drop(old) // the number was given to something new
		old = nil
	}
	if was, ok := s.byID[u.ID]; ok && was != u.LocalID {
		// The same thing under a new number: what was known of it holds,
		// the old row does not.
		old = s.rows[was]
		s.drop(old)
	}
	avatar := u.PCode == PCodeAvatar
	if old == nil && len(s.rows) >= MaxObjects && !own {
		if avatar {
			s.avatars.limited = true
		} else {
			s.objects.limited = true
		}
		s.version++
		return overflow
	}
	r := &row{
		localID:    u.LocalID,
		id:         u.ID,
		avatar:     avatar,
		attachment: u.Attachment,
		parent:     u.ParentID,
		scale:      u.Scale,
		described:  u.Order,
		placed:     u.Order,
		hover:      optionalText(u.HoverText),
		name:       optionalText(u.Name),
		avatarName: FullName(u.FirstName, u.LastName),

		description: optionalText(u.Description),
	}
	r.place(u.Position, u.Rotation)
	if moved != nil { // before it was described
		r.place(moved.Position, moved.Rotation)
		r.placed = moved.Order
	}
	if old != nil {
		r.keep(old)
		s.unlink(old)
		if u.Order != 0 && u.Order < old.placed && u.LocalID == old.localID { // it has moved since
			r.position, r.rotation, r.lost, r.placed = old.position, old.rotation, old.lost, old.placed
		}
	}
	s.rows[u.LocalID] = r
	s.byID[u.ID] = u.LocalID
	if avatar {
		s.people[u.LocalID] = r
	} else {
		delete(s.people, u.LocalID)
	}
	s.link(r, at)
	s.seen(r)
	return applied
}

func (s *scene) move(u *ObjectMoved, at time.Time) outcome {
	r := s.rows[u.LocalID]
	if r == nil {
		if u.LocalID != 0 {
			s.missing.hear(u.LocalID, at)
			s.missing.move(u)
		}
		return unmatched // the terse form names no UUID
	}
	if u.Order != 0 && u.Order < r.placed {
		return stale
	}
	r.place(u.Position, u.Rotation)
	r.placed = u.Order
	s.seen(r)
	return applied
}

// seen notes that something was just described or moved.
func (s *scene) seen(r *row) {
	s.version++
	delete(s.absent, r.localID)
	if r.id == s.agent {
		s.placedLater = false
	}
}

func (r *row) place(position Vec3, rotation Quat) {
	unit, ok := rotation.unit()
	r.position, r.rotation = position, unit
	r.lost = !ok || !position.Finite()
}

// keep takes over what a later description of the same thing left out.
func (r *row) keep(old *row) {
	if r.hover == nil {
		r.hover = old.hover
	}
	if r.name == nil {
		r.name = old.name
	}
	if r.description == nil {
		r.description = old.description
	}
	if r.avatarName == "" {
		r.avatarName = old.avatarName
	}
	r.properties = old.properties
	r.attachment = r.attachment || old.attachment && r.parent == old.parent
}

func (s *scene) nameObject(u ObjectNamed) outcome {
	localID, ok := s.byID[u.ID]
	if !ok {
		return unmatched
	}
	s.version++
	r := s.rows[localID]
	r.name, r.description = optionalText(&u.Name), optionalText(&u.Description)
	return applied
}

func (s *scene) killAll(u ObjectsKilled) outcome {
	s.version++
	result := applied
	late := 0
	for _, id := range u.LocalIDs {
		if r := s.rows[id]; r != nil && u.Order != 0 && u.Order < r.described {
			late++ // it is there again
			continue
		}
		if s.rows[id] == nil && s.children[id] == nil && s.missing.entries[id] == nil {
			result = unmatched
		}
		s.missing.remove(id)
		s.kill(id, u.Order)
	}
	if late > 0 && late == len(u.LocalIDs) {
		return stale
	}
	return result
}

// kill removes an object and what is linked to it, to any depth; each removal
// shrinks the table, so even a circle of parents ends. The agent's own avatar
// and all it wears stay: grids announce its death whenever it leaves a region.
func (s *scene) kill(localID uint32, order uint64) {
	pending := []uint32{localID}
	for len(pending) > 0 {
		id := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if r := s.rows[id]; r != nil {
			if r.id == s.agent {
				continue
			}
			s.drop(r)
		}
		s.killed.note(id, order)
		for child := range s.children[id] {
			if r := s.rows[child]; r.avatar {
				r.orphaned = true // it sat there, and is still somewhere
				s.unlink(r)
			} else {
				pending = append(pending, child)
			}
		}
	}
}

// kills are the objects that were killed last, and when that was, in the order
// of updates: a description that was sent before comes too late.
type kills simplelru.LRU[uint32, uint64]

func newKills() *kills {
	l, err := simplelru.NewLRU[uint32, uint64](maxKills, nil)
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return (*kills)(l)
}

// maxKills is more than a region kills while a packet is sent again.
const maxKills = 4_096

func (k *kills) note(localID uint32, order uint64) {
	if order != 0 {
		(*simplelru.LRU[uint32, uint64])(k).Add(localID, order)
	}
}

// since reports whether an object was killed after order.
func (k *kills) since(localID uint32, order uint64) bool {
	killed, ok := (*simplelru.LRU[uint32, uint64])(k).Peek(localID)
	return ok && order != 0 && order < killed
}

// drop removes one row and no other.
func (s *scene) drop(r *row) {
	delete(s.rows, r.localID)
	delete(s.byID, r.id)
	delete(s.people, r.localID)
	delete(s.absent, r.localID)
	s.unlink(r)
}

func (s *scene) link(r *row, at time.Time) {
	if r.parent == 0 {
		return
	}
	if s.rows[r.parent] == nil {
		s.missing.hear(r.parent, at)
	}
	if s.children[r.parent] == nil {
		s.children[r.parent] = map[uint32]struct{}{}
	}
	s.children[r.parent][r.localID] = struct{}{}
}

func (s *scene) unlink(r *row) {
	siblings := s.children[r.parent]
	delete(siblings, r.localID)
	if len(siblings) == 0 {
		delete(s.children, r.parent)
	}
}

// resolve composes a row's place along its chain of parents. It is unknown if
// a parent is, or if the chain is longer than any grid makes it, as a circle
// is.
func (s *scene) resolve(r *row) Place {
	if r.lost {
		return Place{}
	}
	p := r.position
	for range MaxLinkDepth {
		if r.orphaned {
			return Place{}
		}
		if r.parent == 0 {
			return known(p)
		}
		r = s.rows[r.parent]
		if r == nil || r.lost {
			return Place{}
		}
		p = r.rotation.Rotate(p).Add(r.position)
	}
	return Place{}
}

// self returns the agent's own avatar, or nil.
func (s *scene) self() *row {
	if s.agent.IsZero() {
		return nil
	}
	return s.rows[s.byID[s.agent]]
}

// agentPlace returns where the agent is, from the best that is known: its
// avatar or a later announcement, else the coarse list.
func (s *scene) agentPlace() Place {
	if r := s.self(); r != nil && !s.placedLater {
		if p := s.resolve(r); p.Known {
			return p
		}
	} else if s.placed != nil {
		return known(*s.placed)
	}
	if s.coarseYou != nil {
		return s.coarseYou.place
	}
	return Place{}
}
