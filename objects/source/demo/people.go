package demo

import (
	"math"
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// person is one avatar. Its number gives its UUID and local ID.
type person struct {
	number      int
	first, last string
	at          world.Vec3 // where it stands, if it does not walk
	seat        int        // number of what it sits on; at is then relative to that
	walk        *walk
	// far says that it is too far away to be described: it is only in the
	// coarse list, with a height that does not fit in there.
	far bool
}

// walk is a round at constant speed.
type walk struct {
	corners []world.Vec3 // heights are not looked at
	round   time.Duration
}

// hip is how high an avatar's middle is above its feet, in metres.
const hip = 0.95

func people() []person {
	return []person{
		{number: 1, first: "Wip", last: "Guide", at: onGround(128, 128, hip)},
		{number: 2, first: "Juniper", last: "Vale", walk: &walk{
			corners: []world.Vec3{v(120, 126, 0), v(136, 126, 0), v(138, 142, 0), v(122, 144, 0)}, round: 64 * time.Second,
		}},
		{number: 3, first: "Marlow", last: "Finch", walk: &walk{
			corners: []world.Vec3{v(132, 132, 0), v(150, 114, 0)}, round: 50 * time.Second,
		}},
		{number: 4, first: "Odette", last: "Quill", at: v(0, 0, 0.5), seat: armchair},
		{number: 5, first: "\x1b[5mCrimson\x1b[0m\u202e", last: "Lantern\u200b http://vote.example", at: onGround(133, 146, hip)},
		{number: 6, at: onGround(100, 150, hip)}, // its name has not come in
		{number: 7, first: "Bramble", last: "Resident", at: onGround(64, 202, hip)},
		{number: 8, first: "Tamsin", last: "Ferry", at: v(30, 230, 0), far: true},
	}
}

// peopleUpdates brings the avatars, the agent's health and who was in touch.
func peopleUpdates(s world.Stamp, at time.Time) []world.Update {
	updates := []world.Update{world.AgentHealth{Stamp: s, Health: 100}}
	for _, p := range people() {
		if p.far {
			// Met earlier, when it was near.
			updates = append(updates, world.AvatarNamed{Stamp: s, ID: id(kindAvatar, p.number), Name: p.first + " " + p.last})
			continue
		}
		u := world.ObjectUpdated{
			Stamp: s, LocalID: uint32(firstAvatar + p.number), ID: id(kindAvatar, p.number), PCode: world.PCodeAvatar,
			FirstName: p.first, LastName: p.last, Scale: v(0.45, 0.6, 1.9),
		}
		u.Position, u.Rotation = p.place(at)
		if p.seat != 0 {
			u.ParentID = uint32(firstObject + p.seat)
		}
		updates = append(updates, u)
	}
	for _, c := range []struct {
		person  int
		channel world.Channel
		ago     time.Duration
	}{
		{3, world.DirectIM, 4 * time.Minute},
		{3, world.LocalChat, 11 * time.Minute},
		{5, world.Lure, 17 * time.Minute},
		{8, world.InventoryOffer, 26 * time.Minute},
		{4, world.Conference, 48 * time.Minute},
		{7, world.GroupChat, 2 * time.Hour},
		{4, world.GroupNotice, 5 * time.Hour},
		{6, world.Friendship, 26 * time.Hour},
	} {
		updates = append(updates, world.Heard{Stamp: s, ID: id(kindAvatar, c.person), Channel: c.channel, Active: at.Add(-c.ago)})
	}
	return updates
}

// smallTalk is Juniper, who says hello every three minutes.
func smallTalk(s world.Stamp, at time.Time) world.Update {
	return world.Heard{Stamp: s, ID: id(kindAvatar, 2), Channel: world.LocalChat, Active: at.Truncate(3 * time.Minute)}
}

// movingUpdates brings who walks and what moves.
func movingUpdates(s world.Stamp, at time.Time) []world.Update {
	var updates []world.Update
	for _, p := range people() {
		if p.walk == nil {
			continue
		}
		position, rotation := p.place(at)
		updates = append(updates, world.ObjectMoved{Stamp: s, LocalID: uint32(firstAvatar + p.number), Position: position, Rotation: rotation})
	}
	crossing := walk{corners: []world.Vec3{v(170, 94, 0), v(220, 72, 0)}, round: 2 * time.Minute}
	place, yaw := crossing.at(at)
	place.Z = ferryHeight
	return append(updates, world.ObjectMoved{Stamp: s, LocalID: firstObject + ferry, Position: place, Rotation: turned(yaw)})
}

// coarseUpdate is what a region says every few seconds of everybody in it.
func coarseUpdate(s world.Stamp, at time.Time) world.Update {
	u := world.CoarseLocations{Stamp: s, You: -1}
	for i, p := range people() {
		place, _ := p.place(at)
		if p.seat != 0 {
			place = onGround(108, 134, hip)
		}
		e := world.CoarseLocation{ID: id(kindAvatar, p.number), X: uint8(place.X), Y: uint8(place.Y), Z: uint8(place.Z / 4)}
		if p.far {
			e.Z = 255
		}
		if e.ID == AgentID {
			u.You = i
		}
		u.Entries = append(u.Entries, e)
	}
	return u
}

// place returns where somebody is at a time, and which way they face.
func (p *person) place(at time.Time) (world.Vec3, world.Quat) {
	if p.walk == nil {
		return p.at, world.Quat{}
	}
	place, yaw := p.walk.at(at)
	return onGround(place.X, place.Y, hip), turned(yaw)
}

// at returns the place on a round at a time, and its direction in degrees.
func (w *walk) at(t time.Time) (world.Vec3, float64) {
	lengths := make([]float64, len(w.corners))
	var whole float64
	for i := range w.corners {
		from, to := w.leg(i)
		lengths[i] = math.Hypot(to.X-from.X, to.Y-from.Y)
		whole += lengths[i]
	}
	// Integers first: a float64 of nanoseconds since 1970 is too coarse.
	gone := float64(t.UnixNano()%int64(w.round)) / float64(w.round) * whole
	leg := 0
	for leg < len(lengths)-1 && gone > lengths[leg] {
		gone -= lengths[leg]
		leg++
	}
	from, to := w.leg(leg)
	share := gone / lengths[leg]
	yaw := math.Atan2(to.Y-from.Y, to.X-from.X) * 180 / math.Pi
	return v(millimetres(blend(from.X, to.X, share)), millimetres(blend(from.Y, to.Y, share)), 0), yaw
}

func (w *walk) leg(i int) (from, to world.Vec3) {
	return w.corners[i], w.corners[(i+1)%len(w.corners)]
}
