package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// A value is a row of numbers and texts, then a checksum of the key and the
// row. Numbers are varints; a text is its length and its bytes.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged says that a value is not what was written.
var errDamaged = errors.New("found a damaged value")

// sealed adds the checksum to a row.
func sealed(key, row []byte) []byte {
	return binary.LittleEndian.AppendUint32(row, crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, row))
}

// opened returns the row of a value.
func opened(key, value []byte) (*reader, error) {
	if len(value) < 4 {
		return nil, errDamaged
	}
	row, sum := value[:len(value)-4], binary.LittleEndian.Uint32(value[len(value)-4:])
	if crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, row) != sum {
		return nil, errDamaged
	}
	return &reader{rest: row}, nil
}

func appendText(row []byte, s string) []byte {
	return append(binary.AppendUvarint(row, uint64(len(s))), s...)
}

// appendTime writes the zero time as 0.
func appendTime(row []byte, t time.Time) []byte { return binary.AppendVarint(row, nanos(t)) }

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// reader reads a row. After an error it returns zero values.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	return n * r.step(size)
}

func (r *reader) time() time.Time {
	n, size := binary.Varint(r.rest)
	if n *= int64(r.step(size)); n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// step goes on by the size of a number, and returns 0 if there is none.
func (r *reader) step(size int) uint64 {
	if size <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return 1
}

func (r *reader) text() string {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

// end reports whether the row was read to its end and nothing was missing.
func (r *reader) end() bool { return !r.bad && len(r.rest) == 0 }

// What an entry has, as bits of a number.
const (
	isIndexable = 1 << iota
	hasObject
)

// entryValue writes an entry, but for its path, which is the key.
func entryValue(key []byte, e *space.KeptEntry) []byte {
	flags := uint64(0)
	if e.Indexable {
		flags |= isIndexable
	}
	if e.Object != nil {
		flags |= hasObject
	}
	row := binary.AppendUvarint(make([]byte, 0, 64+len(e.Title)+len(e.Summary)), flags)
	row = appendTime(row, e.Seen)
	row = appendText(appendText(appendText(row, e.Title), e.Summary), e.Tag)
	if e.Object != nil {
		row = appendText(row, e.Object.ID)
		for _, ref := range e.Object.Interfaces {
			row = appendText(appendText(appendText(row, ref.Document), ref.Interface), ref.SHA256)
		}
	}
	return sealed(key, row)
}

// readEntry reads what entryValue has written. Equal names of interfaces and
// documents are stored once in names.
func readEntry(key, value []byte, names map[string]string) (space.KeptEntry, error) {
	r, err := opened(key, value)
	if err != nil {
		return space.KeptEntry{}, err
	}
	flags := r.number()
	e := space.KeptEntry{Seen: r.time()}
	e.Path, e.Indexable = string(key), flags&isIndexable != 0
	e.Title, e.Summary, e.Tag = r.text(), r.text(), r.text()
	if flags&hasObject != 0 {
		e.Object = &wip.Object{ID: r.text()}
		for !r.bad && len(r.rest) > 0 {
			e.Object.Interfaces = append(e.Object.Interfaces, wip.InterfaceRef{
				Document: r.shared(names), Interface: r.shared(names), SHA256: r.shared(names),
			})
		}
	}
	if !r.end() || flags >= 2*hasObject {
		return space.KeptEntry{}, errDamaged
	}
	return e, nil
}

// shared is text for what many entries have.
func (r *reader) shared(names map[string]string) string {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > uint64(len(r.rest)-size) {
		return r.text() // which marks it
	}
	if s, ok := names[string(r.rest[size:size+int(n)])]; ok {
		r.rest = r.rest[size+int(n):]
		return s
	}
	s := r.text()
	names[s] = s
	return s
}

// about is what a shelf says of itself.
type about struct {
	identity string    // the digest of the Host's
	tag      string    // of the tree
	seen     time.Time // of the tree
	used     time.Time // when something was last put here
}

func (a *about) value(key []byte) []byte {
	row := appendText(appendText(nil, a.identity), a.tag)
	return sealed(key, appendTime(appendTime(row, a.seen), a.used))
}

func readAbout(key, value []byte) (about, error) {
	r, err := opened(key, value)
	if err != nil {
		return about{}, err
	}
	a := about{identity: r.text(), tag: r.text(), seen: r.time(), used: r.time()}
	if !r.end() {
		return about{}, errDamaged
	}
	return a, nil
}

// documentValue writes the text of a document and how many names it has.
func documentValue(key []byte, names uint64, text []byte) []byte {
	return sealed(key, append(binary.AppendUvarint(make([]byte, 0, len(text)+14), names), text...))
}

// readDocument reads what documentValue has written. The text is a part of value.
func readDocument(key, value []byte) (names uint64, text []byte, err error) {
	r, err := opened(key, value)
	if err != nil {
		return 0, nil, err
	}
	if names = r.number(); r.bad || names == 0 {
		return 0, nil, errDamaged
	}
	return names, r.rest, nil
}
