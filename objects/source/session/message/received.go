package message

import (
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// Numbers of what a simulator sends and this package decodes, and of what it
// sends and a client that only watches has no use for, which are named so that
// counts read well.
const (
	NumberStartPingCheck            Number = 0x01
	NumberCompletePingCheck         Number = 0x02
	NumberLayerData                 Number = 0x0B
	NumberObjectUpdate              Number = 0x0C
	NumberObjectUpdateCompressed    Number = 0x0D
	NumberObjectUpdateCached        Number = 0x0E
	NumberImprovedTerseObjectUpdate Number = 0x0F
	NumberKillObject                Number = 0x10

	NumberCoarseLocationUpdate   Number = 0xFF06
	NumberObjectProperties       Number = 0xFF09
	NumberObjectPropertiesFamily Number = 0xFF0A

	NumberTeleportLocal             Number = 0xFFFF0000 | 64
	NumberTeleportProgress          Number = 0xFFFF0000 | 66
	NumberTeleportStart             Number = 0xFFFF0000 | 73
	NumberTeleportFailed            Number = 0xFFFF0000 | 74
	NumberHealthMessage             Number = 0xFFFF0000 | 138
	NumberChatFromSimulator         Number = 0xFFFF0000 | 139
	NumberRegionInfo                Number = 0xFFFF0000 | 142
	NumberRegionHandshake           Number = 0xFFFF0000 | 148
	NumberDisableSimulator          Number = 0xFFFF0000 | 152
	NumberKickUser                  Number = 0xFFFF0000 | 163
	NumberUUIDNameReply             Number = 0xFFFF0000 | 236
	NumberAgentMovementComplete     Number = 0xFFFF0000 | 250
	NumberLogoutReply               Number = 0xFFFF0000 | 253
	NumberImprovedInstantMessage    Number = 0xFFFF0000 | 254
	NumberUpdateCreateInventoryItem Number = 0xFFFF0000 | 267
	NumberMoveInventoryItem         Number = 0xFFFF0000 | 268
	NumberRemoveInventoryItem       Number = 0xFFFF0000 | 270
	NumberUpdateInventoryFolder     Number = 0xFFFF0000 | 274
	NumberRemoveInventoryFolder     Number = 0xFFFF0000 | 276
	NumberBulkUpdateInventory       Number = 0xFFFF0000 | 281
	NumberRemoveInventoryObjects    Number = 0xFFFF0000 | 284
	NumberPacketAck                 Number = 0xFFFFFFFB
	NumberCloseCircuit              Number = 0xFFFFFFFD
)

// StartPingCheck (H1, both ways) asks for a CompletePingCheck.
type StartPingCheck struct {
	PingID uint8
	// OldestUnacked is the lowest sequence number that the sender still
	// waits to have acknowledged.
	OldestUnacked uint32
}

// CompletePingCheck (H2, both ways) answers a StartPingCheck.
type CompletePingCheck struct{ PingID uint8 }

// PacketAck (Fixed FB, both ways) acknowledges reliable packets, at most 255.
type PacketAck struct{ Sequences []uint32 }

// Object is one object of an ObjectUpdate or ObjectUpdateCompressed: a prim,
// tree, grass or avatar, described in full.
type Object struct {
	LocalID  uint32
	ID       world.UUID
	PCode    uint8
	State    uint8 // of a worn prim the attachment point, nibbles swapped
	ParentID uint32
	Scale    world.Vec3
	Position world.Vec3 // relative to the parent, if there is one
	Rotation world.Quat
	// Placed is false if the message holds no position that is understood.
	Placed bool
	// HoverText is empty if there is none, or if the row is malformed before
	// it.
	HoverText string
	// NameValue holds lines of the form "Key TYPE RW SENDTO value"; see
	// NameValueOf.
	NameValue string
}

// ObjectUpdate (H12) and ObjectUpdateCompressed (H13) describe objects in full.
type ObjectUpdate struct {
	RegionHandle uint64 // x<<32 | y of the south-west corner, in metres
	Objects      []Object
}

// TerseObject is one object of an ImprovedTerseObjectUpdate: one that was
// described before has moved.
type TerseObject struct {
	LocalID  uint32
	Position world.Vec3 // relative to the parent that was described
	Rotation world.Quat
}

// ImprovedTerseObjectUpdate (H15) moves objects.
type ImprovedTerseObjectUpdate struct {
	RegionHandle uint64
	Objects      []TerseObject
}

// ObjectUpdateCached (H14) asks whether the client still holds objects. One
// that holds none asks for them by RequestMultipleObjects.
type ObjectUpdateCached struct {
	RegionHandle uint64
	LocalIDs     []uint32
}

// KillObject (H16) names objects that are gone from the region that sends it.
type KillObject struct{ LocalIDs []uint32 }

// CoarseLocationUpdate (M6) says where avatars roughly are. Locations beyond
// the last agent ID have none, and come with a zero ID.
type CoarseLocationUpdate struct {
	Locations []world.CoarseLocation
	You       int // index of the agent; -1 if it is not there
}

// ObjectProperties (M9) and ObjectPropertiesFamily (M10) tell objects' names.
type ObjectProperties struct{ Objects []ObjectName }

// ObjectName is the name and description of one object.
type ObjectName struct {
	ID                world.UUID
	Name, Description string
}

// TeleportLocal (L64) moves the agent within its region.
type TeleportLocal struct{ Position world.Vec3 }

// TeleportNotice is what TeleportStart (L73), TeleportProgress (L66) and
// TeleportFailed (L74) say: that a move has begun, goes on, came to nothing.
// Message is the grid's words for it, empty for TeleportStart.
type TeleportNotice struct{ Message string }

// HealthMessage (L138) is the agent's health, 0 to 100.
type HealthMessage struct{ Health float64 }

// SourceType is who spoke in ChatFromSimulator.
type SourceType uint8

// The source types.
const (
	SourceSystem SourceType = 0
	SourceAgent  SourceType = 1
	SourceObject SourceType = 2
)

// ChatType is how ChatFromSimulator was spoken.
type ChatType uint8

// The chat types.
const (
	ChatWhisper     ChatType = 0
	ChatSay         ChatType = 1
	ChatShout       ChatType = 2
	ChatTypingStart ChatType = 4
	ChatTypingStop  ChatType = 5
	ChatDebug       ChatType = 6
	ChatOwnerSay    ChatType = 8
	ChatDirect      ChatType = 9
)

// ChatFromSimulator (L139) is something said nearby, without the words.
type ChatFromSimulator struct {
	FromName   string
	SourceID   world.UUID
	SourceType SourceType
	ChatType   ChatType
	Audible    uint8 // 0 barely, 1 fully, 255 not
	Empty      bool  // there are no words
}

// RegionInfo (L142) comes when a region's settings change.
type RegionInfo struct {
	Name        string
	WaterHeight float64 // metres
}

// RegionHandshake (L148) introduces a region. Every one is answered.
type RegionHandshake struct {
	Name        string
	WaterHeight float64 // metres
	RegionID    world.UUID
}

// KickUser (L163) ends the session.
type KickUser struct{ Reason string }

// AvatarName is one row of UUIDNameReply.
type AvatarName struct {
	ID          world.UUID
	First, Last string
}

// UUIDNameReply (L236) tells legacy names.
type UUIDNameReply struct{ Names []AvatarName }

// AgentMovementComplete (L250) says that the agent has arrived, and where.
type AgentMovementComplete struct {
	Position       world.Vec3
	LookAt         world.Vec3
	RegionHandle   uint64
	ChannelVersion string
}

// Dialog is what an ImprovedInstantMessage is about.
type Dialog uint8

// The dialogs that are told apart; all others are no contact.
const (
	DialogMessage              Dialog = 0
	DialogMessageBox           Dialog = 1
	DialogGroupInvite          Dialog = 3
	DialogInventoryOffered     Dialog = 4
	DialogInventoryAccepted    Dialog = 5
	DialogInventoryDeclined    Dialog = 6
	DialogTaskInventoryOffered Dialog = 9
	DialogSessionInvite        Dialog = 13
	DialogSessionGroupStart    Dialog = 15
	DialogSessionConference    Dialog = 16
	DialogSessionSend          Dialog = 17
	DialogSessionLeave         Dialog = 18
	DialogObjectMessage        Dialog = 19
	DialogBusyAutoResponse     Dialog = 20
	DialogLureOffered          Dialog = 22
	DialogLureAccepted         Dialog = 23
	DialogLureDeclined         Dialog = 24
	DialogTeleportRequest      Dialog = 26
	DialogGotoURL              Dialog = 28
	DialogTaskAlert            Dialog = 31
	DialogGroupNotice          Dialog = 32
	DialogGroupNoticeRequested Dialog = 37
	DialogFriendshipOffered    Dialog = 38
	DialogFriendshipAccepted   Dialog = 39
	DialogFriendshipDeclined   Dialog = 40
	DialogTypingStart          Dialog = 41
	DialogTypingStop           Dialog = 42
)

// ImprovedInstantMessage (L254) is a message to the agent, without the words.
type ImprovedInstantMessage struct {
	FromID    world.UUID // of an object's message its owner
	FromName  string
	FromGroup bool
	Dialog    Dialog
	Offline   bool       // it was stored until now
	ID        world.UUID // of the session, offer or transaction
	Time      time.Time  // zero: now
	// BucketID is the UUID that the binary bucket holds where the dialog has
	// one: the offered item of DialogInventoryOffered, the group of the group
	// notices. Zero otherwise.
	BucketID world.UUID
}

// InventoryItem is one item of the inventory messages.
type InventoryItem struct {
	ID        world.UUID
	FolderID  world.UUID
	Name      string
	AssetType int   // the grid's number
	Created   int64 // Unix seconds
}

// InventoryFolder is one folder of the inventory messages.
type InventoryFolder struct {
	ID       world.UUID
	ParentID world.UUID
	Name     string
	Type     int // the preferred asset type; -1 is none
}

// InventoryUpdate is what UpdateCreateInventoryItem (L267),
// UpdateInventoryFolder (L274) and BulkUpdateInventory (L281) bring. Rows with
// a zero ID, which grids send as placeholders, are left out.
type InventoryUpdate struct {
	Folders []InventoryFolder
	Items   []InventoryItem
}

// MovedItem is one row of MoveInventoryItem.
type MovedItem struct {
	ID, FolderID world.UUID
	NewName      string // empty: the name stays
}

// MoveInventoryItem (L268) moves items.
type MoveInventoryItem struct{ Items []MovedItem }

// InventoryRemoved is what RemoveInventoryItem (L270), RemoveInventoryFolder
// (L276) and RemoveInventoryObjects (L284) say.
type InventoryRemoved struct{ IDs []world.UUID }
