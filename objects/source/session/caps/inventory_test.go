package caps_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

var owner = world.MustUUID("0a0a0a0a-0000-4000-8000-000000000001")

// address is a capability's; no error may hold it.
const address = "http://grid.example/canary"

// number n as a UUID.
func uuid(n int) world.UUID {
	return world.MustUUID(fmt.Sprintf("00000000-0000-4000-8000-%012x", n))
}

// shelf is an inventory service without a socket: an http.RoundTripper, so
// that time can be synthetic.
type shelf struct {
	mu       sync.Mutex
	folders  map[world.UUID]llsd.Value
	requests [][]world.UUID
	// spoil may answer in the service's place: with a status other than 0.
	spoil func(r *http.Request, asked []world.UUID) (status int, header http.Header, body string)
}

// asked reads which folders a request is for.
func asked(t *testing.T, r *http.Request) []world.UUID {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	v, err := llsd.Parse(body)
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/llsd+xml" {
		t.Errorf("found %v, %s, %s", err, r.Method, r.Header.Get("Content-Type"))
	}
	var ids []world.UUID
	for f := range v.Get("folders").Values() {
		id, _ := f.Get("folder_id").UUID()
		whose, _ := f.Get("owner_id").UUID()
		folders, _ := f.Get("fetch_folders").Bool()
		items, _ := f.Get("fetch_items").Bool()
		if whose != owner || !folders || !items {
			t.Errorf("found %s", body)
		}
		ids = append(ids, id)
	}
	return ids
}

// client returns a client of the service.
func (s *shelf) client(t *testing.T) *http.Client {
	return &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		ids := asked(t, r)
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.requests = append(s.requests, ids)
		s.mu.Unlock()
		status, header, body := 200, http.Header{}, ""
		if s.spoil != nil {
			status, header, body = s.spoil(r, ids)
			if err := r.Context().Err(); err != nil {
				return nil, err
			}
		}
		if status == 0 || s.spoil == nil {
			status, body = 200, s.answer(ids)
		}
		if header == nil {
			header = http.Header{}
		}
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})}
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer is what the service says of folders; unknown ones are bad_folders.
func (s *shelf) answer(ids []world.UUID) string {
	var good, bad []llsd.Value
	for _, id := range ids {
		if f, ok := s.folders[id]; ok {
			good = append(good, f)
		} else {
			bad = append(bad, llsd.Map(llsd.Member{Key: "folder_id", Value: llsd.UUID(id)}, llsd.Member{Key: "error", Value: llsd.String("Unknown")}))
		}
	}
	body := llsd.Map(llsd.Member{Key: "folders", Value: llsd.Array(good...)}).AppendXML(nil)
	if len(bad) == 0 {
		return string(body)
	}
	// OpenSimulator writes a second map beside the first.
	second := llsd.Map(llsd.Member{Key: "bad_folders", Value: llsd.Array(bad...)}).AppendXML(nil)
	first, _, _ := strings.Cut(string(body), "</llsd>")
	_, rest, _ := strings.Cut(string(second), "<llsd>")
	return first + rest
}

// put adds a folder with n items.
func (s *shelf) put(id world.UUID, version, items int, sub ...world.UUID) {
	if s.folders == nil {
		s.folders = map[world.UUID]llsd.Value{}
	}
	var categories, list []llsd.Value
	for _, f := range sub {
		categories = append(categories, llsd.Map(
			llsd.Member{Key: "category_id", Value: llsd.UUID(f)}, llsd.Member{Key: "parent_id", Value: llsd.UUID(id)},
			llsd.Member{Key: "name", Value: llsd.String("folder " + f.String())}, llsd.Member{Key: "type_default", Value: llsd.Integer(-1)},
			llsd.Member{Key: "version", Value: llsd.Integer(1)}))
	}
	for i := range items {
		item := id
		item[0] = byte(i + 1)
		list = append(list, llsd.Map(
			llsd.Member{Key: "item_id", Value: llsd.UUID(item)}, llsd.Member{Key: "parent_id", Value: llsd.UUID(id)},
			llsd.Member{Key: "name", Value: llsd.String(fmt.Sprint("item ", i))}, llsd.Member{Key: "type", Value: llsd.Integer(3)},
			llsd.Member{Key: "created_at", Value: llsd.Integer(int64(i))}))
	}
	s.folders[id] = llsd.Map(
		llsd.Member{Key: "folder_id", Value: llsd.UUID(id)}, llsd.Member{Key: "version", Value: llsd.Integer(int64(version))},
		llsd.Member{Key: "descendents", Value: llsd.Integer(int64(len(sub) + items))},
		llsd.Member{Key: "categories", Value: llsd.Array(categories...)}, llsd.Member{Key: "items", Value: llsd.Array(list...)})
}

