package conformance

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/space/wip"
)

// tree looks at the tree at /, and at every entry in it.
func (c *checker) tree() {
	t, f, sound := c.fetchTree("/")
	if !sound {
		return
	}
	c.looked(rootEntry)
	switch {
	case f != nil:
		c.found(rootEntry, "fetch_tree /", "found a %s failure, expected a tree", f.Class)
		return
	case t.Entry.Path != "/":
		c.found(rootEntry, "fetch_tree /", "found the root %s, expected /", quote(t.Entry.Path))
	}
	c.looked(treeEnds)
	c.whole, c.tagged = t, map[string]wip.Entry{}
	objects := map[string]wip.Object{}
	count := 0
	var walk func(t *wip.Tree, above string, level int) bool
	walk = func(t *wip.Tree, above string, level int) bool {
		if count++; count > maxEntries {
			c.found(treeEnds, "fetch_tree /", "found more than %d entries", maxEntries)
			return false
		}
		if level > maxLevels {
			c.found(treeEnds, "below "+quote(above), "found more than %d levels: is the tree a cycle?", maxLevels)
			return false
		}
		c.entry(t.Entry, above, objects)
		for i := range t.Children {
			if !walk(&t.Children[i], t.Entry.Path, level+1) {
				return false
			}
		}
		return true
	}
	c.walked = walk(&t, "", 0)
}

// entry looks at one entry, which the one at above holds.
func (c *checker) entry(e wip.Entry, above string, objects map[string]wip.Object) {
	at := quote(e.Path)
	c.looked(paths)
	if wrong := wrongPath(e.Path); wrong != "" {
		c.found(paths, at, "found %s", wrong)
		return
	}
	if above != "" {
		c.looked(below)
		if e.Path == above || !strings.HasPrefix(e.Path, strings.TrimSuffix(above, "/")+"/") {
			c.found(below, at, "found it below %s, which its path is not", quote(above))
		}
	}
	c.looked(duplicates)
	if _, twice := c.tagged[e.Path]; twice {
		c.found(duplicates, at, "found two entries of this path")
		return
	}
	c.tagged[e.Path] = e
	c.entries = append(c.entries, e)
	c.looked(texts)
	for name, text := range map[string]struct {
		text string
		max  int
	}{"title": {e.Title, 256}, "summary": {e.Summary, 1024}} {
		if len(text.text) > text.max || !utf8.ValidString(text.text) || strings.ContainsFunc(text.text, unicode.IsControl) {
			c.found(texts, at, "found the %s %s, expected one line of UTF-8 of at most %d bytes", name, quote(text.text), text.max)
		}
	}
	c.looked(tags)
	if len(e.Tag) > 256 {
		c.found(tags, at, "found a tag of %d bytes, expected at most 256", len(e.Tag))
	}
	o := e.Object
	if o == nil {
		return
	}
	c.looked(objectID)
	if o.ID == "" || len(o.ID) > 256 {
		c.found(objectID, at, "found an ID of %d bytes, expected 1 to 256", len(o.ID))
	} else if other, ok := objects[o.ID]; ok && !slices.Equal(other.Interfaces, o.Interfaces) {
		c.found(objectID, at, "found the ID %s, which another Object with other interfaces has", quote(o.ID))
	} else {
		objects[o.ID] = *o
	}
	c.looked(references)
	if len(o.Interfaces) > 32 {
		c.found(references, at, "found %d interfaces, expected at most 32", len(o.Interfaces))
	}
	seen := map[[2]string]bool{}
	for _, ref := range o.Interfaces {
		key := [2]string{ref.Document, ref.Interface}
		if ref.Document == "" || ref.Interface == "" || len(ref.Document) > 256 || seen[key] {
			c.found(references, at, "found a reference to interface %s of document %s, expected each once, with both names", quote(ref.Interface), quote(ref.Document))
		}
		seen[key] = true
	}
}

