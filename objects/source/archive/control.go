package archive

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/wipagent/wipagent/objects/source/gridxml"
	"github.com/wipagent/wipagent/objects/world"
)

const (
	maxControl = 1 << 20 // bytes of an archive.xml
	maxRegions = 1_024   // regions of one archive
	// No archive was saved before minTime (2000) or will be after maxTime
	// (2100), in Unix seconds; another number is no time.
	minTime = 946_684_800
	maxTime = 4_102_444_800
)

// control is what archive.xml says. Before version 1.0 it describes one
// region; since then it may hold rows of them, each with a directory.
//
// Source: opensim OpenSim/Region/CoreModules/World/Archiver/ArchiveReadRequest.cs, LoadControlFile
type control struct {
	savedAt time.Time
	regions []*region
}

// decode reads the content of the element archive.
func (c *control) decode(d *xml.Decoder) error {
	only := &region{}
	r := only
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "region":
			if len(c.regions) >= maxRegions {
				return fmt.Errorf("found over %d regions", maxRegions)
			}
			r = &region{}
			c.regions = append(c.regions, r)
		case "datetime", "id", "dir", "size_in_meters":
			var text string
			if err := d.DecodeElement(&text, &start); err != nil {
				return unexpected(err)
			}
			c.field(r, start.Name.Local, strings.TrimSpace(gridxml.Unescape(text)))
		}
	}
	// A place of a row that has no region is an empty element.
	c.regions = slices.DeleteFunc(c.regions, func(r *region) bool { return r.dir == "" })
	if len(c.regions) == 0 {
		c.regions = []*region{only}
	}
	return nil
}

func (c *control) field(r *region, name, text string) {
	switch name {
	case "datetime":
		if v, err := strconv.ParseInt(text, 10, 64); err == nil && v >= minTime && v < maxTime {
			c.savedAt = time.Unix(v, 0)
		}
	case "id":
		r.id, _ = world.ParseUUID(text)
	case "dir":
		r.dir = text
	case "size_in_meters":
		r.sizeX, r.sizeY, r.sized = parseSize(text)
	}
}

// choose returns the region that is meant; one that was not chosen is meant
// only where there is no other.
func (c *control) choose(chosen string) (*region, error) {
	switch len(c.regions) {
	case 0: // archive.xml was unreadable
		return &region{}, nil
	case 1:
		return c.regions[0], nil // whether it answers shows when it has a name
	}
	err := &RegionError{Chosen: chosen}
	var found []*region
	for _, r := range c.regions {
		err.Regions = append(err.Regions, r.label())
		if chosen != "" && r.answers(chosen) {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return nil, err
	}
	return found[0], nil
}

// answers reports whether a region is the one that was chosen: by UUID,
// directory or name. A directory is made of the region's place among the
// others and its name with spaces replaced, such as "1_2_Test_Region".
func (r *region) answers(chosen string) bool {
	if chosen == r.dir || chosen == r.name || strings.EqualFold(chosen, r.id.String()) {
		return true
	}
	_, rest, _ := strings.Cut(r.dir, "_")
	_, name, ok := strings.Cut(rest, "_")
	return ok && name == strings.ReplaceAll(chosen, " ", "_")
}

// label is what a region is listed as.
func (r *region) label() string {
	switch {
	case r.dir != "":
		return r.dir
	case r.name != "":
		return r.name
	}
	return r.id.String()
}

// parseSize reads "256,256".
func parseSize(s string) (x, y int, ok bool) {
	sx, sy, _ := strings.Cut(s, ",")
	x, errX := strconv.Atoi(strings.TrimSpace(sx))
	y, errY := strconv.Atoi(strings.TrimSpace(sy))
	if errX != nil || errY != nil || x < 1 || y < 1 || x > world.MaxRegionSize || y > world.MaxRegionSize {
		return 0, 0, false
	}
	return x, y, true
}

// splitRegion cuts "regions/DIR/" off an entry's name.
func splitRegion(name string) (dir, rest string) {
	after, ok := strings.CutPrefix(name, regionsDir)
	if !ok {
		return "", name
	}
	dir, rest, ok = strings.Cut(after, "/")
	if !ok {
		return "", name
	}
	return dir, rest
}

// lossy returns a name as it appears in a tar entry: one question mark for
// each UTF-16 unit outside of ASCII.
func lossy(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			b.WriteString("??"[:max(1, utf16.RuneLen(r))])
		}
	}
	return b.String()
}
