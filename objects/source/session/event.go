package session

import (
	"errors"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/world"
)

// event takes in one event of the present region's queue.
func (c *core) event(now time.Time, r *region, e caps.Event) {
	if e.Name == "ParcelProperties" && !r.entered() {
		if !r.wait(eventSize, func() { c.event(now, r, e) }) {
			c.stats.overflow++
		}
		return
	}
	if err := c.decodeEvent(now, r, e); err != nil && !errors.Is(err, caps.ErrNoParcel) {
		c.stats.malformed++
	}
}

// eventSize is what a waiting event counts; parcels are about so large.
const eventSize = 8 << 10

func (c *core) decodeEvent(now time.Time, r *region, e caps.Event) error {
	stamp := c.stamp(now)
	switch e.Name {
	case "ParcelProperties":
		p, err := caps.DecodeParcelProperties(e.Body)
		if err != nil {
			return err
		}
		c.apply(world.ParcelUpdated{
			Stamp: stamp, LocalID: p.LocalID, Name: p.Name, Description: p.Description, Area: p.Area,
			AllowFly: p.AllowFly, AllowBuild: p.AllowBuild, AllowScripts: p.AllowScripts, DamageEnabled: p.DamageEnabled,
			Bitmap: p.Bitmap, Current: p.Agent,
		})
	case "TeleportFinish":
		to, err := caps.DecodeTeleportFinish(e.Body)
		if err != nil {
			return err
		}
		c.move(now, to)
	case "CrossedRegion":
		to, err := caps.DecodeCrossedRegion(e.Body)
		if err != nil {
			return err
		}
		c.move(now, to)
	case "TeleportFailed":
		if r.entered() {
			c.stay(now, r)
		}
	case "AgentGroupDataUpdate":
		groups, err := caps.DecodeGroups(e.Body)
		if err != nil {
			return err
		}
		clear(c.groups)
		for _, id := range groups {
			c.groups[id] = true
		}
	case "ChatterBoxInvitation":
		i, err := caps.DecodeChatterBoxInvitation(e.Body)
		if err != nil {
			return err
		}
		if i.Voice {
			return nil // a call is nothing that was said
		}
		channel := world.Conference
		if i.Group || c.groups[i.SessionID] {
			channel = world.GroupChat
		}
		c.heard(stamp, i.FromID, i.FromName, channel, i.Time)
	case "BulkUpdateInventory":
		bag, err := caps.DecodeBulkUpdateInventory(e.Body)
		if err != nil {
			return err
		}
		for _, f := range bag.Folders {
			c.apply(world.InventoryFolder{Stamp: stamp, ID: f.ID, ParentID: f.ParentID, Name: f.Name})
		}
		for _, i := range bag.Items {
			c.apply(world.InventoryItem{Stamp: stamp, ID: i.ID, ParentID: i.FolderID, Name: i.Name, AssetType: i.AssetType, Created: i.Created})
		}
	case "DisplayNameUpdate":
		n, err := caps.DecodeDisplayNameUpdate(e.Body)
		if err != nil {
			return err
		}
		c.apply(world.AvatarNamed{Stamp: stamp, ID: n.ID, Name: fullName(n), Complete: true})
	default:
		c.stats.ignored++
	}
	return nil
}
