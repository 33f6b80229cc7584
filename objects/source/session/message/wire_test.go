package message_test

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/wipagent/wipagent/objects/world"
)

// Fields of variable length, with a length of so many bytes before them.
type (
	v1 string
	v2 string
	v4 string
)

// wire lays out values one after the other as a message has them. An int is so
// many bytes of no interest, which are not zero.
func wire(values ...any) (b []byte) {
	le := binary.LittleEndian
	for _, v := range values {
		switch v := v.(type) {
		case int:
			for range v {
				b = append(b, 0xA5)
			}
		case uint8:
			b = append(b, v)
		case int8:
			b = append(b, byte(v))
		case uint16:
			b = le.AppendUint16(b, v)
		case int16:
			b = le.AppendUint16(b, uint16(v))
		case uint32:
			b = le.AppendUint32(b, v)
		case int32:
			b = le.AppendUint32(b, uint32(v))
		case uint64:
			b = le.AppendUint64(b, v)
		case float32:
			b = le.AppendUint32(b, math.Float32bits(v))
		case world.Vec3:
			b = append(b, wire(float32(v.X), float32(v.Y), float32(v.Z))...)
		case world.Quat: // without W
			b = append(b, wire(float32(v.X), float32(v.Y), float32(v.Z))...)
		case world.UUID:
			b = append(b, v[:]...)
		case v1:
			b = append(append(b, byte(len(v))), v...)
		case v2:
			b = append(le.AppendUint16(b, uint16(len(v))), v...)
		case v4:
			b = append(le.AppendUint32(b, uint32(len(v))), v...)
		case string:
			b = append(b, v...)
		case []byte:
			b = append(b, v...)
		default:
			panic(fmt.Sprintf("wire: %T", v))
		}
	}
	return b
}

// id returns a UUID of nothing but n.
func id(n byte) (u world.UUID) {
	for i := range u {
		u[i] = n
	}
	return u
}