// wrongPath says what is wrong with a path.
func wrongPath(path string) string {
	switch {
	case len(path) > 1024:
		return fmt.Sprintf("a path of %d bytes, expected at most 1024", len(path))
	case !strings.HasPrefix(path, "/"):
		return "a path that does not begin with a slash"
	case !utf8.ValidString(path):
		return "a path that is not UTF-8"
	case path == "/":
		return ""
	case strings.Count(path, "/") > 32:
		return "a path of more than 32 segments"
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		switch {
		case segment == "" || segment == "." || segment == "..":
			return fmt.Sprintf("the segment %q, expected a name", segment)
		case len(segment) > 128:
			return fmt.Sprintf("a segment of %d bytes, expected at most 128", len(segment))
		case segment != strings.TrimSpace(segment):
			return "a segment with spaces at its ends"
		}
		for _, r := range segment {
			if r == '#' || r == '\\' || r != ' ' && !unicode.IsPrint(r) {
				return fmt.Sprintf("the character %U in a segment", r)
			}
		}
	}
	return ""
}

// sample returns some of the entries, spread over all.
func (c *checker) sample() []wip.Entry {
	if len(c.entries) <= maxSample {
		return c.entries
	}
	var list []wip.Entry
	for i := range maxSample {
		list = append(list, c.entries[i*len(c.entries)/maxSample])
	}
	return list
}

// alone compares what is fetched alone with the tree.
func (c *checker) alone() {
	if !c.walked {
		return
	}
	for _, e := range c.sample() {
		at := quote(e.Path)
		got, f, sound := c.fetch(e.Path)
		if sound {
			c.looked(fetchAgrees)
			switch {
			case f != nil:
				c.found(fetchAgrees, at, "found a %s failure, expected the entry that the tree has", f.Class)
			case got.Path != e.Path || e.Tag == "" && !sameEntry(got, e): // of tagged ones, the tag tells
				c.found(fetchAgrees, at, "found another entry than the tree has: %s", difference(got, e))
			default:
				c.remember(got)
			}
		}
		if e.Path == "/" || c.of(below).Status == "fail" { // then what is below what cannot be told
			continue
		}
		t, f, sound := c.fetchTree(e.Path)
		if !sound {
			continue
		}
		c.looked(subtreeAgrees)
		if want := find(&c.whole, e.Path); f != nil {
			c.found(subtreeAgrees, at, "found a %s failure, expected the tree that is below /", f.Class)
		} else if t.Entry.Path != e.Path {
			c.found(subtreeAgrees, at, "found a tree whose root is %s", quote(t.Entry.Path))
		} else if want != nil && t.Entry.Tag == e.Tag && !slices.Equal(childPaths(&t), childPaths(want)) {
			c.found(subtreeAgrees, at, "found other entries below it than in the tree at /")
		}
	}
}

// remember looks at an entry's tag beside an earlier one's.
func (c *checker) remember(e wip.Entry) {
	before, ok := c.tagged[e.Path]
	if !ok {
		return
	}
	c.looked(tags)
	bare, was := e, before
	bare.Tag, was.Tag = "", ""
	switch same := sameEntry(bare, was); {
	case same && e.Tag != before.Tag:
		c.found(tags, quote(e.Path), "found the tags %s and %s of one entry that had not changed", quote(before.Tag), quote(e.Tag))
	case !same && e.Tag == before.Tag && e.Tag != "":
		c.found(tags, quote(e.Path), "found the tag %s before and after a change: %s", quote(e.Tag), difference(e, before))
	}
	c.tagged[e.Path] = e
}

// again fetches the tree once more, for the tags.
func (c *checker) again() {
	t, f, sound := c.fetchTree("/")
	if !sound || f != nil || !c.walked {
		return
	}
	left := maxEntries
	var walk func(t *wip.Tree, level int)
	walk = func(t *wip.Tree, level int) {
		if left--; left < 0 || level > maxLevels {
			return
		}
		c.remember(t.Entry)
		for i := range t.Children {
			walk(&t.Children[i], level+1)
		}
	}
	if c.of(duplicates).Status != "fail" { // which of two entries it was cannot be told
		walk(&t, 0)
	}
}

