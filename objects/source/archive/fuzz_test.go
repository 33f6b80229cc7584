package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/wipagent/wipagent/objects/source/archive"
	"github.com/wipagent/wipagent/objects/world"
)

// seeds are small archives with one of each thing in them.
func oarSeeds() [][]byte {
	part := partXML(9, "child", "<OffsetPosition><X>1</X><Y>0</Y><Z>0</Z></OffsetPosition><RotationOffset><X>0</X><Y>0</Y><Z>1</Z><W>0</W></RotationOffset>")
	return [][]byte{
		pack(controlFile(1, 16, 16), settingsFile("R", 20), terrainFile("R", 16, 16), parcelFile(1, 2),
			objectFile(1, "x\x1b<b>/&", 1, 2, 3), objectFile(2, strings.Repeat("L", 120), 1e30, -1, math.NaN()),
			file{"objects/y.xml", "<SceneObjectGroup>" + partXML(8, "root", at(3, 4, 5)) + "<OtherParts>" + part + "</OtherParts></SceneObjectGroup>"},
			file{"assets/x", "xyz"}),
		pack(file{"archive.xml", twoRegions}, file{"regions/1_1_North_Bay/" + objectFile(1, "x", 1, 1, 1).name, objectFile(1, "x", 1, 1, 1).content}),
		pack(controlFile(1, 512, 256), parcelFile(1, 512), file{"settings/R.xml", ""}),
	}
}

func iarSeeds() [][]byte {
	return [][]byte{
		pack(file{"archive.xml", "<archive />"}, file{"inventory/A&#47;B__" + uid(1) + "/", ""}, file{"inventory/A&#47;B__" + uid(1) + "/x__" + uid(2) + ".xml", itemXML(2, "x\x01", "24", "-1")},
			file{"inventory/" + strings.Repeat("deep__"+uid(3)+"/", 3) + "x.xml", itemXML(4, strings.Repeat("L", 100), "3", "2147483647")}, file{"assets/x", "xyz"}),
		pack(file{"inventory/__/__.xml", itemXML(5, "", "", "")}),
	}
}

// survive loads bytes as an archive, whatever they are, and checks what holds
// of any result.
func survive(t *testing.T, data []byte, isIAR bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cfg := &archive.Config{OAR: bytes.NewReader(data), Region: ""}
	if isIAR {
		cfg = &archive.Config{IAR: bytes.NewReader(data)}
	}
	w := world.New()
	s, err := archive.Load(ctx, w, cfg)
	if err != nil {
		if ctx.Err() != nil {
			t.Fatal("reading took over 20 s")
		}
		printable(t, err.Error())
		if w.Stats() != (world.Stats{}) {
			t.Error("the world was touched by a load that failed")
		}
		return
	}
	for _, warning := range s.Warnings {
		printable(t, warning.String())
	}
	snap, err := w.Capture(ctx)
	if err != nil {
		t.Fatal(err)
	}
	objects, _ := snap.Scene.Objects(1e9)
	items, _ := snap.Belongings.Search("")
	if len(objects.Items) > s.Objects || len(items.Items) > s.Items || s.Objects+s.Children > world.MaxObjects {
		t.Errorf("found %d objects and %d items in the world, %+v in the summary", len(objects.Items), len(items.Items), s)
	}
	if _, ok := snap.Scene.Avatars(1e9); ok || snap.Health != nil || snap.Scene.Agent.Known {
		t.Error("an archive knows of avatars")
	}
	for _, o := range objects.Items {
		if p := o.Place; p.Known && !p.Vec3.Finite() {
			t.Errorf("found %v, expected a place or none", p)
		}
	}
}

// printable makes sure that no text of an archive reaches a terminal raw.
func printable(t *testing.T, s string) {
	t.Helper()
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) || len(s) > 2_000 {
		t.Errorf("found %q, expected a short line that is safe to print", s)
	}
}

func FuzzOAR(f *testing.F) {
	for _, s := range oarSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) { survive(t, data, false) })
}

func FuzzIAR(f *testing.F) {
	for _, s := range iarSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) { survive(t, data, true) })
}

