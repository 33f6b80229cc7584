package objects

import (
	"context"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
	"github.com/wipagent/wipagent/objects/world"
)

// agent implements grid.Agent.
type agent struct{}

var _ interfaces.Agent[view] = agent{}

func (agent) AgentState(_ context.Context, v view) (interfaces.AgentState, error) {
	state := interfaces.AgentState{
		Position: position(v.Scene.Agent),
		Health:   known(v.Health),
	}
	if !v.Agent.IsZero() {
		state.AgentID = idl.Known(idl.ID(v.Agent))
	}
	if seat := v.Scene.Seat; seat != nil {
		var on *int64
		if *seat != 0 {
			id := int64(*seat)
			on = &id
		}
		state.SittingOnLocalID = idl.Known(on)
	}
	return state, nil
}

func (agent) RecentParticipants(_ context.Context, v view) (idl.FactOf[idl.Selection[interfaces.Participant]], error) {
	recent, ok := v.People.Recent()
	return selection(recent, ok, func(p world.Participant) interfaces.Participant {
		return interfaces.Participant{
			AvatarID:             idl.ID(p.ID),
			Channel:              interfaces.Channel(p.Channel),
			LastActiveUnixMillis: p.LastActive,
		}
	}), nil
}
