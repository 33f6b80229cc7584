package tracker

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// The file: projects/KEY is a bucket a project with about (a project record),
// issues (number: issue record), open (number: labels, of open issues alone)
// and comments (number, comment's number: comment record). Numbers are
// big-endian, so that keys are in their order. What is in answers is in call.go.
var (
	projectsBucket = []byte("projects")
	aboutKey       = []byte("about")
	issuesBucket   = []byte("issues")
	openBucket     = []byte("open")
	commentsBucket = []byte("comments")
)

// project is a record in the file, and what is kept in memory of its issues.
type project struct {
	Name    string
	Summary string
	Private bool

	key    string
	issues []indexed // the issue of number n is at n-1; never changes
}

// indexed is what a search needs of an issue, none of which ever changes.
type indexed struct {
	title       string
	created     int64  // Unix milliseconds
	foldedTitle string // in small letters
	foldedBody  string
}

// issue is a record in the file. Times are Unix milliseconds; 0 is none.
type issue struct {
	Title    string
	Body     string
	Author   string
	Assignee string `json:",omitempty"`
	Labels   []string
	Created  int64
	Due      int64    `json:",omitempty"`
	Closed   int64    `json:",omitempty"`
	Reason   string   `json:",omitempty"`
	Related  []string `json:",omitempty"` // paths
	Comments uint64   // how many there are
}

// comment is a record in the file.
type comment struct {
	Author  string
	Body    string
	Created int64
}

// load reads the projects and what is searched.
func (h *Host) load(tx *bbolt.Tx) error {
	projects := tx.Bucket(projectsBucket)
	err := projects.ForEachBucket(func(key []byte) error {
		b := projects.Bucket(key)
		p := &project{key: string(key)}
		if err := get(b, aboutKey, p); err != nil {
			return err
		}
		h.projects = append(h.projects, p)
		h.byKey[p.key] = p
		return b.Bucket(issuesBucket).ForEach(func(k, v []byte) error {
			var i issue
			if err := json.Unmarshal(v, &i); err != nil {
				return err
			}
			p.issues = append(p.issues, indexed{i.Title, i.Created, strings.ToLower(i.Title), strings.ToLower(i.Body)})
			if n := uint64(len(p.issues)); !bytes.Equal(k, number(n)) {
				return fmt.Errorf("found an issue of key %x in %s, expected number %d", k, p.key, n)
			}
			return nil
		})
	})
	slices.SortFunc(h.projects, func(a, b *project) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.key, b.key))
	})
	return err
}

// number is a number as a key.
func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// bucket returns one of a project's buckets.
func bucket(tx *bbolt.Tx, p *project, name []byte) *bbolt.Bucket {
	return tx.Bucket(projectsBucket).Bucket([]byte(p.key)).Bucket(name)
}

// errNoRecord says that the file lacks what it must have.
var errNoRecord = errors.New("found no record")

func get(b *bbolt.Bucket, key []byte, to any) error {
	v := b.Get(key)
	if v == nil {
		return fmt.Errorf("%w of key %x", errNoRecord, key)
	}
	return json.Unmarshal(v, to)
}

func put(b *bbolt.Bucket, key []byte, record any) error {
	v, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return b.Put(key, v)
}

// readIssue returns the issue at a place that find has found.
func readIssue(tx *bbolt.Tx, at place) (i issue, err error) {
	err = get(bucket(tx, at.project, issuesBucket), number(at.number), &i)
	return i, err
}

// writeIssue replaces the issue, and keeps the list of open ones in step.
func writeIssue(tx *bbolt.Tx, at place, i issue) error {
	n := number(at.number)
	if err := put(bucket(tx, at.project, issuesBucket), n, i); err != nil {
		return err
	}
	if i.Closed != 0 {
		return bucket(tx, at.project, openBucket).Delete(n)
	}
	return put(bucket(tx, at.project, openBucket), n, i.Labels)
}

// isOpen reports whether an issue is open.
func isOpen(tx *bbolt.Tx, at place) bool {
	return bucket(tx, at.project, openBucket).Get(number(at.number)) != nil
}

// countOpen counts the open issues of a project.
func countOpen(tx *bbolt.Tx, p *project) int {
	return bucket(tx, p, openBucket).Stats().KeyN
}

// commentKey is the key of a comment.
func commentKey(issue, n uint64) []byte { return append(number(issue), number(n)...) }

// millis and instant turn a time into what the file holds, and back.
func millis(t time.Time) int64   { return t.UnixMilli() }
func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
