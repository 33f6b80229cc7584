package caps_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// open opens a cache that must be sound.
func open(t *testing.T, path string) *caps.Cache {
	t.Helper()
	cache, err := caps.OpenCache(path)
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

// fill crawls a shelf of three folders into a cache file.
func fill(t *testing.T, path string) (*shelf, outcome) {
	t.Helper()
	s := &shelf{}
	s.put(uuid(1), 3, 0, uuid(2), uuid(3))
	s.put(uuid(2), 1, 2)
	s.put(uuid(3), 0, 4) // of unknown version
	o := crawl(t.Context(), t, s.client(t), open(t, path), s.skeleton())
	if o.Err != nil || o.Missing != 0 || len(o.Contents) != 3 || len(o.Reports) != 0 {
		t.Fatalf("found %+v", o)
	}
	s.requests = nil
	return s, o
}

// requested returns all folders that were asked for.
func (s *shelf) requested() []world.UUID {
	all := slices.Concat(s.requests...)
	slices.SortFunc(all, world.UUID.Compare)
	return all
}

// TestCache: a second crawl asks only for what is new, and tells the same.
func TestCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "a.jsonl")
	s, first := fill(t, path)
	for name, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != mode && runtime.GOOS != "windows" {
			t.Errorf("found %v, %v, expected %v", info.Mode(), err, mode)
		}
	}

	second := crawl(t.Context(), t, s.client(t), open(t, path), s.skeleton())
	for _, c := range first.Contents {
		for i := range c.Folders {
			c.Folders[i].Version = 0 // may have changed since
		}
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("found (+), expected (-):\n%s", diff)
	}
	if got := s.requested(); !slices.Equal(got, []world.UUID{uuid(3)}) {
		t.Errorf("found requests for %v, expected one for the folder of unknown version", got)
	}

	s.requests = nil
	s.put(uuid(2), 2, 5)
	third := crawl(t.Context(), t, s.client(t), open(t, path), s.skeleton())
	if got := s.requested(); !slices.Equal(got, []world.UUID{uuid(2), uuid(3)}) || len(third.Contents[uuid(2)].Items) != 5 {
		t.Errorf("found requests for %v, and %+v", got, third.Contents[uuid(2)])
	}
}

// TestCacheUnlisted: a folder that only a cached folder lists is fetched, as
// nobody says that it did not change.
func TestCacheUnlisted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s, _ := fill(t, path)
	o := crawl(t.Context(), t, s.client(t), open(t, path), s.skeleton()[:1])
	if got := s.requested(); o.Err != nil || len(o.Contents) != 3 || !slices.Equal(got, []world.UUID{uuid(2), uuid(3)}) {
		t.Errorf("found %v, %d folders, requests for %v", o.Err, len(o.Contents), got)
	}
}

// TestCachePartial: what is known in part is not kept, nor what is gone, and
// a crawl that broke off loses nothing.
func TestCachePartial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s, _ := fill(t, path)
	gone := &shelf{spoil: func(*http.Request, []world.UUID) (int, http.Header, string) { return 404, nil, "" }}
	if o := crawl(t.Context(), t, gone.client(t), open(t, path), []caps.Folder{{ID: uuid(7)}}); o.Err == nil {
		t.Error("found no error")
	}
	if o := crawl(t.Context(), t, s.client(t), open(t, path), s.skeleton()[:2]); o.Err != nil || len(o.Contents) != 3 {
		t.Errorf("found %+v", o)
	}
	if got := s.requested(); !slices.Equal(got, []world.UUID{uuid(3)}) {
		t.Errorf("found requests for %v", got)
	}
	if o := crawl(t.Context(), t, s.client(t), open(t, path), []caps.Folder{{ID: uuid(2), Version: 1}}); o.Err != nil || len(o.Contents) != 1 {
		t.Errorf("found %+v", o)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), uuid(1).String()) || !strings.Contains(string(text), uuid(2).String()) {
		t.Errorf("found %v, %s, expected folder 2 alone", err, text)
	}
}

