package remote

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/wipagent/wipagent/space/wip"
)

// wireEntry is an entry on the wire. In a tree, which is sent as a list with
// every entry before those below it, Depth says how far below the list's latest
// entry of depth 0 it is.
type wireEntry struct {
	Depth     int         `json:"depth,omitempty"`
	Path      string      `json:"path"`
	Title     string      `json:"title,omitempty"`
	Summary   string      `json:"summary,omitempty"`
	Object    *wireObject `json:"object,omitempty"`
	Indexable bool        `json:"indexable,omitempty"`
	Tag       string      `json:"tag,omitempty"`
}

type wireObject struct {
	ID         string    `json:"id"`
	Interfaces []wireRef `json:"interfaces"`
}

type wireRef struct {
	Document  string `json:"document"`
	Interface string `json:"interface"`
	SHA256    string `json:"sha256,omitempty"`
}

// check reports what an entry lacks or has too much of.
func (e *wireEntry) check() error {
	switch {
	case e.Path == "":
		return errors.New("found an entry without a path")
	case len(e.Tag) > maxTag:
		return fmt.Errorf("found a tag of more than %d bytes", maxTag)
	case e.Depth < 0 || e.Depth > maxTreeDepth:
		return fmt.Errorf("found an entry at depth %d, expected 0 to %d", e.Depth, maxTreeDepth)
	case e.Object == nil:
		return nil
	case e.Object.ID == "":
		return errors.New("found an object without an id")
	case len(e.Object.Interfaces) > maxInterfaces:
		return fmt.Errorf("found an object with more than %d interfaces", maxInterfaces)
	}
	for _, ref := range e.Object.Interfaces {
		if ref.Document == "" || ref.Interface == "" {
			return errors.New("found an interface without its document or name")
		}
	}
	return nil
}

// sendable reports what is wrong with an entry that is to be sent. Its texts for
// people need not be UTF-8: they are made so.
func (e *wireEntry) sendable() error {
	if err := e.check(); err != nil {
		return err
	}
	names := utf8.ValidString(e.Path) && utf8.ValidString(e.Tag)
	if o := e.Object; o != nil {
		names = names && utf8.ValidString(o.ID)
		for _, ref := range o.Interfaces {
			names = names && utf8.ValidString(ref.Document) && utf8.ValidString(ref.Interface) && utf8.ValidString(ref.SHA256)
		}
	}
	switch {
	case !names:
		return errors.New("found an entry with a name that is not UTF-8")
	case e.size() > maxEntry/6: // of which each byte may be escaped
		return fmt.Errorf("found an entry of more than %d bytes", maxEntry/6)
	}
	return nil
}

// entry returns what the Host said, in memory of its own.
func (e *wireEntry) entry() wip.Entry {
	out := wip.Entry{Path: e.Path, Title: e.Title, Summary: e.Summary, Indexable: e.Indexable, Tag: e.Tag}
	if e.Object == nil {
		return out
	}
	out.Object = &wip.Object{ID: e.Object.ID}
	if n := len(e.Object.Interfaces); n > 0 {
		out.Object.Interfaces = make([]wip.InterfaceRef, n)
	}
	for i, ref := range e.Object.Interfaces {
		out.Object.Interfaces[i] = wip.InterfaceRef(ref)
	}
	return out
}

// same reports whether two entries say the same, wherever they stand.
func (e *wireEntry) same(other *wireEntry) bool {
	if e.Path != other.Path || e.Title != other.Title || e.Summary != other.Summary ||
		e.Indexable != other.Indexable || e.Tag != other.Tag || (e.Object == nil) != (other.Object == nil) {
		return false
	}
	return e.Object == nil || e.Object.ID == other.Object.ID && slices.Equal(e.Object.Interfaces, other.Object.Interfaces)
}

// size estimates the bytes of an entry's JSON.
func (e *wireEntry) size() int {
	n := 80 + len(e.Path) + len(e.Title) + len(e.Summary) + len(e.Tag)
	if e.Object != nil {
		n += 40 + len(e.Object.ID)
		for _, ref := range e.Object.Interfaces {
			n += 45 + len(ref.Document) + len(ref.Interface) + len(ref.SHA256)
		}
	}
	return n
}
