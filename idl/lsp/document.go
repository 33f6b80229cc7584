package lsp

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/wipagent/wipagent/idl/syntax"
)

// What is kept at most. The parser refuses a document long before these do, so
// that an author sees why.
const (
	maxDocumentBytes = 4 * syntax.MaxSource
	maxOpenDocuments = 512
	maxOpenBytes     = 64 << 20 // of all open documents together
	maxChanges       = 4096     // in one notification
)

// document is one state of an open document. It is immutable.
type document struct {
	uri     string
	path    string
	version int
	*text
	bytes []byte // of the text, for overlays
	parse parser
	view  func() *view
}

// parser returns the tree of the document at a path with some text.
type parser func(path string, text []byte) *syntax.File

// newDocument returns a state of a document; its text is parsed when somebody
// needs that.
func newDocument(uri, path string, version int, src string, parse parser) *document {
	d := &document{uri: uri, path: path, version: version, text: newText(src), bytes: []byte(src), parse: parse}
	d.view = sync.OnceValue(func() *view { return newView(path, uri, d.text, parse(path, d.bytes)) })
	return d
}

// changed returns the document after changes, which apply one after the other.
func (d *document) changed(version int, changes []contentChange) (*document, error) {
	if len(changes) > maxChanges {
		return nil, fmt.Errorf("found %d changes at once, expected at most %d", len(changes), maxChanges)
	}
	t := d.text
	for _, c := range changes {
		src := c.Text
		if c.Range != nil {
			src = t.splice(*c.Range, c.Text)
		}
		if len(src) > maxDocumentBytes {
			return nil, fmt.Errorf("found a document of %d bytes, expected at most %d", len(src), maxDocumentBytes)
		}
		t = newText(src)
	}
	return newDocument(d.uri, d.path, version, t.src, d.parse), nil
}

// pathOf returns the file of a URI. A document without a file, such as one
// that was never saved, is taken to stand in the folder dir, under a name of
// its own.
func pathOf(uri, dir string) string {
	path, ok := filePath(uri)
	if !ok {
		return filepath.Join(dir, strings.TrimSuffix(url.QueryEscape(uri), ".wip")+".wip")
	}
	return path
}

// filePath returns the file of a URI; false if it is that of none.
func filePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.Clean(filepath.FromSlash(path)), true
}

// isFile reports whether the document of a view is a file.
func (v *view) isFile() bool {
	_, ok := filePath(v.uri)
	return ok
}

// uriOf returns the URI of a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
