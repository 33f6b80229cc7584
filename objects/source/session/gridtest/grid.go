package gridtest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// Grid is a grid that runs. Its methods are safe for concurrent use and never
// wait; what they make the grid send is under way when they return. Names and
// IDs that are not there make them panic: a script with a mistake is no test.
type Grid struct {
	cfg  Config
	done chan struct{} // closed by Close
	wake chan struct{} // the schedule has changed
	wg   sync.WaitGroup

	mu       sync.Mutex
	accounts []*account
	regions  []*Region
	agents   []*agent
	caps     map[string]*capability // by path
	conns    map[netip.AddrPort]*Conn
	people   map[world.UUID]person
	rng      *rand.Rand // for IDs; chance on the wire has its own
	faults   Faults
	wire     wire
	answers  []LoginAnswer
	counts   map[string]int
	sent     []*Sent
	secrets  []string
	base     string // the address of the grid's HTTP server
	nextPort uint16
	real     *sockets // nil in memory
	closed   bool
}

// account is an Account and who is logged in with it.
type account struct {
	Account
	agent *agent
	hash  string // that stands for the token; empty: none
}

func (a *account) name() string { return a.First + " " + a.Last }

// person is what a name request answers.
type person struct{ first, last, display string }

// Sent is something that the grid sent reliably and that a client must act on
// once.
type Sent struct {
	Agent  world.UUID // to whom
	Region string     // from where
	Number message.Number
	// Effects are what the message says, one string for each thing, such as
	// "object UUID", "move LOCALID X Y Z", "kill LOCALID", "chat SOURCEUUID",
	// "im ID", "item UUID", "folder UUID", "remove UUID", "health N".
	Effects []string
	// Acked says that the client has acknowledged it.
	Acked bool
}

// Session is somebody who is logged in.
type Session struct {
	Agent    world.UUID
	Name     string
	Region   string // where the agent is; empty before it has arrived
	Position world.Vec3
	Ready    bool // its client has done all that a region wants
}

// New returns a grid whose clock runs. It serves clients in memory; see
// Serve. Whoever makes one closes it.
func New(cfg *Config) *Grid {
	c := cfg.withDefaults()
	g := &Grid{
		cfg: c, done: make(chan struct{}), wake: make(chan struct{}, 1),
		caps: map[string]*capability{}, conns: map[netip.AddrPort]*Conn{}, people: map[world.UUID]person{},
		rng: rand.New(rand.NewPCG(c.Seed, 1)), faults: c.Faults, counts: map[string]int{},
		base: "http://grid.test:8002", nextPort: 40000,
	}
	for i := range c.Regions {
		g.addRegion(c.Regions[i])
	}
	for _, a := range c.Accounts {
		g.addAccount(a)
	}
	g.wg.Go(g.run)
	return g
}

func (g *Grid) addAccount(a Account) {
	if a.ID.IsZero() {
		a.ID = g.newID()
	}
	if a.Folders == nil {
		root, landmarks := g.newID(), g.newID()
		a.Folders = []Folder{
			{InventoryFolder: message.InventoryFolder{ID: root, Name: "My Inventory", Type: 8}},
			{InventoryFolder: message.InventoryFolder{ID: landmarks, ParentID: root, Name: "Landmarks", Type: 3}},
		}
	}
	a.Folders, a.Items = slices.Clone(a.Folders), slices.Clone(a.Items)
	for i := range a.Folders {
		a.Folders[i].Version = max(a.Folders[i].Version, 1)
	}
	g.accounts = append(g.accounts, &account{Account: a})
	g.introduce(a.ID, a.First, a.Last, a.DisplayName)
	g.secret(a.Password)
	g.secret(a.Token)
}

// introduce makes a name known to name requests.
func (g *Grid) introduce(id world.UUID, first, last, display string) {
	if display == "" {
		display = first + " " + last
	}
	g.people[id] = person{first, last, display}
}

// Close ends the grid: connections break and every goroutine is gone when it
// returns. Further calls do nothing.
func (g *Grid) Close() {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.done)
	}
	conns, real := g.conns, g.real
	g.conns, g.real = map[netip.AddrPort]*Conn{}, nil
	g.mu.Unlock()
	for _, c := range conns {
		c.shut()
	}
	if real != nil {
		real.close()
	}
	g.wg.Wait()
}

// run is the grid's clock: it does what is due.
func (g *Grid) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-g.done:
			return
		case <-g.wake:
		case <-timer.C:
		}
		g.mu.Lock()
		now := time.Now()
		g.wire.run(now)
		for _, a := range slices.Clone(g.agents) {
			for _, c := range slices.Clone(a.circuits) {
				c.due(now)
			}
		}
		g.wire.run(now)
		next := g.wire.next()
		for _, a := range g.agents {
			for _, c := range a.circuits {
				next = earlier(next, c.next())
			}
		}
		g.mu.Unlock()
		if next.IsZero() {
			next = now.Add(time.Hour)
		}
		timer.Reset(max(next.Sub(now), time.Millisecond))
	}
}

