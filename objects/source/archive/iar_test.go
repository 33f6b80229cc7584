package archive_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/archive"
	"github.com/wipagent/wipagent/objects/world"
)

// paths returns "path = UUID's number" of all items, in order.
func paths(tb testing.TB, s *world.Snapshot) []string {
	found, ok := s.Belongings.Search("")
	if !ok {
		tb.Fatal("the inventory is unknown")
	}
	list := []string{}
	for _, i := range found.Items {
		path, ok := i.Path()
		if !ok {
			path = "unknown"
		}
		list = append(list, path)
	}
	return list
}

func TestPaths(t *testing.T) {
	s, summary := loadIAR(t,
		file{"archive.xml", prolog + "<archive />"},
		file{"inventory/Empty__" + uid(1) + "/", ""},
		file{"inventory/A&#47;B__" + uid(2) + "/", ""},
		file{"inventory/A&#47;B__" + uid(2) + "/x__" + uid(100) + ".xml", itemXML(100, "one", "7", "1")},
		file{"inventory/A__" + uid(3) + "/B__" + uid(4) + "/x__" + uid(101) + ".xml", itemXML(101, "two", "7", "1")},
		file{"inventory/literal &amp;#47; and &amp;amp;__" + uid(5) + "/??__" + uid(102) + ".xml", itemXML(102, "東京", "7", "1")},
		file{"inventory/under__score__folder___" + uid(6) + "/x__" + uid(103) + ".xml", itemXML(103, "a__b", "7", "1")},
		file{"inventory/..__" + uid(7) + "/x__" + uid(104) + ".xml", itemXML(104, "..", "7", "1")},
		file{"inventory/__" + uid(8) + "/__" + uid(105) + ".xml", itemXML(105, "", "7", "1")},
		file{"inventory/Twins__" + uid(9) + "/x__" + uid(106) + ".xml", itemXML(106, "same", "7", "1")},
		file{"inventory/Twins__" + uid(10) + "/x__" + uid(107) + ".xml", itemXML(107, "same", "7", "1")},
		file{"inventory/Ctrl\x02\n__" + uid(11) + "/x__" + uid(108) + ".xml", itemXML(108, "\x01\x1b[31m", "7", "1")},
		file{"inventory/Latin\xe9__" + uid(12) + "/x__" + uid(109) + ".xml", itemXML(109, "x", "7", "1")},
		file{"inventory/handmade/deeper/x.xml", itemXML(110, "loose", "7", "1")},
		file{"inventory/root__" + uid(111) + ".xml", itemXML(111, "root", "7", "1")},
		file{"userprofiles/x.xml", "<a />"},
		file{"assets/x", "x"},
	)
	expectWarnings(t, summary, "no time of saving", "no region archive")
	if diff := gocmp.Diff([]string{
		"/../..", "//", "/A/B/one", "/A/B/two", "/Ctrl\x02\n/\x01\x1b[31m", "/Latin\ufffd/x", "/Twins/same", "/Twins/same",
		"/handmade/deeper/loose", "/literal &#47; and &amp;/東京", "/root", "/under__score__folder_/a__b",
	}, paths(t, s)); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	if summary.Folders != 14 || summary.Items != 12 || summary.Assets != 1 {
		t.Errorf("found %+v", summary)
	}
}

