package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/objects/source/archive"
	"github.com/wipagent/wipagent/objects/world"
)

func smallOAR() []byte {
	return pack(controlFile(1, 256, 256), settingsFile("R", 20), terrainFile("R", 256, 256), parcelFile(1, 512), objectFile(1, "x", 1, 1, 1))
}

func TestLoadRefused(t *testing.T) {
	oar, iar := smallOAR(), pack(file{"archive.xml", "<archive />"}, file{"inventory/x.xml", itemXML(1, "x", "7", "1")})
	packed := compress(oar)
	flipped := bytes.Clone(packed)
	flipped[len(flipped)/2] ^= 0x55
	reader := func(b []byte) io.Reader { return bytes.NewReader(b) }
	for _, test := range []struct {
		name string
		cfg  archive.Config
		want string
	}{
		{"nothing", archive.Config{}, "expected one"},
		{"empty file", archive.Config{OAR: reader(nil)}, "found no entries"},
		{"text", archive.Config{OAR: strings.NewReader(strings.Repeat("hello world ", 100))}, "after entry 0"},
		{"cut off", archive.Config{OAR: reader(oar[:len(oar)/2])}, "expected more"},
		{"cut off in gzip", archive.Config{OAR: reader(packed[:len(packed)/2])}, "expected more"},
		{"damaged gzip", archive.Config{OAR: reader(flipped)}, "after entry"},
		{"gzip of nothing", archive.Config{OAR: reader(compress(nil))}, "found no entries"},
		{"gzip without its end", archive.Config{OAR: reader(packed[:len(packed)-3])}, "expected more"},
		{"gzip header only", archive.Config{OAR: reader(packed[:2])}, "gzip"},
		{"no archive of ours", archive.Config{OAR: reader(pack(file{"README", ""}))}, "expected a region archive"},
		{"no inventory", archive.Config{IAR: reader(pack(file{"README", ""}))}, "expected an inventory archive"},
		{"inventory as region", archive.Config{OAR: reader(iar)}, "found an inventory archive"},
		{"region as inventory", archive.Config{IAR: reader(oar)}, "found a region archive"},
		{"good and bad", archive.Config{OAR: reader(oar), IAR: reader(iar[:1300])}, "IAR: "},
		{"place outside", archive.Config{OAR: reader(oar), At: &[3]float64{257, 1, 1}}, "inside the region of 256 by 256"},
		{"no place", archive.Config{OAR: reader(oar), At: &[3]float64{1, nan(), 1}}, "expected three numbers"},
		{"place in no region", archive.Config{IAR: reader(iar), At: &[3]float64{1, 1, 1}}, "expected one to stand in"},
		{"reader fails", archive.Config{OAR: io.MultiReader(reader(oar[:1024]), failing{})}, "disk on fire"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, s, err := load(t, test.cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "archive: ") {
				t.Fatalf("found %v, expected %q", err, test.want)
			}
			if s != nil {
				t.Error("found a summary beside an error")
			}
			if _, err := w.Fence(); !errors.Is(err, world.ErrNotReady) || w.Stats() != (world.Stats{}) {
				t.Error("the world was touched")
			}
		})
	}
}

// TestTrailingBytes: what follows the archive in its file does no harm.
func TestTrailingBytes(t *testing.T) {
	for _, data := range [][]byte{
		append(compress(smallOAR()), make([]byte, 512)...),
		append(compress(smallOAR()), "goodbye"...),
		append(smallOAR(), make([]byte, 10_240)...),
		append(compress(smallOAR()[:5000]), compress(smallOAR()[5000:])...),
	} {
		mustLoad(t, archive.Config{OAR: bytes.NewReader(data)})
	}
}

func nan() float64 { var zero float64; return zero / zero }

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("disk on fire") }

