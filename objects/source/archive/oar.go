package archive

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/source/gridxml"
	"github.com/wipagent/wipagent/objects/world"
)

// Entry names say little: an object's name is part of its entry's, unescaped,
// so it may hold slashes and line breaks, and whatever is outside of ASCII has
// become question marks. Only the first directory is sure. What an XML entry
// is, its root element says.
//
// Source: opensim OpenSim/Region/CoreModules/World/Archiver/ArchiveWriteRequest.cs
const (
	controlFile = "archive.xml"
	assetsDir   = "assets/"
	terrainsDir = "terrains/"
	settingsDir = "settings/"
	regionsDir  = "regions/" // one directory a region, where there are several
)

const (
	// legacySize is the size in metres of every region before regions could
	// vary, and of one whose archive does not say.
	legacySize = 256
	parcelCell = 4        // metres a side of a parcel bitmap's cell
	legacyMap  = 512      // bytes of such a region's bitmap
	maxObject  = 10_000   // prims of one linkset
	maxLand    = 16 << 20 // bytes of a parcel's entry
)

// region is what an OAR says of one region.
type region struct {
	dir          string // as archive.xml has it; empty in an archive of one
	id           world.UUID
	name         string
	sizeX, sizeY int  // metres
	sized        bool // archive.xml gives the size
	water        *float64
	heights      []float32 // nil if unknown; see world.TerrainUpdated
	parcels      []world.ParcelUpdated
	parcelBytes  int
	objects      [][]world.ObjectUpdated // linksets, root first; no stamps yet
	prims        int
	seen         map[world.UUID]bool // prims
	truncated    bool                // objects were left out
}

// oar reads a region archive.
type oar struct {
	*loader
	region  region
	savedAt time.Time
	control bool // archive.xml was read
	any     bool // something of the region was
}

// readOAR returns the archive's one region, or the one that was chosen.
func (l *loader) readOAR(ctx context.Context, src io.Reader) (*region, error) {
	o := &oar{loader: l, region: region{seen: map[world.UUID]bool{}}}
	if err := l.entries(ctx, "OAR", src, o.visit); err != nil {
		return nil, err
	}
	r := &o.region
	switch {
	case !o.control && !o.any:
		return nil, errors.New("found neither archive.xml nor anything of a region, expected a region archive")
	case !o.control:
		l.warn("", "found no archive.xml: the region's identity and size and the time of saving are guessed")
	}
	if c := l.cfg.Region; c != "" && !r.answers(c) {
		return nil, &RegionError{Chosen: c, Regions: []string{r.label()}}
	}
	l.date(o.savedAt, src)
	l.complete(r)
	return r, nil
}

// visit reads one entry.
func (o *oar) visit(e *entry) error {
	dir, name := splitRegion(e.name)
	switch {
	case e.dir:
		return nil
	case dir == "" && name == controlFile:
		return o.readControl(e)
	case strings.HasPrefix(name, assetsDir):
		o.summary.Assets++
		return nil
	case strings.HasPrefix(name, inventoryDir):
		return errors.New("found an inventory archive, expected a region archive")
	case dir != "" && !o.control:
		// Which region to keep must be known before any comes.
		return errors.New("found a region before archive.xml, expected archive.xml first")
	case dir != o.region.dir && dir != lossy(o.region.dir):
		return nil // of another region than the chosen one
	}
	r := &o.region
	if strings.HasPrefix(name, terrainsDir) {
		return o.terrain(e, r, name)
	}
	return o.decode(e, maxXML, func(d *xml.Decoder, start xml.StartElement) error {
		switch start.Name.Local {
		case "SceneObjectGroup":
			o.any = true
			return o.object(d, r)
		case "LandData":
			o.any = true
			return o.parcel(e, d, start, r)
		case "RegionSettings":
			o.any = true
			if n, ok := strings.CutPrefix(name, settingsDir); ok {
				r.name = o.keep(strings.TrimSuffix(n, ".xml"))
			}
			return o.settings(e, d, start, r)
		}
		return fmt.Errorf("found element %s, expected an object, a parcel or a region's settings", quote(start.Name.Local))
	})
}

// readControl reads archive.xml and settles which region is kept.
func (o *oar) readControl(e *entry) error {
	var c control
	err := o.decode(e, maxControl, func(d *xml.Decoder, start xml.StartElement) error {
		if start.Name.Local != "archive" {
			return fmt.Errorf("found element %s, expected archive", quote(start.Name.Local))
		}
		return c.decode(d)
	})
	if err != nil {
		return err
	}
	chosen, err := c.choose(o.cfg.Region)
	if err != nil {
		return err
	}
	o.control = true
	o.savedAt = c.savedAt
	r := &o.region
	r.dir, r.id, r.sizeX, r.sizeY, r.sized = chosen.dir, chosen.id, chosen.sizeX, chosen.sizeY, chosen.sized
	return nil
}

