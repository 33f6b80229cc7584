package space

import (
	"time"

	"github.com/wipagent/wipagent/space/wip"
)

// Store keeps across runs what a Space has learned: the tree of each mount, and
// what each caller knows beside it. Package store has one in a file.
//
// A Space believes what a Store returns no further than the Host that said it:
// it is checked, compiled and cleaned again. A Store's methods may be called
// concurrently, and take effect in the order in which they are called.
type Store interface {
	// Tree returns the tree that was kept of a mount; nil if there is none of
	// that Host.
	Tree(at Place) (*KeptTree, error)
	// KeepTree keeps a tree, or what has changed in it. It need not wait until
	// that is done. The Store may keep what c holds and must not change it.
	KeepTree(at Place, c *TreeChange) error
	// Known returns what was kept of a caller's Known Space, of one mount;
	// nil if there is nothing.
	Known(caller string, at Place) (*KeptTree, error)
	// KeepKnown adds to a caller's Known Space, or takes from it: entries stand
	// in the place of those of their paths. Otherwise it is as KeepTree.
	KeepKnown(caller string, at Place, c *TreeChange) error
}

// Place is a mount as a Store tells it from others.
type Place struct {
	Path     string // where the Host is mounted
	Identity string // which Host it is: see MountOptions.Identity
}

// KeptTree is what a Store has kept of one mount.
type KeptTree struct {
	Tag       string    // the Host's name of the tree's state; may be empty
	Seen      time.Time // when the Host was asked for the tree
	Entries   []KeptEntry
	Documents []KeptDocument
}

// KeptEntry is an entry as its Host has described it.
type KeptEntry struct {
	wip.Entry
	Seen time.Time // when the Host was asked; zero in a tree, which has a time of its own
}

// KeptDocument is an IDL document by the name that its Host has for it.
type KeptDocument struct {
	Name   string
	SHA256 [32]byte // of Text
	Text   []byte
}

// TreeChange is what is to be kept.
type TreeChange struct {
	Tag  string
	Seen time.Time // when the Host was asked for the tree; zero of a Known Space
	// Since is the time of the tree that is changed. Zero says that Entries are
	// the whole tree. If it is another than that of what is kept, nothing is to
	// be kept of the mount any more. It is zero of a Known Space.
	Since     time.Time
	Gone      []string // paths of entries, the Host's own; no others below them
	Entries   []KeptEntry
	Documents []KeptDocument // all that the entries need, of a whole tree; else what is new or different
}
