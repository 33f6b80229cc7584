package message_test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/objects/source/session/message"
)

var update = flag.Bool("update", false, "write the corpus anew")

// numbers are those that a decoder exists for, in order: a fuzzed byte is an
// index of it.
var numbers = slices.Sorted(maps.Keys(decoders))

// size returns how much memory a value holds, apart from itself.
func size(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Pointer:
		return int(v.Type().Elem().Size()) + size(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			n += size(v.Field(i))
		}
	case reflect.Slice:
		n = v.Cap() * int(v.Type().Elem().Size())
		if k := v.Type().Elem().Kind(); k == reflect.Struct {
			for i := range v.Len() {
				n += size(v.Index(i))
			}
		}
	case reflect.String:
		return v.Len()
	}
	return n
}

// FuzzDecode gives any body to any decoder. It must not panic, hold no more
// memory than the body's size justifies, tell what is wrong as ErrTruncated
// does, and not care what the message held before.
func FuzzDecode(f *testing.F) {
	packets, _ := load(f, captureNames[0])
	added := map[message.Number]int{}
	for _, p := range packets {
		if i, ok := slices.BinarySearch(numbers, p.number); ok && !p.sent && added[p.number] < 5 {
			f.Add(byte(i), p.body)
			added[p.number]++
		}
	}
	reusing := table(true)
	f.Fuzz(func(t *testing.T, selector byte, body []byte) {
		number := numbers[int(selector)%len(numbers)]
		before := bytes.Clone(body)
		fresh, err := decoders[number](body)
		if err != nil && !errors.Is(err, message.ErrTruncated) {
			t.Fatalf("%v: found error %v, expected one that wraps ErrTruncated", number, err)
		}
		if n, most := size(reflect.ValueOf(fresh)), 1<<20*(1+len(body)/1200); n > most {
			t.Fatalf("%v: found %d bytes held for a body of %d, expected at most %d", number, n, len(body), most)
		}
		reused, err2 := reusing[number](body)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%v: found error %v, but %v for a message that held another before", number, err, err2)
		}
		if d := gocmp.Diff(fresh, reused, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); d != "" {
			t.Fatalf("%v: -fresh +reused:\n%s", number, d)
		}
		if !bytes.Equal(before, body) {
			t.Fatalf("%v: the body was changed", number)
		}
	})
}

// TestCorpus checks that the committed corpus is what it is meant to be: of
// each number the shortest and the longest body in the captures.
func TestCorpus(t *testing.T) {
	extremes := map[message.Number][2][]byte{}
	for _, name := range captureNames {
		packets, _ := load(t, name)
		for _, p := range packets {
			if _, ok := decoders[p.number]; !ok || p.sent {
				continue
			}
			e, ok := extremes[p.number]
			if !ok || len(p.body) < len(e[0]) {
				e[0] = p.body
			}
			if !ok || len(p.body) > len(e[1]) {
				e[1] = p.body
			}
			extremes[p.number] = e
		}
	}
	want := map[string]string{}
	for number, e := range extremes {
		i, _ := slices.BinarySearch(numbers, number)
		for k, kind := range []string{"short", "long"} {
			if k == 1 && bytes.Equal(e[0], e[1]) {
				continue
			}
			want[fmt.Sprintf("%v-%s", number, kind)] = fmt.Sprintf("go test fuzz v1\nbyte('\\x%02x')\n[]byte(%q)\n", i, e[k])
		}
	}
	dir := filepath.Join("testdata", "fuzz", "FuzzDecode")
	if *update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s is not as expected (%v); run go test -update", name, err)
		}
	}
}

// TestTruncated cuts real bodies short at every byte. What was whole before
// the cut must be there; the block that the cut goes through may be.
func TestTruncated(t *testing.T) {
	done := map[message.Number]int{}
	for _, name := range captureNames {
		packets, _ := load(t, name)
		packets = slices.Clone(packets)
		slices.SortStableFunc(packets, func(p, q packet) int { return cmp.Compare(len(q.body), len(p.body)) })
		for _, p := range packets {
			decode, ok := decoders[p.number]
			if !ok || p.sent || done[p.number] >= 3 {
				continue
			}
			done[p.number]++
			whole, err := decode(p.body)
			decoding(t, p, err)
			last := 0
			for cut := range len(p.body) + 1 {
				part, err := decode(p.body[:cut])
				if err != nil && !errors.Is(err, message.ErrTruncated) {
					t.Fatalf("%v cut at %d: found error %v", p.number, cut, err)
				}
				n := prefix(t, p.number, part, whole)
				if n < last-1 {
					t.Fatalf("%v cut at %d: found %d blocks, which were %d before", p.number, cut, n, last)
				}
				last = max(last, n)
			}
		}
	}
	if len(done) < 12 {
		t.Errorf("found bodies of %d numbers only", len(done))
	}
}

// prefix checks that the blocks of part are those of whole, but for the last,
// and returns how many there are.
func prefix(t *testing.T, number message.Number, part, whole any) (n int) {
	t.Helper()
	if c, ok := part.(*message.CoarseLocationUpdate); ok { // of two lists
		for i := range c.Locations {
			if c.Locations[i].ID.IsZero() {
				c.Locations[i].ID = whole.(*message.CoarseLocationUpdate).Locations[i].ID
			}
		}
	}
	p, w := reflect.ValueOf(part).Elem(), reflect.ValueOf(whole).Elem()
	for i := range p.NumField() {
		if p.Field(i).Kind() != reflect.Slice {
			continue
		}
		n += p.Field(i).Len()
		if p.Field(i).Len() > w.Field(i).Len() {
			t.Fatalf("%v: found %d blocks, expected at most %d", number, p.Field(i).Len(), w.Field(i).Len())
		}
		if k := p.Field(i).Len() - 2; k >= 0 && !reflect.DeepEqual(p.Field(i).Index(k).Interface(), w.Field(i).Index(k).Interface()) {
			t.Fatalf("%v: found block %d: %+v, expected %+v", number, k, p.Field(i).Index(k), w.Field(i).Index(k))
		}
	}
	return n
}

// TestAllocation gives each decoder datagrams of 1,200 bytes that pretend to
// hold as much as may be.
func TestAllocation(t *testing.T) {
	var before, after runtime.MemStats
	for _, number := range numbers {
		for fill := 0; fill < 256; fill += 3 {
			body := bytes.Repeat([]byte{byte(fill)}, 1200)
			if number == message.NumberLayerData {
				copy(body, wire(uint8('L'), uint16(1197), uint16(0), uint8(16), uint8('L')))
			}
			runtime.ReadMemStats(&before)
			decoders[number](body)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("%v of bytes %#x: found %d bytes allocated", number, fill, n)
			}
		}
	}
}
