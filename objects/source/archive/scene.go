package archive

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/objects/world"
)

// part is the part of a SceneObjectPart that is read. What must not reach the
// world, such as owners, prices and assets, has no field here.
type part struct {
	// UUID holds another element with the digits, called UUID or Guid, or
	// the digits themselves.
	UUID struct {
		UUID, Guid string
		Text       string `xml:",chardata"`
	}
	Name           string
	Description    string
	Text           string
	GroupPosition  vector
	OffsetPosition vector
	RotationOffset vector
	Scale          vector
	Shape          struct {
		PCode string
	}
}

// vector is a vector or, with W, a rotation; numbers are still text, so that
// a bad one costs itself and not its object.
type vector struct {
	X, Y, Z, W string
}

func (v vector) vec3() world.Vec3 {
	return world.Vec3{X: number(v.X), Y: number(v.Y), Z: number(v.Z)}
}

// quat returns no rotation where none is given.
func (v vector) quat() world.Quat {
	if v == (vector{}) {
		return world.Quat{}
	}
	return world.Quat{X: number(v.X), Y: number(v.Y), Z: number(v.Z), W: number(v.W)}
}

// number returns NaN, which counts as unknown, for anything but a number.
func number(s string) float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// object reads a SceneObjectGroup. Two forms are about: parts that follow
// each other, and parts wrapped in RootPart and Part. In both the first part
// is the root.
func (o *oar) object(d *xml.Decoder, r *region) error {
	var parts []world.ObjectUpdated
	err := elements(d, "SceneObjectPart", func(start xml.StartElement) error {
		switch {
		case len(parts) >= maxObject:
			return fmt.Errorf("found a linkset of over %d prims", maxObject)
		case r.prims+len(parts) >= world.MaxObjects || o.full():
			r.truncated = true
			return fmt.Errorf("found over %d prims or %d bytes of text", world.MaxObjects, o.limits.texts)
		}
		var p part
		if err := d.DecodeElement(&p, &start); err != nil {
			return err
		}
		u, err := o.prim(p, len(parts) == 0)
		if err != nil {
			return err
		}
		parts = append(parts, u)
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(parts) == 0:
		return fmt.Errorf("found no part, expected a root")
	}
	for _, p := range parts {
		if r.seen[p.ID] {
			return fmt.Errorf("found prim %s a second time", p.ID)
		}
	}
	for _, p := range parts {
		r.seen[p.ID] = true
	}
	r.objects = append(r.objects, parts)
	r.prims += len(parts)
	return nil
}

// prim returns what a part says, without stamp and local IDs.
func (o *oar) prim(p part, isRoot bool) (world.ObjectUpdated, error) {
	id, err := world.ParseUUID(strings.TrimSpace(p.UUID.UUID + p.UUID.Guid + p.UUID.Text))
	if err != nil || id.IsZero() {
		return world.ObjectUpdated{}, fmt.Errorf("found a part without a UUID")
	}
	pcode, err := strconv.ParseUint(strings.TrimSpace(p.Shape.PCode), 10, 8)
	switch {
	case err != nil:
		pcode = uint64(world.PCodePrim)
	case uint8(pcode) == world.PCodeAvatar:
		return world.ObjectUpdated{}, fmt.Errorf("found an avatar, expected an object")
	}
	name, description, hover := o.text(p.Name), o.text(p.Description), o.text(p.Text)
	u := world.ObjectUpdated{
		ID: id, PCode: uint8(pcode),
		Position: p.OffsetPosition.vec3(), Rotation: p.RotationOffset.quat(), Scale: p.Scale.vec3(),
		Name: &name, Description: &description, HoverText: &hover,
	}
	if isRoot {
		u.Position = p.GroupPosition.vec3()
	}
	return u, nil
}

// land is the part of LandData that is read.
type land struct {
	LocalID     string
	Name        string
	Description string
	Area        string
	Flags       string
	Bitmap      string
}

// What a parcel's flags allow everybody.
//
// Source: opensim OpenMetaverse ParcelFlags
const (
	allowFly     = 1 << 0
	allowScripts = 1 << 1
	allowDamage  = 1 << 5
	allowBuild   = 1 << 6
)

// parcel reads a LandData.
func (o *oar) parcel(e *entry, d *xml.Decoder, start xml.StartElement, r *region) error {
	if e.size > maxLand {
		return fmt.Errorf("found %d bytes, expected at most %d", e.size, maxLand)
	}
	var v land
	if err := d.DecodeElement(&v, &start); err != nil {
		return unexpected(err)
	}
	id, err := strconv.ParseInt(strings.TrimSpace(v.LocalID), 10, 32)
	if err != nil || id < 1 {
		return fmt.Errorf("found local ID %s, expected a positive number", quote(v.LocalID))
	}
	area, err := strconv.ParseInt(strings.TrimSpace(v.Area), 10, 32)
	if err != nil || area < 0 {
		return fmt.Errorf("found area %s, expected square metres", quote(v.Area))
	}
	flags, err := strconv.ParseUint(strings.TrimSpace(v.Flags), 10, 32)
	if err != nil {
		return fmt.Errorf("found flags %s, expected a number of 32 bits", quote(v.Flags))
	}
	for i := range r.parcels {
		if r.parcels[i].LocalID == int32(id) {
			return fmt.Errorf("found a second parcel with local ID %d", id)
		}
	}
	bitmap, err := base64.StdEncoding.DecodeString(strings.TrimSpace(v.Bitmap))
	if err != nil {
		o.warn(e.name, "shape left out: found something else than base64")
		bitmap = nil
	}
	if r.parcelBytes += len(bitmap); r.parcelBytes > world.MaxParcelBytes {
		o.warn(e.name, "shape left out: found over %d bytes of parcel shapes", world.MaxParcelBytes)
		bitmap = nil
	}
	if len(r.parcels) >= world.MaxParcels || o.full() {
		return fmt.Errorf("found over %d parcels or %d bytes of text", world.MaxParcels, o.limits.texts)
	}
	r.parcels = append(r.parcels, world.ParcelUpdated{
		LocalID: int32(id), Name: o.text(v.Name), Description: o.text(v.Description), Area: int(area),
		AllowFly: flags&allowFly != 0, AllowBuild: flags&allowBuild != 0,
		AllowScripts: flags&allowScripts != 0, DamageEnabled: flags&allowDamage != 0,
		Bitmap: bitmap,
	})
	return nil
}

// settings reads a RegionSettings.
func (o *oar) settings(e *entry, d *xml.Decoder, start xml.StartElement, r *region) error {
	var v struct {
		Water *string `xml:"Terrain>WaterHeight"`
	}
	if err := d.DecodeElement(&v, &start); err != nil {
		return unexpected(err)
	}
	if v.Water == nil {
		o.warn(e.name, "found no height of the water: it is unknown")
		return nil
	}
	water := number(*v.Water)
	if math.IsNaN(water) || math.IsInf(water, 0) {
		o.warn(e.name, "found %s, expected the height of the water: it is unknown", quote(*v.Water))
		return nil
	}
	r.water = &water
	return nil
}

// derive returns a UUID that is the same for the same words.
func derive(words ...string) world.UUID {
	h := sha256.New()
	for _, w := range words {
		fmt.Fprintf(h, "%d:%s", len(w), w)
	}
	var u world.UUID
	copy(u[:], h.Sum(nil))
	u[6] = u[6]&0x0f | 0x80 // version 8: made by a rule of our own
	u[8] = u[8]&0x3f | 0x80
	return u
}
