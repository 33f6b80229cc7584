package session

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// chat notes who spoke nearby. Objects and the system are nobody.
func (c *core) chat(stamp world.Stamp, m *message.ChatFromSimulator) {
	const inaudible = 255
	if m.SourceType != message.SourceAgent || m.Empty || m.Audible == inaudible {
		return
	}
	switch m.ChatType {
	case message.ChatWhisper, message.ChatSay, message.ChatShout:
		c.heard(stamp, m.SourceID, m.FromName, world.LocalChat, time.Time{})
	}
}

// heard notes that a person was in touch, and the name that came with it.
func (c *core) heard(stamp world.Stamp, id world.UUID, name string, channel world.Channel, when time.Time) {
	if id.IsZero() || id == c.agent {
		return
	}
	c.apply(world.Heard{Stamp: stamp, ID: id, Channel: channel, Active: when})
	if name != "" {
		first, last, _ := strings.Cut(name, " ")
		c.apply(world.AvatarNamed{Stamp: stamp, ID: id, Name: world.FullName(first, last)})
	}
}

// instantMessage notes who was in touch by an instant message, if it is from a
// person.
func (c *core) instantMessage(stamp world.Stamp, m *message.ImprovedInstantMessage) {
	channel, ok := c.channelOf(m)
	if !ok {
		return
	}
	when := time.Time{}
	if m.Offline {
		when = m.Time // it was written then, and stored
	}
	c.heard(stamp, m.FromID, m.FromName, channel, when)
}

// channelOf tells by which channel a message came; false if no person is
// behind it. An object's message (dialogs 9 and 19) names its owner as the
// sender, and a group's invitation the group.
//
// Source: the instant message dialogs of Second Life's viewer.
func (c *core) channelOf(m *message.ImprovedInstantMessage) (world.Channel, bool) {
	switch m.Dialog {
	case message.DialogMessage, message.DialogBusyAutoResponse:
		return world.DirectIM, true
	case message.DialogInventoryOffered, message.DialogInventoryAccepted, message.DialogInventoryDeclined:
		return world.InventoryOffer, true
	case message.DialogSessionInvite, message.DialogSessionGroupStart, message.DialogSessionConference, message.DialogSessionSend:
		if m.FromGroup || c.groups[m.ID] {
			return world.GroupChat, true
		}
		return world.Conference, true
	case message.DialogLureOffered, message.DialogLureAccepted, message.DialogLureDeclined, message.DialogTeleportRequest:
		return world.Lure, true
	case message.DialogGroupNotice, message.DialogGroupNoticeRequested:
		return world.GroupNotice, m.FromID != m.BucketID
	case message.DialogFriendshipOffered, message.DialogFriendshipAccepted, message.DialogFriendshipDeclined:
		return world.Friendship, true
	}
	return "", false
}

// askNames asks for the names of avatars: by the capability where there is
// one, else by a message.
func (c *core) askNames(now time.Time, r *region, ids []world.UUID) {
	switch {
	case len(ids) == 0:
	case r.caps.Has(caps.GetDisplayNames):
		r.asked.waiting = true
		c.driver.fetchNames(r, ids)
	default:
		for some := range slices.Chunk(ids, maxNamesInPacket) {
			c.reliable(now, r, message.AppendUUIDNameRequest(c.packet[:0], some))
		}
	}
}

// named: the name request was answered.
func (c *core) named(now time.Time, r *region, names []caps.Name, err error) {
	r.asked.waiting = false
	stamp := c.stamp(now)
	for _, n := range names {
		c.apply(world.AvatarNamed{Stamp: stamp, ID: n.ID, Name: fullName(n), Complete: true})
	}
	if err != nil && r == c.root {
		c.trouble(now, err)
	}
}

// fullName is an avatar's name as a viewer shows it. A display name is the
// person's own choice and can be anybody's, so that the user name, which
// cannot be chosen again, stands behind it.
func fullName(n caps.Name) string {
	legacy := world.FullName(n.First, n.Last)
	if n.Default || n.Display == "" || n.Display == legacy {
		return cmp.Or(legacy, n.Display, n.Username)
	}
	if n.Username == "" {
		return n.Display
	}
	return n.Display + " (" + n.Username + ")"
}
