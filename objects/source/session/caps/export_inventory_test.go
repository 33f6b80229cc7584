package caps

import (
	"io"
	"strings"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/world"
)

// RunBounded is Crawl.Run with a smaller bound of items.
var RunBounded = (*Crawl).run

// ReadCache reads a cache file's bytes, of any account.
func ReadCache(r io.Reader) (map[world.UUID]Contents, error) { return readCache(r, world.UUID{}) }

// WriteCache returns a cache file's bytes.
func WriteCache(owner world.UUID, entries map[world.UUID]Contents) (string, error) {
	var b strings.Builder
	err := writeCache(&b, owner, entries)
	return b.String(), err
}

// ReadFolders reads the answer to an inventory request.
func ReadFolders(v llsd.Value, batch []world.UUID) []Contents {
	a, err := readDescendents(v, batch)
	if err != nil {
		return nil
	}
	return a.contents
}

// ReadNames reads the answer to a request for names.
var ReadNames = readNames
