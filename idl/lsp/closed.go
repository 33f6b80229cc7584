package lsp

import (
	"maps"
	"reflect"
	"slices"
)

// closedFaults is what is wrong with documents that are not open and that open
// ones import, directly or not: it is shown where it is, since nothing else
// says why an import brings less than it should.
type closedFaults struct {
	found map[string]map[string][]diagnostic // by the path of the open document, then of the closed one
	shown map[string][]diagnostic            // by the path of the closed document
}

// closedFaults returns the faults that a check found in documents that are not
// open, by their paths.
func (s *snapshot) closedFaults(r *result) map[string][]diagnostic {
	var found map[string][]diagnostic
	for path, faults := range r.faults {
		src, err := r.Source(r.project.Name(path))
		if s.docs[path] != nil || err != nil {
			continue
		}
		t := newText(string(src))
		list := make([]diagnostic, len(faults))
		for i := range faults {
			list[i] = s.diagnostic(uriOf(path), t, &faults[i], r)
		}
		if found == nil {
			found = map[string][]diagnostic{}
		}
		found[path] = list
	}
	return found
}

// showClosed shows what the check of an open document found in closed ones,
// and takes away what it no longer finds.
func (c *checker) showClosed(snap *snapshot, from string, now map[string][]diagnostic) {
	before := c.others.found[from]
	if len(now) > 0 {
		c.others.found[from] = now
	} else {
		delete(c.others.found, from)
	}
	paths := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(now))
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if snap.docs[path] != nil {
			continue // it shows its own
		}
		list := c.others.all(path)
		if reflect.DeepEqual(list, c.others.shown[path]) {
			continue
		}
		c.publish(uriOf(path), nil, list)
		if c.others.shown[path] = list; len(list) == 0 {
			delete(c.others.shown, path)
		}
	}
}

// all returns what all checks found in a closed document, each fault once.
func (f *closedFaults) all(path string) []diagnostic {
	type fault struct {
		at            textRange
		rule, message string
	}
	list, seen := []diagnostic{}, map[fault]bool{}
	for _, from := range slices.Sorted(maps.Keys(f.found)) {
		for _, d := range f.found[from][path] {
			if key := (fault{d.Range, d.Code, d.Message}); !seen[key] {
				seen[key] = true
				list = append(list, d)
			}
		}
	}
	return list
}

// opened says that a document shows its own faults now.
func (c *checker) opened(d *document) {
	if c.others.shown[d.path] == nil {
		return
	}
	if uri := uriOf(d.path); uri != d.uri { // editors write some characters differently
		c.publish(uri, nil, []diagnostic{})
	}
	delete(c.others.shown, d.path)
}
