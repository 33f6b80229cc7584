package client

import (
	"context"
	"sync"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// MountOptions says how a Host is presented, how far it is believed and who may
// see it. The zero value is an untitled Host that is not trusted.
type MountOptions struct {
	Title   string // one line for people and models
	Summary string // a sentence
	// Trusted says that the Host's documents and annotations are taken at
	// their word.
	Trusted bool
	// Policy narrows what callers may see of the Host; the zero value does not.
	Policy policy.Mount
}

// Mount puts a Host at path, such as "/grid", and learns its tree. On an error
// of the Host the mount stays: Refresh can be tried again.
func (c *Client) Mount(ctx context.Context, path string, host wip.Host, opt *MountOptions) error {
	if opt == nil {
		opt = &MountOptions{}
	}
	// What policy needs stands before the first entry can be seen, and what is
	// mounted stays as it is.
	c.mounts.LoadOrStore(path, &mounted{policy: opt.Policy})
	err := c.space.Mount(path, newGuard(host), &space.MountOptions{Title: opt.Title, Summary: opt.Summary, Trusted: opt.Trusted})
	if err != nil {
		return err
	}
	return c.Refresh(ctx, path)
}

// mounted is what the client keeps of a mount beside what the space does.
type mounted struct{ policy policy.Mount }

// mounts holds what is kept of each mount, by its path.
type mounts struct{ sync.Map }

// policy returns the rules of the mount that a node belongs to; nil above all
// mounts.
func (m *mounts) policy(n *space.Node) *policy.Mount {
	if n.Mount == nil {
		return nil
	}
	kept, _ := m.Load(n.Mount.Path)
	return &kept.(*mounted).policy
}
