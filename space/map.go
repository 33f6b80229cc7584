package space

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// drawMap writes what there is among entries, most relevant first as long as
// there is room, in the order of paths: a line for each mount, and a line for
// the entries of one folder that have the same operations.
func drawMap(entries []*viewEntry, scores []Score) string {
	lines := mapLines(entries, scores)
	order := slices.Clone(lines)
	slices.SortStableFunc(order, func(a, b *mapLine) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.depth, b.depth))
	})
	room := maxMap - len(fmt.Sprintf(mapCut, len(entries)))
	cut := 0
	for _, l := range order {
		for _, text := range l.versions() {
			if len(text)+1 <= room {
				l.text = text
				room -= len(text) + 1
				break
			}
		}
		if l.text == "" {
			cut += len(l.entries)
		}
	}
	var b strings.Builder
	for _, l := range lines {
		if l.text != "" {
			b.WriteString(l.text + "\n")
		}
	}
	if cut > 0 {
		fmt.Fprintf(&b, mapCut, cut)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

const mapCut = "(The map is cut: %d more entries. Use a narrower scope to see them.)"

// mapLine is one line of a map.
type mapLine struct {
	entries    []*viewEntry
	operations []rankedOp
	value      float64 // relevance to the query
	depth      int
	text       string // as drawn; empty if there was no room
}

// mapLines groups entries into lines, in the order of their first paths.
func mapLines(entries []*viewEntry, scores []Score) []*mapLine {
	var lines []*mapLine
	byKind := map[string]*mapLine{}
	for _, e := range entries {
		n := e.node
		if len(e.operations) == 0 && (n.Mount == nil || n.Mount.Path != n.Path) {
			continue // folders show in the paths below them
		}
		var kind strings.Builder
		kind.WriteString(parent(n.Path))
		for _, op := range e.operations {
			kind.WriteString("\n" + op.Name)
		}
		l := byKind[kind.String()]
		if l == nil || len(e.operations) == 0 {
			l = &mapLine{depth: strings.Count(n.Path, "/")}
			byKind[kind.String()] = l
			lines = append(lines, l)
			for _, op := range e.operations {
				l.operations = append(l.operations, rankedOp{op: op})
			}
		}
		l.entries = append(l.entries, e)
		l.value = max(l.value, scores[e.candidate].Value)
		for i := range e.operations {
			s := scores[e.candidate+1+i]
			l.value = max(l.value, s.Value)
			if s.Value > l.operations[i].score.Value {
				l.operations[i].score = s
			}
		}
	}
	return lines
}

// versions returns the line's text in full and, for want of room, shorter and
// shorter.
func (l *mapLine) versions() []string {
	n := l.entries[0].node
	head := n.Path
	if n.Mount != nil && n.Path == n.Mount.Path && n.Title != "" {
		head += " (" + n.Title + ")"
	}
	if len(l.operations) == 0 {
		return []string{head, n.Path}
	}
	const shown = 3
	if len(l.entries) > 1 {
		for _, e := range l.entries[1:min(len(l.entries), shown)] {
			head += ", " + e.node.Path[strings.LastIndexByte(e.node.Path, '/')+1:]
		}
		if more := len(l.entries) - shown; more > 0 {
			head += fmt.Sprintf(" and %d more", more)
		}
	}
	versions := []string{head + ": " + l.names(len(l.operations))}
	for _, most := range []int{8, 3, 1} {
		if most < len(l.operations) {
			versions = append(versions, fmt.Sprintf("%s: %s (+%d)", head, l.names(most), len(l.operations)-most))
		}
	}
	return versions
}

// names lists the most relevant operations, in declared order.
func (l *mapLine) names(most int) string {
	order := slices.Clone(l.operations)
	slices.SortStableFunc(order, func(a, b rankedOp) int { return cmp.Compare(b.score.Value, a.score.Value) })
	keep := map[string]bool{}
	for _, r := range order[:most] {
		keep[r.op.Name] = true
	}
	var names []string
	for _, r := range l.operations {
		if keep[r.op.Name] {
			names = append(names, r.op.Name)
		}
	}
	return strings.Join(names, ", ")
}