func TestItems(t *testing.T) {
	s, summary := loadIAR(t,
		file{"inventory/a__" + uid(1) + ".xml", itemXML(1, "a landmark", "3", "1700000000")},
		file{"inventory/b__" + uid(2) + ".xml", itemXML(2, "b link to one", "24", "0")},
		file{"inventory/c__" + uid(3) + ".xml", itemXML(3, "c early", "7", "-5")},
		file{"inventory/d__" + uid(4) + ".xml", itemXML(4, "d late", "7", "2147483647")},
		file{"inventory/e__" + uid(5) + ".xml", itemXML(5, "e undated", "7", "soon")},
		file{"inventory/f__" + uid(6) + ".xml", itemXML(6, "f untyped", "thing", "1")},
		file{"inventory/g__" + uid(7) + ".xml", strings.Replace(itemXML(7, "g unnumbered", "7", "1"), uid(7), "", 1)},
		file{"inventory/h.xml", strings.Replace(itemXML(8, "h lost", "7", "1"), uid(8), "", 1)},
		file{"inventory/i__" + uid(1) + ".xml", itemXML(1, "i again", "7", "1")},
		file{"inventory/j__" + uid(10) + ".xml", "<Other />"},
		file{"inventory/k__" + uid(11) + ".xml", itemXML(11, "k", "7", "1")[:200]},
		file{"inventory/l__" + uid(12) + "/m__" + uid(13) + "/", ""},
		file{"inventory/n__" + uid(14) + "/m__" + uid(13) + "/", ""},
		file{"inventory/" + strings.Repeat("d/", world.MaxFolderDepth+1) + "x.xml", itemXML(15, "deep", "7", "1")},
		file{"else.txt", ""},
	)
	expectWarnings(t, summary, "no time of saving", "no region archive", `asset type "thing"`, "item without a UUID", "a second time",
		`element "Other"`, "ends early", "in two places", "nested over", `"else.txt": left out`)
	type row struct {
		ID, Name string
		Type     int
		Created  int64 // 0 if unknown
	}
	found, _ := s.Belongings.Search("")
	var got []row
	for _, i := range found.Items {
		r := row{i.ID.String(), i.Name, i.AssetType, 0}
		if !i.Created.IsZero() {
			r.Created = i.Created.Unix()
		}
		got = append(got, r)
	}
	if diff := gocmp.Diff([]row{
		{uid(1), "a landmark", 3, 1700000000}, {uid(2), "b link to one", 24, 0}, {uid(3), "c early", 7, 0}, {uid(4), "d late", 7, 2147483647},
		{uid(5), "e undated", 7, 0}, {uid(6), "f untyped", -1, 1}, {uid(7), "g unnumbered", 7, 1},
	}, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	landmarks, _ := s.Belongings.Landmarks()
	if len(landmarks.Items) != 1 {
		t.Errorf("found %d landmarks, expected 1: a link is none", len(landmarks.Items))
	}
}

// TestInventoryAlone: about a region nothing is known then.
func TestInventoryAlone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.iar")
	if err := os.WriteFile(name, compress(pack(file{"inventory/x.xml", itemXML(1, "x", "7", "1")})), 0o600); err != nil {
		t.Fatal(err)
	}
	saved := time.Unix(1_600_000_000, 0)
	if err := os.Chtimes(name, saved, saved); err != nil {
		t.Fatal(err)
	}
	w, summary := loadFiles(t, "", name, archive.Config{})
	expectWarnings(t, summary, "the file's own time", "no region archive")
	s := snapshot(t, w)
	if _, ok := s.Scene.Objects(256); ok || s.RegionName != "" || s.WaterHeight != nil || s.Parcel != nil || s.Scene.Observer.Known {
		t.Error("something is known of a region")
	}
	if len(paths(t, s)) != 1 || !s.Observed.Equal(saved) {
		t.Errorf("found %v, as of %v, expected one item as of %v", paths(t, s), s.Observed, saved)
	}
}

func TestEmptyInventory(t *testing.T) {
	s, _ := mustLoad(t, archive.Config{
		OAR: bytes.NewReader(pack(controlFile(1, 256, 256), terrainFile("R", 256, 256))),
		IAR: bytes.NewReader(pack(file{"archive.xml", "<archive />"})),
	})
	if found, ok := s.Belongings.Search(""); !ok || len(found.Items) != 0 {
		t.Errorf("found %v, %v, expected an inventory that is known to be empty", found.Items, ok)
	}
}
