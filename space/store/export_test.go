package store

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/wipagent/wipagent/space"
)

var EntryValue = entryValue

// ReadEntry reads an entry alone.
func ReadEntry(key, value []byte) (space.KeptEntry, error) {
	return readEntry(key, value, map[string]string{})
}

// Seal makes the last bytes of value the checksum of the others.
func Seal(key, value []byte) {
	if n := len(value) - 4; n >= 0 {
		binary.LittleEndian.PutUint32(value[n:], crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value[:n]))
	}
}