// changes looks at what a Host says has changed.
func (c *checker) changes() {
	source, ok := c.host.(wip.TreeSource)
	if !ok || !c.walked {
		return
	}
	ask := func(tag string) (wip.Change, bool) {
		change, f, sound := ask(c, "fetch_tree /", func(ctx context.Context) (wip.Change, error) {
			return source.FetchTreeSince(ctx, c.Caller, "/", tag)
		})
		return change, sound && f == nil
	}
	first, ok := ask("")
	if !ok {
		return
	}
	c.looked(sinceUnknown)
	if first.Whole == nil {
		c.found(sinceUnknown, "fetch_tree /", "found no whole tree where no tag was given")
		return
	}
	if odd, ok := ask("no-such-tag"); ok && odd.Whole == nil {
		c.found(sinceUnknown, "fetch_tree /", "found changes since a tag that the Host never gave")
	}
	if first.Tag == "" {
		return
	}
	next, ok := ask(first.Tag)
	if !ok {
		return
	}
	c.looked(since)
	got := remote.Apply(*first.Whole, next)
	now, f, sound := c.fetchTree("/")
	if !sound || f != nil {
		return
	}
	if after, ok := ask(next.Tag); ok && after.Tag != next.Tag {
		return // it is changing: what was fetched between may be of either state
	}
	if !reflect.DeepEqual(listOf(&got), listOf(&now)) {
		c.found(since, "fetch_tree /", "found changes since the tag %s that do not lead to the tree as it is", quote(first.Tag))
	}
}

// listOf returns a tree's entries in order.
func listOf(t *wip.Tree) []wip.Entry {
	list := []wip.Entry{t.Entry}
	for i := range t.Children {
		list = append(list, listOf(&t.Children[i])...)
	}
	return list
}

// find returns the tree at a path below another.
func find(t *wip.Tree, path string) *wip.Tree {
	for t.Entry.Path != path {
		i := slices.IndexFunc(t.Children, func(c wip.Tree) bool {
			return c.Entry.Path == path || strings.HasPrefix(path, c.Entry.Path+"/")
		})
		if i < 0 {
			return nil
		}
		t = &t.Children[i]
	}
	return t
}

func childPaths(t *wip.Tree) []string {
	var list []string
	for _, c := range t.Children {
		list = append(list, c.Entry.Path)
	}
	return list
}

func sameEntry(a, b wip.Entry) bool { return difference(a, b) == "" }

// difference says in which field two entries differ.
func difference(a, b wip.Entry) string {
	switch {
	case a.Path != b.Path:
		return fmt.Sprintf("the path is %s, expected %s", quote(a.Path), quote(b.Path))
	case a.Title != b.Title:
		return fmt.Sprintf("the title is %s, expected %s", quote(a.Title), quote(b.Title))
	case a.Summary != b.Summary:
		return fmt.Sprintf("the summary is %s, expected %s", quote(a.Summary), quote(b.Summary))
	case a.Indexable != b.Indexable:
		return fmt.Sprintf("indexable is %v, expected %v", a.Indexable, b.Indexable)
	case (a.Object == nil) != (b.Object == nil):
		return "one of them leads to no Object"
	case a.Object != nil && a.Object.ID != b.Object.ID:
		return fmt.Sprintf("the Object is %s, expected %s", quote(a.Object.ID), quote(b.Object.ID))
	case a.Object != nil && !slices.Equal(a.Object.Interfaces, b.Object.Interfaces):
		return "the interfaces differ"
	case a.Tag != b.Tag:
		return fmt.Sprintf("the tag is %s, expected %s", quote(a.Tag), quote(b.Tag))
	}
	return ""
}