// skeleton lists the folders of a shelf as a login does.
func (s *shelf) skeleton() []caps.Folder {
	var list []caps.Folder
	for id, f := range s.folders {
		version, _ := f.Get("version").Int()
		list = append(list, caps.Folder{ID: id, Version: int(version)})
	}
	slices.SortFunc(list, func(a, b caps.Folder) int { return a.ID.Compare(b.ID) })
	return list
}

// outcome is all that a crawl told.
type outcome struct {
	Contents map[world.UUID]caps.Contents
	Missing  int
	Err      error
	Reports  []string
	Done     int // as Progress said last
	Total    int
}

// crawl runs one.
func crawl(ctx context.Context, t *testing.T, client *http.Client, cache *caps.Cache, skeleton []caps.Folder) outcome {
	t.Helper()
	o := outcome{Contents: map[world.UUID]caps.Contents{}}
	steps := 0
	c := &caps.Crawl{
		Client: client, URL: secret.New(address), Owner: owner, Cache: cache,
		Progress: func(done, total int) {
			if steps++; done != steps || total < done {
				t.Errorf("found progress %d of %d at step %d", done, total, steps)
			}
			o.Done, o.Total = done, total
		},
		Report: func(err error) { o.Reports = append(o.Reports, err.Error()) },
	}
	o.Missing, o.Err = c.Run(ctx, skeleton, func(c caps.Contents) {
		if _, twice := o.Contents[c.Folder]; twice {
			t.Errorf("found folder %v twice", c.Folder)
		}
		o.Contents[c.Folder] = c
	})
	for _, text := range append(o.Reports, fmt.Sprint(o.Err)) {
		if strings.Contains(text, "canary") {
			t.Errorf("found the address in %q", text)
		}
	}
	return o
}

// items counts those of an outcome.
func (o outcome) items() (n int) {
	for _, c := range o.Contents {
		n += len(c.Items)
	}
	return n
}

