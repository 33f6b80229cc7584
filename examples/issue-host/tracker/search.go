package tracker

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
)

// maxInspected is how many issues that the caller sees one search looks at.
const maxInspected = 20_000

// trackerObject implements Tracker.
type trackerObject struct{}

// Projects lists what the caller sees.
func (trackerObject) Projects(_ context.Context, v *view) (paths []idl.EntryPath, _ error) {
	for _, p := range v.visible(v.caller) {
		paths = append(paths, idl.EntryPath(place{project: p}.path()))
	}
	return paths, nil
}

// hit is an issue that a search found.
type hit struct {
	at      place
	inTitle bool
}

// Search looks through the issues of projects that the caller sees, and at no
// others: not even the time it takes depends on those.
func (trackerObject) Search(ctx context.Context, v *view, args SearchArgs) (idl.Selection[Found], error) {
	var none idl.Selection[Found]
	words := strings.Fields(strings.ToLower(args.Query))
	if len(words) == 0 {
		return none, refuse("found no word in the query", "say what to look for")
	}
	projects := v.visible(v.caller)
	if args.Project != nil {
		at, ok := v.find(v.caller, string(*args.Project))
		if !ok || at.kind() != "Project" {
			return none, refuse("there is no such project", "take one from projects")
		}
		projects = []*project{at.project}
	}
	var hits []hit
	inspected, more := 0, false
	for _, p := range projects {
		for n, i := range p.issues {
			if inspected == maxInspected {
				more = true
				break
			}
			if inspected++; inspected%512 == 0 && ctx.Err() != nil {
				return none, ctx.Err()
			}
			if found, inTitle := i.matches(words); found {
				hits = append(hits, hit{place{p, uint64(n + 1)}, inTitle})
			}
		}
	}
	slices.SortFunc(hits, compareHits)
	return idl.Select(len(hits), func(i int) Found { return v.found(hits[i].at) }, more), nil
}

// matches reports whether the issue has all words, and all in its title.
func (i *indexed) matches(words []string) (found, inTitle bool) {
	inTitle = true
	for _, w := range words {
		if strings.Contains(i.foldedTitle, w) {
			continue
		}
		if inTitle = false; !strings.Contains(i.foldedBody, w) {
			return false, false
		}
	}
	return true, inTitle
}

// compareHits orders totally: title, newest, project, number.
func compareHits(a, b hit) int {
	if a.inTitle != b.inTitle {
		if a.inTitle {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(b.at.indexed().created, a.at.indexed().created),
		cmp.Compare(a.at.project.key, b.at.project.key),
		cmp.Compare(b.at.number, a.at.number),
	)
}

// indexed returns what is kept of an issue in memory.
func (at place) indexed() *indexed { return &at.project.issues[at.number-1] }

// found describes an issue in a list.
func (v *view) found(at place) Found {
	f := Found{Issue: idl.EntryPath(at.path()), Title: at.indexed().title, Created: instant(at.indexed().created), State: StateClosed}
	if isOpen(v.tx, at) {
		f.State = StateOpen
	}
	return f
}

// projectObject implements Project.
type projectObject struct{}

// OpenIssues lists the open issues, newest first: numbers are given in order.
func (projectObject) OpenIssues(_ context.Context, v *view) (idl.Selection[Found], error) {
	var open []place
	c := bucket(v.tx, v.at.project, openBucket).Cursor()
	for k, _ := c.Last(); k != nil; k, _ = c.Prev() {
		open = append(open, place{v.at.project, binary.BigEndian.Uint64(k)})
	}
	return idl.Select(len(open), func(i int) Found { return v.found(open[i]) }, false), nil
}

// Labels counts the labels of open issues.
func (projectObject) Labels(_ context.Context, v *view) (idl.Selection[LabelCount], error) {
	counts := map[string]int64{}
	err := bucket(v.tx, v.at.project, openBucket).ForEach(func(_, stored []byte) error {
		var labels []string
		if err := json.Unmarshal(stored, &labels); err != nil {
			return err
		}
		for _, l := range labels {
			counts[l]++
		}
		return nil
	})
	if err != nil {
		return idl.Selection[LabelCount]{}, err
	}
	names := slices.Sorted(maps.Keys(counts))
	return idl.Select(len(names), func(i int) LabelCount { return LabelCount{names[i], counts[names[i]]} }, false), nil
}
