package objects

import (
	"context"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
	"github.com/wipagent/wipagent/objects/world"
)

// region implements grid.Region.
type region struct{}

var _ interfaces.Region[view] = region{}

func (region) WorldLocation(_ context.Context, v view) (interfaces.WorldLocation, error) {
	location := interfaces.WorldLocation{Position: position(v.Scene.Agent)}
	if v.RegionName != "" {
		location.RegionName = idl.Known(v.RegionName)
	}
	return location, nil
}

func (region) NearbyAvatars(_ context.Context, v view, args interfaces.NearbyAvatarsArgs) (idl.FactOf[idl.Selection[interfaces.Avatar]], error) {
	avatars, ok := v.Scene.Avatars(args.RadiusMeters)
	return selection(avatars, ok, func(a *world.Avatar) interfaces.Avatar {
		item := interfaces.Avatar{
			AvatarID:  idl.ID(a.ID),
			Position:  position(a.Place),
			Direction: direction(a.Direction),
		}
		if a.Name != "" {
			item.Name = idl.Known(a.Name)
		}
		if a.DistanceKnown {
			item.DistanceMeters = idl.Known(a.Distance)
		}
		return item
	}), nil
}

func (region) VisibleObjects(_ context.Context, v view, args interfaces.VisibleObjectsArgs) (idl.FactOf[idl.Selection[interfaces.VisibleObject]], error) {
	objects, ok := v.Scene.Objects(args.RadiusMeters)
	return selection(objects, ok, func(o *world.Object) interfaces.VisibleObject {
		item := interfaces.VisibleObject{
			ObjectID:    idl.ID(o.ID),
			Name:        known(o.Name),
			Description: known(o.Description),
			HoverText:   known(o.HoverText),
			Position:    position(o.Place),
		}
		if o.LocalID != 0 {
			item.LocalID = idl.Known(int64(o.LocalID))
		}
		if s := o.Scale; o.ScaleKnown {
			item.Scale = idl.Known(interfaces.Scale{X: metres(s.X), Y: metres(s.Y), Z: metres(s.Z)})
		}
		return item
	}), nil
}

func direction(d world.Direction) idl.FactOf[interfaces.Direction] {
	switch d {
	case world.North:
		return idl.Known(interfaces.DirectionNorth)
	case world.Northeast:
		return idl.Known(interfaces.DirectionNortheast)
	case world.East:
		return idl.Known(interfaces.DirectionEast)
	case world.Southeast:
		return idl.Known(interfaces.DirectionSoutheast)
	case world.South:
		return idl.Known(interfaces.DirectionSouth)
	case world.Southwest:
		return idl.Known(interfaces.DirectionSouthwest)
	case world.West:
		return idl.Known(interfaces.DirectionWest)
	case world.Northwest:
		return idl.Known(interfaces.DirectionNorthwest)
	}
	return idl.FactOf[interfaces.Direction]{}
}
