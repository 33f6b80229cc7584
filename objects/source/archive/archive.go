// Package archive brings OpenSimulator archives into a world: a region
// archive (OAR) with its objects, parcels, ground and settings, and an
// inventory archive (IAR) with its folders and items.
//
// An archive is a picture of a moment. It holds no avatar, no health, nobody
// who was in touch and no local ID that lasts, so all of that is unknown; the
// time of every observation is the time at which the archive was saved.
// Assets are passed over unread.
//
// Archives come from strangers. Sizes, counts, depths and the total that a
// compressed file may unpack to are bounded, and what is left out is said in
// the [Summary]. Names and texts reach the world raw, with control characters
// and all; cleaning them is the work of whoever shows them.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/source/gridxml"
	"github.com/wipagent/wipagent/objects/world"
)

// Config says what to read. OAR, IAR or both must be given.
type Config struct {
	// OAR and IAR are gzip-compressed or plain tar streams, read once from
	// start to end and not closed. A reader that has a Stat method, as
	// *os.File has, makes [Progress.Total] known.
	OAR, IAR io.Reader
	// Region chooses one region of an archive that holds several, by its
	// UUID, its directory in the archive or its name. Empty is right for an
	// archive of one region; otherwise Load returns a [*RegionError].
	Region string
	// At is where the observer stands, in region metres; nil means the
	// region's centre, on the ground. Nobody is there: the place is marked
	// as assumed.
	At *[3]float64
	// Generation is the session generation to load as; 0 means 1. A world
	// that has seen one already needs a higher one.
	Generation uint64
	// Progress is called from Load's own goroutine after every entry; nil
	// means never.
	Progress func(Progress)
}

// Progress says how far the reading of one archive has come.
type Progress struct {
	File    string // "OAR" or "IAR"
	Read    int64  // bytes of the file read so far
	Total   int64  // bytes of the whole file; 0 if unknown
	Entries int    // entries seen so far
}

// Summary says what was loaded, and what was not and why.
type Summary struct {
	Region   string     // the region's name; empty if unknown
	RegionID world.UUID // zero without a region archive
	SizeX    int        // metres from west to east; 0 without a region archive
	SizeY    int        // metres from south to north
	SavedAt  time.Time  // when the archive was saved; zero if unknown
	Objects  int        // roots: a linkset counts once
	Children int        // prims linked to a root
	Parcels  int
	Terrain  bool // the ground's heights are known
	Folders  int
	Items    int
	Assets   int // asset entries passed over unread
	// Warnings are the first things that were left out or guessed;
	// WarningCount counts them all.
	Warnings     []Warning
	WarningCount int
}

// Warning says that something of an archive was left out or guessed.
type Warning struct {
	// Entry is the name of the tar entry concerned, raw; empty for the
	// archive as a whole.
	Entry   string
	Problem string
}

// String returns a line that is safe to print: the entry's name is quoted
// and cut.
func (w Warning) String() string {
	if w.Entry == "" {
		return w.Problem
	}
	return quote(w.Entry) + ": " + w.Problem
}

// RegionError says that an archive holds several regions and none was chosen,
// or that the chosen one is not there.
type RegionError struct {
	Chosen  string   // what was asked for; empty if nothing was
	Regions []string // directories of the regions in the archive, raw
}

// Error lists the regions that can be chosen.
func (e *RegionError) Error() string {
	const most = 10
	names := make([]string, 0, most)
	for _, r := range e.Regions[:min(most, len(e.Regions))] {
		names = append(names, quote(r))
	}
	if len(e.Regions) > most {
		names = append(names, "…")
	}
	list := strings.Join(names, ", ")
	if e.Chosen == "" {
		return fmt.Sprintf("found %d regions in the archive, expected a choice among %s", len(e.Regions), list)
	}
	return fmt.Sprintf("found no region %s in the archive, expected one of %s", quote(e.Chosen), list)
}

// quote returns hostile text as printable ASCII, at most some 80 bytes of it.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "…"
	}
	return strconv.QuoteToASCII(s)
}

const maxWarnings = 100

// maxTexts bounds the bytes of all names and texts kept of one archive.
const maxTexts = 64 << 20

// loader is what reading gathers before the world hears of any of it, so
// that a failed load leaves the world as it was.
type loader struct {
	cfg     *Config
	limits  limits
	summary Summary
	texts   int // bytes of text kept
}

// Load reads the archives and applies to w the updates of one session that
// has observed them and stands still. The world is untouched if it fails: by
// a damaged or oversize archive, by a choice of region that is missing, or
// because ctx ended, which is looked at whenever the readers are read.
//
// Damage inside one entry costs that entry only and is a warning.
func Load(ctx context.Context, w *world.World, cfg *Config) (*Summary, error) {
	return load(ctx, w, cfg, defaults)
}

func load(ctx context.Context, w *world.World, cfg *Config, lim limits) (*Summary, error) {
	if cfg == nil || cfg.OAR == nil && cfg.IAR == nil {
		return nil, errors.New("archive: found neither a region archive nor an inventory archive, expected one")
	}
	l := &loader{cfg: cfg, limits: lim}
	var r *region
	var inv *inventory
	var err error
	if cfg.OAR != nil {
		if r, err = l.readOAR(ctx, cfg.OAR); err != nil {
			return nil, fmt.Errorf("archive: OAR: %w", err)
		}
	}
	if cfg.IAR != nil {
		if inv, err = l.readIAR(ctx, cfg.IAR); err != nil {
			return nil, fmt.Errorf("archive: IAR: %w", err)
		}
	}
	if cfg.At != nil {
		if err := checkPlace(*cfg.At, r); err != nil {
			return nil, fmt.Errorf("archive: at: %w", err)
		}
	}
	if err := l.apply(w, r, inv); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return &l.summary, nil
}

// checkPlace refuses an observer outside of the region.
func checkPlace(at [3]float64, r *region) error {
	if r == nil {
		return errors.New("found no region archive, expected one to stand in")
	}
	for _, v := range at {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("found %v, expected three numbers", at)
		}
	}
	if at[0] < 0 || at[0] > float64(r.sizeX) || at[1] < 0 || at[1] > float64(r.sizeY) {
		return fmt.Errorf("found %g,%g, expected a place inside the region of %d by %d metres", at[0], at[1], r.sizeX, r.sizeY)
	}
	return nil
}

// warn notes what was left out or guessed.
func (l *loader) warn(entry, format string, args ...any) {
	l.summary.WarningCount++
	if len(l.summary.Warnings) < maxWarnings {
		l.summary.Warnings = append(l.summary.Warnings, Warning{strings.Clone(entry[:min(len(entry), maxName)]), fmt.Sprintf(format, args...)})
	}
}

// text returns a text of an XML entry as it is kept.
func (l *loader) text(s string) string { return l.keep(gridxml.Unescape(s)) }

// keep returns a text bounded, valid and on its own memory.
func (l *loader) keep(s string) string {
	if len(s) > world.MaxText {
		s = s[:world.MaxText]
	}
	s = strings.Clone(strings.ToValidUTF8(s, "\ufffd"))
	l.texts += len(s)
	return s
}

// full reports whether no more text may be kept.
func (l *loader) full() bool { return l.texts > l.limits.texts }

// modTime returns when a file was last written; zero if r is no file.
func modTime(r io.Reader) time.Time {
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}
