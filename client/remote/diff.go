package remote

// diff says how to make one tree of another: what is removed, and which trees
// stand in the place of the entry of their path or, where there is none, at the
// end of those beside it. It reports false if the whole tree is to be sent.
func diff(old, now []wireEntry) (removed []string, changed []wireEntry, ok bool) {
	d := &differ{old: old, now: now, oldEnd: ends(old), nowEnd: ends(now)}
	if !d.compare(0, 0) {
		return nil, nil, false
	}
	return d.removed, d.changed, true
}

// ends returns for each entry where the list goes on behind all below it.
func ends(nodes []wireEntry) []int {
	end := make([]int, len(nodes))
	var open []int // from the root to the latest
	for i := range nodes {
		for len(open) > 0 && nodes[open[len(open)-1]].Depth >= nodes[i].Depth {
			end[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		end[i] = len(nodes)
	}
	return end
}

type differ struct {
	old, now       []wireEntry
	oldEnd, nowEnd []int
	removed        []string
	changed        []wireEntry
}

// compare looks for the differences between the trees at two entries of one
// path. It reports false if the latter is to stand in the place of the former:
// something about the entry itself has changed, or its children's order.
func (d *differ) compare(old, now int) bool {
	if !d.old[old].same(&d.now[now]) {
		return false
	}
	if d.equal(old, now) {
		return true
	}
	was := map[string]int{}
	count := 0
	for i := old + 1; i < d.oldEnd[old]; i = d.oldEnd[i] {
		was[d.old[i].Path] = i
		count++
	}
	if len(was) != count {
		return false // two of one path: a broken tree is sent as it is
	}
	kept := map[string]bool{}
	last, added := -1, false
	for i := now + 1; i < d.nowEnd[now]; i = d.nowEnd[i] {
		path := d.now[i].Path
		at, ok := was[path]
		if kept[path] || ok && (added || at < last) {
			return false
		}
		kept[path] = true
		if added = added || !ok; ok {
			last = at
		}
	}
	for i := old + 1; i < d.oldEnd[old]; i = d.oldEnd[i] {
		if !kept[d.old[i].Path] {
			d.removed = append(d.removed, d.old[i].Path)
		}
	}
	for i := now + 1; i < d.nowEnd[now]; i = d.nowEnd[i] {
		if at, ok := was[d.now[i].Path]; !ok || !d.compare(at, i) {
			d.replace(i)
		}
	}
	return true
}

// equal reports whether two trees are the same, entry by entry.
func (d *differ) equal(old, now int) bool {
	n, deeper := d.oldEnd[old]-old, d.now[now].Depth-d.old[old].Depth
	if n != d.nowEnd[now]-now {
		return false
	}
	for i := range n {
		was, is := &d.old[old+i], &d.now[now+i]
		if is.Depth-was.Depth != deeper || !was.same(is) {
			return false
		}
	}
	return true
}

// replace says that the tree at an entry is to be sent.
func (d *differ) replace(i int) {
	top := d.now[i].Depth
	for end := d.nowEnd[i]; i < end; i++ {
		e := d.now[i]
		e.Depth -= top
		d.changed = append(d.changed, e)
	}
}
