package space

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// drawMap writes what there is among entries, in the order of paths: a line
// for each mount, and below it a line for the entries of one folder that have
// the same operations. Such a line gives paths from the mount on, as
// "  /lights: list_lights set_color". A mount whose Host does not answer says so.
//
// Where there is no room for all of it, lines that have nothing to do with the
// query name fewer operations, then lines are shortened and left out, the least
// relevant first. The map says so.
func drawMap(sc *scores) string {
	lines := mapLines(sc)
	order := slices.Clone(lines)
	slices.SortStableFunc(order, func(a, b *mapLine) int { return cmp.Compare(b.value, a.value) })
	for _, most := range []int{math.MaxInt, 10, 8, 7, 6, 5, 4, 3, 2} {
		if fits(order, maxMap, most) {
			return draw(lines)
		}
	}
	const cut = "\n(The map is cut: %d more entries. A narrower scope shows them.)"
	place(order, maxMap-len(cut)-len(strconv.Itoa(sc.to-sc.from)), 2)
	missing := 0
	for _, l := range lines {
		if !l.drawn && len(l.names) > 0 {
			missing += l.count
		}
	}
	text := draw(lines)
	if missing > 0 {
		text += fmt.Sprintf(cut, missing)
	}
	return text
}

// mapLine is one line of a map.
type mapLine struct {
	mount   *mapLine     // the line of the mount that the paths start from; nil if there is none
	entries []*Candidate // the first few
	count   int          // of entries
	value   float64      // relevance to the query; a mount has that of its best line
	names   []mapName
	lengths []int  // of the most relevant names, by how many
	long    string // the entries' paths and, for a mount, its title
	short   string // the entries' paths from the mount on

	drawn bool
	shown int // operations that are named
}

// mapName is an operation on a line.
type mapName struct {
	name  string
	value float64
	old   bool // deprecated
	rank  int  // by value, deprecated ones last; 0 is best
}

// mapLines groups entries into lines, in the order of their first paths.
func mapLines(sc *scores) []*mapLine {
	type kindOf struct{ kind, first int32 }
	v := sc.view
	var kinds []kindOf
	ends := map[int32]int{} // how many of a kind are before the scope's end
	for kind, entries := range v.kinds {
		from, _ := slices.BinarySearch(entries, int32(sc.from))
		to, _ := slices.BinarySearch(entries, int32(sc.to))
		if from < to {
			kinds, ends[int32(kind)] = append(kinds, kindOf{int32(kind), int32(from)}), to
		}
	}
	slices.SortFunc(kinds, func(a, b kindOf) int { return cmp.Compare(v.kinds[a.kind][a.first], v.kinds[b.kind][b.first]) })
	lines := make([]*mapLine, 0, len(kinds))
	byKind := make(map[int32]*mapLine, len(kinds))
	mounts := map[*Mount]*mapLine{}
	for _, k := range kinds {
		of := v.kinds[k.kind][k.first:ends[k.kind]]
		l := &mapLine{count: len(of)}
		for _, i := range of[:min(len(of), mapShown)] {
			l.entries = append(l.entries, &v.candidates[i])
		}
		first := l.entries[0]
		l.names = make([]mapName, len(first.Operations))
		for i, op := range first.Operations {
			l.names[i].name, l.names[i].old = op.Name, op.Operation.Deprecated != ""
		}
		if isMount(first.Node) {
			mounts[first.Node.Mount] = l
		} else {
			l.mount = mounts[first.Node.Mount]
		}
		lines, byKind[k.kind] = append(lines, l), l
	}
	last := make([]int32, len(sc.fits)) // by Fit: 1 more than the latest kind of which it is
	for i, n := range sc.of {
		if n == 0 {
			continue
		}
		kind := v.kind[sc.from+i]
		if last[n-1] == kind+1 {
			continue
		}
		last[n-1] = kind + 1
		if l := byKind[kind]; l != nil { // folders show in the paths below them
			l.take(sc.fit(n))
		}
	}
	for _, l := range lines {
		l.measure()
	}
	return lines
}