// TestInventoryCapture: a real inventory, served again as it was.
func TestInventoryCapture(t *testing.T) {
	var truth struct {
		Inventory struct {
			Items []struct {
				UUID, Name string
				Type       int    `json:"asset_type"`
				Created    int64  `json:"created"`
				Folder     string `json:"folder_uuid"`
			}
			Folders []struct {
				UUID, Name string
				Type       int `json:"type_default"`
				Version    int
			}
		}
	}
	capture.Truth(t, "login-session", &truth)
	// One answer with all folders, byte by byte as the simulator wrote them.
	const head, tail = "<llsd><map><key>folders</key><array>", "</array></map></llsd>"
	all := head
	for _, e := range capture.Fixture(t, "login-session").Exchanges {
		if body, ok := strings.CutPrefix(string(e.ResponseBody), head); ok {
			all += strings.TrimSuffix(body, tail)
		}
	}
	all += tail
	if !strings.ContainsAny(all, "\x01\x02\x1b") {
		t.Error("found no raw control character in the capture, expected one")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = asked(t, r)
		w.Header().Set("Content-Type", "text/html;charset=UTF-8")
		_, _ = io.WriteString(w, all)
	}))
	defer server.Close()

	var skeleton []caps.Folder
	for _, f := range truth.Inventory.Folders {
		skeleton = append(skeleton, caps.Folder{ID: world.MustUUID(f.UUID), Name: f.Name, Type: f.Type, Version: f.Version})
	}
	for name, skeleton := range map[string][]caps.Folder{"whole skeleton": skeleton, "root only": skeleton[:1]} {
		t.Run(name, func(t *testing.T) {
			folders, items := map[world.UUID]caps.Folder{}, map[world.UUID]caps.Item{}
			c := &caps.Crawl{Client: server.Client(), URL: secret.New(server.URL), Owner: owner, Report: func(err error) { t.Error(err) }}
			missing, err := c.Run(t.Context(), skeleton, func(c caps.Contents) {
				for _, f := range c.Folders {
					folders[f.ID] = f
				}
				for _, i := range c.Items {
					items[i.ID] = i
				}
			})
			if err != nil || missing != 0 || len(items) != len(truth.Inventory.Items) || len(folders) != len(truth.Inventory.Folders)-1 {
				t.Fatalf("found %v, %d missing, %d items, %d folders", err, missing, len(items), len(folders))
			}
			for _, want := range truth.Inventory.Items {
				id := world.MustUUID(want.UUID)
				if diff := cmp.Diff(caps.Item{ID: id, FolderID: world.MustUUID(want.Folder), Name: want.Name, AssetType: want.Type, Created: want.Created}, items[id]); diff != "" {
					t.Errorf("found (+), expected (-):\n%s", diff)
				}
			}
			for _, want := range truth.Inventory.Folders[1:] {
				if f := folders[world.MustUUID(want.UUID)]; f.Name != want.Name || f.Type != want.Type || f.Version != want.Version {
					t.Errorf("found %+v, expected %+v", f, want)
				}
			}
		})
	}
}

// TestCrawlBatches: folders come in batches, not too many requests at a time
// nor in a second, and each folder once.
func TestCrawlBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		for i := range 400 {
			s.put(uuid(i+1), 1, 2)
		}
		now, most := 0, 0
		s.spoil = func(r *http.Request, ids []world.UUID) (int, http.Header, string) {
			s.mu.Lock()
			now++
			most = max(most, now)
			s.mu.Unlock()
			time.Sleep(10 * time.Millisecond)
			s.mu.Lock()
			now--
			s.mu.Unlock()
			return 0, nil, ""
		}
		begun := time.Now()
		o := crawl(t.Context(), t, s.client(t), nil, s.skeleton())
		if o.Err != nil || o.Missing != 0 || len(o.Contents) != 400 || o.items() != 800 || o.Done != 400 || o.Total != 400 || len(o.Reports) != 0 {
			t.Errorf("found %+v", o)
		}
		if len(s.requests) != 25 || most != 3 {
			t.Errorf("found %d requests, %d at a time, expected 25 and 3", len(s.requests), most)
		}
		if took := time.Since(begun); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("found %v for 25 requests at 8 a second", took)
		}
	})
}

func TestCrawlFindsFolders(t *testing.T) {
	s := &shelf{}
	s.put(uuid(1), 3, 1, uuid(2), uuid(3))
	s.put(uuid(2), 1, 0, uuid(4), uuid(1)) // a folder that holds its own parent
	s.put(uuid(3), 1, 0, uuid(3))
	s.put(uuid(4), 1, 5)
	o := crawl(t.Context(), t, s.client(t), nil, []caps.Folder{{ID: uuid(1), Version: 3}, {ID: uuid(1)}, {}})
	if o.Err != nil || o.Missing != 0 || len(o.Contents) != 4 || o.items() != 6 || o.Total != 4 {
		t.Errorf("found %+v", o)
	}
	want := []caps.Folder{
		{ID: uuid(2), ParentID: uuid(1), Name: "folder " + uuid(2).String(), Type: -1, Version: 1},
		{ID: uuid(3), ParentID: uuid(1), Name: "folder " + uuid(3).String(), Type: -1, Version: 1},
	}
	if diff := cmp.Diff(want, o.Contents[uuid(1)].Folders); diff != "" {
		t.Errorf("found (+), expected (-):\n%s", diff)
	}
}

