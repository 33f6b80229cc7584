package world

import "time"

// Update is one thing that a source has observed. Updates are plain data: a
// list of them is a recording. The set is closed; every update is one of the
// types of this file.
//
// Texts are raw, as the source holds them: cleaning happens on the way to a
// model. Coordinates are region metres, x east, y north, z up. A number that
// is NaN or infinite counts as unknown.
type Update interface {
	stamp() Stamp
	restamped(Stamp) Update
}

// StampOf returns an update's stamp.
func StampOf(u Update) Stamp { return u.stamp() }

// Restamp returns the same update with another stamp. It shares slices and
// pointers with u.
func Restamp(u Update, s Stamp) Update { return u.restamped(s) }

// Stamp says to what an update belongs. An update of another generation, or
// of another region if it is about a region, is dropped and counted.
type Stamp struct {
	// Generation numbers the logins of one agent, from 1; each
	// SessionStarted needs a higher one than the last.
	Generation uint64
	// Region is the region that the update is about. It is not looked at for
	// what belongs to the session: inventory, names, participants.
	Region UUID
	// At is when it was observed; the zero time means now.
	At time.Time
}

func (s Stamp) stamp() Stamp { return s }

// The closed set. Session and region:
var (
	_ Update = SessionStarted{}
	_ Update = Frozen{}
	_ Update = Alive{}
	_ Update = Disconnected{}
	_ Update = RegionEntered{}
	_ Update = RegionReady{}
	_ Update = RegionLeaving{}
	_ Update = RegionStayed{}
	_ Update = Covered{}
	// The agent:
	_ Update = AgentPlaced{}
	_ Update = AgentHealth{}
	// Objects and avatars:
	_ Update = ObjectUpdated{}
	_ Update = ObjectMoved{}
	_ Update = ObjectNamed{}
	_ Update = ObjectsKilled{}
	_ Update = ObjectsOffered{}
	_ Update = CoarseLocations{}
	_ Update = AvatarNamed{}
	// Land:
	_ Update = ParcelUpdated{}
	_ Update = TerrainUpdated{}
	// Inventory and people:
	_ Update = InventoryFolder{}
	_ Update = InventoryItem{}
	_ Update = InventoryMoved{}
	_ Update = InventoryRemoved{}
	_ Update = Heard{}
)

// SessionStarted begins a generation: all that was known is forgotten.
type SessionStarted struct {
	Stamp
	// Source names where the session comes from, such as "demo", "archive"
	// or "session"; it is shown as provenance.
	Source string
	// Agent is whose session it is; the zero UUID if the source holds no
	// agent, as an archive does not.
	Agent UUID
	// AsOf is when a world that stands still was saved: every snapshot is of
	// that time. The zero time means a live world.
	AsOf time.Time
	// OwnLocalIDs says that local IDs are numbers of the source's own
	// making, which link its updates and mean nothing on any grid. They are
	// then shown as unknown.
	OwnLocalIDs bool
}

// Alive says when the source last heard from the region at all: Stamp.At.
// From the first one of a session on, a snapshot is as old as that, so that
// what a region told before it fell silent does not pass for new.
type Alive struct{ Stamp }

// Frozen says that the source is at its end, as a replayed recording is after
// its last update: what is known stays, and every snapshot is of Stamp.At.
type Frozen struct{ Stamp }

// Disconnected ends the session. What was known stays out of reach until the
// next SessionStarted.
type Disconnected struct{ Stamp }

// RegionEntered says that the agent is in region Stamp.Region. The first one
// for a region, and one after RegionLeaving, forgets all that belongs to a
// region; a repeated one only brings name, size and water height up to date.
type RegionEntered struct {
	Stamp
	Name string // empty if unknown
	// SizeX and SizeY are the region's size in metres; 0 means 256, more
	// than MaxRegionSize is cut to that.
	SizeX, SizeY int
	// WaterHeight is in metres; nil if unknown.
	WaterHeight *float64
}

// RegionReady says that the region's event queue is ready. Snapshots exist
// from then on.
type RegionReady struct{ Stamp }

// RegionLeaving says that the agent is on its way out of region
// Stamp.Region: no snapshot exists until the next region is ready.
type RegionLeaving struct{ Stamp }

// RegionStayed says that the move that RegionLeaving announced came to
// nothing; what was known of the region holds again.
type RegionStayed struct{ Stamp }

// Collection is something that a source reports as a whole or not at all.
type Collection string

