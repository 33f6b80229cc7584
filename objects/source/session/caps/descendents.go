package caps

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/world"
)

// descendentsRequest is the body that asks for what lies in folders.
func descendentsRequest(owner world.UUID, batch []world.UUID) llsd.Value {
	var folders []llsd.Value
	for _, id := range batch {
		folders = append(folders, llsd.Map(
			llsd.Member{Key: "folder_id", Value: llsd.UUID(id)},
			llsd.Member{Key: "owner_id", Value: llsd.UUID(owner)},
			llsd.Member{Key: "fetch_folders", Value: llsd.Boolean(true)},
			llsd.Member{Key: "fetch_items", Value: llsd.Boolean(true)},
			llsd.Member{Key: "sort_order", Value: llsd.Integer(1)},
		))
	}
	return llsd.Map(llsd.Member{Key: "folders", Value: llsd.Array(folders...)})
}

// readDescendents reads the answer to a batch. Folders that nobody asked for
// are ignored; those without an answer are empty: grids leave them out.
// Source: OpenSimulator, FetchInventoryDescendents2 handler.
func readDescendents(v llsd.Value, batch []world.UUID) (answer, error) {
	folders, bad := v.Get("folders"), v.Get("bad_folders")
	if folders.Kind() != llsd.KindArray && bad.Kind() != llsd.KindArray {
		return answer{}, errors.New("found an answer without folders")
	}
	asked := map[world.UUID]bool{}
	for _, id := range batch {
		asked[id] = true
	}
	a := answer{partial: map[world.UUID]bool{}, bad: map[world.UUID]bool{}}
	for f := range folders.Values() {
		id, _ := f.Get("folder_id").UUID()
		if !asked[id] {
			continue
		}
		delete(asked, id)
		c, whole := readFolder(f, id)
		a.contents = append(a.contents, c)
		if !whole {
			a.partial[id] = true
		}
	}
	for b := range bad.Values() {
		id, ok := b.Get("folder_id").UUID()
		if !ok {
			id, _ = b.UUID()
		}
		if asked[id] {
			delete(asked, id)
			a.bad[id] = true
		}
	}
	for _, id := range batch {
		if asked[id] {
			a.contents = append(a.contents, Contents{Folder: id})
		}
	}
	return a, nil
}

// readFolder reads what lies in one folder, and reports whether that is as
// much as the grid says lies in it.
func readFolder(f llsd.Value, id world.UUID) (c Contents, whole bool) {
	c = Contents{Folder: id, Version: number(f.Get("version"), 0)}
	listed := 0
	for sub := range f.Get("categories").Values() {
		listed++
		own, ok := sub.Get("folder_id").UUID()
		if !ok || own.IsZero() {
			own, _ = sub.Get("category_id").UUID()
		}
		if own.IsZero() || own == id || elsewhere(sub, id) {
			continue
		}
		c.Folders = append(c.Folders, Folder{
			ID: own, ParentID: id, Name: name(sub.Get("name")),
			Type: number(sub.Get("type_default"), -1), Version: number(sub.Get("version"), 0),
		})
	}
	for item := range f.Get("items").Values() {
		listed++
		own, _ := item.Get("item_id").UUID()
		// OpenSimulator adds the items that links point to, wherever they lie.
		if own.IsZero() || elsewhere(item, id) {
			continue
		}
		created, _ := item.Get("created_at").Int()
		c.Items = append(c.Items, Item{
			ID: own, FolderID: id, Name: name(item.Get("name")), AssetType: assetType(item.Get("type")), Created: created,
		})
	}
	return c, listed >= number(f.Get("descendents"), 0)
}

// elsewhere reports whether an entry says that it lies in another folder.
func elsewhere(entry llsd.Value, folder world.UUID) bool {
	parent, ok := entry.Get("parent_id").UUID()
	return ok && !parent.IsZero() && parent != folder
}

// number reads a number that fits an int32; otherwise if there is none.
func number(v llsd.Value, otherwise int) int {
	if n, ok := v.Int(); ok && int64(int32(n)) == n {
		return int(n)
	}
	return otherwise
}

// name reads a name, cut at maxName bytes.
func name(v llsd.Value) string {
	s, _ := v.Str()
	if len(s) <= maxName {
		return s
	}
	cut := maxName
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.Clone(s[:cut])
}

// assetType reads an asset's type, which some answers spell as a word.
func assetType(v llsd.Value) int {
	if n := number(v, -1); n >= 0 {
		return n
	}
	s, _ := v.Str()
	if n, ok := assetTypes[strings.ToLower(s)]; ok {
		return n
	}
	return -1
}

// assetTypes are the words for asset types. Source: Second Life, asset types
// in LLSD of inventories.
var assetTypes = map[string]int{
	"texture": 0, "sound": 1, "callcard": 2, "landmark": 3, "script": 4, "clothing": 5, "object": 6, "notecard": 7,
	"category": 8, "lsltext": 10, "lslbyte": 11, "txtr_tga": 12, "bodypart": 13, "snd_wav": 17, "img_tga": 18,
	"jpeg": 19, "animatn": 20, "gesture": 21, "simstate": 22, "link": 24, "link_f": 25, "widget": 40, "person": 45,
	"mesh": 49, "settings": 56, "material": 57,
}
