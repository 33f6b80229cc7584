package gridtest

import (
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// Bodies of events, with the fields and types that OpenSimulator gives them.

// dict makes a map of keys and values by turns. A Go value becomes the kind of
// LLSD that it is like.
func dict(pairs ...any) llsd.Value {
	var members []llsd.Member
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, llsd.Member{Key: pairs[i].(string), Value: value(pairs[i+1])})
	}
	return llsd.Map(members...)
}

func value(v any) llsd.Value {
	switch v := v.(type) {
	case llsd.Value:
		return v
	case bool:
		return llsd.Boolean(v)
	case int:
		return llsd.Integer(int64(v))
	case float64:
		return llsd.Real(v)
	case string:
		return llsd.String(v)
	case []byte:
		return llsd.Binary(v)
	case world.UUID:
		return llsd.UUID(v)
	case world.Vec3:
		return llsd.Array(llsd.Real(v.X), llsd.Real(v.Y), llsd.Real(v.Z))
	}
	panic("gridtest: found a value of no LLSD kind")
}

// block makes an array of one map, which most blocks are.
func block(pairs ...any) llsd.Value { return llsd.Array(dict(pairs...)) }

// parcelSelected is the sequence number of a parcel that is not the agent's.
const parcelSelected = -10000

// parcelProperties describes a parcel.
func parcelProperties(r *Region, p *Parcel, sequence int) llsd.Value {
	across := r.SizeX / 4
	bitmap := make([]byte, (across*(r.SizeY/4)+7)/8)
	area := 0
	for y := p.Y0 / 4; y < p.Y1/4; y++ {
		for x := p.X0 / 4; x < p.X1/4; x++ {
			k := y*across + x
			bitmap[k/8] |= 1 << (k % 8)
			area += 16
		}
	}
	return dict(
		"ParcelData", block(
			"LocalID", int(p.LocalID),
			"AABBMax", world.Vec3{X: float64(p.X1), Y: float64(p.Y1), Z: 21},
			"AABBMin", world.Vec3{X: float64(p.X0), Y: float64(p.Y0), Z: 27},
			"Area", area, "AuctionID", 0, "AuthBuyerID", CanaryID, "Bitmap", bitmap, "Category", 0, "ClaimPrice", 987654,
			"Desc", p.Description, "ParcelFlags", llsd.BinaryU32(p.Flags), "GroupID", CanaryID, "GroupPrims", 0,
			"IsGroupOwned", false, "LandingType", 2, "MaxPrims", 8438, "MediaID", CanaryID, "MediaURL", Canary,
			"MediaAutoScale", false, "MusicURL", Canary, "Name", p.Name, "OtherCleanTime", 0, "OtherPrims", 0,
			"OwnerID", CanaryID, "OwnerPrims", 47, "ParcelPrimBonus", 1.0, "PassHours", 0.0, "PassPrice", 987654,
			"RegionDenyAnonymous", false, "RequestResult", 0, "SalePrice", 987654, "SelectedPrims", 0, "SequenceID", sequence,
			"SimWideMaxPrims", 8438, "SimWideTotalPrims", 47, "SnapSelection", false, "SnapshotID", CanaryID, "Status", 0,
			"TotalPrims", 47, "UserLocation", world.Vec3{X: 128, Y: 128, Z: 26}, "UserLookAt", world.Vec3{},
			"SeeAVs", true, "AnyAVSounds", true, "GroupAVSounds", true),
		"MediaData", block("MediaDesc", Canary, "MediaType", "none/none"),
		"AgeVerificationBlock", block("RegionDenyAgeUnverified", false),
		"RegionAllowAccessBlock", block("RegionAllowAccessOverride", true),
	)
}

// teleportFinish says where a teleport has ended.
func teleportFinish(c *circuit) llsd.Value {
	r := c.region
	ip := r.addr.Addr().As4()
	return dict("Info", block(
		"AgentID", c.agent.account.ID,
		"LocationID", llsd.BinaryU32(4),
		"RegionHandle", llsd.BinaryU64(r.handle()),
		"SeedCapability", c.seed.url,
		"SimAccess", 13,
		"SimIP", ip[:],
		"SimPort", int(r.addr.Port()),
		"TeleportFlags", llsd.BinaryU32(16),
		"RegionSizeX", r.SizeX,
		"RegionSizeY", r.SizeY,
	))
}

