package gridtest

import (
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// EncodeChatFromSimulator is something said; words of "" are sent as Canary,
// unless m is empty.
func EncodeChatFromSimulator(m *message.ChatFromSimulator, words string) []byte {
	if words == "" && !m.Empty {
		words = Canary
	}
	w := newBody(message.NumberChatFromSimulator)
	w.str1(m.FromName)
	w.uuid(m.SourceID)
	w.uuid(CanaryID) // owner
	w.u8(uint8(m.SourceType), uint8(m.ChatType), m.Audible)
	w.vec(world.Vec3{X: 1, Y: 2, Z: 3})
	w.str2(words)
	return w.b
}

// EncodeImprovedInstantMessage is a message to an agent; words of "" are sent
// as Canary.
func EncodeImprovedInstantMessage(to world.UUID, m *message.ImprovedInstantMessage, words string) []byte {
	if words == "" {
		words = Canary
	}
	w := newBody(message.NumberImprovedInstantMessage)
	w.uuid(m.FromID)
	w.uuid(CanaryID) // the sender's session, which no server tells
	w.flag(m.FromGroup)
	w.uuid(to)
	w.u32(1) // parent estate
	w.uuid(CanaryID)
	w.vec(world.Vec3{X: 1, Y: 2, Z: 3})
	w.flag(m.Offline)
	w.u8(uint8(m.Dialog))
	w.uuid(m.ID)
	if m.Time.IsZero() {
		w.u32(0)
	} else {
		w.u32(uint32(m.Time.Unix()))
	}
	w.str1(m.FromName)
	w.str2(words)
	w.var2(bucket(m))
	w.u32(1) // estate
	return w.b
}

// bucket is what an instant message holds besides words.
func bucket(m *message.ImprovedInstantMessage) []byte {
	var w body
	switch m.Dialog {
	case message.DialogInventoryOffered:
		w.u8(3) // a landmark
		w.uuid(m.BucketID)
	case message.DialogTaskInventoryOffered:
		w.u8(3)
	case message.DialogGroupNotice, message.DialogGroupNoticeRequested:
		w.u8(1, 3) // something attached, a landmark
		w.uuid(m.BucketID)
		w.zeroed("what is attached")
	default:
		w.u8(0)
	}
	return w.b
}

// EncodeUUIDNameReply tells names.
func EncodeUUIDNameReply(m *message.UUIDNameReply) []byte {
	w := newBody(message.NumberUUIDNameReply)
	w.count(len(m.Names))
	for _, n := range m.Names {
		w.uuid(n.ID)
		w.str1(n.First)
		w.str1(n.Last)
	}
	return w.b
}

// item appends the row of the inventory messages; bulk says of which.
func (w *body) item(i *message.InventoryItem, bulk bool) {
	w.uuid(i.ID)
	if bulk {
		w.u32(0xCA11) // callback ID
	}
	w.uuid(i.FolderID)
	if !bulk {
		w.u32(0xCA11)
	}
	w.canaries(3) // creator, owner, group
	w.permissions()
	w.flag(false)    // group owned
	w.uuid(CanaryID) // asset
	w.u8(uint8(i.AssetType), uint8(i.AssetType))
	w.u32(0)
	w.u8(2)
	w.u32(987654) // price
	w.str1(i.Name)
	w.str1("a description")
	w.u32(uint32(i.Created))
	w.u32(0xC0FFEE) // CRC
}

func (w *body) folder(f *message.InventoryFolder) {
	w.uuid(f.ID)
	w.uuid(f.ParentID)
	w.u8(uint8(f.Type))
	w.str1(f.Name)
}

// EncodeUpdateCreateInventoryItem brings items.
func EncodeUpdateCreateInventoryItem(agent world.UUID, items []message.InventoryItem) []byte {
	w := newBody(message.NumberUpdateCreateInventoryItem)
	w.uuid(agent)
	w.flag(true)
	w.uuid(CanaryID) // transaction
	w.count(len(items))
	for i := range items {
		w.item(&items[i], false)
	}
	return w.b
}

// EncodeBulkUpdateInventory brings folders and items.
func EncodeBulkUpdateInventory(agent world.UUID, m *message.InventoryUpdate) []byte {
	w := newBody(message.NumberBulkUpdateInventory)
	w.uuid(agent)
	w.uuid(CanaryID) // transaction
	w.count(len(m.Folders))
	for i := range m.Folders {
		w.folder(&m.Folders[i])
	}
	w.count(len(m.Items))
	for i := range m.Items {
		w.item(&m.Items[i], true)
	}
	return w.b
}

// EncodeUpdateInventoryFolder brings folders.
func EncodeUpdateInventoryFolder(agent, session world.UUID, folders []message.InventoryFolder) []byte {
	w := newBody(message.NumberUpdateInventoryFolder)
	w.uuid(agent)
	w.uuid(session)
	w.count(len(folders))
	for i := range folders {
		w.folder(&folders[i])
	}
	return w.b
}

// EncodeMoveInventoryItem moves items.
func EncodeMoveInventoryItem(agent, session world.UUID, m *message.MoveInventoryItem) []byte {
	w := newBody(message.NumberMoveInventoryItem)
	w.uuid(agent)
	w.uuid(session)
	w.flag(false)
	w.count(len(m.Items))
	for _, i := range m.Items {
		w.uuid(i.ID)
		w.uuid(i.FolderID)
		if i.NewName == "" {
			w.u8(0)
		} else {
			w.str1(i.NewName)
		}
	}
	return w.b
}

// EncodeRemoveInventoryItem says that items are gone.
func EncodeRemoveInventoryItem(agent, session world.UUID, items []world.UUID) []byte {
	return removed(message.NumberRemoveInventoryItem, agent, session, items)
}

// EncodeRemoveInventoryFolder says that folders are gone.
func EncodeRemoveInventoryFolder(agent, session world.UUID, folders []world.UUID) []byte {
	return removed(message.NumberRemoveInventoryFolder, agent, session, folders)
}

// EncodeRemoveInventoryObjects says that folders and items are gone.
func EncodeRemoveInventoryObjects(agent, session world.UUID, folders, items []world.UUID) []byte {
	return removed(message.NumberRemoveInventoryObjects, agent, session, folders, items)
}

func removed(n message.Number, agent, session world.UUID, blocks ...[]world.UUID) []byte {
	w := newBody(n)
	w.uuid(agent)
	w.uuid(session)
	for _, ids := range blocks {
		w.count(len(ids))
		for _, id := range ids {
			w.uuid(id)
		}
	}
	return w.b
}
