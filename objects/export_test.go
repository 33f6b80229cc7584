package objects

import (
	"context"

	"github.com/wipagent/wipagent/objects/world"
)

// NewOver is New over a world whose captures do what before and after do, too.
func NewOver(w *world.World, cfg *Config, before func(context.Context) error, after func()) *Host {
	return newHost(hooked{w, before, after}, cfg)
}

type hooked struct {
	*world.World
	before func(context.Context) error
	after  func()
}

func (h hooked) Capture(ctx context.Context) (*world.Snapshot, error) {
	if h.before != nil {
		if err := h.before(ctx); err != nil {
			return nil, err
		}
	}
	s, err := h.World.Capture(ctx)
	if h.after != nil {
		h.after()
	}
	return s, err
}
