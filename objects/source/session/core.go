package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// Why a session ended. Callers test with errors.Is.
var (
	// ErrSilent: nothing came from the simulator for a minute.
	ErrSilent = errors.New("the simulator fell silent")
	// ErrUnreachable: the simulator did not acknowledge the circuit.
	ErrUnreachable = errors.New("the simulator does not answer")
	// ErrClosed: the simulator closed the circuit or the event queue.
	ErrClosed = errors.New("the simulator ended the session")
	// ErrStuck: a teleport began and never ended.
	ErrStuck = errors.New("a teleport began and did not end")
	// ErrKicked: the grid threw the agent out.
	ErrKicked = errors.New("the grid ended the session")
	// ErrElsewhere: the account was logged in somewhere else. Logging in
	// again would throw that one out in turn.
	ErrElsewhere = errors.New("the account has logged in elsewhere")
	// ErrNoQueue: the simulator offers no event queue, so that no region
	// ever becomes ready.
	ErrNoQueue = errors.New("the simulator offers no event queue")
	// ErrUntrusted: the simulator's certificate is of no authority that is
	// trusted. Config.RootCAs can name one.
	ErrUntrusted = caps.ErrUntrusted
)

// driver does what the core asks for. What comes of it, the core is told by
// the method named beside each.
type driver interface {
	send(to netip.AddrPort, datagram []byte)
	fetchSeed(r *region)                    // seedFetched
	pollQueue(r *region)                    // delivered, queueClosed
	crawl(r *region, folders []caps.Folder) // contents, crawlEnded
	fetchNames(r *region, ids []world.UUID) // named
	notify(n Notice)
}

// core is the state of one login. It does no I/O, knows no clock, and is used
// by one goroutine.
type core struct {
	cfg        *Config
	world      *world.World
	driver     driver
	generation uint64
	agent      world.UUID
	session    secret.Of[message.Session]

	root     *region
	old      []*region // left, but still to be acknowledged until they close
	groups   map[world.UUID]bool
	folders  []caps.Folder
	crawling *region // the region whose capability is used
	crawled  bool
	ended    error // why the session is over; nil while it lasts
	leaving  bool  // logging out
	goodbye  bool  // the simulator has let go

	into    scratch // what messages are decoded into, one after the other
	batch   []world.Update
	objects []world.ObjectUpdated
	moves   []world.ObjectMoved
	packet  []byte
	stats   stats
}

// stats counts what came from the simulators.
type stats struct {
	messages  map[message.Number]uint64 // understood or not, without duplicates
	ignored   uint64                    // of no use to a client that only watches
	malformed uint64                    // could not be decoded, or in part only
	foreign   uint64                    // objects of another region
	overflow  uint64                    // came too early, and was too much to keep
}

const (
	silence       = 60 * time.Second // after which a circuit counts as dead
	stuckAfter    = 60 * time.Second // of an announced teleport
	moveAnyway    = 5 * time.Second  // without an answer to the seed
	updateEvery   = time.Second
	settleAfter   = 15 * time.Second // when all objects count as described,
	settleQuiet   = 3 * time.Second  // or when none was for so long
	settleAtLeast = 5 * time.Second
	maxOld        = 8
)

// throttle is how much of each kind of traffic may come, in bits a second.
// Nothing of wind, clouds and textures is of use.
var throttle = message.Throttle{
	Resend: 100 << 10, Land: 200 << 10, Wind: 4 << 10, Cloud: 4 << 10, Task: 700 << 10, Texture: 4 << 10, Asset: 4 << 10,
}

func newCore(cfg *Config, w *world.World, d driver, generation uint64) *core {
	return &core{
		cfg: cfg, world: w, driver: d, generation: generation,
		groups: map[world.UUID]bool{},
		stats:  stats{messages: map[message.Number]uint64{}},
	}
}

// start begins the session with what the login answered.
func (c *core) start(now time.Time, reply *login.Reply) {
	c.agent = reply.AgentID
	c.session = secret.New(message.Session{
		AgentID: reply.AgentID, SessionID: reply.SessionID.Reveal(), CircuitCode: reply.CircuitCode.Reveal(),
	})
	stamp := c.stamp(now)
	c.apply(world.SessionStarted{Stamp: stamp, Source: "session", Agent: c.agent},
		world.Covered{Stamp: stamp, Collection: world.Participants})
	c.skeleton(now, reply)
	c.root = &region{
		at: reply.Simulator, handle: reply.RegionHandle(), sizeX: reply.SizeX, sizeY: reply.SizeY, seed: reply.Seed,
	}
	c.open(now, c.root)
}

// stamp is that of updates about the session, or about the present region.
func (c *core) stamp(now time.Time) world.Stamp {
	s := world.Stamp{Generation: c.generation, At: now}
	if c.root != nil {
		s.Region = c.root.id
	}
	return s
}