// crossedRegion says where a walk over a border has led.
func crossedRegion(c *circuit) llsd.Value {
	r := c.region
	ip := r.addr.Addr().As4()
	return dict(
		"AgentData", block("AgentID", c.agent.account.ID, "SessionID", c.agent.session),
		"Info", block("LookAt", world.Vec3{X: 1}, "Position", c.lands),
		"RegionData", block(
			"RegionHandle", llsd.BinaryU64(r.handle()),
			"SeedCapability", c.seed.url,
			"SimIP", ip[:],
			"SimPort", int(r.addr.Port()),
			"RegionSizeX", r.SizeX,
			"RegionSizeY", r.SizeY,
		),
	)
}

// enableSimulator invites to a neighbour's circuit.
func enableSimulator(r *Region) llsd.Value {
	ip := r.addr.Addr().As4()
	return dict("SimulatorInfo", block(
		"Handle", llsd.BinaryU64(r.handle()), "IP", ip[:], "Port", int(r.addr.Port()), "RegionSizeX", r.SizeX, "RegionSizeY", r.SizeY))
}

// groupData lists the agent's groups.
func groupData(agent world.UUID, groups []Group) llsd.Value {
	var rows []llsd.Value
	for _, g := range groups {
		rows = append(rows, dict(
			"AcceptNotices", true, "Contribution", 0, "GroupID", g.ID, "GroupInsigniaID", CanaryID, "GroupName", g.Name,
			"GroupPowers", llsd.BinaryU64(1<<40)))
	}
	return dict("AgentData", block("AgentID", agent, "AvatarID", agent), "GroupData", llsd.Array(rows...))
}

// invitation is the first line of a group's session or of a conference.
func invitation(agent, from, session world.UUID, name string, group bool, words string) llsd.Value {
	if words == "" {
		words = Canary
	}
	return dict(
		"session_id", session, "session_name", "a session", "from_id", from, "from_name", name,
		"instantmessage", dict(
			"message_params", dict(
				"type", int(message.DialogSessionSend), "from_id", from, "from_name", name, "to_id", agent, "id", session,
				"from_group", group, "message", words, "offline", 0, "timestamp", 0, "ttl", 1, "source", 0,
				"parent_estate_id", 1, "region_id", CanaryID, "position", world.Vec3{X: 1, Y: 2, Z: 3},
				"data", dict("binary_bucket", append([]byte("a session"), 0))),
			"agent_params", dict("agent_id", from, "check_estate", 0, "god_level", 0, "limited_to_estate", false)),
	)
}

// bulkUpdate brings folders and items, after a row that is a placeholder if
// there is no folder.
func bulkUpdate(agent world.UUID, folders []message.InventoryFolder, items []message.InventoryItem) llsd.Value {
	if len(folders) == 0 {
		folders = []message.InventoryFolder{{Type: -1}}
	}
	var folderRows, itemRows []llsd.Value
	for _, f := range folders {
		folderRows = append(folderRows, dict("FolderID", f.ID, "Name", f.Name, "ParentID", f.ParentID, "Type", f.Type))
	}
	mask := llsd.BinaryU32(0x0008E000)
	for _, i := range items {
		itemRows = append(itemRows, dict(
			"ItemID", i.ID, "AssetID", CanaryID, "CreatorID", CanaryID, "BaseMask", mask, "CreationDate", int(i.Created),
			"Description", Canary, "EveryoneMask", mask, "FolderID", i.FolderID, "InvType", i.AssetType, "Name", i.Name,
			"NextOwnerMask", mask, "GroupID", CanaryID, "GroupMask", mask, "GroupOwned", false, "OwnerID", CanaryID,
			"OwnerMask", mask, "SalePrice", 987654, "SaleType", 2, "Type", i.AssetType, "CallbackID", llsd.BinaryU32(0),
			"Flags", llsd.BinaryU32(0), "CRC", llsd.BinaryU32(0xC0FFEE)))
	}
	return dict(
		"AgentData", block("AgentID", agent, "TransactionID", CanaryID),
		"FolderData", llsd.Array(folderRows...),
		"ItemData", llsd.Array(itemRows...))
}
