package objects

import (
	"context"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
)

// parcel implements grid.Parcel.
type parcel struct{}

var _ interfaces.Parcel[view] = parcel{}

func (parcel) ParcelEnvironment(_ context.Context, v view) (interfaces.ParcelEnvironment, error) {
	result := interfaces.ParcelEnvironment{Environment: interfaces.Environment{
		WaterHeight:   height(v.WaterHeight),
		TerrainHeight: height(v.TerrainHeight),
	}}
	if p := v.Parcel; p != nil {
		current := interfaces.CurrentParcel{
			LocalID:       idl.Known(int64(p.LocalID)),
			Name:          idl.Known(p.Name),
			Description:   idl.Known(p.Description),
			AllowFly:      idl.Known(p.AllowFly),
			AllowBuild:    idl.Known(p.AllowBuild),
			AllowScripts:  idl.Known(p.AllowScripts),
			DamageEnabled: idl.Known(p.DamageEnabled),
		}
		if p.Area > 0 {
			current.Area = idl.Known(int64(p.Area))
		}
		result.Parcel = idl.Known(current)
	}
	return result, nil
}