// The collections. Terrain and parcels need no coverage: where none was seen,
// none is known.
const (
	Avatars      Collection = "avatars"
	Objects      Collection = "objects"
	Inventory    Collection = "inventory"
	Participants Collection = "participants"
)

// Covered says that from now on the source reports a collection. Without it
// the collection is unknown, and not empty. Coverage of avatars and objects
// ends with the region, the others' with the session.
type Covered struct {
	Stamp
	Collection Collection
	// Truncated says that the source itself left some of it out. A later
	// Covered with false takes that back, as when the missing part has come;
	// what the world left out by its own limits stays said.
	Truncated bool
}

// AgentPlaced says where the agent is, apart from its own avatar's updates.
type AgentPlaced struct {
	Stamp
	Position Vec3
	// Assumed says that nobody is there: it is the place from which a
	// world without an agent is looked at.
	Assumed bool
}

// AgentHealth is the agent's health, 0 to 100.
type AgentHealth struct {
	Stamp
	Health float64
}

// PCode values that matter here. All others are objects too.
const (
	PCodePrim   uint8 = 9
	PCodeAvatar uint8 = 47
)

// ObjectUpdated describes one prim, tree, grass or avatar in full.
type ObjectUpdated struct {
	Stamp
	// Order tells the order in which a region sent such updates, which is not
	// always that in which they come: a packet that was lost comes again. 0
	// means as they come.
	Order   uint64
	LocalID uint32 // the region's own number, not 0
	ID      UUID
	PCode   uint8 // PCodeAvatar for an avatar
	// ParentID is the local ID of what it is linked to, sits on or is worn
	// by; 0 means none. Position and Rotation are then relative to that.
	ParentID uint32
	Position Vec3
	Rotation Quat // the zero value means no rotation
	Scale    Vec3
	// HoverText is nil if unknown, and empty if there is none.
	HoverText *string
	// Name and Description are nil if unknown: a live grid does not send
	// them unasked. Names once known are kept.
	Name, Description *string
	// FirstName and LastName are an avatar's; empty if unknown.
	FirstName, LastName string
	// Attachment says that the source knows it to be worn (AttachItemID).
	Attachment bool
}

// ObjectMoved is the terse form: an object already described has moved.
type ObjectMoved struct {
	Stamp
	Order    uint64 // as ObjectUpdated.Order
	LocalID  uint32
	Position Vec3
	Rotation Quat // the zero value means no rotation
}

// ObjectNamed brings an object's name and description.
type ObjectNamed struct {
	Stamp
	ID                UUID
	Name, Description string
}

// ObjectsKilled says that objects are gone, and with them what is linked to
// them, but never the agent's avatar and never who sits on them.
type ObjectsKilled struct {
	Stamp
	Order    uint64 // as ObjectUpdated.Order
	LocalIDs []uint32
}

// ObjectsOffered says that the region asked whether these objects are known
// already, instead of describing them. Those that are not are wanted at once;
// see World.Wants.
type ObjectsOffered struct {
	Stamp
	LocalIDs []uint32
}

// CoarseLocations lists where avatars roughly are. Each replaces the last.
type CoarseLocations struct {
	Stamp
	Entries []CoarseLocation
	You     int // index of the agent in Entries; negative if it is not there
}

// CoarseLocation is one avatar's place as it is on the wire.
type CoarseLocation struct {
	ID UUID
	// X and Y are in 1/256 of the region's size, or metres of a 256 m
	// region. Z is in steps of 4 m; 0 and 255 say nothing.
	X, Y, Z uint8
}

// AvatarNamed brings an avatar's name, as learned from chat, messages or name
// requests.
type AvatarNamed struct {
	Stamp
	ID   UUID
	Name string
	// Complete says that it is all that the grid answers to a request for
	// the name, the display name included if the grid has them. Such a name
	// goes before the one in the avatar's description, which goes before
	// any other, and the avatar's name is wanted no more.
	Complete bool
}

// ParcelUpdated describes one parcel. It has no owner, price or address: what
// must not leave does not enter.
type ParcelUpdated struct {
	Stamp
	LocalID           int32
	Name, Description string
	Area              int // square metres
	AllowFly          bool
	AllowBuild        bool // by everybody
	AllowScripts      bool // of everybody
	DamageEnabled     bool
	// Bitmap marks the parcel's cells of 4 by 4 metres, row by row from the
	// south-west, lowest bit first; nil if unknown.
	Bitmap []byte
	// Current says that the region names it as the agent's own parcel.
	Current bool
}

