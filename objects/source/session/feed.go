package session

import (
	"math"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// describeObjects tells the world of objects that were described in full.
func (c *core) describeObjects(now time.Time, r *region, order uint64, m *message.ObjectUpdate) {
	if m.RegionHandle != r.handle {
		c.stats.foreign += uint64(len(m.Objects)) // a neighbour's, across the border
		return
	}
	stamp := c.stamp(now)
	c.objects = c.objects[:0]
	for i := range m.Objects {
		o := &m.Objects[i]
		u := world.ObjectUpdated{
			Stamp: stamp, Order: order, LocalID: o.LocalID, ID: o.ID, PCode: o.PCode, ParentID: o.ParentID,
			Position: o.Position, Rotation: o.Rotation, Scale: o.Scale,
		}
		if !o.Placed {
			u.Position.X = math.NaN() // unknown
		}
		if o.NameValue != "" {
			_, u.Attachment = message.NameValueOf(o.NameValue, "AttachItemID")
		}
		if o.PCode == world.PCodeAvatar {
			u.FirstName, _ = message.NameValueOf(o.NameValue, "FirstName")
			u.LastName, _ = message.NameValueOf(o.NameValue, "LastName")
		} else {
			text := o.HoverText
			u.HoverText = &text
		}
		c.objects = append(c.objects, u)
	}
	c.world.ApplyObjects(c.objects)
	clear(c.objects) // of texts
	if len(m.Objects) > 0 && !r.replied.IsZero() && r.seeded {
		r.described = now
	}
}

// moveObjects tells the world that objects have moved.
func (c *core) moveObjects(stamp world.Stamp, r *region, order uint64, m *message.ImprovedTerseObjectUpdate) {
	if m.RegionHandle != r.handle {
		c.stats.foreign += uint64(len(m.Objects))
		return
	}
	c.moves = c.moves[:0]
	for _, o := range m.Objects {
		c.moves = append(c.moves, world.ObjectMoved{Stamp: stamp, Order: order, LocalID: o.LocalID, Position: o.Position, Rotation: o.Rotation})
	}
	c.world.ApplyMoves(c.moves)
}

// locate tells the world where avatars roughly are. The first list of a region
// is complete, so that from then on who is not in it is not there.
func (c *core) locate(stamp world.Stamp, r *region, m *message.CoarseLocationUpdate) {
	c.apply(world.CoarseLocations{Stamp: stamp, Entries: m.Locations, You: m.You})
	if !r.coarse {
		r.coarse = true
		c.apply(world.Covered{Stamp: stamp, Collection: world.Avatars})
	}
	if m.You >= 0 && !r.restless.IsZero() && stamp.At.Sub(r.restless) >= stuckAfter/2 {
		c.stay(stamp.At, r) // the teleport came to nothing, without a word
	}
}

func (c *core) nameObjects(stamp world.Stamp, m *message.ObjectProperties) {
	for _, o := range m.Objects {
		c.apply(world.ObjectNamed{Stamp: stamp, ID: o.ID, Name: o.Name, Description: o.Description})
	}
}

// settle says how far the objects of the region are known: partly from the
// first one on, wholly when they have stopped coming. A grid never says that
// it has described them all.
func (c *core) settle(now time.Time, r *region) {
	ready := r.replied
	if ready.IsZero() || !r.seeded {
		return
	}
	since, quiet := now.Sub(ready), now.Sub(r.described)
	known := r.objects
	switch {
	case since >= settleAfter, since >= settleAtLeast && quiet >= settleQuiet:
		known = wholly
	case !r.described.IsZero():
		known = max(known, partly)
	}
	if pending := c.world.Pending(); known == wholly && pending > 0 {
		known = partly
	}
	if known == r.objects {
		return
	}
	r.objects = known
	c.apply(world.Covered{
		Stamp: c.stamp(now), Collection: world.Objects,
		Truncated: known != wholly || c.cfg.DrawDistance < far,
	})
}

// skeleton tells the world the folders that the login listed.
func (c *core) skeleton(now time.Time, reply *login.Reply) {
	stamp := c.stamp(now)
	for _, f := range reply.Folders {
		c.folders = append(c.folders, caps.Folder(f))
		c.apply(world.InventoryFolder{Stamp: stamp, ID: f.ID, ParentID: f.ParentID, Name: f.Name, Root: f.ID == reply.InventoryRoot})
	}
}

// startCrawl fetches the inventory, with the capability of the region that the
// agent is in.
func (c *core) startCrawl(r *region) {
	if c.cfg.NoInventory || c.crawled || len(c.folders) == 0 || !r.caps.Has(caps.FetchInventoryDescendents2) {
		return
	}
	c.crawling = r
	c.driver.crawl(r, c.folders)
}

// contents: a folder was fetched.
func (c *core) contents(now time.Time, contents *caps.Contents) {
	stamp := c.stamp(now)
	c.batch = c.batch[:0]
	for _, f := range contents.Folders {
		c.batch = append(c.batch, world.InventoryFolder{Stamp: stamp, ID: f.ID, ParentID: f.ParentID, Name: f.Name})
	}
	for _, i := range contents.Items {
		c.batch = append(c.batch, world.InventoryItem{
			Stamp: stamp, ID: i.ID, ParentID: i.FolderID, Name: i.Name, AssetType: i.AssetType, Created: i.Created,
		})
	}
	c.batch = append(c.batch, world.Covered{Stamp: stamp, Collection: world.Inventory, Truncated: true})
	c.apply(c.batch...)
	clear(c.batch)
}

// crawlEnded: all folders were tried; missing of them could not be fetched.
func (c *core) crawlEnded(now time.Time, r *region, missing int, err error) {
	if r != c.crawling || r != c.root {
		return // another crawl has taken its place, or will
	}
	c.crawling = nil
	if err != nil {
		c.trouble(now, err)
		return
	}
	c.crawled = true
	c.apply(world.Covered{Stamp: c.stamp(now), Collection: world.Inventory, Truncated: missing > 0})
	c.driver.notify(Notice{At: now, Kind: Crawled, Done: max(len(c.folders)-missing, 0), Total: len(c.folders)})
}

func (c *core) belongings(stamp world.Stamp, m *message.InventoryUpdate) {
	for _, f := range m.Folders {
		c.apply(world.InventoryFolder{Stamp: stamp, ID: f.ID, ParentID: f.ParentID, Name: f.Name})
	}
	for _, i := range m.Items {
		c.apply(world.InventoryItem{Stamp: stamp, ID: i.ID, ParentID: i.FolderID, Name: i.Name, AssetType: i.AssetType, Created: i.Created})
	}
}

func (c *core) removed(stamp world.Stamp, m *message.InventoryRemoved) {
	if len(m.IDs) > 0 {
		c.apply(world.InventoryRemoved{Stamp: stamp, IDs: m.IDs})
	}
}