func TestGeneration(t *testing.T) {
	w := world.New()
	for i, generation := range []uint64{0, 1, 2, 2, 5} {
		_, err := archive.Load(t.Context(), w, &archive.Config{OAR: bytes.NewReader(smallOAR()), Generation: generation})
		if fails := i == 1 || i == 3; (err != nil) != fails {
			t.Errorf("generation %d: found %v", generation, err)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	entries := 0
	w := world.New()
	_, err := archive.Load(ctx, w, &archive.Config{
		OAR: bytes.NewReader(compress(smallOAR())),
		Progress: func(archive.Progress) {
			if entries++; entries == 2 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || entries != 2 {
		t.Errorf("found %v after %d entries, expected %v after 2", err, entries, context.Canceled)
	}
	unread := bytes.NewReader(smallOAR())
	if _, err := archive.Load(ctx, w, &archive.Config{OAR: unread}); !errors.Is(err, context.Canceled) || unread.Len() != int(unread.Size()) {
		t.Errorf("found %v after reading %d bytes, expected %v after none", err, int(unread.Size())-unread.Len(), context.Canceled)
	}
	if w.Stats() != (world.Stats{}) {
		t.Error("the world was touched")
	}
}

func TestProgress(t *testing.T) {
	info, err := os.Stat("testdata/test-region.oar")
	if err != nil {
		t.Fatal(err)
	}
	var steps []archive.Progress
	loadFiles(t, "testdata/test-region.oar", "testdata/test-region.iar", archive.Config{Progress: func(p archive.Progress) { steps = append(steps, p) }})
	last := archive.Progress{}
	files := ""
	for _, p := range steps {
		if p.File != last.File {
			files += p.File
			last = archive.Progress{File: p.File}
		}
		if p.Entries != last.Entries+1 || p.Read < last.Read || p.Read > p.Total {
			t.Fatalf("found %+v after %+v", p, last)
		}
		if p.File == "OAR" && p.Total != info.Size() {
			t.Fatalf("found a total of %d, expected %d", p.Total, info.Size())
		}
		last = p
	}
	if files != "OARIAR" || len(steps) != 63+181 {
		t.Errorf("found %d steps in %s, expected 63 in OAR and 181 in IAR", len(steps), files)
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("x", 3000)
	many := []file{controlFile(1, 256, 256), terrainFile("R", 256, 256)}
	for i := range 20 {
		many = append(many, objectFile(i+1, fmt.Sprintf("%d%s", i, long), 1, 1, 1))
	}
	// Much of nothing, in an entry that no reader looks at.
	bomb := compress(pack(file{"archive.xml", ""}, file{"assets/zeros", strings.Repeat("\x00", 1<<20)}))
	for _, test := range []struct {
		name   string
		limits archive.Limits
		data   []byte
		want   string // an error's words, or a warning's after "warning: "
	}{
		{"entries", archive.DefaultLimits().Entries(3), smallOAR(), "over 3 entries"},
		{"total", archive.DefaultLimits().Total(100_000), compress(smallOAR()), "bytes unpacked"},
		{"total of a plain file", archive.DefaultLimits().Total(100_000), smallOAR(), "bytes unpacked"},
		{"bomb", archive.DefaultLimits().Bomb(512<<10, 100), bomb, "expected at most 100 times"},
		{"no bomb", archive.DefaultLimits().Bomb(128<<10, 100), compress(pack(many...)), ""},
		{"texts", archive.DefaultLimits().Texts(10_000), pack(many...), "warning: or 10000 bytes of text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := world.New()
			s, err := archive.LoadLimited(t.Context(), w, &archive.Config{OAR: bytes.NewReader(test.data)}, test.limits)
			words, warning := strings.CutPrefix(test.want, "warning: ")
			switch {
			case warning && (err != nil || !warned(s, words)):
				t.Fatalf("found %v, %v, expected a warning %q", s, err, words)
			case warning:
				if found, _ := snapshot(t, w).Scene.Objects(1e6); !found.Truncated || len(found.Items) < 2 {
					t.Errorf("found %d objects, truncated %v, expected some, and that it says so", len(found.Items), found.Truncated)
				}
			case words == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), words):
				t.Fatalf("found %v, expected %q", err, words)
			}
		})
	}
}

// TestLongTexts: what is longer than a world keeps is cut on a character.
func TestLongTexts(t *testing.T) {
	f := objectFile(1, "x", 1, 1, 1)
	f.content = strings.Replace(f.content, "<Text>t<", "<Text>"+strings.Repeat("日", 5000)+"<", 1)
	s, _ := loadOAR(t, controlFile(1, 256, 256), terrainFile("R", 256, 256), f)
	found, _ := s.Scene.Objects(1e6)
	if n := len(*found.Items[0].HoverText); n > world.MaxText || n < world.MaxText-3 || strings.ContainsRune(*found.Items[0].HoverText, '\ufffd') {
		t.Errorf("found %d bytes, expected about %d whole characters", n, world.MaxText)
	}
}

func TestManyWarnings(t *testing.T) {
	files := []file{controlFile(1, 256, 256), terrainFile("R", 256, 256)}
	for i := range 300 {
		files = append(files, file{fmt.Sprintf("objects/%s%d.xml", strings.Repeat("y\x1b", 4000), i), "<x/>"})
	}
	_, s := loadOAR(t, files...)
	if s.WarningCount != 300 || len(s.Warnings) != archive.MaxWarnings {
		t.Errorf("found %d warnings of %d, expected %d of 300", len(s.Warnings), s.WarningCount, archive.MaxWarnings)
	}
	if line := s.Warnings[0].String(); len(line) > 600 || strings.ContainsRune(line, '\x1b') {
		t.Errorf("found a line of %d bytes, expected a short one that is safe to print", len(line))
	}
}

// TestStandsStill: everything is as of the time of saving.
func TestStandsStill(t *testing.T) {
	s, summary := loadOAR(t, controlFile(1, 256, 256), terrainFile("R", 256, 256))
	if saved := time.Unix(1_700_000_000, 0); !s.Observed.Equal(saved) || !summary.SavedAt.Equal(saved) {
		t.Errorf("found %v and %v, expected %v", s.Observed, summary.SavedAt, saved)
	}
}

func ExampleLoad() {
	f, err := os.Open("testdata/test-region.oar")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	w := world.New()
	s, err := archive.Load(context.Background(), w, &archive.Config{OAR: f})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Region, s.Objects, "objects", s.WarningCount, "warnings")
	// Output: Test Region 58 objects 0 warnings
}
