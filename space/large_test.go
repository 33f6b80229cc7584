package space_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/store"
	"github.com/wipagent/wipagent/space/wip"
)

const large = 100_000 // entries

const issueDocument = `package tracker;
/// One issue of a project.
interface Issue {
  /// The text that the reporter wrote.
  @read_only read_body() -> string;
  /// Status, labels and who works on it.
  @read_only get_metadata() -> string;
  /// Closes the issue for a reason.
  @mutating @alias("resolve the issue") close(reason: string) -> bool;
}
/// Issues that belong together.
interface Project {
  /// Finds issues by their words.
  @read_only search(query: string) -> string;
}
`

// largeTree is a tracker: 100 projects of 1,000 issues.
func largeTree() wip.Tree {
	subjects := []string{"login", "upload", "search page", "invoice", "calendar", "printer", "export", "keyboard", "translation", "backup"}
	faults := []string{"crashes on start", "is slow", "shows a blank page", "loses the last line", "ignores the time zone", "needs a better message", "fails without network"}
	root := wip.Tree{Entry: folder("/", "Tracker")}
	for i := range 100 {
		project := wip.Tree{Entry: object(fmt.Sprintf("/project-%d", i), fmt.Sprintf("Project %d", i), "tracker.wip", "Project")}
		for j := range large/100 - 1 {
			e := object(fmt.Sprintf("/project-%d/issue-%d", i, j), fmt.Sprintf("The %s %s (%d)", subjects[(i+j)%len(subjects)], faults[(i*j)%len(faults)], j), "tracker.wip", "Issue")
			e.Summary = "Reported by somebody who uses it each day and would like to know."
			e.Tag = fmt.Sprintf("t%d-%d", i, j)
			project.Children = append(project.Children, wip.Tree{Entry: e})
		}
		root.Children = append(root.Children, project)
	}
	return root
}

// bulk is a Host with one large tree, of which ten entries change each time.
type bulk struct {
	*host
	tree  wip.Tree
	count atomic.Int64
	still bool // nothing changes
}

func newBulk() *bulk {
	return &bulk{host: newHost(map[string]string{"tracker.wip": issueDocument}), tree: largeTree()}
}

func (h *bulk) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) { return h.tree, nil }

func (h *bulk) FetchTreeSince(_ context.Context, _ wip.Caller, _, tag string) (wip.Change, error) {
	if tag == "" {
		return wip.Change{Tag: "0", Whole: &h.tree}, nil
	}
	if h.still {
		return wip.Change{Tag: tag}, nil
	}
	n := h.count.Add(1)
	c := wip.Change{Tag: fmt.Sprint(n)}
	for i := range 10 {
		e := h.tree.Children[i].Children[n%900].Entry
		e.Title = fmt.Sprintf("%s, change %d", e.Title, n)
		c.Replaced = append(c.Replaced, wip.Tree{Entry: e})
	}
	return c, nil
}

var largeMount = &space.MountOptions{MaxEntries: large + 1, Identity: "large"}

func largeSpace(b testing.TB, h wip.Host, kept space.Store) *space.Space {
	b.Helper()
	s := space.New(&space.Config{Store: kept})
	mount(b, s, "/tracker", h, largeMount)
	refresh(b, s)
	return s
}

func openStore(b testing.TB) *store.Store {
	b.Helper()
	kept, err := store.Open(filepath.Join(b.TempDir(), "known.db"), store.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { kept.Close() })
	return kept
}

// BenchmarkLargeSearch searches 100,000 entries with 300,000 operations.
func BenchmarkLargeSearch(b *testing.B) {
	s := largeSpace(b, newBulk(), nil)
	v := s.View(all)
	for _, q := range []struct{ name, scope, query string }{
		{"operation", "/", "close an issue"},
		{"title", "/", "the invoice loses the last line"},
		{"one", "/", "Project 42"},
		{"typos", "/", "prnter ignors time zoen"},
		{"scope", "/tracker/project-7", "calendar is slow"},
		{"nothing", "/", "cheap flights to Lisbon in August"},
		{"map", "/", ""},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Search(b.Context(), q.scope, q.query)
			}
		})
	}
}

