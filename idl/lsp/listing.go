package lsp

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// What is looked at to find the documents of a tree. An editor may be opened on
// a home folder; then the documents near its top are found, and the author is
// told that those are not all.
const (
	maxEntries = 50_000 // files and folders
	maxListed  = 2000   // documents
	maxListAge = 10 * time.Second
)

// listing is the documents of a tree.
type listing struct {
	paths []string
	whole bool // there are no others
	at    time.Time
}

// listings remembers the documents of trees for a short while. It is safe for
// concurrent use.
type listings struct {
	mu    sync.Mutex
	roots map[string]listing // replaced when they are forgotten
}

// of returns the documents in a folder and, if deep, below it. Folders whose
// names begin with a dot and those of node packages are left out. Nobody waits
// for what another looks for.
func (l *listings) of(ctx context.Context, root string, deep bool) listing {
	l.mu.Lock()
	if l.roots == nil || len(l.roots) >= maxProjects {
		l.roots = map[string]listing{}
	}
	roots := l.roots
	found, ok := roots[root]
	l.mu.Unlock()
	if ok && time.Since(found.at) < maxListAge {
		return found
	}
	found = list(ctx, root, deep)
	if ctx.Err() == nil {
		l.mu.Lock()
		roots[root] = found // of nobody's use if it was forgotten meanwhile
		l.mu.Unlock()
	}
	return found
}

// forget makes the trees be looked at again.
func (l *listings) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roots = nil
}

// list looks through a tree, the folders near the root first.
func list(ctx context.Context, root string, deep bool) listing {
	found := listing{whole: true, at: time.Now()}
	left := maxEntries
	for queue := []string{root}; len(queue) > 0; queue = queue[1:] {
		dir, err := os.Open(queue[0])
		if err != nil {
			continue // what cannot be read has no documents for us
		}
		for {
			entries, err := dir.ReadDir(256)
			for _, e := range entries {
				if left--; left < 0 || ctx.Err() != nil || len(found.paths) == maxListed {
					dir.Close()
					found.whole = false
					return found
				}
				name := e.Name()
				switch path := filepath.Join(queue[0], name); {
				case e.IsDir() && deep && !strings.HasPrefix(name, ".") && name != "node_modules":
					queue = append(queue, path)
				case e.Type().IsRegular() && strings.HasSuffix(name, ".wip"):
					found.paths = append(found.paths, path)
				}
			}
			if err != nil {
				found.whole = found.whole && errors.Is(err, io.EOF)
				break
			}
		}
		dir.Close()
	}
	return found
}
