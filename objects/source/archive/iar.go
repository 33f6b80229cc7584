package archive

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// An inventory archive keeps folders as directories, "name__uuid/", and items
// as "name__uuid.xml". In both the name has lost what is outside of ASCII;
// an item's own XML has it whole, a folder's is lost.
//
// Source: opensim OpenSim/Region/CoreModules/Avatar/Inventory/Archiver/InventoryArchiveWriteRequest.cs
const (
	inventoryDir = "inventory/"
	separator    = "__" // the last one counts: names may hold it too
	maxItem      = 1 << 20
)

// restore undoes the escaping of names in paths. It must be one pass: "&amp;#47;"
// is the text "&#47;".
var restore = strings.NewReplacer("&#47;", "/", "&amp;", "&")

// inventory is what an IAR says; folders stand before what lies in them.
type inventory struct {
	folders   []world.InventoryFolder
	items     []world.InventoryItem
	truncated bool // items or folders were left out
}

// iar reads an inventory archive.
type iar struct {
	*loader
	inventory inventory
	parents   map[world.UUID]world.UUID // of each folder
	seen      map[world.UUID]bool       // items
}

// item is the part of an InventoryItem that is read.
type item struct {
	ID           string
	Name         string
	AssetType    string
	CreationDate string
}

// readIAR returns the archive's inventory.
func (l *loader) readIAR(ctx context.Context, src io.Reader) (*inventory, error) {
	a := &iar{loader: l, parents: map[world.UUID]world.UUID{}, seen: map[world.UUID]bool{}}
	recognized := false
	err := l.entries(ctx, "IAR", src, func(e *entry) error {
		switch {
		case strings.HasPrefix(e.name, assetsDir):
			l.summary.Assets++
		case strings.HasPrefix(e.name, inventoryDir):
			recognized = true
			return a.visit(e)
		case e.name == controlFile:
			recognized = true
		case strings.HasPrefix(e.name, settingsDir), strings.HasPrefix(e.name, terrainsDir), strings.HasPrefix(e.name, regionsDir):
			return errors.New("found a region archive, expected an inventory archive")
		case !e.dir && !strings.HasPrefix(e.name, "userprofiles/"):
			l.warn(e.name, "left out: found something that is no part of an inventory")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !recognized {
		return nil, errors.New("found neither archive.xml nor anything of an inventory, expected an inventory archive")
	}
	if l.cfg.OAR == nil {
		l.date(time.Time{}, src) // an inventory archive does not say
	}
	return &a.inventory, nil
}

// visit reads one entry below the inventory's directory.
func (a *iar) visit(e *entry) error {
	path := strings.TrimPrefix(e.name, inventoryDir)
	dir, file := path, ""
	if !e.dir {
		i := strings.LastIndexByte(path, '/')
		dir, file = path[:i+1], path[i+1:]
	}
	parent, err := a.folder(e.name, dir)
	if err != nil {
		a.warn(e.name, "left out: %s", err)
		return nil
	}
	if e.dir {
		return nil
	}
	return a.decode(e, maxItem, func(d *xml.Decoder, start xml.StartElement) error {
		if start.Name.Local != "InventoryItem" {
			return fmt.Errorf("found element %s, expected InventoryItem", quote(start.Name.Local))
		}
		var v item
		if err := d.DecodeElement(&v, &start); err != nil {
			return unexpected(err)
		}
		return a.item(e, v, parent, strings.TrimSuffix(file, ".xml"))
	})
}

// folder returns the last folder of a path, adding those that are new. Empty
// folders have entries of their own; of others an item's path may be the only
// sign.
func (a *iar) folder(entry, dir string) (world.UUID, error) {
	var parent world.UUID
	depth := 0
	for component := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		if component == "" {
			continue
		}
		if depth++; depth > world.MaxFolderDepth {
			return parent, fmt.Errorf("found folders nested over %d deep", world.MaxFolderDepth)
		}
		name, id, ok := splitComponent(component)
		if !ok {
			// A directory that no simulator wrote has no UUID.
			id = derive(parent.String(), component)
		}
		known, ok := a.parents[id]
		switch {
		case ok && known != parent:
			return parent, fmt.Errorf("found folder %s in two places", id)
		case !ok && (len(a.inventory.folders) >= world.MaxFolders || a.full()):
			a.inventory.truncated = true
			return parent, fmt.Errorf("found over %d folders or %d bytes of text", world.MaxFolders, a.limits.texts)
		case !ok:
			a.parents[id] = parent
			a.inventory.folders = append(a.inventory.folders, world.InventoryFolder{ID: id, ParentID: parent, Name: a.keep(name)})
		}
		parent = id
	}
	return parent, nil
}

// item adds one item.
func (a *iar) item(e *entry, v item, parent world.UUID, file string) error {
	id, err := world.ParseUUID(strings.TrimSpace(v.ID))
	if err != nil || id.IsZero() {
		_, named, ok := splitComponent(file)
		if !ok {
			return fmt.Errorf("found an item without a UUID")
		}
		id = named
	}
	assetType, err := strconv.ParseInt(strings.TrimSpace(v.AssetType), 10, 32)
	if err != nil {
		a.warn(e.name, "found asset type %s, expected a number: the kind is unknown", quote(v.AssetType))
		assetType = -1
	}
	created, err := strconv.ParseInt(strings.TrimSpace(v.CreationDate), 10, 64)
	if err != nil {
		created = 0 // unknown
	}
	switch {
	case a.seen[id]:
		return fmt.Errorf("found item %s a second time", id)
	case len(a.inventory.items) >= world.MaxItems || a.full():
		a.inventory.truncated = true
		return fmt.Errorf("found over %d items or %d bytes of text", world.MaxItems, a.limits.texts)
	}
	a.seen[id] = true
	a.inventory.items = append(a.inventory.items, world.InventoryItem{
		ID: id, ParentID: parent, Name: a.text(v.Name), AssetType: int(assetType), Created: created,
	})
	return nil
}

// splitComponent reads "name__uuid".
func splitComponent(s string) (name string, id world.UUID, ok bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return restore.Replace(s), id, false
	}
	id, err := world.ParseUUID(s[i+len(separator):])
	if err != nil || id.IsZero() {
		return restore.Replace(s), world.UUID{}, false
	}
	return restore.Replace(s[:i]), id, true
}