// TestCrawlAnswers: what services answer to a request for folders 1 and 2.
func TestCrawlAnswers(t *testing.T) {
	one, two := uuid(1), uuid(2)
	folder := func(id world.UUID, rest string) string {
		return "<map><key>folder_id</key><uuid>" + id.String() + "</uuid>" + rest + "</map>"
	}
	for _, test := range []struct {
		name    string
		body    string
		missing int
		want    []caps.Contents
	}{
		{"an empty folder left out", "<llsd><map><key>folders</key><array>" + folder(one, "<key>version</key><integer>7</integer>") + "</array></map></llsd>", 0,
			[]caps.Contents{{Folder: one, Version: 7}, {Folder: two}}},
		{"two maps", "<llsd><map><key>folders</key><array>" + folder(one, "") + "</array></map><map><key>bad_folders</key><array>" + folder(two, "") + "</array></map></llsd>", 1,
			[]caps.Contents{{Folder: one}}},
		{"bad ids as such", "<llsd><map><key>bad_folders</key><array><uuid>" + one.String() + "</uuid>" + folder(two, "") + "</array></map></llsd>", 2, nil},
		{"strangers and repetitions", "<llsd><map><key>folders</key><array>" + folder(uuid(9), "") + folder(one, "") + folder(one, "<key>version</key><integer>9</integer>") + "<string/></array></map></llsd>", 0,
			[]caps.Contents{{Folder: one}, {Folder: two}}},
		{"fewer than promised", "<llsd><map><key>folders</key><array>" + folder(one, "<key>version</key><integer>7</integer><key>descendents</key><integer>1</integer>") + "</array></map></llsd>", 1,
			[]caps.Contents{{Folder: one, Version: 7}, {Folder: two}}},
		{"items", "<llsd><map><key>folders</key><array>" + folder(one, "<key>items</key><array>"+
			"<map><key>item_id</key><string>"+uuid(5).String()+"</string><key>name</key><string>R & D</string><key>type</key><string>landmark</string><key>created_at</key><string>12</string></map>"+
			"<map><key>item_id</key><uuid>"+uuid(6).String()+"</uuid><key>parent_id</key><uuid>"+two.String()+"</uuid></map>"+
			"<map><key>item_id</key><uuid>"+uuid(7).String()+"</uuid><key>type</key><string>thing</string><key>created_at</key><integer>-1</integer><key>name</key><string>"+strings.Repeat("é", 600)+"</string></map>"+
			"<map><key>name</key><string>nameless</string></map>"+
			"</array><key>categories</key><array>"+
			folder(uuid(3), "<key>type_default</key><integer>8589934592</integer>")+folder(one, "")+"<map/>"+
			"</array>") + folder(uuid(3), "") + "</array></map></llsd>", 0,
			[]caps.Contents{{Folder: one, Folders: []caps.Folder{{ID: uuid(3), ParentID: one, Type: -1}}, Items: []caps.Item{
				{ID: uuid(5), FolderID: one, Name: "R & D", AssetType: 3, Created: 12},
				{ID: uuid(7), FolderID: one, Name: strings.Repeat("é", 512), AssetType: -1, Created: -1},
			}}, {Folder: two}, {Folder: uuid(3)}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &shelf{spoil: func(*http.Request, []world.UUID) (int, http.Header, string) { return 200, nil, test.body }}
			o := crawl(t.Context(), t, s.client(t), nil, []caps.Folder{{ID: one}, {ID: two}})
			want := map[world.UUID]caps.Contents{}
			for _, c := range test.want {
				want[c.Folder] = c
			}
			if diff := cmp.Diff(want, o.Contents); diff != "" || o.Err != nil || o.Missing != test.missing {
				t.Errorf("found %v, %d missing, (+), expected (-):\n%s", o.Err, o.Missing, diff)
			}
		})
	}
}

