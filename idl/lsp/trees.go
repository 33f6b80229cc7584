package lsp

import (
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
}

// maxTreeBytes is how much text has its trees kept; they are some fifteen
// times larger.
const maxTreeBytes = 16 << 20

// parse does what syntax.Parse does for a document of the project at root.
func (t *trees) parse(root, name string, text []byte) (*syntax.File, []syntax.Diagnostic) {
	key := treeKey{root, name}
	t.mu.Lock()
	found, ok := t.known[key]
	if !ok || found.src != string(text) {
		src := string(text)
		t.bytes += len(src) - len(found.src)
		if t.known == nil || t.bytes > maxTreeBytes {
			t.known, t.bytes = map[treeKey]tree{}, len(src)
		}
		found = tree{src, sync.OnceValues(func() (*syntax.File, []syntax.Diagnostic) { return syntax.Parse(name, []byte(src)) })}
		t.known[key] = found
	}
	t.mu.Unlock()
	file, faults := found.parse()
	return file, slices.Clone(faults)
}