// earlier returns the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// do runs a script's step.
func (g *Grid) do(step func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	step()
	g.poke()
}

// poke has the clock look again at what is due.
func (g *Grid) poke() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// after schedules something; g.mu is held when it runs.
func (g *Grid) after(d time.Duration, what func()) { g.wire.schedule(time.Now().Add(d), what) }

// SetFaults changes what goes wrong from now on.
func (g *Grid) SetFaults(f Faults) {
	f.QueueStatus, f.SeedStatus, f.InventoryStatus = slices.Clone(f.QueueStatus), slices.Clone(f.SeedStatus), slices.Clone(f.InventoryStatus)
	g.do(func() {
		g.faults = f
		for _, a := range g.agents {
			for _, c := range a.circuits {
				c.queue.changed()
			}
		}
	})
}

// AnswerLogins makes the next logins get these answers, one each.
func (g *Grid) AnswerLogins(answers ...LoginAnswer) {
	g.do(func() { g.answers = append(g.answers, answers...) })
}

// LoginURI returns the address to log in at.
func (g *Grid) LoginURI() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.base + "/"
}

// Counts returns how many of what clients have sent so far: datagrams by
// the name of their message, resends included and also counted as "resent",
// "appended acks" by the acknowledgement, "malformed" datagrams; and HTTP
// requests: "login", "seed", "event_queue", "inventory", "names", "features",
// "unknown_path". Faults come later: what is lost was sent.
func (g *Grid) Counts() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	counts := make(map[string]int, len(g.counts))
	for k, n := range g.counts {
		counts[k] = n
	}
	return counts
}

// Sent returns what was sent reliably so far, or since ForgetSent, in order.
func (g *Grid) Sent() []Sent {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]Sent, len(g.sent))
	for i, s := range g.sent {
		list[i] = *s
	}
	return list
}

// ForgetSent empties the list of Sent, which otherwise grows for ever.
func (g *Grid) ForgetSent() { g.do(func() { g.sent = nil }) }

// Sessions returns who is logged in, in the order of their logins.
func (g *Grid) Sessions() []Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []Session
	for _, a := range g.agents {
		s := Session{Agent: a.account.ID, Name: a.account.name(), Position: a.position}
		if a.root != nil {
			s.Region, s.Ready = a.root.region.Name, a.root.ready()
		}
		list = append(list, s)
	}
	return list
}

// Secrets returns what the grid gave out or expects that nobody but a client
// and its grid may see: passwords, tokens and the hashes of both, session IDs,
// circuit codes, capability addresses.
func (g *Grid) Secrets() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.secrets)
}

func (g *Grid) secret(s string) {
	if s != "" && !slices.Contains(g.secrets, s) {
		g.secrets = append(g.secrets, s)
	}
}

// Agent returns the ID of the account of that first and last name.
func (g *Grid) Agent(name string) world.UUID {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.accounts {
		if a.name() == name {
			return a.ID
		}
	}
	panic(fmt.Sprintf("gridtest: there is no account %q", name))
}

// Region returns the region of that name.
func (g *Grid) Region(name string) *Region {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.region(name)
}

func (g *Grid) region(name string) *Region {
	for _, r := range g.regions {
		if r.Name == name {
			return r
		}
	}
	panic(fmt.Sprintf("gridtest: there is no region %q", name))
}

// agent returns who is logged in with an account of that ID, or nil.
func (g *Grid) agent(id world.UUID) *agent {
	for _, a := range g.agents {
		if a.account.ID == id && !a.gone {
			return a
		}
	}
	return nil
}

// must returns who is logged in with an account of that ID.
func (g *Grid) must(id world.UUID) *agent {
	a := g.agent(id)
	if a == nil {
		panic(fmt.Sprintf("gridtest: %s is not logged in", id))
	}
	return a
}

// newID makes up a UUID.
func (g *Grid) newID() (u world.UUID) {
	binary.BigEndian.PutUint64(u[:8], g.rng.Uint64())
	binary.BigEndian.PutUint64(u[8:], g.rng.Uint64())
	u[6], u[8] = u[6]&0x0F|0x40, u[8]&0x3F|0x80
	return u
}

func (g *Grid) count(what string) { g.counts[what]++ }

// Transport returns the way to the grid's HTTP server in memory.
func (g *Grid) Transport() http.RoundTripper { return (*transport)(g) }

// Serve opens real sockets on the loopback interface, TCP for login and
// capabilities and UDP for each region, closes them with the test, and returns
// the login's address.
func (g *Grid) Serve(t testing.TB) string {
	t.Helper()
	if err := g.serve(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g.LoginURI()
}