// TestCrawlFaults: what goes wrong with a service of 40 folders, folder 20 of
// which may be the trouble.
func TestCrawlFaults(t *testing.T) {
	poison := uuid(20)
	const html = "<html><body>502 Bad Gateway</body></html>"
	for _, test := range []struct {
		name        string
		spoil       func(r *http.Request, ids []world.UUID, n int) (int, http.Header, string)
		missing     int
		least, most int // requests
		within      time.Duration
		err         string
		reported    bool
	}{
		{"hiccups", func(_ *http.Request, _ []world.UUID, n int) (int, http.Header, string) {
			if n <= 3 {
				return []int{0, 500, 502, 503}[n], nil, html
			}
			return 0, nil, ""
		}, 0, 6, 6, 5 * time.Second, "", false},
		{"told to wait", func(_ *http.Request, _ []world.UUID, n int) (int, http.Header, string) {
			if n == 1 {
				return 503, http.Header{"Retry-After": {"5"}}, ""
			}
			return 0, nil, ""
		}, 0, 4, 4, 6 * time.Second, "", false},
		{"a folder that breaks the service", func(_ *http.Request, ids []world.UUID, _ int) (int, http.Header, string) {
			if slices.Contains(ids, poison) {
				return 500, nil, ""
			}
			return 0, nil, ""
		}, 1, 12, 30, time.Minute, "", true},
		{"a folder that breaks the answer", func(_ *http.Request, ids []world.UUID, _ int) (int, http.Header, string) {
			if slices.Contains(ids, poison) {
				return 200, nil, "<llsd><map><key>fold"
			}
			return 0, nil, ""
		}, 1, 11, 11, 2 * time.Second, "", true},
		{"a folder that takes too long", func(r *http.Request, ids []world.UUID, _ int) (int, http.Header, string) {
			if slices.Contains(ids, poison) {
				<-r.Context().Done()
			}
			return 0, nil, ""
		}, 1, 11, 11, 4 * time.Minute, "", true},
		{"answers that are none", func(_ *http.Request, ids []world.UUID, _ int) (int, http.Header, string) {
			if len(ids) > 2 {
				return 200, nil, []string{"", html, "<llsd><undef/></llsd>", "<llsd><map/></llsd>"}[len(ids)%4]
			}
			return 0, nil, ""
		}, 0, 25, 60, 10 * time.Second, "", false},
		{"requests too large", func(_ *http.Request, ids []world.UUID, _ int) (int, http.Header, string) {
			if len(ids) > 8 {
				return 413, nil, ""
			}
			return 0, nil, ""
		}, 0, 7, 8, time.Second, "", false},
		{"gone", func(*http.Request, []world.UUID, int) (int, http.Header, string) { return 404, nil, html }, 40, 1, 3, time.Second, caps.ErrGone.Error(), false},
		{"redirect", func(*http.Request, []world.UUID, int) (int, http.Header, string) {
			return 307, http.Header{"Location": {"http://other.example/canary"}}, ""
		}, 40, 12, 15, 5 * time.Second, "FetchInventoryDescendents2: found status 307", false},
		{"out of order", func(*http.Request, []world.UUID, int) (int, http.Header, string) { return 500, nil, html }, 40, 12, 60, 2 * time.Minute, "FetchInventoryDescendents2: found status 500", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shelf{}
				for i := range 40 {
					s.put(uuid(i+1), 1, 1)
				}
				n := 0
				s.spoil = func(r *http.Request, ids []world.UUID) (int, http.Header, string) {
					s.mu.Lock()
					n++
					call := n
					s.mu.Unlock()
					return test.spoil(r, ids, call)
				}
				begun := time.Now()
				o := crawl(t.Context(), t, s.client(t), nil, s.skeleton())
				if took := time.Since(begun); took > test.within {
					t.Errorf("found %v, expected at most %v", took, test.within)
				}
				if o.Missing != test.missing || len(o.Contents) != 40-test.missing {
					t.Errorf("found %d missing and %d folders, expected %d missing", o.Missing, len(o.Contents), test.missing)
				}
				if len(s.requests) < test.least || len(s.requests) > test.most {
					t.Errorf("found %d requests, expected %d to %d", len(s.requests), test.least, test.most)
				}
				if (o.Err != nil) != (test.err != "") || o.Err != nil && !strings.Contains(o.Err.Error(), test.err) {
					t.Errorf("found %v, expected %q", o.Err, test.err)
				}
				if test.err == "" && (len(o.Reports) == 1) != test.reported {
					t.Errorf("found reports %q", o.Reports)
				}
			})
		})
	}
}

