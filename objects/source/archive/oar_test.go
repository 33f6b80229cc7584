package archive_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/archive"
	"github.com/wipagent/wipagent/objects/world"
)

func names(s *world.Snapshot) []string {
	found, _ := s.Scene.Objects(1e6)
	list := []string{}
	for _, o := range found.Items {
		list = append(list, *o.Name)
	}
	return list
}

// TestObjectNames: names are part of entry names, unescaped, and decide
// nothing.
func TestObjectNames(t *testing.T) {
	want := []string{
		"plain", "<b>bold</b> & co", "See http://example.invalid/page", "line\nbreak\x1b[31m", "a__b", "x/../../archive.xml", "assets/y",
		"terrains/z.r32", strings.Repeat("L", 200), "日本", "",
	}
	files := []file{controlFile(1, 256, 256), settingsFile("R", 20), terrainFile("R", 256, 256)}
	for i, name := range want {
		f := objectFile(100+i, name, 128, 128+float64(i), 0)
		f.name = strings.ReplaceAll(f.name, "日本", "??")
		files = append(files, f)
	}
	s, summary := loadOAR(t, files...)
	expectWarnings(t, summary)
	if diff := gocmp.Diff(want, names(s)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestObjectForms reads what other versions write.
func TestObjectForms(t *testing.T) {
	p1, p2 := partXML(1, "root", at(1, 2, 3)), partXML(2, "child", "<OffsetPosition><X>1</X><Y>0</Y><Z>0</Z></OffsetPosition>")
	for _, test := range []struct{ name, xml string }{
		{"two parts", "<SceneObjectGroup>" + p1 + "<OtherParts>" + p2 + "</OtherParts></SceneObjectGroup>"},
		{"wrapped", "<SceneObjectGroup><RootPart>" + p1 + "</RootPart><OtherParts><Part>" + p2 + "</Part></OtherParts></SceneObjectGroup>"},
		{"with a prolog", prolog + "\r\n<!-- x --><SceneObjectGroup>" + p1 + "<OtherParts>" + p2 + "</OtherParts></SceneObjectGroup>"},
		{"called Guid", strings.ReplaceAll("<SceneObjectGroup>"+p1+p2+"</SceneObjectGroup>", "<UUID><UUID>", "<UUID><Guid>")},
		{"bare UUID", strings.NewReplacer("<UUID><UUID>", "<UUID>", "</UUID></UUID>", "</UUID>").Replace("<SceneObjectGroup>" + p1 + p2 + "</SceneObjectGroup>")},
	} {
		t.Run(test.name, func(t *testing.T) {
			xml := strings.ReplaceAll(strings.ReplaceAll(test.xml, "</UUID></UUID>", "</UUID></UUID>"), "<Guid>"+uid(1)+"</UUID>", "<Guid>"+uid(1)+"</Guid>")
			xml = strings.ReplaceAll(xml, "<Guid>"+uid(2)+"</UUID>", "<Guid>"+uid(2)+"</Guid>")
			s, summary := loadOAR(t, controlFile(1, 256, 256), terrainFile("R", 256, 256), file{"objects/x.xml", xml})
			expectWarnings(t, summary)
			found, _ := s.Scene.Objects(1e6)
			if summary.Objects != 1 || summary.Children != 1 || len(found.Items) != 1 {
				t.Fatalf("found %d objects and %d children, expected one of each", summary.Objects, summary.Children)
			}
			o := found.Items[0]
			if o.ID.String() != uid(1) || *o.Name != "root" || o.Place.Vec3 != (world.Vec3{X: 1, Y: 2, Z: 3}) || o.Scale != (world.Vec3{X: 1, Y: 2, Z: 3}) {
				t.Errorf("found %+v", o)
			}
		})
	}
}

func TestObjectFaults(t *testing.T) {
	good := objectFile(1, "good", 1, 2, 3)
	group := func(parts string) string { return "<SceneObjectGroup>" + parts + "</SceneObjectGroup>" }
	s, summary := loadOAR(t,
		controlFile(1, 256, 256), terrainFile("R", 256, 256), good,
		file{"objects/twice.xml", group(partXML(1, "twice", at(1, 1, 1)))},
		file{"objects/broken.xml", good.content[:len(good.content)/2]},
		file{"objects/mismatched.xml", "<SceneObjectGroup><a></b></SceneObjectGroup>"},
		file{"objects/empty.xml", ""},
		file{"objects/partless.xml", group("")},
		file{"objects/avatar.xml", group(strings.Replace(partXML(2, "avatar", at(1, 1, 1)), "<PCode>9", "<PCode>47", 1))},
		file{"objects/anonymous.xml", group("<SceneObjectPart><Name>x</Name></SceneObjectPart>")},
		file{"objects/zero.xml", group(strings.ReplaceAll(partXML(3, "zero", ""), uid(3), world.UUID{}.String()))},
		file{"objects/deep.xml", group(strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100))},
		file{"objects/other.xml", "<Something />"},
		file{"objects/version.xml", `<?xml version="` + strings.Repeat("9", 5000) + `"?><x/>`},
		file{"objects/notes.txt", "hello"},
	)
	expectWarnings(t, summary, "a second time", "ends early", "broken XML", `objects/empty.xml": left out: found no XML`, "found no part",
		"found an avatar", `anonymous.xml": left out: found a part without a UUID`, `zero.xml": left out: found a part without a UUID`,
		"nested over", "found element \"Something\"", "unsupported version", `notes.txt": left out: found no XML`)
	for _, w := range summary.Warnings {
		if len(w.String()) > 500 {
			t.Errorf("found a warning of %d bytes", len(w.String()))
		}
	}
	if diff := gocmp.Diff([]string{"good"}, names(s)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestNumbers: a number that makes no sense costs itself only.
func TestNumbers(t *testing.T) {
	xml := strings.NewReplacer("<Scale><X>1", "<Scale><X>NaN", "<X>9</X>", "<X>1,5</X>").Replace(partXML(1, "x", at(9, 1, 1)))
	s, summary := loadOAR(t, controlFile(1, 256, 256), terrainFile("R", 256, 256), file{"objects/x.xml", "<SceneObjectGroup>" + xml + "</SceneObjectGroup>"})
	expectWarnings(t, summary)
	found, _ := s.Scene.Objects(1e6)
	if len(found.Items) != 1 || found.Items[0].Place.Known || found.Items[0].ScaleKnown || *found.Items[0].Name != "x" {
		t.Errorf("found %+v, expected an object of unknown place and size", found.Items)
	}
}

func TestVarRegion(t *testing.T) {
	s, summary := loadOAR(t, controlFile(7, 512, 256), settingsFile("Wide", 12.5), terrainFile("Wide", 512, 256), parcelFile(3, 128*64/8))
	expectWarnings(t, summary)
	if summary.SizeX != 512 || summary.SizeY != 256 || s.RegionName != "Wide" || *s.WaterHeight != 12.5 || s.Region.String() != uid(7) {
		t.Errorf("found %+v", summary)
	}
	if o := s.Scene.Observer; o.X != 256 || o.Y != 128 || !near(o.Z, 256.128, 1e-3) {
		t.Errorf("the observer is at %v, expected the centre on the ground", o)
	}
	if s.Parcel == nil || s.Parcel.LocalID != 3 || !s.Parcel.AllowFly || s.Parcel.AllowBuild || s.Parcel.AllowScripts || !s.Parcel.DamageEnabled {
		t.Errorf("found parcel %+v", s.Parcel)
	}
}

// TestOldBitmap: in a region that was enlarged, a parcel's shape may still be
// of the old size and covers the south-west corner.
func TestOldBitmap(t *testing.T) {
	oar := pack(controlFile(7, 512, 512), terrainFile("R", 512, 512), parcelFile(3, 512))
	for _, test := range []struct {
		x, y float64
		in   bool
	}{{10, 10, true}, {255, 255, true}, {257, 10, false}, {10, 257, false}, {300, 300, false}} {
		s, summary := mustLoad(t, archive.Config{OAR: bytes.NewReader(oar), At: &[3]float64{test.x, test.y, 0}})
		expectWarnings(t, summary, "south-west corner")
		if in := s.Parcel != nil; in != test.in {
			t.Errorf("at %v,%v: in the parcel is %v, expected %v", test.x, test.y, in, test.in)
		}
	}
}

func TestLandFaults(t *testing.T) {
	bad := func(from, to string) file {
		f := parcelFile(1, 512)
		f.name += "x"
		f.content = strings.Replace(f.content, from, to, 1)
		return f
	}
	s, summary := loadOAR(t,
		controlFile(1, 256, 256), settingsFile("R?", math.NaN()), file{"terrains/R.r32", "123"}, file{"terrains/R.png", "1234"},
		file{"terrains/small.r32", "12345678"}, file{"terrains/again.r32", "12345678"},
		parcelFile(1, 500), parcelFile(1, 512),
		bad("<LocalID>1", "<LocalID>-1"), bad("<Area>1024", "<Area>big"), bad("<Flags>33", "<Flags>"),
		file{"landdata/2.xml", strings.Replace(parcelFile(2, 512).content, "<Bitmap>/", "<Bitmap>!", 1)},
	)
	expectWarnings(t, summary, "height of the water", "multiple of 4", "another format", "second terrain", "found 2 heights", "found no terrain",
		"no ground at the region's centre", "found 500 bytes", "second parcel", "local ID \"-1\"", "area \"big\"", "flags \"\"", "else than base64", "lost letters")
	if s.WaterHeight != nil || s.TerrainHeight != nil || s.Parcel != nil {
		t.Error("something is known of the land")
	}
}

// TestBareObjects: an archive that says nothing of itself is still of use.
func TestBareObjects(t *testing.T) {
	files := []file{objectFile(1, "x", 100, 100, 100), terrainFile("Old Town", 256, 256)}
	s, summary := loadOAR(t, files...)
	expectWarnings(t, summary, "no archive.xml", "no time of saving", "no size of the region", "no UUID of the region")
	if s.RegionName != "Old Town" || summary.SizeX != 256 || s.Region.IsZero() || len(names(s)) != 1 || s.TerrainHeight == nil {
		t.Errorf("found %+v", summary)
	}
	again, _ := loadOAR(t, files...)
	if again.Region != s.Region {
		t.Error("the derived UUID differs from load to load")
	}
}

func TestRepacked(t *testing.T) {
	s, summary := loadOAR(t, file{"./", ""}, file{"./objects/", ""}, file{"./archive.xml", controlFile(4, 256, 256).content},
		file{"./objects/x.xml", objectFile(1, "x", 1, 1, 1).content}, file{"./terrains/R.r32", terrainFile("R", 256, 256).content},
		file{"./assets/" + uid(1) + "_object.xml", objectFile(2, "asset", 1, 1, 1).content})
	expectWarnings(t, summary)
	if len(names(s)) != 1 || summary.Assets != 1 || s.Region.String() != uid(4) {
		t.Errorf("found %+v", summary)
	}
}

func TestStrangeEntries(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Typeflag: tar.TypeSymlink, Name: "objects/link.xml", Linkname: "/etc/passwd"},
		{Typeflag: tar.TypeFifo, Name: "objects/pipe.xml"},
		{Typeflag: tar.TypeReg, Name: "/objects/absolute.xml"},
		{Typeflag: tar.TypeReg, Name: "../objects/above.xml"},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	b.Write(pack(controlFile(1, 256, 256), terrainFile("R", 256, 256)))
	_, summary := mustLoad(t, archive.Config{OAR: &b})
	expectWarnings(t, summary, `link.xml": left out: found entry type '2'`, `pipe.xml": left out: found entry type '6'`,
		`"/objects/absolute.xml": left out`, `"../objects/above.xml": left out`)
}

const twoRegions = prolog + `<archive major_version="1" minor_version="0"><creation_info><datetime>1700000000</datetime></creation_info><regions>
<row><region><id>00000000-0000-4000-8000-000000000011</id><dir>1_1_North_Bay</dir><size_in_meters>256,256</size_in_meters></region>
<region></region>
<region><id>00000000-0000-4000-8000-000000000012</id><dir>3_1_日本</dir><size_in_meters>512,512</size_in_meters></region></row><row></row></regions></archive>`

func TestSeveralRegions(t *testing.T) {
	in := func(dir string, f file) file { return file{"regions/" + dir + "/" + f.name, f.content} }
	oar := pack(file{"archive.xml", twoRegions},
		in("1_1_North_Bay", settingsFile("North Bay", 20)), in("1_1_North_Bay", objectFile(1, "one", 1, 1, 1)), in("1_1_North_Bay", terrainFile("North Bay", 256, 256)),
		in("3_1_??", settingsFile("??", 30)), in("3_1_??", objectFile(2, "two", 1, 1, 1)), in("3_1_??", terrainFile("??", 512, 512)),
		file{"assets/x", ""})
	for _, test := range []struct {
		choice, object string
		water          float64
		warnings       []string
	}{
		{"1_1_North_Bay", "one", 20, nil},
		{"North Bay", "one", 20, nil},
		{"00000000-0000-4000-8000-000000000011", "one", 20, nil},
		{"日本", "two", 30, []string{"lost letters"}},
		{"3_1_日本", "two", 30, []string{"lost letters"}},
	} {
		t.Run(test.choice, func(t *testing.T) {
			s, summary := mustLoad(t, archive.Config{OAR: bytes.NewReader(oar), Region: test.choice})
			expectWarnings(t, summary, test.warnings...)
			if n := names(s); len(n) != 1 || n[0] != test.object || *s.WaterHeight != test.water {
				t.Errorf("found %v, water %v", n, *s.WaterHeight)
			}
		})
	}
	for _, choice := range []string{"", "South Bay"} {
		w, _, err := load(t, archive.Config{OAR: bytes.NewReader(oar), Region: choice})
		var regionError *archive.RegionError
		if !errors.As(err, &regionError) {
			t.Fatalf("choice %q: found %v, expected a RegionError", choice, err)
		}
		if diff := gocmp.Diff(&archive.RegionError{Chosen: choice, Regions: []string{"1_1_North_Bay", "3_1_日本"}}, regionError); diff != "" {
			t.Errorf("choice %q (-want +got):\n%s", choice, diff)
		}
		if _, err := w.Fence(); !errors.Is(err, world.ErrNotReady) {
			t.Errorf("choice %q: the world was touched", choice)
		}
	}
	late := pack(in("1_1_North_Bay", objectFile(1, "one", 1, 1, 1)), file{"archive.xml", twoRegions})
	if _, _, err := load(t, archive.Config{OAR: bytes.NewReader(late), Region: "North Bay"}); err == nil || !strings.Contains(err.Error(), "archive.xml first") {
		t.Errorf("found %v, expected that archive.xml comes first", err)
	}
}

func TestOneRegionChosen(t *testing.T) {
	oar := pack(controlFile(1, 256, 256), settingsFile("Only One", 20), terrainFile("Only One", 256, 256))
	if _, _, err := load(t, archive.Config{OAR: bytes.NewReader(oar), Region: "Only One"}); err != nil {
		t.Error(err)
	}
	var regionError *archive.RegionError
	if _, _, err := load(t, archive.Config{OAR: bytes.NewReader(oar), Region: "Other"}); !errors.As(err, &regionError) {
		t.Errorf("found %v, expected a RegionError", err)
	}
}