// TestMutations loads archives that were changed below the compression. The
// environment variable WIPAGENT_MUTATIONS says how many.
func TestMutations(t *testing.T) {
	n := 200
	if v := os.Getenv("WIPAGENT_MUTATIONS"); v != "" {
		var err error
		if n, err = strconv.Atoi(v); err != nil {
			t.Fatalf("WIPAGENT_MUTATIONS: %v", err)
		}
		// Archives are larger than what else is mutated: a tenth will do.
		n = min(n, max(200, n/10))
	}
	type base struct {
		data []byte
		iar  bool
	}
	bases := []base{{unpackFile(t, "testdata/test-region.oar"), false}, {unpackFile(t, "testdata/test-region.iar"), true}}
	for _, s := range oarSeeds() {
		bases = append(bases, base{s, false})
	}
	for _, s := range iarSeeds() {
		bases = append(bases, base{s, true})
	}
	var before, after runtime.MemStats
	for i := range n {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		b := bases[2+r.IntN(len(bases)-2)]
		if r.IntN(10) == 0 {
			b = bases[r.IntN(2)] // a whole region takes time
		}
		data := mutate(r, bytes.Clone(b.data))
		runtime.ReadMemStats(&before)
		start := time.Now()
		survive(t, data, b.iar)
		runtime.ReadMemStats(&after)
		// All that was ever allocated, most of it garbage at once.
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20+100*uint64(len(data)) {
			t.Errorf("mutation %d of %d bytes: allocated %d bytes", i, len(data), used)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("mutation %d: took %v", i, took)
		}
		if t.Failed() {
			t.Fatalf("mutation %d failed", i)
		}
	}
}

func unpackFile(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

const block = 512

// snippets are what trips readers of XML, of tar and of numbers.
var snippets = []string{
	"&#x1b;", "&#xD800;", "&#xFFFE;", "&bomb;", "<![CDATA[", "]]>", "<!--", "-->", "<!DOCTYPE a [<!ENTITY b \"cccc\">]>", "<a>", "</a>", "<SceneObjectPart>",
	"</SceneObjectGroup>", "\x00", "\xff\xfe", "\ufeff", "\U0010FFFD", "NaN", "Infinity", "-1", "99999999999999999999", "1e999", "0x7f", "/", "../", "__", "&amp;#47;",
	"inventory/", "regions/a/", "assets/", "archive.xml", "<region><dir>a</dir></region>", "<size_in_meters>8192,8192</size_in_meters>", "<PCode>47</PCode>",
}

// mutate changes an archive in a few places, and repairs the checksums of its
// headers half of the time, so that the changes get past them.
func mutate(r *rand.Rand, b []byte) []byte {
	for range 1 + r.IntN(8) {
		if len(b) < block {
			break
		}
		i := r.IntN(len(b))
		switch r.IntN(9) {
		case 0:
			b[i] ^= 1 << r.IntN(8)
		case 1:
			b[i] = byte(r.IntN(256))
		case 2: // over what is there
			copy(b[i:], snippets[r.IntN(len(snippets))])
		case 3: // in between, which shifts all blocks that follow
			b = append(b[:i:i], append([]byte(snippets[r.IntN(len(snippets))]), b[i:]...)...)
		case 4:
			b = b[:i]
		case 5: // a block of its own once more, or moved
			from, to := i/block*block, r.IntN(len(b))/block*block
			copy(b[to:], bytes.Clone(b[from:min(from+block, len(b))]))
		case 6: // blocks gone
			from := i / block * block
			b = append(b[:from], b[min(len(b), from+block*(1+r.IntN(4))):]...)
		case 7: // a long run of one byte
			for j := i; j < min(len(b), i+r.IntN(4*block)); j++ {
				b[j] = b[i]
			}
		case 8: // in a header: the size or the type
			h := i / block * block
			if h+block <= len(b) {
				copy(b[h+124:h+136], fmt.Sprintf("%011o\x00", r.Uint64N(1<<uint(1+r.IntN(32)))))
				b[h+156] = "0257LKgxS"[r.IntN(9)]
			}
		}
	}
	if r.IntN(2) == 0 {
		repair(b)
	}
	return b
}

// repair writes the right checksum into every block that has one, or may have.
func repair(b []byte) {
	for h := 0; h+block <= len(b); h += block {
		field := b[h+148 : h+156]
		if b[h] == 0 || strings.Trim(string(field), "01234567 \x00") != "" {
			continue
		}
		copy(field, "        ")
		sum := 0
		for _, c := range b[h : h+block] {
			sum += int(c)
		}
		copy(field, fmt.Sprintf("%06o\x00 ", sum))
	}
}

func BenchmarkLoad(b *testing.B) {
	oar, err := os.ReadFile("testdata/test-region.oar")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(unpackFile(b, "testdata/test-region.oar"))))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := archive.Load(context.Background(), world.New(), &archive.Config{OAR: bytes.NewReader(oar)}); err != nil {
			b.Fatal(err)
		}
	}
}