// take counts how well some of a line's entries fit.
func (l *mapLine) take(f *Fit) {
	l.value = max(l.value, f.Entry.Value)
	for k := range l.names {
		value := f.operation(k).Value
		l.value = max(l.value, value)
		l.names[k].value = max(l.names[k].value, value)
	}
	if l.mount != nil {
		l.mount.value = max(l.mount.value, l.value)
	}
}

// mapShown is how many entries a line names.
const mapShown = 3

// measure prepares what is wanted several times: the names' ranks and the sums
// of their lengths, and the list of entries.
func (l *mapLine) measure() {
	rest := ""
	for _, e := range l.entries[1:] {
		rest += ", " + e.Node.Path[strings.LastIndexByte(e.Node.Path, '/')+1:]
	}
	if more := l.count - mapShown; more > 0 {
		rest += " and " + strconv.Itoa(more) + " more"
	}
	first := l.entries[0]
	l.long, l.short = first.Node.Path+rest, "  "+first.Node.HostPath+rest
	title := first.Node.Title
	if m := first.Node.Mount; m != nil && !m.Trusted { // its Host's own might read like a line or a mark of the map
		title = m.Title
	}
	if isMount(first.Node) && title != "" && !strings.EqualFold("/"+title, first.Node.Path) {
		l.long = first.Node.Path + " (" + title + ")"
	}
	if m := first.Node.Mount; m != nil && !m.Available() {
		l.long += " (unavailable)"
	}
	order := make([]int, len(l.names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return ranked(l.names[a].old, l.names[b].old, Score{Value: l.names[a].value}, Score{Value: l.names[b].value})
	})
	l.lengths = make([]int, len(l.names)+1)
	for rank, i := range order {
		l.names[i].rank = rank
		l.lengths[rank+1] = l.lengths[rank] + len(" ") + len(l.names[i].name)
	}
}

// wanted is how many operations a line should name if a line of no relevance
// names no more than most.
func (l *mapLine) wanted(best float64, most int) int {
	if l.value == 0 || l.value < worst*best {
		return min(len(l.names), most)
	}
	return len(l.names)
}

// size is the line's length with so many operations.
func (l *mapLine) size(shown int) int {
	size := len(l.head()) + len("\n") + l.lengths[shown]
	if len(l.names) > 0 {
		size += len(":")
	}
	if shown < len(l.names) {
		size += len(" (+)") + len(strconv.Itoa(len(l.names)-shown))
	}
	return size
}

// fits gives each line the names that it should have, and reports whether there
// is room for them all.
func fits(order []*mapLine, room, most int) bool {
	for _, l := range order {
		l.drawn, l.shown = true, l.wanted(order[0].value, most)
		if room -= l.size(l.shown); room < 0 {
			return false
		}
	}
	return true
}

// place gives each line in turn as many of the names that it should have as
// there is room for.
func place(order []*mapLine, room, most int) {
	for _, l := range order {
		l.drawn = false
		wanted := l.wanted(order[0].value, most)
		for _, shown := range []int{wanted, min(wanted, 8), min(wanted, 3), min(wanted, 1)} {
			if size := l.size(shown); size <= room {
				l.drawn, l.shown = true, shown
				room -= size
				break
			}
		}
	}
}

// head returns the paths on a line, from the mount on if its line is there.
func (l *mapLine) head() string {
	if l.mount != nil && l.mount.drawn {
		return l.short
	}
	return l.long
}

// more says how many operations are not named.
func (l *mapLine) more(shown int) string { return " (+" + strconv.Itoa(len(l.names)-shown) + ")" }

// draw writes the lines for which there is room, names in declared order.
func draw(lines []*mapLine) string {
	var b strings.Builder
	for _, l := range lines {
		if !l.drawn {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.head())
		if len(l.names) > 0 {
			b.WriteByte(':')
		}
		for _, n := range l.names {
			if n.rank < l.shown {
				b.WriteString(" " + n.name)
			}
		}
		if l.shown < len(l.names) {
			b.WriteString(l.more(l.shown))
		}
	}
	return b.String()
}
