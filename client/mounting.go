package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// MountOptions says how a Host is presented, how far it is believed, who may see
// it and what it is asked. The zero value is an untitled Host that is not trusted.
type MountOptions struct {
	Title   string // one line for people and models
	Summary string // a sentence
	// Trusted says that the Host's documents and annotations are taken at
	// their word.
	Trusted bool
	// Policy narrows what callers may see of the Host; the zero value does not.
	Policy policy.Mount
	// Limits bounds what the Host is asked and how its failures are met. It is
	// of no effect on a [wip.Prompt], which is asked directly.
	Limits resilience.Config
	// Identity says which Host it is, for Config.Space.Store: its address and, if
	// what it shows depends on that, as whom it is asked. What was kept of another
	// Host at this path is not used, and nothing is kept of one without an
	// identity. It is kept as a hash.
	Identity string
	// MaxEntries and MaxOperations bound the Host's tree; 0 is as
	// space.MountOptions says.
	MaxEntries, MaxOperations int
}

// Mount puts a Host at path, such as "/grid", and learns its tree. On an error
// of the Host the mount stays: its tree is asked for again before a search, a
// while later, and by Refresh. A tree that was kept from an earlier run is there
// at once, as old as it is, and is asked for again by Keep or before a search.
func (c *Client) Mount(ctx context.Context, path string, host wip.Host, opt *MountOptions) error {
	if opt == nil {
		opt = &MountOptions{}
	}
	m := newMounted(path, host, opt)
	// What answers of a Host are marked by stands before the first can come, and
	// what is mounted stays as it is.
	c.mounts.LoadOrStore(path, m)
	err := c.space.Mount(path, m, &space.MountOptions{
		Title: opt.Title, Summary: opt.Summary, Trusted: opt.Trusted, Identity: opt.Identity,
		MaxEntries: opt.MaxEntries, MaxOperations: opt.MaxOperations, Quiet: quiet(host),
	})
	if err != nil {
		c.mounts.CompareAndDelete(path, m)
		return err
	}
	if !c.space.Refreshed(path).IsZero() { // it was kept
		return nil
	}
	return c.Refresh(ctx, path)
}

// MountStatus is how a mounted Host is doing, for operators.
type MountStatus struct {
	Path    string `json:"path"`
	Title   string `json:"title,omitempty"`
	Trusted bool   `json:"trusted"`
	// Available says that the Host answers, as far as is known.
	Available bool `json:"available"`
	// Refreshed is when the Host was last asked for its whole tree, and answered;
	// zero if it never did.
	Refreshed time.Time `json:"refreshed,omitzero"`
	// State is nil of a Host without limits.
	State *resilience.State `json:"state,omitempty"`
	// Trouble says which rules the latest look at the Host's whole tree found
	// broken, as the operator's log does: it quotes nothing that the Host said.
	Trouble string `json:"trouble,omitempty"`
}

// Mounts lists what is mounted, by path.
func (c *Client) Mounts() []MountStatus {
	var list []MountStatus
	for m := range c.mounts.all {
		s := MountStatus{Path: m.path, Title: m.title, Trusted: m.trusted, Available: m.Available(), Refreshed: c.space.Refreshed(m.path)}
		if m.limits != nil {
			s.State = new(m.limits.State())
		}
		if err := c.space.Trouble(m.path); err != nil {
			s.Trouble = audit.Describe(err)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b MountStatus) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// mounted is a Host where it is mounted, and what the client keeps of it beside
// what the space does.
type mounted struct {
	guard
	path, title string
	trusted     bool
	policy      policy.Mount
	limits      *resilience.Host // nil of a wip.Prompt
	lacking     atomic.Bool      // the latest tree, or a document of it, could not be had
	asked       atomic.Int64     // when the latest whole tree was asked for, as Unix nanoseconds
	refreshing  atomic.Bool      // Discover asks for it
}

func newMounted(path string, host wip.Host, opt *MountOptions) *mounted {
	m := &mounted{path: path, title: clean(opt.Title), trusted: opt.Trusted, policy: opt.Policy}
	prompt, ok := host.(wip.Prompt)
	if !ok {
		limits := opt.Limits
		limits.TrustHost = limits.TrustHost || opt.Trusted
		m.limits = resilience.New(host, &limits)
		prompt = m.limits
	}
	m.guard = guard{prompt}
	return m
}

// FetchTree asks the Host for the tree at path.
func (m *mounted) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	m.asks(path)
	tree, err := m.guard.FetchTree(ctx, caller, path)
	return tree, m.told(path, err)
}

// FetchTreeSince asks the Host for what has changed in the tree at path.
func (m *mounted) FetchTreeSince(ctx context.Context, caller wip.Caller, path, tag string) (wip.Change, error) {
	m.asks(path)
	change, err := m.guard.FetchTreeSince(ctx, caller, path, tag)
	return change, m.told(path, err)
}

// Document asks the Host for an IDL document. What names one that cannot be had
// is left out of the space, for now.
func (m *mounted) Document(ctx context.Context, name string) ([]byte, error) {
	text, err := m.guard.Document(ctx, name)
	if err != nil && !answered(err) {
		m.lacking.Store(true)
	}
	return text, err
}

func (m *mounted) asks(path string) {
	if path == "/" {
		m.asked.Store(time.Now().UnixNano())
	}
}

func (m *mounted) told(path string, err error) error {
	if path == "/" {
		m.lacking.Store(err != nil && !answered(err))
	}
	return err
}

// answered reports whether an error is a Host's answer that would be the same a
// little later.
func answered(err error) bool {
	var f *wip.Failure
	return errors.As(err, &f) && (f.Class == wip.NotFound || f.Class == wip.Domain)
}

// Available reports whether the Host answers, as far as is known: it is not left
// alone by its limits, and has not only failed since its tree was missed.
func (m *mounted) Available() bool {
	if m.limits == nil {
		return true
	}
	s := m.limits.State()
	return s.Breaker == resilience.Closed && (s.Failures == 0 || !m.lacking.Load())
}

// due reports whether it is time to ask once more for a tree that could not be
// had.
func (m *mounted) due() bool {
	const again = 5 * time.Second
	return m.limits != nil && m.lacking.Load() && time.Since(time.Unix(0, m.asked.Load())) >= again &&
		m.limits.State().Breaker != resilience.Open
}

// mounts holds what is kept of each mount, by its path.
type mounts struct{ sync.Map }

// all ranges over what is mounted, in no order.
func (m *mounts) all(yield func(*mounted) bool) {
	m.Range(func(_, v any) bool { return yield(v.(*mounted)) })
}

// above returns the path of the mount that a path lies in, empty if there is none:
// what the operator is told of a path that is not known to lead anywhere.
func (m *mounts) above(path string) (found string) {
	for mount := range m.all {
		if below(path, mount.path) && len(mount.path) > len(found) {
			found = mount.path
		}
	}
	return found
}

// trusted reports whether somebody vouches for the Host that is mounted at a path;
// true if there is none, whose words nothing is.
func (m *mounts) trusted(path string) bool {
	kept, ok := m.Load(path)
	return !ok || kept.(*mounted).trusted
}

// rulesOf returns the rules of the mount that a node belongs to; nil above all
// mounts.
func rulesOf(n *space.Node) *policy.Mount {
	if n.Mount == nil {
		return nil
	}
	return &n.Mount.Host.(*mounted).policy
}
