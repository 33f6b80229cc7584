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
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// agent is one person in an answer, in the order of its members.
func agent(id world.UUID, members ...string) llsd.Value {
	all := []llsd.Member{{Key: "id", Value: llsd.UUID(id)}}
	for i := 0; i < len(members); i += 2 {
		all = append(all, llsd.Member{Key: members[i], Value: llsd.String(members[i+1])})
	}
	return llsd.Map(all...)
}

// TestNames: the forms that different grids give names in.
func TestNames(t *testing.T) {
	for _, test := range []struct {
		name    string
		members []string
		want    caps.Name
		none    bool
	}{
		{"Second Life", []string{"username", "test.user", "display_name", "Tëst ✨", "legacy_first_name", "Test", "legacy_last_name", "User", "is_display_name_default", "false"},
			caps.Name{Display: "Tëst ✨", Username: "test.user", First: "Test", Last: "User"}, false},
		{"Second Life, one name", []string{"username", "test", "display_name", "test", "legacy_first_name", "test", "legacy_last_name", "Resident", "is_display_name_default", "true"},
			caps.Name{Display: "test", Username: "test", First: "test", Last: "Resident", Default: true}, false},
		{"OpenSimulator", []string{"username", "Test User", "display_name", "Test User", "legacy_first_name", "Test", "legacy_last_name", "User", "is_display_name_default", "1"},
			caps.Name{Display: "Test User", Username: "Test User", First: "Test", Last: "User", Default: true}, false},
		{"user name with a space alone", []string{"username", "Test User"}, caps.Name{Username: "Test User", First: "Test", Last: "User"}, false},
		{"user name with a dot alone", []string{"username", "test.user"}, caps.Name{Username: "test.user", First: "test", Last: "user"}, false},
		{"one word alone", []string{"username", "test"}, caps.Name{Username: "test", First: "test", Last: "Resident"}, false},
		{"from another grid", []string{"username", "Test.User @other.example:8002", "legacy_first_name", "Test.User", "legacy_last_name", "@other.example:8002"},
			caps.Name{Username: "Test.User @other.example:8002", First: "Test.User", Last: "@other.example:8002"}, false},
		{"display name alone", []string{"display_name", "T"}, caps.Name{Display: "T"}, false},
		{"nothing", []string{"is_display_name_default", "1"}, caps.Name{}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := llsd.Map(
				llsd.Member{Key: "agents", Value: llsd.Array(agent(uuid(1), test.members...), agent(uuid(1), "username", "again"), agent(uuid(2), "username", "stranger"))},
				llsd.Member{Key: "bad_ids", Value: llsd.Array(llsd.UUID(uuid(3)))})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/cap/" || r.URL.RawQuery != "ids="+uuid(1).String()+"&ids="+uuid(3).String() {
					t.Errorf("found %s %s", r.Method, r.URL)
				}
				_, _ = w.Write(answer.AppendXML(nil))
			}))
			defer server.Close()
			names, err := caps.FetchNames(t.Context(), server.Client(), secret.New(server.URL+"/cap"), []world.UUID{uuid(3), uuid(1), {}, uuid(1)})
			if err != nil {
				t.Fatal(err)
			}
			want := []caps.Name{test.want}
			want[0].ID = uuid(1)
			if test.none {
				// The second row of the same person counts then.
				want[0] = caps.Name{ID: uuid(1), Username: "again", First: "again", Last: "Resident"}
			}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("found (+), expected (-):\n%s", diff)
			}
		})
	}
}

// directory answers name requests without a socket.
func directory(t *testing.T, spoil func(call int, r *http.Request) (status int, body string)) (*http.Client, *[]string) {
	var addresses []string
	return &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		addresses = append(addresses, r.URL.String())
		status, body := spoil(len(addresses), r)
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		if status == 0 {
			var all []llsd.Value
			for _, text := range r.URL.Query()["ids"] {
				all = append(all, agent(world.MustUUID(text), "username", text))
			}
			status, body = 200, string(llsd.Map(llsd.Member{Key: "agents", Value: llsd.Array(all...)}).AppendXML(nil))
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})}, &addresses
}

