package world

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// AssetLandmark is the asset type of landmarks. A link to one is no landmark.
const AssetLandmark = 3

// inventory is the manager of what the agent owns.
type inventory struct {
	folders  map[UUID]folder
	items    map[UUID]item
	coverage coverage
	captured *Belongings // nil if changed since
}

type folder struct {
	parent UUID
	name   string
	root   bool
}

type item struct {
	parent    UUID
	name      string
	assetType int
	created   time.Time // zero if unknown
}

// Item is one inventory item.
type Item struct {
	ID        UUID
	Name      string
	AssetType int
	Created   time.Time // UTC; zero if unknown

	parent UUID
	placed bool   // the folder's path is known
	folder string // that path, without a slash at its end
}

// Path returns the names of the folders and the item's, each after a slash;
// false if the item lies in no known place.
func (i *Item) Path() (string, bool) { return i.folder + "/" + i.Name, i.placed }

// Belongings is the inventory as of one capture. It does not change and is
// safe for concurrent use.
type Belongings struct {
	known, truncated bool
	folders          map[UUID]folder
	captured         []Item // without order and paths

	once      sync.Once // guards the making of all below
	items     []*Item   // by path, name and UUID
	names     []string  // of items, folded
	landmarks []*Item
}

func newInventory() inventory {
	return inventory{folders: map[UUID]folder{}, items: map[UUID]item{}}
}

func (v *inventory) putFolder(u InventoryFolder) outcome {
	if u.ID.IsZero() || u.ID == u.ParentID {
		return malformed
	}
	v.captured = nil
	if _, ok := v.folders[u.ID]; !ok && len(v.folders) >= MaxFolders {
		v.coverage.limited = true
		return overflow
	}
	v.folders[u.ID] = folder{u.ParentID, text(u.Name), u.Root}
	return applied
}

func (v *inventory) putItem(u InventoryItem) outcome {
	if u.ID.IsZero() {
		return malformed
	}
	v.captured = nil
	if _, ok := v.items[u.ID]; !ok && len(v.items) >= MaxItems {
		v.coverage.limited = true
		return overflow
	}
	created := time.Time{}
	if u.Created > 0 {
		created = time.Unix(u.Created, 0).UTC()
	}
	v.items[u.ID] = item{u.ParentID, text(u.Name), u.AssetType, created}
	return applied
}

// move gives an item or a folder another parent and, maybe, another name.
func (v *inventory) move(u InventoryMoved) outcome {
	if u.ID.IsZero() || u.ID == u.ParentID {
		return malformed
	}
	if i, ok := v.items[u.ID]; ok {
		i.parent = u.ParentID
		if u.Name != "" {
			i.name = text(u.Name)
		}
		v.items[u.ID] = i
	} else if f, ok := v.folders[u.ID]; ok {
		f.parent = u.ParentID
		if u.Name != "" {
			f.name = text(u.Name)
		}
		v.folders[u.ID] = f
	} else {
		return unmatched
	}
	v.captured = nil
	return applied
}

// remove takes out items and folders, and of folders all that lies in them.
func (v *inventory) remove(ids []UUID) outcome {
	v.captured = nil
	gone := map[UUID]bool{}
	result := applied
	for _, id := range ids {
		if _, ok := v.items[id]; ok {
			delete(v.items, id)
		} else if _, ok := v.folders[id]; ok {
			gone[id] = true
		} else {
			result = unmatched
		}
	}
	if len(gone) == 0 {
		return result
	}
	children := map[UUID][]UUID{}
	for id, f := range v.folders {
		children[f.parent] = append(children[f.parent], id)
	}
	for pending := slices.Collect(maps.Keys(gone)); len(pending) > 0; {
		id := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, child := range children[id] {
			if !gone[child] {
				gone[child] = true
				pending = append(pending, child)
			}
		}
	}
	maps.DeleteFunc(v.folders, func(id UUID, _ folder) bool { return gone[id] })
	maps.DeleteFunc(v.items, func(_ UUID, i item) bool { return gone[i.parent] })
	return result
}

func (v *inventory) cover(u Covered) outcome {
	v.captured = nil
	return v.coverage.cover(u)
}

