package gridtest

import (
	"time"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// Config is a grid as it begins. What is zero gets a default; nil is one
// account, "Test User" with the password "secret", and one region, "Alpha".
type Config struct {
	Accounts []Account
	Regions  []RegionConfig
	// Seed is what chance, IDs and faults depend on.
	Seed uint64
	// Faults are there from the start; see SetFaults.
	Faults Faults
	// QueueHold is how long a poll of an event queue is held; 0 means 58 s,
	// as OpenSimulator does. Second Life holds for 20 to 30 s.
	QueueHold time.Duration
	// QueueIdle is the status of a poll that nothing came of; 0 means 502.
	QueueIdle int
	// KeepCircuits says that a region that an agent has left keeps its
	// circuit, and takes it up again if the agent comes back: sequence
	// numbers go on then. OpenSimulator does so with regions in sight of each
	// other.
	KeepCircuits bool
	// LogoutReply says that a logout is acknowledged and answered, which
	// OpenSimulator mostly does not do.
	LogoutReply bool
	// Capabilities are what a seed has to offer; nil means all that the grid
	// serves.
	Capabilities []string
}

// Account is who may log in.
type Account struct {
	First, Last string
	Password    string
	ID          world.UUID // zero: made up
	DisplayName string     // empty: the name
	// Region and Position are where the account is when it logs in; empty
	// means the middle of the first region.
	Region   string
	Position world.Vec3
	// Token is the one-time code without which nobody gets in; empty means
	// none. A login with it gets a hash that stands for it from then on.
	Token string
	// Terms and Critical are texts that a login has to agree to first.
	Terms, Critical string
	// Folders are the inventory; nil means the root folder and Landmarks.
	// The first one is the root.
	Folders []Folder
	Items   []message.InventoryItem
	Groups  []Group
}

// Folder is a folder of an account's inventory.
type Folder struct {
	message.InventoryFolder
	Version int // 0 means 1
}

// Group is a group that an account is in.
type Group struct {
	ID   world.UUID
	Name string
}

// RegionConfig is a region as it begins.
type RegionConfig struct {
	Name string
	ID   world.UUID // zero: made up
	// X and Y are metres of the grid, multiples of 256; both 0 means beside
	// the region before.
	X, Y uint32
	// SizeX and SizeY are metres, multiples of 256; 0 means 256.
	SizeX, SizeY int
	Water        float64 // metres; 0 means 20
	// Terrain is the height at a metre; nil means 21 m everywhere.
	Terrain func(x, y int) float64
	Parcels []Parcel // nil: one of all the region
	Objects []Object
	Avatars []Avatar
	// HandshakeDelay is how long after AgentMovementComplete the
	// RegionHandshake comes; 0 means just before it.
	HandshakeDelay time.Duration
}

// Object is a prim, tree or grass. LocalID and ID are made up where they are
// zero, and PCode is a prim's.
type Object struct {
	message.Object
	Name, Description string
	Encoding          Encoding
}

// Encoding is how an object is described to who comes.
type Encoding uint8

// The encodings.
const (
	// Stored objects come as ObjectUpdateCompressed to clients that say that
	// their cache is empty, and as ObjectUpdateCached to the others.
	Stored Encoding = iota
	// Fresh objects, such as those changed not long ago, come as
	// ObjectUpdate.
	Fresh
)

// Avatar is somebody who is scripted.
type Avatar struct {
	ID          world.UUID // zero: made up
	First, Last string
	Position    world.Vec3
	// Far avatars are in coarse locations only.
	Far bool
}

// Parcel is a piece of land: all 4 m cells from X0, Y0 up to X1, Y1, in
// metres.
type Parcel struct {
	LocalID           int32 // 0: its place in the list, from 1
	Name, Description string
	X0, Y0, X1, Y1    int // all 0: the whole region
	// Flags as in ParcelFlags; 0 means flying, building and scripts for all.
	Flags uint32
}

// LoginAnswer is an answer that the next login gets whatever it asks.
type LoginAnswer struct {
	// Reason and Message refuse it.
	Reason, Message string
	// NextURL makes it an "indeterminate" redirect; "" and Reason
	// "indeterminate" redirects to the grid itself.
	NextURL string
	// Status and Body are the answer itself if Body is not empty; a Status
	// of 0 is 200.
	Status int
	Body   string
}

// Faults are what goes wrong. Probabilities are of 0 to 1, and for each
// direction by itself. The zero value is a network without faults.
type Faults struct {
	// Loss, Duplicate and Reorder are probabilities of a datagram. A
	// duplicate comes up to a second later; one that is reordered is held
	// back for up to 300 ms.
	Loss, Duplicate, Reorder float64
	// Delay is how long each datagram and each HTTP request and answer is
	// under way; Jitter is added to it by chance, which reorders.
	Delay, Jitter time.Duration
	// BurstEvery and BurstLength lose all datagrams for a while: in every
	// BurstEvery of time the last BurstLength.
	BurstEvery, BurstLength time.Duration

	// What the simulator does wrong, by probability of a message that it
	// sends: it acknowledges what was never sent, sends a message that
	// breaks off, or puts bytes behind a message that belong to no field, or
	// a datagram that expands beyond all bounds.
	WrongAcks, Truncate, Overlong float64

	// HalfOpen lets nothing through, either way, and holds HTTP requests
	// until they are given up.
	HalfOpen bool

	// QueueStatus are answers that polls get at once, one each, before the
	// queue does its work again. An answer of 200 has an empty body.
	QueueStatus []int
	// SeedStatus are answers that seed requests get, likewise.
	SeedStatus []int
	// SeedNotReady is how many seed requests are answered with 503 and
	// Retry-After, as before the circuit is there.
	SeedNotReady int
	// InventoryStatus are answers that inventory requests get, likewise.
	InventoryStatus []int
	// LostTeleportFinish loses the event that ends a teleport.
	LostTeleportFinish bool
}

func (c *Config) withDefaults() Config {
	d := Config{}
	if c != nil {
		d = *c
	}
	if len(d.Accounts) == 0 {
		d.Accounts = []Account{{First: "Test", Last: "User", Password: "secret"}}
	}
	if len(d.Regions) == 0 {
		d.Regions = []RegionConfig{{Name: "Alpha"}}
	}
	if d.QueueHold == 0 {
		d.QueueHold = 58 * time.Second
	}
	if d.QueueIdle == 0 {
		d.QueueIdle = 502
	}
	if d.Capabilities == nil {
		d.Capabilities = []string{"EventQueueGet", "FetchInventoryDescendents2", "GetDisplayNames", "SimulatorFeatures"}
	}
	return d
}
