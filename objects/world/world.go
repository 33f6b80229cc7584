package world

import (
	"errors"
	"sync"
	"time"
)

// Why there is no snapshot. Callers test with errors.Is.
var (
	// ErrNotReady: no session has begun, or its region's event queue is
	// not ready yet.
	ErrNotReady = errors.New("the session is not ready yet")
	// ErrMoving: the agent is on its way to another region.
	ErrMoving = errors.New("the agent is moving to another region")
	// ErrDisconnected: the session has ended.
	ErrDisconnected = errors.New("the session is disconnected")
	// ErrStraddled: whenever a snapshot was taken, the session or region
	// changed meanwhile, until the deadline.
	ErrStraddled = errors.New("the session or region changed during every capture")
)

// World is what one session has observed so far. It is safe for concurrent
// use. Make one with New.
type World struct {
	// mu guards all below. A capture takes it once a manager, so that
	// updates wait for a part of a capture at most; the fence tells whether
	// the parts belong together.
	mu        sync.Mutex
	session   session
	region    region
	epoch     uint64 // grows with every change of session or region
	latest    time.Time
	scene     scene
	land      land
	inventory inventory
	people    participants
	captures  uint64
	stats     Stats
	taps      []*tap

	// step, if set, is told of each step of a capture before it is taken,
	// without mu. Only tests set it.
	step func(name string)
}

// session is the manager of who is logged in.
type session struct {
	generation  uint64 // 0 before the first SessionStarted
	connected   bool
	source      string
	agent       UUID
	asOf        time.Time
	alive       time.Time // when the source last heard from the region; zero if it does not say
	ownLocalIDs bool
	health      *float64
}

// region is the manager of where the session is.
type region struct {
	id           UUID // zero if in none
	name         string
	sizeX, sizeY int
	water        *float64
	ready        bool
	leaving      bool
}

// Stats counts what became of updates.
type Stats struct {
	Applied   uint64
	Stale     uint64 // of another generation or region, or after the end
	Malformed uint64 // senseless in themselves
	Unmatched uint64 // about something that was never described
	Overflow  uint64 // beyond what the world holds
}

// New returns a world in which no session has begun.
func New() *World {
	w := &World{}
	w.forgetSession()
	return w
}

// Stats returns the counts so far.
func (w *World) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// Fence identifies one stay in one region in one session. Snapshots with
// different fences must not be mixed.
type Fence struct {
	Generation uint64
	Region     UUID
	epoch      uint64 // tells apart two stays in one region
}

// Fence returns the present fence, or why there is none: ErrNotReady,
// ErrMoving or ErrDisconnected.
func (w *World) Fence() (Fence, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.session.generation == 0:
		return Fence{}, ErrNotReady
	case !w.session.connected:
		return Fence{}, ErrDisconnected
	case w.region.leaving:
		return Fence{}, ErrMoving
	case !w.region.ready:
		return Fence{}, ErrNotReady
	}
	return Fence{w.session.generation, w.region.id, w.epoch}, nil
}

// Apply takes in updates, in order and at once for any snapshot of one
// manager. What is stale, malformed or too much is counted and dropped. Apply
// keeps no slice or pointer of an update.
func (w *World) Apply(updates ...Update) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range updates {
		s := complete(u.stamp())
		w.done(w.apply(u, s), s, func() Update { return u })
	}
}

// ApplyObjects is Apply for descriptions of objects, which are most of what a
// region sends on arrival.
func (w *World) ApplyObjects(objects []ObjectUpdated) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range objects {
		s := complete(objects[i].Stamp)
		o := stale
		if w.here(s) {
			o = w.scene.update(&objects[i], s.At)
		}
		w.done(o, s, func() Update { return objects[i] })
	}
}

// ApplyMoves is Apply for moves, which are most of what a region sends later.
func (w *World) ApplyMoves(moves []ObjectMoved) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range moves {
		s := complete(moves[i].Stamp)
		o := stale
		if w.here(s) {
			o = w.scene.move(&moves[i], s.At)
		}
		w.done(o, s, func() Update { return moves[i] })
	}
}

// complete returns a stamp with a time.
func complete(s Stamp) Stamp {
	if s.At.IsZero() {
		s.At = time.Now()
	}
	return s
}

// here reports whether a stamp is that of the present session and region.
func (w *World) here(s Stamp) bool {
	return s.Generation == w.session.generation && w.session.connected && s.Region == w.region.id && !w.region.id.IsZero()
}

// done counts what became of an update and tells those who listen.
func (w *World) done(o outcome, s Stamp, update func() Update) {
	if len(w.taps) > 0 && o != stale {
		w.tell(update(), s)
	}
	switch o {
	case applied:
		w.stats.Applied++
		if s.At.After(w.latest) {
			w.latest = s.At
		}
	case stale:
		w.stats.Stale++
	case malformed:
		w.stats.Malformed++
	case unmatched:
		w.stats.Unmatched++
	case overflow:
		w.stats.Overflow++
	}
}

// outcome is what became of one update.
type outcome uint8