// TerrainUpdated brings a rectangle of ground heights, one sample a metre.
type TerrainUpdated struct {
	Stamp
	X, Y          int // south-west sample
	Width, Height int // in samples
	// Heights are in metres, row by row from the south, west to east; NaN
	// is unknown. There are Width times Height of them.
	Heights []float32
}

// InventoryFolder is one folder of the agent's inventory.
type InventoryFolder struct {
	Stamp
	ID UUID
	// ParentID is the folder it lies in; zero for the root folder and for
	// what lies at its top.
	ParentID UUID
	Name     string
	// Root marks the root folder ("My Inventory"), which is no part of any
	// path.
	Root bool
}

// InventoryItem is one item of the agent's inventory.
type InventoryItem struct {
	Stamp
	ID       UUID
	ParentID UUID // as InventoryFolder.ParentID
	Name     string
	// AssetType is the grid's number: 0 texture, 3 landmark, 24 link, …
	AssetType int
	Created   int64 // Unix seconds; 0 or less is unknown
}

// InventoryMoved says that an item or a folder, with all that lies in it, lies
// in another folder now, has another name, or both.
type InventoryMoved struct {
	Stamp
	ID       UUID
	ParentID UUID   // as InventoryFolder.ParentID
	Name     string // empty: it keeps its name
}

// InventoryRemoved says that items or folders are gone, folders with all that
// lies in them.
type InventoryRemoved struct {
	Stamp
	IDs []UUID
}

// Channel is how somebody was in touch with the agent.
type Channel string

// The channels.
const (
	DirectIM       Channel = "direct_im"
	LocalChat      Channel = "local_chat"
	GroupChat      Channel = "group_chat"
	Conference     Channel = "conference"
	InventoryOffer Channel = "inventory_offer"
	Lure           Channel = "lure"
	Friendship     Channel = "friendship"
	GroupNotice    Channel = "group_notice"
)

// Heard says that a person was in touch with the agent. What was said is no
// part of it.
type Heard struct {
	Stamp
	ID      UUID
	Channel Channel
	// Active is when, if that is not Stamp.At, as for a stored message.
	Active time.Time
}

func (u SessionStarted) restamped(s Stamp) Update   { u.Stamp = s; return u }
func (u Alive) restamped(s Stamp) Update            { u.Stamp = s; return u }
func (u Frozen) restamped(s Stamp) Update           { u.Stamp = s; return u }
func (u Disconnected) restamped(s Stamp) Update     { u.Stamp = s; return u }
func (u RegionEntered) restamped(s Stamp) Update    { u.Stamp = s; return u }
func (u RegionReady) restamped(s Stamp) Update      { u.Stamp = s; return u }
func (u RegionLeaving) restamped(s Stamp) Update    { u.Stamp = s; return u }
func (u RegionStayed) restamped(s Stamp) Update     { u.Stamp = s; return u }
func (u Covered) restamped(s Stamp) Update          { u.Stamp = s; return u }
func (u AgentPlaced) restamped(s Stamp) Update      { u.Stamp = s; return u }
func (u AgentHealth) restamped(s Stamp) Update      { u.Stamp = s; return u }
func (u ObjectUpdated) restamped(s Stamp) Update    { u.Stamp = s; return u }
func (u ObjectMoved) restamped(s Stamp) Update      { u.Stamp = s; return u }
func (u ObjectNamed) restamped(s Stamp) Update      { u.Stamp = s; return u }
func (u ObjectsKilled) restamped(s Stamp) Update    { u.Stamp = s; return u }
func (u ObjectsOffered) restamped(s Stamp) Update   { u.Stamp = s; return u }
func (u CoarseLocations) restamped(s Stamp) Update  { u.Stamp = s; return u }
func (u AvatarNamed) restamped(s Stamp) Update      { u.Stamp = s; return u }
func (u ParcelUpdated) restamped(s Stamp) Update    { u.Stamp = s; return u }
func (u TerrainUpdated) restamped(s Stamp) Update   { u.Stamp = s; return u }
func (u InventoryFolder) restamped(s Stamp) Update  { u.Stamp = s; return u }
func (u InventoryItem) restamped(s Stamp) Update    { u.Stamp = s; return u }
func (u InventoryMoved) restamped(s Stamp) Update   { u.Stamp = s; return u }
func (u InventoryRemoved) restamped(s Stamp) Update { u.Stamp = s; return u }
func (u Heard) restamped(s Stamp) Update            { u.Stamp = s; return u }
