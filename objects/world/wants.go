package world

import (
	"cmp"
	"container/list"
	"math"
	"slices"
	"time"
)

const (
	// maxTries is how often the same is asked for.
	maxTries = 3
	// askAgain is the least time between two requests for an object's
	// description or properties.
	askAgain = 5 * time.Second
	// askNameAgain is the same for an avatar's name.
	askNameAgain = 30 * time.Second
	// hearsayWait is how long the description of an object that was only
	// heard of may be on its way.
	hearsayWait = 5 * time.Second
)

// WantLimits say how many of a kind a batch may hold; 0 or less asks for none.
type WantLimits struct{ Objects, Names, Properties int }

// Wants is a batch of what a source could ask the grid for, so that the world
// becomes complete.
type Wants struct {
	// Stamp has the session and region to which the batch belongs, and to
	// which answers must belong. Its time is zero. Without a session and a
	// region nothing is wanted, and the stamp is zero.
	Stamp
	// Objects are the local IDs of objects that were offered
	// (ObjectsOffered), in that order, or named as moved or as a parent more
	// than 5 s ago, but not described.
	Objects []uint32
	// Names are avatars in the region without a complete name (AvatarNamed).
	Names []UUID
	// Properties are objects, nearest to the agent first, that have no
	// known name (ObjectNamed): roots that nobody wears.
	Properties []UUID
}

// Wants returns what is wanted at time now and notes it as asked for: the same
// is returned at most three times, an object and its properties not within 5 s
// and a name not within 30 s. Objects and properties are forgotten with the
// region, names with the session.
func (w *World) Wants(now time.Time, limits WantLimits) Wants {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.session.connected || w.region.id.IsZero() || w.region.leaving {
		return Wants{}
	}
	wants := Wants{Stamp: Stamp{Generation: w.session.generation, Region: w.region.id}}
	if limits.Objects > 0 {
		wants.Objects = w.scene.missing.ask(now, limits.Objects)
	}
	if limits.Names > 0 {
		wants.Names = w.scene.askNames(now, limits.Names)
	}
	if limits.Properties > 0 {
		wants.Properties = w.scene.askProperties(now, limits.Properties)
	}
	return wants
}

// Pending returns how many objects the region has offered and not described
// so far: what the source knows to be missing.
func (w *World) Pending() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.scene.missing.offered
}

// attempt is how often something was asked for, and when it may be again.
type attempt struct {
	tries uint8
	due   time.Time
}

func (a attempt) open(now time.Time) bool { return a.tries < maxTries && !now.Before(a.due) }

func (a *attempt) asked(now time.Time, again time.Duration) {
	a.tries++
	a.due = now.Add(again)
}

// missing are the objects that are known to exist, but were not described.
// The zero value has none.
type missing struct {
	entries map[uint32]*list.Element // of *absentee; in one of the queues
	fresh   list.List                // offered, to be asked for at once
	later   list.List                // the others that have tries left, by due
	heard   list.List                // those that have none, and were only heard of
	given   list.List                // those that have none, and were offered
	offered int                      // how many of entries were offered
}

type absentee struct {
	attempt
	localID uint32
	offered bool
	queue   *list.List
	moved   *ObjectMoved // the last one with an order; nil if there was none
}

// offer notes that the region offered an object; false if there are too many.
func (m *missing) offer(localID uint32, at time.Time) bool {
	if e := m.entries[localID]; e != nil {
		if a := e.Value.(*absentee); !a.offered {
			a.offered = true
			m.offered++
			switch a.tries {
			case 0: // there is no need to wait any more
				a.due = at
				m.enqueue(a, &m.fresh)
			case maxTries:
				m.enqueue(a, &m.given)
			}
		}
		return true
	}
	if m.offered >= MaxObjects {
		return false
	}
	m.offered++
	m.enqueue(&absentee{attempt: attempt{due: at}, localID: localID, offered: true}, &m.fresh)
	return true
}

// hear notes that an object was named. If there are too many of those, the one
// longest given up is forgotten, or this one is.
func (m *missing) hear(localID uint32, at time.Time) {
	if m.entries[localID] != nil {
		return
	}
	if len(m.entries)-m.offered >= MaxHearsay {
		e := m.heard.Front()
		if e == nil {
			return
		}
		m.remove(e.Value.(*absentee).localID)
	}
	m.enqueue(&absentee{attempt: attempt{due: at.Add(hearsayWait)}, localID: localID}, &m.later)
}

