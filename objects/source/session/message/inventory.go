package message

import "github.com/wipagent/wipagent/objects/world"

// DecodeUpdateCreate reads UpdateCreateInventoryItem (L267):
//
//	AgentData      Single    AgentID, SimApproved BOOL, TransactionID
//	InventoryData  Variable  ItemID, FolderID, CallbackID U32, and the rest
//	                         of an item: see rest
//
// Source: message template.
func (m *InventoryUpdate) DecodeUpdateCreate(b []byte) error {
	r := reader{b: b}
	m.reset()
	r.skip(16 + 1 + 16)
	for n := r.blocks(); n > 0 && r.more(); n-- {
		item := slot(&m.Items)
		item.ID = r.uuid()
		item.FolderID = r.uuid()
		r.skip(4)
		item.rest(&r)
		m.keepItem(&r)
	}
	return r.err
}

// DecodeFolder reads UpdateInventoryFolder (L274):
//
//	AgentData   Single    AgentID, SessionID
//	FolderData  Variable  FolderID, ParentID, Type S8, Name V1
//
// Source: message template.
func (m *InventoryUpdate) DecodeFolder(b []byte) error {
	r := reader{b: b}
	m.reset()
	r.skip(16 + 16)
	m.folders(&r)
	return r.err
}

// DecodeBulk reads BulkUpdateInventory (L281):
//
//	AgentData   Single    AgentID, TransactionID
//	FolderData  Variable  FolderID, ParentID, Type S8, Name V1
//	ItemData    Variable  ItemID, CallbackID U32, FolderID, and the rest of
//	                      an item: see rest
//
// Source: message template.
func (m *InventoryUpdate) DecodeBulk(b []byte) error {
	r := reader{b: b}
	m.reset()
	r.skip(16 + 16)
	m.folders(&r)
	for n := r.blocks(); n > 0 && r.more(); n-- {
		item := slot(&m.Items)
		item.ID = r.uuid()
		r.skip(4)
		item.FolderID = r.uuid()
		item.rest(&r)
		m.keepItem(&r)
	}
	return r.err
}

func (m *InventoryUpdate) reset() {
	m.Folders = m.Folders[:0]
	m.Items = m.Items[:0]
}

// folders reads a FolderData block.
func (m *InventoryUpdate) folders(r *reader) {
	for n := r.blocks(); n > 0 && r.more(); n-- {
		folder := slot(&m.Folders)
		folder.ID = r.uuid()
		folder.ParentID = r.uuid()
		folder.Type = int(r.s8())
		folder.Name = text(folder.Name, r.var1())
		if r.err != nil || folder.ID.IsZero() {
			drop(&m.Folders)
		}
	}
}

// rest reads what the rows of both messages have in common:
//
//	CreatorID, OwnerID, GroupID, five masks U32, GroupOwned BOOL, AssetID,
//	Type S8, InvType S8, Flags U32, SaleType U8, SalePrice S32, Name V1,
//	Description V1, CreationDate S32, CRC U32
func (item *InventoryItem) rest(r *reader) {
	r.skip(3*16 + 5*4 + 1 + 16)
	item.AssetType = int(r.s8())
	r.skip(1 + 4 + 1 + 4)
	item.Name = text(item.Name, r.var1())
	r.var1()
	item.Created = int64(r.s32())
	r.skip(4)
}

// keepItem takes the last item off again if it is broken or a placeholder.
func (m *InventoryUpdate) keepItem(r *reader) {
	if r.err != nil || m.Items[len(m.Items)-1].ID.IsZero() {
		drop(&m.Items)
	}
}

// Decode reads MoveInventoryItem (L268):
//
//	AgentData      Single    AgentID, SessionID, Stamp BOOL
//	InventoryData  Variable  ItemID, FolderID, NewName V1
//
// Source: message template.
func (m *MoveInventoryItem) Decode(b []byte) error {
	r := reader{b: b}
	m.Items = m.Items[:0]
	r.skip(16 + 16 + 1)
	for n := r.blocks(); n > 0 && r.more(); n-- {
		item := slot(&m.Items)
		item.ID = r.uuid()
		item.FolderID = r.uuid()
		item.NewName = text(item.NewName, r.var1())
		if r.err != nil {
			drop(&m.Items)
		}
	}
	return r.err
}

// DecodeItems reads RemoveInventoryItem (L270):
//
//	AgentData      Single    AgentID, SessionID
//	InventoryData  Variable  ItemID
//
// Source: message template.
func (m *InventoryRemoved) DecodeItems(b []byte) error { return m.decode(b, 1) }

// DecodeFolders reads RemoveInventoryFolder (L276):
//
//	AgentData   Single    AgentID, SessionID
//	FolderData  Variable  FolderID
//
// Source: message template.
func (m *InventoryRemoved) DecodeFolders(b []byte) error { return m.decode(b, 1) }

// DecodeObjects reads RemoveInventoryObjects (L284):
//
//	AgentData   Single    AgentID, SessionID
//	FolderData  Variable  FolderID
//	ItemData    Variable  ItemID
//
// Source: message template.
func (m *InventoryRemoved) DecodeObjects(b []byte) error { return m.decode(b, 2) }

// decode reads the agent's IDs and so many blocks of IDs, leaving out zero
// ones, which grids send as placeholders.
func (m *InventoryRemoved) decode(b []byte, lists int) error {
	r := reader{b: b}
	m.IDs = m.IDs[:0]
	r.skip(16 + 16)
	for range lists {
		for n := r.blocks(); n > 0 && r.more(); n-- {
			if id := r.uuid(); id != (world.UUID{}) {
				m.IDs = append(m.IDs, id)
			}
		}
	}
	return r.err
}
