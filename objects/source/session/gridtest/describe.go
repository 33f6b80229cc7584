package gridtest

import (
	"fmt"

	"github.com/wipagent/wipagent/objects/source/session/message"
)

// describe sends objects and avatars in full, several in a message as far as
// they fit.
func (c *circuit) describe(entities ...*entity) {
	const room = 1000 // bytes
	var fresh, stored batch
	for _, e := range entities {
		b, encode := &stored, EncodeObjectUpdateCompressed
		if e.avatar || e.Encoding == Fresh {
			b, encode = &fresh, EncodeObjectUpdate
		}
		alone := encode(&message.ObjectUpdate{Objects: []message.Object{e.Object.Object}})
		if b.size+len(alone) > room {
			b.send(c, encode)
		}
		b.objects = append(b.objects, e.Object.Object)
		b.effects = append(b.effects, "object "+e.ID.String())
		b.size += len(alone)
	}
	fresh.send(c, EncodeObjectUpdate)
	stored.send(c, EncodeObjectUpdateCompressed)
}

// batch is a message's worth of objects.
type batch struct {
	objects []message.Object
	effects []string
	size    int
}

func (b *batch) send(c *circuit, encode func(*message.ObjectUpdate) []byte) {
	if len(b.objects) > 0 {
		c.send(encode(&message.ObjectUpdate{RegionHandle: c.region.handle(), Objects: b.objects}), b.effects...)
	}
	*b = batch{}
}

// move sends an object's new place.
func (c *circuit) move(e *entity) {
	p := e.Position
	c.send(EncodeImprovedTerseObjectUpdate(
		&message.ImprovedTerseObjectUpdate{
			RegionHandle: c.region.handle(),
			Objects:      []message.TerseObject{{LocalID: e.LocalID, Position: p, Rotation: e.Rotation}},
		},
		map[uint32]bool{e.LocalID: e.avatar},
	), fmt.Sprintf("move %d %g %g %g", e.LocalID, p.X, p.Y, p.Z))
}
