package caps

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/wipagent/wipagent/objects/world"
)

// maxCache is the most bytes of a cache file.
const maxCache = 64 << 20

// cacheFormat is the first line's mark; another number means other lines.
const (
	cacheFormat  = "wipagent inventory cache"
	cacheVersion = 1
)

// Cache keeps on disk what inventory folders held, by folder and version, so
// that a crawl fetches only what changed. One file holds one account's: lines
// of JSON, the first of which says so. It is a private file of its user (mode
// 0600, in a folder of mode 0700), replaced as a whole, so that several
// processes may use it; the last to finish wins. Nothing of it stays in memory
// between crawls. Safe for concurrent use.
type Cache struct {
	path string
	mu   sync.Mutex // one writer at a time in this process
}

// cacheHeader is the first line of a cache file.
type cacheHeader struct {
	Format  string     `json:"format"`
	Version int        `json:"version"`
	Owner   world.UUID `json:"owner"`
}

// cacheFolder is any other line: what one folder held.
type cacheFolder struct {
	ID      world.UUID    `json:"id"`
	Version int           `json:"version"`
	Folders []cacheMember `json:"folders,omitempty"`
	Items   []cacheMember `json:"items,omitempty"`
}

// cacheMember is a folder or an item in a folder.
type cacheMember struct {
	ID      world.UUID `json:"id"`
	Name    string     `json:"name"`
	Type    int        `json:"type"`
	Created int64      `json:"created,omitempty"`
}

// errForeign says that a file is none of ours, and stays as it is.
var errForeign = errors.New("found a file of another program, which stays as it is")

// OpenCache returns the cache in a file, which need not exist; its folder is
// made. The cache is never nil and can be used even where there is an error,
// which says why what is there is ignored: damaged or of another account, and
// then replaced by the next crawl, or no file of ours at all, and then left
// alone. A file has at most 64 MiB.
func OpenCache(path string) (*Cache, error) {
	c := &Cache{path: path}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return c, cacheError(err)
	}
	_, err := c.load(world.UUID{})
	return c, err
}

// load reads the file. A missing file holds nothing; a file that cannot be
// used as a whole holds nothing either, and the error says why. Entries of
// another account than owner are not used; a zero owner is anybody.
func (c *Cache) load(owner world.UUID) (map[world.UUID]Contents, error) {
	if c == nil {
		return nil, nil
	}
	// Opening what is no file may block or do worse.
	info, err := os.Lstat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, cacheError(err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("inventory cache ignored: %w", errForeign)
	case info.Size() > maxCache:
		return nil, fmt.Errorf("inventory cache ignored: %w: %d bytes", errForeign, info.Size())
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("inventory cache ignored: found mode %v, which lets others write it, expected 0600", info.Mode().Perm())
	}
	file, err := os.Open(c.path)
	if err != nil {
		return nil, cacheError(err)
	}
	defer file.Close()
	entries, err := readCache(file, owner)
	if err != nil {
		return nil, fmt.Errorf("inventory cache ignored: %w", err)
	}
	return entries, nil
}

// readCache reads a cache file's bytes: all of them, or an error.
func readCache(r io.Reader, owner world.UUID) (map[world.UUID]Contents, error) {
	lines := bufio.NewScanner(io.LimitReader(r, maxCache))
	lines.Buffer(nil, maxCache)
	if !lines.Scan() {
		return nil, errors.New("found nothing in the file")
	}
	var header cacheHeader
	if err := json.Unmarshal(lines.Bytes(), &header); err != nil || header.Format != cacheFormat {
		return nil, errForeign
	}
	switch {
	case header.Version != cacheVersion:
		return nil, fmt.Errorf("found version %d of the file, expected %d", header.Version, cacheVersion)
	case !owner.IsZero() && header.Owner != owner:
		return nil, errors.New("found another account's file")
	}
	entries := map[world.UUID]Contents{}
	items := 0
	for n := 2; lines.Scan(); n++ {
		var f cacheFolder
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil || f.ID.IsZero() || f.Version <= 0 {
			return nil, fmt.Errorf("found line %d damaged", n)
		}
		items += len(f.Items)
		if items > maxItems || len(entries) == maxFolders {
			return nil, fmt.Errorf("found over %d folders or %d items", maxFolders, maxItems)
		}
		entries[f.ID] = f.contents()
	}
	if err := lines.Err(); err != nil {
		return nil, cacheError(err)
	}
	return entries, nil
}

// contents returns what a line says. The versions of the folders in it may
// have changed since, so they are unknown.
func (f *cacheFolder) contents() Contents {
	c := Contents{Folder: f.ID, Version: f.Version}
	for _, m := range f.Folders {
		c.Folders = append(c.Folders, Folder{ID: m.ID, ParentID: f.ID, Name: m.Name, Type: m.Type})
	}
	for _, m := range f.Items {
		c.Items = append(c.Items, Item{ID: m.ID, FolderID: f.ID, Name: m.Name, AssetType: m.Type, Created: m.Created})
	}
	return c
}

// line is the reverse of contents.
func (c *Contents) line() cacheFolder {
	f := cacheFolder{ID: c.Folder, Version: c.Version}
	for _, m := range c.Folders {
		f.Folders = append(f.Folders, cacheMember{ID: m.ID, Name: m.Name, Type: m.Type})
	}
	for _, m := range c.Items {
		f.Items = append(f.Items, cacheMember{m.ID, m.Name, m.AssetType, m.Created})
	}
	return f
}

// save replaces the file by one that holds the entries. Entries beyond the
// file's bound are left out.
func (c *Cache) save(owner world.UUID, entries map[world.UUID]Contents) (err error) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return cacheError(err)
	}
	// A file of its own, of mode 0600, in the same folder: the old one stays
	// whole until it is replaced.
	file, err := os.CreateTemp(filepath.Dir(c.path), filepath.Base(c.path)+".*.tmp")
	if err != nil {
		return cacheError(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // the first error says what matters
			err = cacheError(err)
		}
	}()
	if err := writeCache(file, owner, entries); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), c.path)
}

// writeCache writes a cache file's bytes.
func writeCache(w io.Writer, owner world.UUID, entries map[world.UUID]Contents) error {
	b := bufio.NewWriter(w)
	size := 0
	line := func(v any) error {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if size += len(text) + 1; size > maxCache {
			return nil
		}
		_, _ = b.Write(append(text, '\n')) // Flush returns the error
		return nil
	}
	if err := line(cacheHeader{cacheFormat, cacheVersion, owner}); err != nil {
		return err
	}
	for _, c := range entries {
		if err := line(c.line()); err != nil {
			return err
		}
	}
	return b.Flush()
}

// cacheError leaves the path out: the operator knows it, and it names the
// account.
func cacheError(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("inventory cache: %w", err)
}