// move notes where an object was said to be that is still to be described.
func (m *missing) move(u *ObjectMoved) {
	if e := m.entries[u.LocalID]; e != nil && u.Order != 0 {
		if a := e.Value.(*absentee); a.moved == nil || a.moved.Order < u.Order {
			moved := *u
			a.moved = &moved
		}
	}
}

// movedSince returns the last move of an object after order; nil if there is
// none.
func (m *missing) movedSince(localID uint32, order uint64) *ObjectMoved {
	if e := m.entries[localID]; e != nil && order != 0 {
		if a := e.Value.(*absentee); a.moved != nil && a.moved.Order > order {
			return a.moved
		}
	}
	return nil
}

// enqueue moves a to the end of a queue.
func (m *missing) enqueue(a *absentee, queue *list.List) {
	if e := m.entries[a.localID]; e != nil {
		a.queue.Remove(e)
	}
	if m.entries == nil {
		m.entries = map[uint32]*list.Element{}
	}
	a.queue = queue
	m.entries[a.localID] = queue.PushBack(a)
}

// remove forgets an object that was described, or is gone.
func (m *missing) remove(localID uint32) {
	e := m.entries[localID]
	if e == nil {
		return
	}
	a := e.Value.(*absentee)
	a.queue.Remove(e)
	delete(m.entries, localID)
	if a.offered {
		m.offered--
	}
}

// ask returns at most n of those that are due.
func (m *missing) ask(now time.Time, n int) (localIDs []uint32) {
	for _, queue := range [...]*list.List{&m.fresh, &m.later} {
		for len(localIDs) < n {
			e := queue.Front()
			if e == nil || !e.Value.(*absentee).open(now) {
				break
			}
			a := e.Value.(*absentee)
			localIDs = append(localIDs, a.localID)
			a.asked(now, askAgain)
			switch {
			case a.tries < maxTries:
				m.enqueue(a, &m.later)
			case a.offered:
				m.enqueue(a, &m.given)
			default:
				m.enqueue(a, &m.heard)
			}
		}
	}
	return localIDs
}

func (s *scene) offer(u ObjectsOffered, at time.Time) outcome {
	result := applied
	for _, id := range u.LocalIDs {
		switch {
		case id == 0:
			result = malformed
		case s.rows[id] != nil:
		case len(s.rows) >= MaxObjects || !s.missing.offer(id, at):
			s.objects.limited = true
			s.version++
			result = overflow
		}
	}
	return result
}

// askNames returns at most n avatars whose names are wanted, those first that
// were asked for less often.
func (s *scene) askNames(now time.Time, n int) []UUID {
	type candidate struct {
		id    UUID
		tries uint8
	}
	var due []candidate
	consider := func(id UUID) {
		if known, _ := s.names.Peek(id); !known.complete && known.open(now) && id != s.agent {
			due = append(due, candidate{id, known.tries})
		}
	}
	for _, r := range s.people {
		consider(r.id)
	}
	for _, c := range s.coarse {
		if _, described := s.byID[c.id]; !described {
			consider(c.id)
		}
	}
	slices.SortFunc(due, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.tries, b.tries), a.id.Compare(b.id))
	})
	ids := make([]UUID, 0, min(n, len(due)))
	for _, c := range due[:cap(ids)] {
		known, _ := s.names.Peek(c.id)
		known.asked(now, askNameAgain)
		s.names.Add(c.id, known)
		ids = append(ids, c.id)
	}
	return ids
}

// askProperties returns at most n roots whose names are wanted.
func (s *scene) askProperties(now time.Time, n int) []UUID {
	type candidate struct {
		*row
		distance float64
	}
	var due []candidate
	agent := s.agentPlace()
	for _, r := range s.rows {
		if !r.avatar && r.parent == 0 && !r.attachment && r.name == nil && r.properties.open(now) {
			distance := math.Inf(1)
			if at := s.resolve(r); at.Known && agent.Known {
				distance = math.Hypot(math.Hypot(at.X-agent.X, at.Y-agent.Y), at.Z-agent.Z)
			}
			due = append(due, candidate{r, distance})
		}
	}
	slices.SortFunc(due, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), a.id.Compare(b.id))
	})
	ids := make([]UUID, 0, min(n, len(due)))
	for _, c := range due[:cap(ids)] {
		c.properties.asked(now, askAgain)
		ids = append(ids, c.id)
	}
	return ids
}