// TestCacheIgnored: files that are no good are ignored, with a reason. Ours
// are replaced, others stay.
func TestCacheIgnored(t *testing.T) {
	const header = `{"format":"wipagent inventory cache","version":1,"owner":"0a0a0a0a-0000-4000-8000-000000000001"}` + "\n"
	for _, test := range []struct {
		name, text, reason string
		stays              bool
	}{
		{"empty", "", "nothing in the file", false},
		{"foreign", "PNG\x00\x01", "another program", true},
		{"foreign JSON", `{"folders":[]}` + "\n", "another program", true},
		{"newer", strings.Replace(header, ":1,", ":2,", 1), "version 2", false},
		{"damaged", header + `{"id":"00000000-0000-4000-8000-000000000001","ver`, "line 2 damaged", false},
		{"binary", header + "\x00\xff\n", "line 2 damaged", false},
		{"no version", header + `{"id":"00000000-0000-4000-8000-000000000001"}` + "\n", "line 2 damaged", false},
		{"no folder", header + `{"version":1}` + "\n", "line 2 damaged", false},
		{"odd ID", header + `{"id":"1","version":1}` + "\n", "line 2 damaged", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "canary.jsonl")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cache, err := caps.OpenCache(path)
			if cache == nil || err == nil || !strings.Contains(err.Error(), test.reason) || strings.Contains(err.Error(), "canary") {
				t.Fatalf("found %v, %v, expected %q", cache, err, test.reason)
			}
			s := &shelf{}
			s.put(uuid(1), 3, 1)
			o := crawl(t.Context(), t, s.client(t), cache, s.skeleton())
			if o.Err != nil || len(o.Contents) != 1 || len(o.Reports) != 1 || !strings.Contains(o.Reports[0], test.reason) {
				t.Errorf("found %+v", o)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if stays := string(after) == test.text; stays != test.stays {
				t.Errorf("found %q after a crawl", after)
			}
			if _, err := caps.OpenCache(path); (err != nil) != test.stays {
				t.Errorf("found %v after a crawl", err)
			}
		})
	}
}

// TestCacheOfAnother: one account's file is no use to another.
func TestCacheOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s, _ := fill(t, path)
	cache := open(t, path)
	var reports []string
	other := &caps.Crawl{
		Client: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, context.Canceled })},
		URL:    secret.New(address), Owner: uuid(9), Cache: cache, Report: func(err error) { reports = append(reports, err.Error()) },
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	missing, err := other.Run(ctx, s.skeleton(), func(c caps.Contents) { t.Errorf("found %+v of another account", c) })
	if missing != 3 || err == nil || len(reports) != 1 || !strings.Contains(reports[0], "another account") {
		t.Errorf("found %d, %v, %q", missing, err, reports)
	}
	// It fetched nothing, so the file is still the first account's.
	if crawl(t.Context(), t, s.client(t), cache, s.skeleton()); len(s.requested()) != 1 {
		t.Errorf("found requests for %v", s.requested())
	}
}

// TestCacheUnfit: paths where no file can be.
func TestCacheUnfit(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	paths := map[string]string{"folder": dir, "below a file": filepath.Join(file, "canary")}
	if err := os.Symlink(file, link); err == nil {
		paths["link"] = link
	}
	loose := filepath.Join(dir, "loose")
	if fill(t, loose); runtime.GOOS != "windows" {
		if err := os.Chmod(loose, 0o622); err != nil {
			t.Fatal(err)
		}
		paths["written by others"] = loose
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			cache, err := caps.OpenCache(path)
			if cache == nil || err == nil || strings.Contains(err.Error(), dir) {
				t.Errorf("found %v, %v, expected an error without the path", cache, err)
			}
			s := &shelf{}
			s.put(uuid(1), 3, 1)
			if o := crawl(t.Context(), t, s.client(t), cache, s.skeleton()); o.Err != nil || len(o.Contents) != 1 || len(o.Reports) == 0 {
				t.Errorf("found %+v", o)
			}
		})
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 65<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := caps.OpenCache(large); err == nil || !strings.Contains(err.Error(), "68157440 bytes") {
		t.Errorf("found %v", err)
	}
}

// TestCacheShared: crawls into one file at the same time leave a whole file,
// and no other.
func TestCacheShared(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	s := &shelf{}
	for i := range 30 {
		s.put(uuid(i+1), 1, 3)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			// One of its own each, as other processes have.
			cache, err := caps.OpenCache(path)
			if err != nil {
				t.Error(err)
			}
			if o := crawl(t.Context(), t, s.client(t), cache, s.skeleton()[i:]); o.Err != nil || len(o.Contents) != 30-i {
				t.Errorf("found %+v", o)
			}
		})
	}
	wg.Wait()
	open(t, path)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("found %v, %v, expected one file", entries, err)
	}
}

// FuzzCache: no file breaks the reader, and what it reads is written such that
// it reads the same.
func FuzzCache(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := caps.ReadCache(strings.NewReader(text))
		if err != nil {
			return
		}
		written, err := caps.WriteCache(owner, entries)
		if err != nil {
			t.Fatal(err)
		}
		again, err := caps.ReadCache(strings.NewReader(written))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(entries, again); diff != "" {
			t.Fatalf("found (+), expected (-):\n%s", diff)
		}
	})
}