func (c *core) apply(updates ...world.Update) { c.world.Apply(updates...) }

// open says hello to a region's simulator, on a circuit that is there already
// if the agent comes back: the simulator drops what comes under a sequence
// number that it has seen.
func (c *core) open(now time.Time, r *region) {
	if r.opened = now; r.circuit == nil {
		r.circuit = lludp.NewCircuit()
	} else {
		r.circuit.Renew()
	}
	r.greeting = c.reliable(now, r, message.AppendUseCircuitCode(c.packet[:0], c.session.Reveal()))
}

// reliable sends a message until it is acknowledged.
func (c *core) reliable(now time.Time, r *region, body []byte) (sequence uint32) {
	return c.sendBody(now, r, body, lludp.SendOptions{Reliable: true})
}

func (c *core) sendBody(now time.Time, r *region, body []byte, opts lludp.SendOptions) (sequence uint32) {
	c.packet = body[:0] // grown, perhaps
	datagram, sequence := r.circuit.Send(now, body, opts)
	c.driver.send(r.at, datagram)
	return sequence
}

// received takes in a datagram.
func (c *core) received(now time.Time, from netip.AddrPort, datagram []byte) {
	r := c.root
	if r == nil || r.at != from {
		r = c.leftBehind(from)
	}
	if r == nil {
		return // not from a simulator of ours
	}
	body, ok, err := r.circuit.Receive(now, datagram)
	if err != nil {
		c.stats.malformed++
		return
	}
	if !ok {
		return
	}
	number, rest, err := message.Split(body)
	if err != nil {
		c.stats.malformed++
		return
	}
	c.stats.messages[number]++
	if r == c.root {
		c.handle(now, r, r.order(binary.BigEndian.Uint32(datagram[1:])), number, rest)
	} else if number == message.NumberDisableSimulator || number == message.NumberCloseCircuit {
		c.forget(r)
	}
}

func (c *core) leftBehind(from netip.AddrPort) *region {
	for _, r := range c.old {
		if r.at == from {
			return r
		}
	}
	return nil
}

func (c *core) forget(gone *region) {
	c.old = slices.DeleteFunc(c.old, func(r *region) bool { return r == gone })
}

// proceed takes the next step of the way into a region, if it is due.
func (c *core) proceed(now time.Time, r *region) {
	if r.greeted.IsZero() {
		if !r.circuit.Acked(r.greeting) {
			return
		}
		r.greeted = now
		c.driver.fetchSeed(r)
	}
	if r.moving == 0 && (r.seeded || now.Sub(r.greeted) >= moveAnyway) {
		r.moving = c.reliable(now, r, message.AppendCompleteAgentMovement(c.packet[:0], c.session.Reveal()))
	}
	if r.both() && !r.entered() {
		c.enter(now, r)
	}
	if r.entered() && r.queueReady && !r.ready {
		r.ready = true
		c.apply(world.RegionReady{Stamp: c.stamp(now)})
		c.driver.notify(Notice{At: now, Kind: Arrived, Text: r.handshake.Name})
		c.startCrawl(r)
	}
}

// enter tells the world of a region, and all that was seen of it meanwhile.
func (c *core) enter(now time.Time, r *region) {
	r.id = r.handshake.RegionID
	if r.id.IsZero() {
		c.end(fmt.Errorf("%w: its handshake names no region", ErrClosed))
		return
	}
	c.describe(now, r)
	stamp := c.stamp(now)
	c.apply(world.AgentPlaced{Stamp: stamp, Position: r.arrival.Position})
	waiting := r.waiting
	r.waiting, r.waitSize = nil, 0
	for _, do := range waiting {
		do()
	}
}

// describe tells the world a region's name, size and water height.
func (c *core) describe(now time.Time, r *region) {
	water := r.handshake.WaterHeight
	c.apply(world.RegionEntered{Stamp: c.stamp(now), Name: r.handshake.Name, SizeX: r.sizeX, SizeY: r.sizeY, WaterHeight: &water})
}

// move begins the way into another region.
func (c *core) move(now time.Time, to caps.Arrival) {
	if c.root.ready || c.root.entered() {
		c.apply(world.RegionLeaving{Stamp: c.stamp(now)})
	}
	c.driver.notify(Notice{At: now, Kind: Leaving})
	left := c.root
	c.root = &region{at: to.Simulator, handle: to.RegionHandle, sizeX: to.SizeX, sizeY: to.SizeY, seed: to.Seed}
	if back := c.leftBehind(to.Simulator); back != nil {
		c.root.circuit = back.circuit
		c.forget(back)
	}
	if left.at == to.Simulator {
		c.root.circuit = left.circuit
	} else if c.old = append(c.old, left); len(c.old) > maxOld {
		c.old = c.old[1:]
	}
	c.open(now, c.root)
}

