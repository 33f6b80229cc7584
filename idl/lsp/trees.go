package lsp

import (
	"cmp"
	"slices"
	"sync"

	"github.com/wipagent/wipagent/idl/syntax"
)

// trees remembers the tree of the last text of each document, so that one that
// is checked and asked about is parsed once, and one that is imported is not
// parsed again for each change of another. It is safe for concurrent use.
type trees struct {
	mu    sync.Mutex
	known map[treeKey]tree
	bytes int // of the texts
}

type treeKey struct{ root, name string }

type tree struct {
	src   string
	parse func() (*syntax.File, []syntax.Diagnostic)
	whole *whole
}

// whole is the last tree of a document that had no fault, and its text: what
// has not changed since is not read again.
type whole struct {
	mu   sync.Mutex
	file *syntax.File
	src  []byte
}

// parse does what syntax.Parse does.
func (w *whole) parse(name string, src []byte) (*syntax.File, []syntax.Diagnostic) {
	w.mu.Lock()
	before, old := w.file, w.src
	w.mu.Unlock()
	var file *syntax.File
	var faults []syntax.Diagnostic
	if before != nil {
		file, faults = syntax.Reparse(before, old, src)
	} else {
		file, faults = syntax.Parse(name, src)
	}
	if len(faults) == 0 {
		w.mu.Lock()
		w.file, w.src = file, src
		w.mu.Unlock()
	}
	return file, faults
}

// maxTreeBytes is how much text has its trees kept; they are some fifteen
// times larger, and there may be two of a text.
const maxTreeBytes = 8 << 20

// parse does what syntax.Parse does for a document of the project at root.
func (t *trees) parse(root, name string, text []byte) (*syntax.File, []syntax.Diagnostic) {
	key := treeKey{root, name}
	t.mu.Lock()
	found, ok := t.known[key]
	if !ok || found.src != string(text) {
		src, whole := string(text), cmp.Or(found.whole, &whole{})
		t.bytes += len(src) - len(found.src)
		if t.known == nil || t.bytes > maxTreeBytes {
			t.known, t.bytes = map[treeKey]tree{}, len(src)
		}
		found = tree{src, sync.OnceValues(func() (*syntax.File, []syntax.Diagnostic) { return whole.parse(name, []byte(src)) }), whole}
		t.known[key] = found
	}
	t.mu.Unlock()
	file, faults := found.parse()
	return file, slices.Clone(faults)
}
