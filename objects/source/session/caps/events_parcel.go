package caps

import (
	"fmt"
	"math"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
)

// Bits of ParcelFlags.
const (
	flagAllowFly      = 1 << 0
	flagOtherScripts  = 1 << 1
	flagAllowDamage   = 1 << 5
	flagCreateObjects = 1 << 6
)

// RequestResult of a ParcelProperties that brings no parcel.
const resultNoData = -1

// maxBitmap is the bitmap's bytes of a region of 8192 m, the largest.
const maxBitmap = (8192 / 4) * (8192 / 4) / 8

// ParcelProperties is what the event of that name says of a parcel, without
// its owner, prices and addresses.
type ParcelProperties struct {
	// SequenceID is 0 or more for the parcel that the agent is in; negative
	// ones answer selections, collisions and hovering.
	SequenceID int32
	LocalID    int32 // the region's own number
	// Name and Description are the owner's words.
	Name, Description string
	Area              int // square metres; 0 is unknown
	// What everybody may do there.
	AllowFly, AllowBuild, AllowScripts, DamageEnabled bool
	// Bitmap marks the cells of 4 by 4 metres that belong to the parcel, row
	// by row from the south-west, lowest bit first: 512 bytes in a region
	// of 256 m. Nil if it did not come.
	Bitmap []byte
	// Agent says that it is the parcel that the agent is in.
	Agent bool
}

// DecodeParcelProperties reads ParcelProperties; ErrNoParcel if the region
// says that there is none.
//
// Source: message template and viewer; OpenSimulator, event queue helper.
func DecodeParcelProperties(body llsd.Value) (p ParcelProperties, err error) {
	defer guard(&err)
	data := block(body, "ParcelData")
	if data.Kind() != llsd.KindMap {
		return ParcelProperties{}, errMissing("ParcelData")
	}
	if result, ok := data.Get("RequestResult").Int(); ok && result == resultNoData {
		return ParcelProperties{}, ErrNoParcel
	}
	id, ok := data.Get("LocalID").Int()
	if !ok || id < math.MinInt32 || id > math.MaxInt32 {
		return ParcelProperties{}, errMissing("LocalID")
	}
	sequence, ok := data.Get("SequenceID").Int()
	if !ok || sequence < math.MinInt32 || sequence > math.MaxInt32 {
		return ParcelProperties{}, errMissing("SequenceID")
	}
	flags, ok := data.Get("ParcelFlags").U32()
	if !ok {
		return ParcelProperties{}, errMissing("ParcelFlags")
	}
	bitmap, _ := data.Get("Bitmap").Bytes()
	if len(bitmap) > maxBitmap {
		return ParcelProperties{}, fmt.Errorf("found a bitmap of %d bytes, expected at most %d", len(bitmap), maxBitmap)
	}
	p = ParcelProperties{
		SequenceID: int32(sequence), LocalID: int32(id),
		Name: text(data.Get("Name")), Description: text(data.Get("Desc")),
		Area:     max(number(data.Get("Area"), 0), 0),
		AllowFly: flags&flagAllowFly != 0, AllowBuild: flags&flagCreateObjects != 0,
		AllowScripts: flags&flagOtherScripts != 0, DamageEnabled: flags&flagAllowDamage != 0,
		Agent: sequence >= 0,
	}
	if len(bitmap) > 0 {
		p.Bitmap = bitmap
	}
	return p, nil
}