// BenchmarkVariedSearch searches as many entries of which no two say the same: their
// titles and summaries are of all lengths, of words as frequent as words are.
func BenchmarkVariedSearch(b *testing.B) {
	h := newBulk()
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 4, 50_000)
	text := func(least, most int) string {
		var words []string
		for range least + random.IntN(most-least) {
			words = append(words, varied(int(zipf.Uint64())))
		}
		return strings.Join(words, " ")
	}
	for i := range h.tree.Children {
		for j := range h.tree.Children[i].Children {
			e := &h.tree.Children[i].Children[j].Entry
			e.Title, e.Summary = text(3, 12), text(5, 40)
		}
	}
	before := heap()
	s := largeSpace(b, h, nil)
	tree := heap()
	v := s.View(all)
	b.Logf("%d bytes an entry, and %d of the index", (tree-before)/large, (heap()-tree)/large)
	for _, q := range []struct {
		name  string
		words []int
	}{{"frequent", []int{0, 1, 2, 3, 4, 5}}, {"mixed", []int{0, 9, 80, 700, 6000}}, {"rare", []int{900, 5000, 20_000}}} {
		var words []string
		for _, w := range q.words {
			words = append(words, varied(w))
		}
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Search(b.Context(), "/", strings.Join(words, " "))
			}
		})
	}
}

// varied is a word of its own for each number.
func varied(n int) string {
	syllables := []string{"ba", "ko", "li", "mu", "ne", "po", "ra", "so", "ti", "vu", "xa", "zo", "dri", "fla", "gro", "sto"}
	word := "qu"
	for range 4 {
		word += syllables[n%16]
		n /= 16
	}
	return word
}

// BenchmarkLargeView finds the View of an audience of which there is one.
func BenchmarkLargeView(b *testing.B) {
	s := largeSpace(b, newBulk(), nil)
	b.ReportAllocs()
	for b.Loop() {
		s.View(all)
	}
}

// BenchmarkLargeIndex builds the index over 100,000 entries.
func BenchmarkLargeIndex(b *testing.B) {
	s := largeSpace(b, newBulk(), nil)
	candidates := s.View(all).Candidates()
	b.ReportAllocs()
	for b.Loop() {
		space.Words{}.Index(candidates, nil)
	}
}

// BenchmarkLargeFirst makes a Space of a whole tree.
func BenchmarkLargeFirst(b *testing.B) {
	h := newBulk()
	b.ReportAllocs()
	for b.Loop() {
		largeSpace(b, h, nil)
	}
}

// BenchmarkLargeChange merges a change of ten entries, and one of none.
func BenchmarkLargeChange(b *testing.B) {
	for name, still := range map[string]bool{"ten": false, "none": true} {
		b.Run(name, func(b *testing.B) {
			h := newBulk()
			h.still = still
			s := largeSpace(b, h, nil)
			b.ReportAllocs()
			for b.Loop() {
				refresh(b, s)
			}
		})
	}
}

// BenchmarkLargeAfter makes the View, for the first search after a change of ten
// entries.
func BenchmarkLargeAfter(b *testing.B) {
	s := largeSpace(b, newBulk(), nil)
	s.View(all)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		refresh(b, s)
		b.StartTimer()
		s.View(all)
	}
}

// BenchmarkLargeKeep writes a tree to the file, and a change of ten entries.
func BenchmarkLargeKeep(b *testing.B) {
	b.Run("whole", func(b *testing.B) {
		tree := keptTree(b)
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			kept := openStore(b)
			b.StartTimer()
			if err := kept.KeepTree(space.Place{Path: "/tracker"}, tree); err != nil {
				b.Fatal(err)
			}
			if err := kept.Sync(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(large*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
	})
	b.Run("change", func(b *testing.B) {
		kept := openStore(b)
		s := largeSpace(b, newBulk(), kept)
		b.ReportAllocs()
		for b.Loop() {
			refresh(b, s)
			if err := kept.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// keptTree is what a Space gives a Store of the large tree.
func keptTree(b testing.TB) *space.TreeChange {
	b.Helper()
	h := &handed{memory: newMemory()}
	largeSpace(b, newBulk(), h)
	return h.change
}

// handed remembers what it was last given.
type handed struct {
	*memory
	change *space.TreeChange
}

func (h *handed) KeepTree(_ space.Place, c *space.TreeChange) error {
	h.change = c
	return nil
}

// BenchmarkLargeRestore makes a Space of what the file has.
func BenchmarkLargeRestore(b *testing.B) {
	kept := openStore(b)
	h := newBulk()
	largeSpace(b, h, kept)
	if err := kept.Sync(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		mount(b, space.New(&space.Config{Store: kept}), "/tracker", h, largeMount)
	}
}

// BenchmarkLargeMemory tells how many bytes a Space of 100,000 entries holds,
// and how many its View and index add.
func BenchmarkLargeMemory(b *testing.B) {
	h := newBulk()
	for b.Loop() {
		before := heap()
		s := largeSpace(b, h, nil)
		tree := heap()
		v := s.View(all)
		view := heap()
		b.ReportMetric(float64(tree-before)/large, "tree-B/entry")
		b.ReportMetric(float64(view-tree)/large, "view-B/entry")
		runtime.KeepAlive(s)
		runtime.KeepAlive(v)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