// decode opens an XML entry. What is wrong inside of it is a warning; what is
// wrong with the file around it is an error.
func (l *loader) decode(e *entry, limit int64, visit func(*xml.Decoder, xml.StartElement) error) error {
	if e.size > limit {
		l.warn(e.name, "left out: found %d bytes, expected at most %d", e.size, limit)
		return nil
	}
	d := gridxml.NewDecoder(&e.content, maxXMLRun)
	start, err := root(d)
	if err == nil {
		err = visit(d, start)
	}
	if e.err != nil {
		return e.err
	}
	if err != nil {
		l.warn(e.name, "left out: %s", problem(err))
	}
	return nil
}

// problem words an error about an entry; text of the entry itself, which the
// XML decoder likes to repeat, is quoted.
func problem(err error) string {
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		return "found XML that ends early"
	case syntax != nil:
		return fmt.Sprintf("found broken XML in line %d: %s", syntax.Line, quote(syntax.Msg))
	}
	const most = 300 // some errors of the decoder quote without measure
	words := err.Error()
	return strings.ToValidUTF8(words[:min(len(words), most)], "")
}

// date settles when the archive was saved.
func (l *loader) date(saved time.Time, src io.Reader) {
	if saved.IsZero() {
		if saved = modTime(src); saved.IsZero() {
			l.warn("", "found no time of saving: what is loaded counts as seen now")
		} else {
			l.warn("", "found no time of saving: the file's own time is taken for it")
		}
	}
	l.summary.SavedAt = saved
}

// terrain reads ground heights: little-endian 32-bit floats, row by row from
// the south, without a header. Other formats are left out.
func (o *oar) terrain(e *entry, r *region, name string) error {
	const most = world.MaxTerrain * 4
	n := e.size / 4
	switch {
	case !strings.HasSuffix(name, ".r32"):
		o.warn(e.name, "left out: found another format of terrain, expected .r32")
		return nil
	case e.size%4 != 0 || n == 0 || e.size > most:
		o.warn(e.name, "left out: found %d bytes, expected a multiple of 4 up to %d", e.size, most)
		return nil
	case r.heights != nil:
		o.warn(e.name, "left out: found a second terrain")
		return nil
	}
	// Memory follows the bytes that are there, not the length announced.
	heights := make([]float32, 0, min(n, legacySize*legacySize))
	br := bufio.NewReader(&e.content)
	var sample [4]byte
	for range n {
		if _, err := io.ReadFull(br, sample[:]); err != nil {
			return unexpected(err)
		}
		heights = append(heights, math.Float32frombits(binary.LittleEndian.Uint32(sample[:])))
	}
	o.any = true
	r.heights = heights
	if r.name == "" {
		r.name = o.keep(strings.TrimSuffix(strings.TrimPrefix(name, terrainsDir), ".r32"))
	}
	return nil
}

// complete settles what needs the whole archive: identity, size and whatever
// is laid out by it.
func (l *loader) complete(r *region) {
	if !r.sized {
		r.sizeX, r.sizeY = legacySize, legacySize
		if side := int(math.Sqrt(float64(len(r.heights)))); side > 0 && side <= world.MaxRegionSize {
			r.sizeX, r.sizeY = side, side
		}
		l.warn("", "found no size of the region: %d by %d metres are taken for it", r.sizeX, r.sizeY)
	}
	if r.heights != nil && len(r.heights) != r.sizeX*r.sizeY {
		l.warn("", "terrain left out: found %d heights, expected %d by %d", len(r.heights), r.sizeX, r.sizeY)
		r.heights = nil
	}
	if r.heights == nil {
		l.warn("", "found no terrain: the ground's height is unknown")
	}
	if strings.Contains(r.name, "?") {
		l.warn("", "the region's name may have lost letters: archives write ? for what is outside of ASCII")
	}
	if r.id.IsZero() {
		r.id = derive(r.dir, r.name, strconv.Itoa(r.sizeX), strconv.Itoa(r.sizeY))
		l.warn("", "found no UUID of the region: one is derived from its name and size")
	}
	for i := range r.parcels {
		p := &r.parcels[i]
		p.Bitmap = l.layout(p, r)
	}
}

// layout returns a parcel's bitmap with rows of the region's width; nil if it
// does not fit. A region that was enlarged may keep bitmaps of the old size,
// which cover its south-west corner.
func (l *loader) layout(p *world.ParcelUpdated, r *region) []byte {
	width, height := r.sizeX/parcelCell, r.sizeY/parcelCell
	switch {
	case len(p.Bitmap) == 0:
		return nil
	case len(p.Bitmap) == (width*height+7)/8:
		return p.Bitmap
	case len(p.Bitmap) != legacyMap || width < 64 || height < 64:
		l.warn("", "parcel %d: shape left out: found %d bytes, expected %d", p.LocalID, len(p.Bitmap), (width*height+7)/8)
		return nil
	}
	l.warn("", "parcel %d: found a shape of a region of %d metres, taken for the south-west corner", p.LocalID, legacySize)
	wide := make([]byte, (width*height+7)/8)
	for i := range legacyMap * 8 {
		if p.Bitmap[i/8]>>(i%8)&1 == 1 {
			j := i/64*width + i%64
			wide[j/8] |= 1 << (j % 8)
		}
	}
	return wide
}
