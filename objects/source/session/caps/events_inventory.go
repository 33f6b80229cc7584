package caps

import (
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/world"
)

// InventoryUpdate is what BulkUpdateInventory brings: what is new or has
// changed in the agent's inventory.
type InventoryUpdate struct {
	Folders []FolderRow
	Items   []ItemRow
	// Skipped counts rows that could not be read. Rows with a zero ID, which
	// grids send as placeholders, are left out and not counted.
	Skipped int
}

// FolderRow is one folder.
type FolderRow struct {
	ID       world.UUID
	ParentID world.UUID // zero at the top
	Name     string
	Type     int // the preferred asset type; -1 is none
}

// ItemRow is one item.
type ItemRow struct {
	ID        world.UUID
	FolderID  world.UUID
	Name      string
	AssetType int   // the grid's number; -1 is unknown
	Created   int64 // Unix seconds; 0 or less is unknown
}

// DecodeBulkUpdateInventory reads BulkUpdateInventory.
//
// Source: message template; OpenSimulator, event queue helper.
func DecodeBulkUpdateInventory(body llsd.Value) (u InventoryUpdate, err error) {
	defer guard(&err)
	folders, items := body.Get("FolderData"), body.Get("ItemData")
	if folders.Kind() != llsd.KindArray && items.Kind() != llsd.KindArray {
		return InventoryUpdate{}, errMissing("FolderData or ItemData")
	}
	for row := range folders.Values() {
		id, parent, ok := u.row(row, "FolderID", "ParentID")
		if ok {
			u.Folders = append(u.Folders, FolderRow{ID: id, ParentID: parent, Name: text(row.Get("Name")), Type: number(row.Get("Type"), -1)})
		}
	}
	for row := range items.Values() {
		id, folder, ok := u.row(row, "ItemID", "FolderID")
		if ok {
			u.Items = append(u.Items, ItemRow{
				ID: id, FolderID: folder, Name: text(row.Get("Name")),
				AssetType: assetType(row.Get("Type")), Created: created(row.Get("CreationDate")),
			})
		}
	}
	return u, nil
}

// row reads what a row cannot do without; ok is false for one to leave out.
func (u *InventoryUpdate) row(row llsd.Value, own, parent string) (id, in world.UUID, ok bool) {
	id, okID := row.Get(own).UUID()
	in, okIn := row.Get(parent).UUID()
	switch {
	case !okID || !okIn:
		u.Skipped++
	case !id.IsZero():
		return id, in, true
	}
	return world.UUID{}, world.UUID{}, false
}

func created(v llsd.Value) int64 {
	if t, ok := v.Date(); ok {
		return t.Unix()
	}
	i, _ := v.Int()
	return i
}