// TestCrawlDisconnects: an error of the transport, which has the address.
func TestCrawlDisconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })}
		o := crawl(t.Context(), t, client, nil, []caps.Folder{{ID: uuid(1)}})
		if o.Missing != 1 || o.Err == nil || !strings.Contains(o.Err.Error(), "no route") {
			t.Errorf("found %+v", o)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := &caps.Crawl{URL: secret.New("http://canary\x00"), Owner: owner}
		if missing, err := c.Run(t.Context(), []caps.Folder{{ID: uuid(1)}}, nil); missing != 1 || err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("found %d, %v", missing, err)
		}
	})
}

func TestCrawlNothing(t *testing.T) {
	s := &shelf{}
	if o := crawl(t.Context(), t, s.client(t), nil, nil); o.Err != nil || o.Missing != 0 || len(s.requests) != 0 {
		t.Errorf("found %+v", o)
	}
}

func TestCrawlCancelled(t *testing.T) {
	for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		},
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shelf{}
				for i := range 1000 {
					s.put(uuid(i+1), 1, 1)
				}
				s.spoil = func(r *http.Request, ids []world.UUID) (int, http.Header, string) {
					if slices.Contains(ids, uuid(100)) {
						<-r.Context().Done()
					}
					return 0, nil, ""
				}
				ctx, cancel := end(t.Context())
				defer cancel()
				o := crawl(ctx, t, s.client(t), nil, s.skeleton())
				if !errors.Is(o.Err, ctx.Err()) && !errors.Is(o.Err, context.DeadlineExceeded) || o.Missing+len(o.Contents) != 1000 || len(o.Contents) == 0 {
					t.Errorf("found %v, %d missing, %d folders", o.Err, o.Missing, len(o.Contents))
				}
			})
		})
	}
}

// TestCrawlBounds: an inventory without an end does not take memory or time
// without an end.
func TestCrawlBounds(t *testing.T) {
	t.Run("folders", func(t *testing.T) {
		var skeleton []caps.Folder
		for i := range 32_768 + 5 {
			skeleton = append(skeleton, caps.Folder{ID: uuid(i + 1)})
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := &shelf{}
		if o := crawl(ctx, t, s.client(t), nil, skeleton); !errors.Is(o.Err, context.Canceled) || o.Missing != 32_768+5 {
			t.Errorf("found %v, %d missing", o.Err, o.Missing)
		}
	})
	t.Run("items", func(t *testing.T) {
		s := &shelf{}
		for i := range 100 {
			s.put(uuid(i+1), 1, 20)
		}
		c := &caps.Crawl{Client: s.client(t), URL: secret.New(address), Owner: owner}
		folders, items := 0, 0
		missing, err := caps.RunBounded(c, t.Context(), s.skeleton(), func(c caps.Contents) {
			folders++
			items += len(c.Items)
		}, 500)
		if err != nil || items < 500 || items > 500+3*16*20 || folders == 100 || missing != 100-folders {
			t.Errorf("found %v, %d items, %d missing, %d folders", err, items, missing, folders)
		}
	})
}