const (
	applied outcome = iota
	stale
	malformed
	unmatched
	overflow
)

// apply takes in one update; s is its stamp with a time.
func (w *World) apply(u Update, s Stamp) outcome {
	if start, ok := u.(SessionStarted); ok {
		return w.startSession(start)
	}
	if s.Generation != w.session.generation || !w.session.connected {
		return stale
	}
	// What belongs to the session, whatever the region.
	switch u := u.(type) {
	case Disconnected:
		w.session.connected = false
		w.epoch++
		return applied
	case Frozen:
		w.session.asOf = s.At
		return applied
	case Alive:
		if s.At.After(w.session.alive) {
			w.session.alive = s.At
		}
		return applied
	case RegionEntered:
		return w.enterRegion(u)
	case AgentHealth:
		return w.session.setHealth(u.Health)
	case AvatarNamed:
		return w.scene.nameAvatar(u)
	case InventoryFolder:
		return w.inventory.putFolder(u)
	case InventoryItem:
		return w.inventory.putItem(u)
	case InventoryMoved:
		return w.inventory.move(u)
	case InventoryRemoved:
		return w.inventory.remove(u.IDs)
	case Heard:
		return w.people.heard(u, w.session.agent, s.At)
	case Covered:
		switch u.Collection {
		case Inventory:
			return w.inventory.cover(u)
		case Participants:
			return w.people.cover(u)
		}
	}
	if !w.here(s) {
		return stale
	}
	return w.applyRegional(u, s)
}

// applyRegional takes in an update that is about the present region.
func (w *World) applyRegional(u Update, s Stamp) outcome {
	switch u := u.(type) {
	case RegionReady:
		if w.region.leaving {
			return stale // the queue of a region that is being left
		}
		w.region.ready = true
	case RegionLeaving:
		w.region.leaving = true
		w.epoch++
	case RegionStayed:
		w.region.leaving = false
		w.epoch++
	case AgentPlaced:
		return w.scene.placeAgent(u)
	case ObjectUpdated:
		return w.scene.update(&u, s.At)
	case ObjectMoved:
		return w.scene.move(&u, s.At)
	case ObjectNamed:
		return w.scene.nameObject(u)
	case ObjectsKilled:
		return w.scene.killAll(u)
	case ObjectsOffered:
		return w.scene.offer(u, s.At)
	case CoarseLocations:
		return w.scene.locate(u, s.At)
	case ParcelUpdated:
		return w.land.putParcel(u)
	case TerrainUpdated:
		return w.land.putTerrain(u)
	case Covered:
		switch u.Collection {
		case Avatars:
			return w.scene.coverAvatars(u)
		case Objects:
			return w.scene.coverObjects(u)
		}
		return malformed
	default:
		return malformed
	}
	return applied
}

func (w *World) startSession(u SessionStarted) outcome {
	if u.Generation <= w.session.generation {
		return stale
	}
	w.forgetSession()
	w.session = session{
		generation:  u.Generation,
		connected:   true,
		source:      text(u.Source),
		agent:       u.Agent,
		asOf:        u.AsOf,
		ownLocalIDs: u.OwnLocalIDs,
	}
	w.scene.agent = u.Agent
	return applied
}

func (w *World) enterRegion(u RegionEntered) outcome {
	if u.Region.IsZero() {
		return malformed
	}
	if u.Region != w.region.id || w.region.leaving {
		w.forgetRegion()
		w.region.id = u.Region
		w.region.sizeX, w.region.sizeY = regionSize(u.SizeX), regionSize(u.SizeY)
		w.scene.sizeX, w.scene.sizeY = w.region.sizeX, w.region.sizeY
		w.land.sizeX, w.land.sizeY = w.region.sizeX, w.region.sizeY
	}
	w.region.name = text(u.Name)
	w.region.water = nil
	if u.WaterHeight != nil && finite(*u.WaterHeight) {
		water := *u.WaterHeight
		w.region.water = &water
	}
	return applied
}

func regionSize(metres int) int {
	if metres <= 0 {
		return 256
	}
	return min(metres, MaxRegionSize)
}

func (w *World) forgetSession() {
	w.session = session{}
	w.latest = time.Time{}
	w.inventory = newInventory()
	w.people = newParticipants()
	w.scene.names = newNames()
	w.forgetRegion()
}

// forgetRegion drops all that belongs to a region. Names of avatars belong to
// the session.
func (w *World) forgetRegion() {
	w.epoch++
	w.region = region{}
	w.scene = newScene(w.session.agent, w.scene.names)
	w.land = newLand()
}

func (s *session) setHealth(health float64) outcome {
	if !(health >= 0 && health <= 100) {
		return malformed
	}
	s.health = &health
	return applied
}

// coverage says whether a collection is known, and whether as a whole.
type coverage struct {
	known   bool
	partial bool // the source says so
	limited bool // the world itself left some out
}

func (c *coverage) cover(u Covered) outcome {
	c.known, c.partial = true, u.Truncated
	return applied
}

func (c *coverage) truncated() bool { return c.partial || c.limited }
