package tracker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/wipagent/wipagent/space/wip"
)

// place is what a path means to a caller: the tracker, a project, or an issue
// of it that may or may not be there.
type place struct {
	project *project // nil is the tracker
	number  uint64   // of the issue; 0 is the project
}

// find reads a path on behalf of a caller. Whether a project is hidden or absent
// is found out by the same steps and before anything of it is looked at, so that
// neither words nor time tell (T9).
func (h *Host) find(caller wip.Caller, path string) (at place, ok bool) {
	if path == "/" {
		return place{}, true
	}
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return place{}, false
	}
	key, number, deeper := strings.Cut(rest, "/")
	p := h.byKey[key]
	if !h.sees(caller, p) {
		return place{}, false
	}
	if !deeper {
		return place{project: p}, true
	}
	n, err := strconv.ParseUint(number, 10, 32)
	// One issue has one path: no sign, no leading zero.
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != number || n > uint64(len(p.issues)) {
		return place{}, false
	}
	return place{p, n}, true
}

// sees is the whole permission model: a private project is there for members.
func (h *Host) sees(caller wip.Caller, p *project) bool {
	return p != nil && (!p.Private || h.members[caller.ID])
}

// visible lists the projects that a caller sees, by name.
func (h *Host) visible(caller wip.Caller) (list []*project) {
	for _, p := range h.projects {
		if h.sees(caller, p) {
			list = append(list, p)
		}
	}
	return list
}

func (at place) path() string {
	switch {
	case at.project == nil:
		return "/"
	case at.number == 0:
		return "/" + at.project.key
	}
	return fmt.Sprintf("/%s/%d", at.project.key, at.number)
}

// kind is the name of the Object's interface.
func (at place) kind() string {
	switch {
	case at.project == nil:
		return "Tracker"
	case at.number == 0:
		return "Project"
	}
	return "Issue"
}

// object is the Object's ID. Keys and numbers are never given twice, so it can
// be made of them.
func (at place) object() string {
	return strings.ToLower(at.kind()) + strings.TrimSuffix(at.path(), "/")
}

// Fetch returns the entry at a path.
func (h *Host) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	if err := ctx.Err(); err != nil {
		return wip.Entry{}, err
	}
	at, ok := h.find(caller, path)
	if !ok {
		return wip.Entry{}, noEntry()
	}
	var entry wip.Entry
	err := h.db.View(func(tx *bbolt.Tx) error {
		entry = h.entry(tx, at)
		return nil
	})
	return entry, err
}

// FetchTree returns the entry at a path and all below it but issues: of the
// tracker, the projects that the caller sees.
func (h *Host) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	if err := ctx.Err(); err != nil {
		return wip.Tree{}, err
	}
	at, ok := h.find(caller, path)
	if !ok {
		return wip.Tree{}, noEntry()
	}
	var tree wip.Tree
	err := h.db.View(func(tx *bbolt.Tx) error {
		tree.Entry = h.entry(tx, at)
		if at.project != nil {
			return nil
		}
		for _, p := range h.visible(caller) {
			tree.Children = append(tree.Children, wip.Tree{Entry: h.entry(tx, place{project: p})})
		}
		return nil
	})
	return tree, err
}

// entry describes a place. A title is the Host's own words: what somebody wrote,
// such as the title of an issue, is a text that an operation returns.
func (h *Host) entry(tx *bbolt.Tx, at place) wip.Entry {
	e := wip.Entry{
		Path:      at.path(),
		Indexable: at.number == 0,
		Object: &wip.Object{
			ID:         at.object(),
			Interfaces: []wip.InterfaceRef{{Document: documentName, Interface: at.kind(), SHA256: h.sha256}},
		},
	}
	switch {
	case at.project == nil:
		e.Title, e.Summary = "Issues", "An issue tracker: search all issues, or look at one project."
	case at.number == 0:
		e.Title = at.project.Name
		e.Summary = fmt.Sprintf("%s Open issues: %d.", at.project.Summary, countOpen(tx, at.project))
	case isOpen(tx, at):
		e.Title, e.Summary = issueTitle(at), "An open issue."
	default:
		e.Title, e.Summary = issueTitle(at), "A closed issue."
	}
	e.Tag = tag(e)
	return e
}

func issueTitle(at place) string { return fmt.Sprintf("Issue %d of %s", at.number, at.project.Name) }

// tag is a digest of the entry: it changes if and only if the entry does.
func tag(e wip.Entry) string {
	b, err := json.Marshal(e)
	if err != nil {
		panic(err) // an entry holds texts only
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