func (v *inventory) capture() *Belongings {
	if v.captured == nil {
		b := &Belongings{
			known:     v.coverage.known,
			truncated: v.coverage.truncated(),
			folders:   maps.Clone(v.folders),
			captured:  make([]Item, 0, len(v.items)),
		}
		for id, i := range v.items {
			b.captured = append(b.captured, Item{ID: id, Name: i.name, AssetType: i.assetType, Created: i.created, parent: i.parent})
		}
		v.captured = b
	}
	return v.captured
}

// Search returns the items whose raw name contains the query, whatever the
// case, by raw path and name, then UUID; false if the inventory is unknown.
func (b *Belongings) Search(query string) (Selection[*Item], bool) {
	b.once.Do(b.arrange)
	query = fold(query)
	var found []*Item
	for i, name := range b.names {
		if !strings.Contains(name, query) {
			continue
		}
		found = append(found, b.items[i])
		if len(found) > MaxInspected {
			break
		}
	}
	return bound(found, b.truncated), b.known
}

// Landmarks returns the landmarks in the same order; false if the inventory is
// unknown.
func (b *Belongings) Landmarks() (Selection[*Item], bool) {
	b.once.Do(b.arrange)
	return bound(b.landmarks, b.truncated), b.known
}

// arrange orders what was captured, once.
func (b *Belongings) arrange() {
	paths := folderPaths{b.folders, make(map[UUID]folderPath, len(b.folders))}
	b.items = make([]*Item, len(b.captured))
	for i := range b.captured {
		item := &b.captured[i]
		at := paths.of(item.parent, 0)
		item.folder, item.placed = at.path, at.known
		b.items[i] = item
	}
	slices.SortFunc(b.items, func(x, y *Item) int {
		if c := comparePaths(x, y); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(x.Name, y.Name), x.ID.Compare(y.ID))
	})
	b.names = make([]string, len(b.items))
	for i, item := range b.items {
		b.names[i] = fold(item.Name)
		if item.AssetType == AssetLandmark {
			b.landmarks = append(b.landmarks, item)
		}
	}
	b.folders = nil
}

// fold returns s in the form in which case makes no difference.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cases.Fold().String(s)
		}
	}
	return strings.ToLower(s) // the same for ASCII, and much cheaper
}

// comparePaths orders by the whole path, and what has none after all others.
func comparePaths(x, y *Item) int {
	switch {
	case x.placed != y.placed:
		if x.placed {
			return -1
		}
		return 1
	case !x.placed || x.folder == y.folder:
		return 0 // names decide
	}
	n := min(len(x.folder), len(y.folder))
	if c := cmp.Compare(x.folder[:n], y.folder[:n]); c != 0 {
		return c
	}
	for ; ; n++ {
		a, b := x.pathByte(n), y.pathByte(n)
		if a != b || a < 0 {
			return cmp.Compare(a, b)
		}
	}
}

// pathByte returns byte n of the path, or -1 after its end.
func (i *Item) pathByte(n int) int {
	switch n -= len(i.folder); {
	case n < 0:
		return int(i.folder[n+len(i.folder)])
	case n == 0:
		return '/'
	case n <= len(i.Name):
		return int(i.Name[n-1])
	}
	return -1
}

// folderPaths works out where folders lie, each once.
type folderPaths struct {
	folders map[UUID]folder
	done    map[UUID]folderPath
}

type folderPath struct {
	path  string // the folders' names, each after a slash; empty at the top
	known bool
}

// of returns the path of a folder. It is unknown if a folder above is, or if
// there are too many above, as there are in a circle.
func (p *folderPaths) of(id UUID, depth int) folderPath {
	if id.IsZero() {
		return folderPath{known: true}
	}
	if at, ok := p.done[id]; ok {
		return at
	}
	f, ok := p.folders[id]
	switch {
	case ok && f.root:
		return folderPath{known: true}
	case !ok || depth == MaxFolderDepth:
		return folderPath{}
	}
	at := p.of(f.parent, depth+1)
	if at.known {
		at.path += "/" + f.name
	}
	if len(at.path) > MaxPath {
		at = folderPath{}
	}
	p.done[id] = at
	return at
}