// end ends the session; the first reason counts.
func (c *core) end(err error) {
	if c.ended == nil {
		c.ended = err
	}
}

func (c *core) trouble(now time.Time, err error) {
	c.driver.notify(Notice{At: now, Kind: Trouble, Err: err})
}

// tick does what is due by time. It is called at least as often as next says.
func (c *core) tick(now time.Time) {
	r := c.root
	c.keep(now, r)
	for _, left := range slices.Clone(c.old) {
		if c.keep(now, left); now.Sub(left.circuit.LastHeard()) >= silence {
			c.forget(left)
		}
	}
	c.proceed(now, r)
	heard := r.circuit.LastHeard()
	if heard.Before(r.opened) {
		heard = r.opened
	}
	switch {
	case now.Sub(heard) >= silence:
		c.end(ErrSilent)
	case !r.restless.IsZero() && now.Sub(r.restless) >= stuckAfter:
		c.end(ErrStuck)
	case !r.queueEnded.IsZero() && now.Sub(r.queueEnded) >= queueGrace:
		c.end(fmt.Errorf("%w: its event queue is gone", ErrClosed))
	}
}

// keep sends what is due on a region's circuit.
func (c *core) keep(now time.Time, r *region) {
	for _, l := range r.circuit.Due(now, func(datagram []byte) { c.driver.send(r.at, datagram) }) {
		if r == c.root && l.Sequence == r.greeting {
			c.end(ErrUnreachable)
		} else if !c.leaving {
			c.trouble(now, fmt.Errorf("the simulator did not acknowledge %v", l.Number))
		}
	}
}

// worthTelling is how many polls in a row must fail before the operator is
// told: OpenSimulator lets the first one or two of a new queue fail.
const worthTelling = 3

// queueGrace is how long a session outlives its event queue, which ends just
// before a region change is announced.
const queueGrace = 10 * time.Second

// second does what is done once a second.
func (c *core) second(now time.Time) {
	r := c.root
	if r.arrival != nil && !c.leaving {
		c.look(now, r)
	}
	if r.entered() {
		c.apply(world.Alive{Stamp: world.Stamp{Generation: c.generation, Region: r.id, At: r.circuit.LastHeard()}})
	}
	if !r.ready || c.leaving {
		return
	}
	c.settle(now, r)
	c.ask(now, r)
}

// look keeps the agent alive. The camera is exactly where the agent is, and
// its body stays turned as the simulator has it.
func (c *core) look(now time.Time, r *region) {
	u := message.AgentUpdate{CameraCenter: r.arrival.Position, Far: c.cfg.DrawDistance}
	if r.entered() {
		place, rotation := c.world.AgentPlace()
		u.BodyRotation, u.HeadRotation = rotation, rotation
		if place.HeightKnown {
			u.CameraCenter = place.Vec3
		}
	}
	body := message.AppendAgentUpdate(c.packet[:0], c.session.Reveal(), u)
	c.sendBody(now, r, body, lludp.SendOptions{ZeroCoded: true})
}

// logout takes leave. The simulator's answer may never come.
func (c *core) logout(now time.Time) {
	c.leaving = true
	c.reliable(now, c.root, message.AppendLogoutRequest(c.packet[:0], c.session.Reveal()))
}

// next is when tick has something to do.
func (c *core) next() time.Time {
	first := c.root.circuit.Next()
	for _, r := range c.old {
		if t := r.circuit.Next(); !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// seedFetched: the seed capability was answered.
func (c *core) seedFetched(now time.Time, r *region, set caps.Set, err error) {
	if r != c.root {
		return
	}
	switch {
	case err != nil:
		c.end(fmt.Errorf("%w: %w", ErrClosed, err))
		return
	case !set.Has(caps.EventQueueGet):
		c.end(ErrNoQueue)
		return
	}
	r.caps, r.seeded = set, true
	c.driver.pollQueue(r)
	c.proceed(now, r)
}

// delivered: the event queue has answered.
func (c *core) delivered(now time.Time, r *region, d caps.Delivery) {
	if d.Ready {
		r.queueReady = true
	}
	c.stats.malformed += uint64(d.Malformed)
	if r.queueFailures++; d.Trouble == nil {
		r.queueFailures = 0
	} else if r.queueFailures == worthTelling && r == c.root {
		c.trouble(now, d.Trouble) // once, however often it is tried again
	}
	for _, e := range d.Events {
		if r != c.root {
			break // a move was among them: the rest is of the old region
		}
		c.event(now, r, e)
	}
	if r == c.root {
		c.proceed(now, r)
	}
}

// queueClosed: the event queue is gone.
func (c *core) queueClosed(now time.Time, r *region) {
	if r == c.root {
		r.queueEnded = now
		c.goodbye = c.leaving
	}
}
