package session

import (
	"context"
	"errors"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/world"
)

// Answer is what a grid said to a login that was only a trial.
type Answer struct {
	Agent               world.UUID
	FirstName, LastName string
	// Message is the grid's message of the day, in its own words.
	Message string
	// RegionX and RegionY are the region's south-west corner on the grid, in
	// metres; SizeX and SizeY its size.
	RegionX, RegionY uint32
	SizeX, SizeY     int
	// RegionName is empty, and RegionID zero, if the region did not say.
	RegionName string
	RegionID   world.UUID
	// Simulator is the name and version of the simulator; empty if it did
	// not say.
	Simulator string
	// Folders is how many inventory folders there are.
	Folders int
	// StartLocation is where the grid put the agent: "last", "home", "safe",
	// "url".
	StartLocation string
}

// checkWithin bounds how long a trial waits for the region, once logged in.
const checkWithin = 15 * time.Second

// Check logs in, waits for the region to introduce itself, and logs out again,
// so that no session is left behind. An error of the login is a *login.Error
// if the grid refused it. An error that comes with an answer says that the
// region could not be reached: the credentials are right all the same.
func Check(ctx context.Context, cfg *Config) (*Answer, error) {
	s, err := New(cfg)
	if err != nil {
		return nil, err
	}
	s.cfg.NoInventory, s.cfg.NoDisplayNames, s.cfg.ObjectNames = true, true, false
	defer s.client.CloseIdleConnections()
	reply, err := s.login(ctx)
	if err != nil {
		return nil, err
	}
	a := answer(reply)
	inner, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	err = run(inner, &s.cfg, s.client, nil, world.New(), 1, reply, func(c *core, _ time.Time) {
		if r := c.root; r.entered() && r.seeded {
			a.RegionName, a.RegionID, a.Simulator = r.handshake.Name, r.id, r.arrival.ChannelVersion
			cancel()
		}
	})
	switch {
	case err != nil:
		return a, err
	case ctx.Err() != nil:
		return a, ctx.Err()
	case a.RegionID.IsZero():
		return a, errors.New("the region did not introduce itself in time")
	}
	return a, nil
}

func answer(r *login.Reply) *Answer {
	return &Answer{
		Agent: r.AgentID, FirstName: r.FirstName, LastName: r.LastName, Message: r.Message,
		RegionX: r.RegionX, RegionY: r.RegionY, SizeX: r.SizeX, SizeY: r.SizeY,
		Folders: len(r.Folders), StartLocation: r.StartLocation,
	}
}