// TestNamesBatches: no request is too long, and nobody is asked for twice.
func TestNamesBatches(t *testing.T) {
	var ids []world.UUID
	for i := range 200 {
		ids = append(ids, uuid(i+1))
	}
	for _, test := range []struct {
		address string
		calls   int
	}{
		{"http://grid.example/cap/canary", 3},
		{"http://grid.example/cap/canary/", 3},
		{"http://grid.example/cap?canary=1", 3},
		{"http://grid.example/" + strings.Repeat("canary", 550), 50},
	} {
		client, addresses := directory(t, func(int, *http.Request) (int, string) { return 0, "" })
		names, err := caps.FetchNames(t.Context(), client, secret.New(test.address), slices.Concat(ids, ids))
		if err != nil || len(names) != 200 || len(*addresses) != test.calls {
			t.Errorf("found %v, %d names, %d calls, expected %d", err, len(names), len(*addresses), test.calls)
		}
		for _, a := range *addresses {
			if len(a) > 3_500 || strings.Count(a, "ids=") > 80 || !strings.Contains(a, "/?") {
				t.Errorf("found an address of %d bytes with %d IDs: %s", len(a), strings.Count(a, "ids="), a)
			}
		}
	}
	if names, err := caps.FetchNames(t.Context(), nil, secret.New(address), nil); err != nil || names != nil {
		t.Errorf("found %v, %v for nobody", names, err)
	}
}

func TestNamesFaults(t *testing.T) {
	ids := []world.UUID{}
	for i := range 100 {
		ids = append(ids, uuid(i+1))
	}
	for _, test := range []struct {
		name  string
		spoil func(call int, r *http.Request) (int, string)
		names int
		calls int
		err   string
	}{
		{"hiccup", func(call int, _ *http.Request) (int, string) { return []int{0, 503, 0, 0}[call], "" }, 100, 3, ""},
		{"second batch fails", func(call int, _ *http.Request) (int, string) {
			if call > 1 {
				return 500, "<html>"
			}
			return 0, ""
		}, 80, 4, "GetDisplayNames: found status 500"},
		{"gone", func(int, *http.Request) (int, string) { return 404, "" }, 0, 1, caps.ErrGone.Error()},
		{"redirect", func(int, *http.Request) (int, string) { return 302, "" }, 0, 1, "found status 302"},
		{"no LLSD", func(int, *http.Request) (int, string) { return 200, "<html></html>" }, 0, 1, llsd.ErrNotLLSD.Error()},
		{"endless", func(int, *http.Request) (int, string) { return 200, strings.Repeat("x", 4<<20+1) }, 0, 3, "over 4194304 bytes"},
		{"nobody known", func(int, *http.Request) (int, string) { return 200, "<llsd><map/></llsd>" }, 0, 2, ""},
		{"slow", func(_ int, r *http.Request) (int, string) { <-r.Context().Done(); return 0, "" }, 0, 1, context.DeadlineExceeded.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				client, addresses := directory(t, test.spoil)
				names, err := caps.FetchNames(t.Context(), client, secret.New(address), ids)
				if len(names) != test.names || len(*addresses) != test.calls || (err != nil) != (test.err != "") {
					t.Errorf("found %d names, %d calls, %v", len(names), len(*addresses), err)
				}
				if err != nil && (!strings.Contains(err.Error(), test.err) || strings.Contains(fmt.Sprintf("%+v %#v", err, err), "canary")) {
					t.Errorf("found %v, expected %q", err, test.err)
				}
				if took := time.Since(begun); took > time.Minute {
					t.Errorf("found %v", took)
				}
			})
		})
	}
	for _, bad := range []string{"", "canary", "file:///canary", "http://canary\x00/", "http://grid.example/" + strings.Repeat("canary", 600)} {
		if _, err := caps.FetchNames(t.Context(), nil, secret.New(bad), ids); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("found %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client, _ := directory(t, func(int, *http.Request) (int, string) { return 0, "" })
	if _, err := caps.FetchNames(ctx, client, secret.New(address), ids); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}

// FuzzInventoryAnswer: no answer breaks the readers of inventories and names,
// and they tell of nothing that was not asked for.
func FuzzInventoryAnswer(f *testing.F) {
	batch := []world.UUID{uuid(1), uuid(2)}
	f.Fuzz(func(t *testing.T, document string) {
		v, err := llsd.Parse([]byte(document))
		if err != nil {
			return
		}
		for _, n := range caps.ReadNames(v, batch) {
			if !slices.Contains(batch, n.ID) || n == (caps.Name{ID: n.ID}) {
				t.Fatalf("found %+v", n)
			}
		}
		told := map[world.UUID]bool{}
		for _, c := range caps.ReadFolders(v, batch) {
			if !slices.Contains(batch, c.Folder) || told[c.Folder] {
				t.Fatalf("found %+v", c)
			}
			told[c.Folder] = true
			for _, f := range c.Folders {
				if f.ID.IsZero() || f.ParentID != c.Folder || len(f.Name) > 1024 {
					t.Fatalf("found %+v", f)
				}
			}
			for _, i := range c.Items {
				if i.ID.IsZero() || i.FolderID != c.Folder || len(i.Name) > 1024 || i.AssetType < -1 {
					t.Fatalf("found %+v", i)
				}
			}
		}
	})
}
