package objects

import (
	"context"
	"time"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
	"github.com/wipagent/wipagent/objects/world"
)

// inventory implements grid.Inventory.
type inventory struct{}

var _ interfaces.Inventory[view] = inventory{}

func (inventory) InventorySearch(_ context.Context, v view, args interfaces.InventorySearchArgs) (idl.FactOf[idl.Selection[interfaces.InventoryItem]], error) {
	found, ok := v.Belongings.Search(args.Query)
	return selection(found, ok, func(i *world.Item) interfaces.InventoryItem {
		// No grid keeps a modification time, so that stays unknown.
		return interfaces.InventoryItem{
			ItemID:       idl.ID(i.ID),
			Name:         i.Name,
			Kind:         kind(i.AssetType),
			Path:         path(i),
			CreationTime: created(i),
		}
	}), nil
}

func (inventory) ReceivedLandmarks(_ context.Context, v view) (idl.FactOf[idl.Selection[interfaces.Landmark]], error) {
	found, ok := v.Belongings.Landmarks()
	return selection(found, ok, func(i *world.Item) interfaces.Landmark {
		// Where it leads stands in its asset, which is not fetched.
		return interfaces.Landmark{
			ItemID:       idl.ID(i.ID),
			Name:         i.Name,
			Kind:         kind(i.AssetType),
			Path:         path(i),
			CreationTime: created(i),
		}
	}), nil
}

func path(i *world.Item) idl.FactOf[string] {
	if p, ok := i.Path(); ok {
		return idl.Known(p)
	}
	return idl.FactOf[string]{}
}

// latest is the last second that has a number of milliseconds in JSON. What is
// later is no time, and would make an answer that cannot be read.
const latest = (1<<53 - 1) / 1000

func created(i *world.Item) idl.FactOf[time.Time] {
	if i.Created.IsZero() || i.Created.Unix() > latest {
		return idl.FactOf[time.Time]{}
	}
	return idl.Known(i.Created)
}

// kinds names the grid's asset types.
var kinds = map[int]interfaces.ItemKind{
	0:                   interfaces.ItemKindTexture,
	1:                   interfaces.ItemKindSound,
	2:                   interfaces.ItemKindCallingCard,
	world.AssetLandmark: interfaces.ItemKindLandmark,
	5:                   interfaces.ItemKindClothing,
	6:                   interfaces.ItemKindObject,
	7:                   interfaces.ItemKindNotecard,
	10:                  interfaces.ItemKindLSL,
	13:                  interfaces.ItemKindBodyPart,
	20:                  interfaces.ItemKindAnimation,
	21:                  interfaces.ItemKindGesture,
	24:                  interfaces.ItemKindLink,
	25:                  interfaces.ItemKindFolderLink,
	49:                  interfaces.ItemKindMesh,
	56:                  interfaces.ItemKindSettings,
	57:                  interfaces.ItemKindMaterial,
}

func kind(assetType int) interfaces.ItemKind {
	if k, ok := kinds[assetType]; ok {
		return k
	}
	return interfaces.ItemKindOther
}
