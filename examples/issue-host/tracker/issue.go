package tracker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/wipagent/wipagent/idl"
)

// What one issue may hold.
const (
	maxComments   = 1000
	maxAuthorSize = 128 // bytes of a caller's ID
)

// issueObject implements Issue.
type issueObject struct{}

// ReadBody returns what the author wrote.
func (issueObject) ReadBody(_ context.Context, v *view) (string, error) {
	i, err := readIssue(v.tx, v.at)
	return i.Body, err
}

// GetMetadata returns all but the body.
func (issueObject) GetMetadata(_ context.Context, v *view) (Metadata, error) {
	i, err := readIssue(v.tx, v.at)
	return i.metadata(), err
}

// metadata projects the record.
func (i *issue) metadata() Metadata {
	m := Metadata{
		Title: i.Title, State: StateOpen, Author: i.Author, Labels: i.Labels,
		Created: instant(i.Created), Comments: int64(i.Comments),
	}
	if i.Assignee != "" {
		m.Assignee = &i.Assignee
	}
	if i.Due != 0 {
		m.Due = new(instant(i.Due))
	}
	if i.Closed != 0 {
		m.State, m.Closed, m.ClosedReason = StateClosed, new(instant(i.Closed)), &i.Reason
	}
	return m
}

// GetRelatedItems returns the related issues that the caller sees (T9).
func (issueObject) GetRelatedItems(_ context.Context, v *view) (paths []idl.EntryPath, _ error) {
	i, err := readIssue(v.tx, v.at)
	for _, path := range i.Related {
		if _, ok := v.find(v.caller, path); ok {
			paths = append(paths, idl.EntryPath(path))
		}
	}
	return paths, err
}

// Comments lists what was said. A comment is read when its page is written.
func (issueObject) Comments(_ context.Context, v *view) (idl.Selection[Comment], error) {
	i, err := readIssue(v.tx, v.at)
	if err != nil {
		return idl.Selection[Comment]{}, err
	}
	comments := bucket(v.tx, v.at.project, commentsBucket)
	return idl.Select(int(i.Comments), func(n int) Comment {
		number := uint64(n + 1)
		var c comment
		if err := get(comments, commentKey(v.at.number, number), &c); err != nil {
			v.broken = err // the binding cannot be told here
		}
		return c.project(number)
	}, false), nil
}

func (c comment) project(number uint64) Comment {
	return Comment{Number: int64(number), Author: c.Author, Created: instant(c.Created), Body: c.Body}
}

// Close closes the issue once.
func (issueObject) Close(_ context.Context, v *view, args CloseArgs) (Closed, error) {
	if err := plain("the reason", args.Reason); err != nil {
		return Closed{}, err
	}
	i, err := readIssue(v.tx, v.at)
	switch {
	case err != nil:
		return Closed{}, err
	case i.Closed != 0:
		return Closed{}, refuse("the issue is closed already", "get_metadata tells when and why")
	}
	i.Closed, i.Reason = millis(v.now()), args.Reason
	return Closed{Issue: idl.EntryPath(v.at.path()), Closed: instant(i.Closed), Reason: i.Reason}, writeIssue(v.tx, v.at, i)
}

// AddComment adds a comment behind the others.
func (issueObject) AddComment(_ context.Context, v *view, args AddCommentArgs) (Comment, error) {
	if err := plain("the body", args.Body); err != nil {
		return Comment{}, err
	}
	author := v.caller.ID
	if author == "" {
		author = "somebody" // the zero Caller is nobody in particular
	}
	if len(author) > maxAuthorSize {
		return Comment{}, refuse(fmt.Sprintf("found a caller whose name has %d bytes, expected at most %d", len(author), maxAuthorSize), "")
	}
	i, err := readIssue(v.tx, v.at)
	switch {
	case err != nil:
		return Comment{}, err
	case i.Comments >= maxComments:
		return Comment{}, refuse(fmt.Sprintf("the issue has %d comments and takes no more", maxComments), "")
	}
	i.Comments++
	c := comment{Author: author, Body: args.Body, Created: millis(v.now())}
	if err := put(bucket(v.tx, v.at.project, commentsBucket), commentKey(v.at.number, i.Comments), c); err != nil {
		return Comment{}, err
	}
	return c.project(i.Comments), writeIssue(v.tx, v.at, i)
}

// SetLabels replaces the labels.
func (issueObject) SetLabels(_ context.Context, v *view, args SetLabelsArgs) (Metadata, error) {
	labels := slices.Sorted(slices.Values(args.Labels))
	if len(slices.Compact(slices.Clone(labels))) < len(labels) {
		return Metadata{}, refuse("found a label twice", "name each label once")
	}
	i, err := readIssue(v.tx, v.at)
	if err != nil {
		return Metadata{}, err
	}
	i.Labels = labels
	return i.metadata(), writeIssue(v.tx, v.at, i)
}

// plain refuses words that say nothing, or hold what cannot be seen.
func plain(what, s string) error {
	if strings.TrimSpace(s) == "" {
		return refuse(what+" is blank", "say something")
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		return refuse(what+" holds a control character", "write it as plain text")
	}
	return nil
}
