package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/objects/source/archive"
	"github.com/wipagent/wipagent/objects/world"
)

// file is one entry of a made-up archive; a name that ends in a slash makes a
// directory.
type file struct{ name, content string }

// pack writes a plain tar archive.
func pack(files ...file) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Typeflag: tar.TypeReg, Size: int64(len(f.content)), Mode: 0o644, Format: tar.FormatGNU}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			panic(err)
		}
		if _, err := io.WriteString(w, f.content); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func compress(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

const prolog = `<?xml version="1.0" encoding="utf-16"?>`

// uid returns a UUID.
func uid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// controlFile returns an archive.xml of one region.
func controlFile(n, sizeX, sizeY int) file {
	return file{"archive.xml", fmt.Sprintf(prolog+`<archive major_version="0" minor_version="8"><creation_info><datetime>1700000000</datetime><id>%s</id></creation_info>`+
		`<region_info><size_in_meters>%d,%d</size_in_meters></region_info></archive>`, uid(n), sizeX, sizeY)}
}

// partXML returns a SceneObjectPart.
func partXML(n int, name, position string) string {
	return fmt.Sprintf(`<SceneObjectPart><UUID><UUID>%s</UUID></UUID><Name>%s</Name><Description>d</Description><Text>t</Text>%s`+
		`<Scale><X>1</X><Y>2</Y><Z>3</Z></Scale><Shape><PCode>9</PCode></Shape></SceneObjectPart>`, uid(n), name, position)
}

func at(x, y, z float64) string {
	return fmt.Sprintf("<GroupPosition><X>%g</X><Y>%g</Y><Z>%g</Z></GroupPosition>", x, y, z)
}

// objectFile returns an object of one part.
func objectFile(n int, name string, x, y, z float64) file {
	return file{
		fmt.Sprintf("objects/%s_1-2-3__%s.xml", name, uid(n)),
		"<SceneObjectGroup>" + partXML(n, escapeXML(name), at(x, y, z)) + "<OtherParts /></SceneObjectGroup>",
	}
}

func settingsFile(name string, water float64) file {
	return file{"settings/" + name + ".xml", fmt.Sprintf(prolog+"<RegionSettings><General><BlockFly>False</BlockFly></General><Terrain><WaterHeight>%g</WaterHeight></Terrain></RegionSettings>", water)}
}

// parcelFile returns a parcel with a bitmap of so many bytes, all set.
func parcelFile(localID, bitmap int) file {
	cells := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, bitmap))
	return file{"landdata/" + uid(localID) + ".xml", fmt.Sprintf(prolog+
		"<LandData><Area>1024</Area><Bitmap>%s</Bitmap><Description>d</Description><Flags>33</Flags><Name>Parcel %d</Name><LocalID>%d</LocalID></LandData>", cells, localID, localID)}
}

// terrainFile returns heights of x + y/1000.
func terrainFile(name string, sizeX, sizeY int) file {
	b := make([]byte, 0, sizeX*sizeY*4)
	for y := range sizeY {
		for x := range sizeX {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)+float32(y)/1000))
		}
	}
	return file{"terrains/" + name + ".r32", string(b)}
}

// itemXML returns an InventoryItem.
func itemXML(n int, name string, assetType, created string) string {
	return fmt.Sprintf(prolog+"<InventoryItem><Name>%s</Name><ID>%s</ID><InvType>3</InvType><CreationDate>%s</CreationDate><AssetType>%s</AssetType></InventoryItem>",
		escapeXML(name), uid(n), created, assetType)
}

func load(tb testing.TB, cfg archive.Config) (*world.World, *archive.Summary, error) {
	tb.Helper()
	w := world.New()
	s, err := archive.Load(context.Background(), w, &cfg)
	return w, s, err
}

func mustLoad(tb testing.TB, cfg archive.Config) (*world.Snapshot, *archive.Summary) {
	tb.Helper()
	w, s, err := load(tb, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return snapshot(tb, w), s
}

// loadOAR loads a made-up region archive.
func loadOAR(tb testing.TB, files ...file) (*world.Snapshot, *archive.Summary) {
	tb.Helper()
	return mustLoad(tb, archive.Config{OAR: bytes.NewReader(pack(files...))})
}

func loadIAR(tb testing.TB, files ...file) (*world.Snapshot, *archive.Summary) {
	tb.Helper()
	return mustLoad(tb, archive.Config{IAR: bytes.NewReader(pack(files...))})
}

// warned reports whether a warning holds some words.
func warned(s *archive.Summary, words string) bool {
	for _, w := range s.Warnings {
		if strings.Contains(w.String(), words) {
			return true
		}
	}
	return false
}

func expectWarnings(tb testing.TB, s *archive.Summary, words ...string) {
	tb.Helper()
	for _, w := range words {
		if !warned(s, w) {
			tb.Errorf("found no warning %q in %v", w, s.Warnings)
		}
	}
	if len(words) != s.WarningCount {
		tb.Errorf("found %d warnings, expected %d: %v", s.WarningCount, len(words), s.Warnings)
	}
}

// escapeXML writes a text as the simulator does.
func escapeXML(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x20 && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF:
			fmt.Fprintf(&b, "&#x%X;", r)
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
