package caps_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// TestNamesOnlyRead: what is never asked for cannot be used.
func TestNamesOnlyRead(t *testing.T) {
	for _, name := range caps.Names {
		if !strings.HasPrefix(name, "Get") && !strings.HasPrefix(name, "Fetch") && name != "EventQueueGet" {
			t.Errorf("found %s, expected only what reads", name)
		}
	}
}

// TestSeedCaptured asks with a real answer: the capabilities asked for are
// there, others that were granted are not.
func TestSeedCaptured(t *testing.T) {
	var truth struct {
		Granted []string `json:"capabilities_granted"`
	}
	capture.Truth(t, "login-session", &truth)
	for _, e := range capture.Fixture(t, "login-session").Exchanges {
		if !strings.HasPrefix(e.Path, "/CAPS/") {
			continue
		}
		transport := transportFunc(func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			if want := "<llsd><array><string>EventQueueGet</string><string>FetchInventoryDescendents2</string><string>GetDisplayNames</string></array></llsd>"; string(body) != want || r.Header.Get("Content-Type") != "application/llsd+xml" {
				t.Errorf("found the request %s, expected %s", body, want)
			}
			return &http.Response{StatusCode: e.Status, Body: io.NopCloser(strings.NewReader(string(e.ResponseBody)))}, nil
		})
		set, err := caps.FetchSeed(t.Context(), &http.Client{Transport: transport}, secret.New(queueURL))
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(truth.Granted, func(name string) bool { return !slices.Contains(caps.Names[:], name) })
		if diff := cmp.Diff(want, set.Names()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, name := range set.Names() {
			if !set.Has(name) || !strings.HasPrefix(set.URL(name).Reveal(), "http://127.0.0.1:9000/") {
				t.Errorf("found no address of %s", name)
			}
		}
		if set.Has("FetchInventory2") || !set.URL("FetchInventory2").IsZero() {
			t.Error("found a capability that was not asked for")
		}
		noURL(t, set)
		return
	}
	t.Fatal("found no seed in the capture")
}

// TestSeed plays regions that are not ready, and ones that never will be.
func TestSeed(t *testing.T) {
	good := string(llsd.Map(
		entry("EventQueueGet", llsd.String(queueURL)),
		entry("GetDisplayNames", llsd.String("ftp://5ec4e7.invalid/")),
		entry("UpdateNotecardAgentInventory", llsd.String(queueURL)),
	).AppendXML(nil))
	repeat := func(n int, a answered) []answered { return slices.Repeat([]answered{a}, n) }
	for _, test := range []struct {
		name    string
		replies []answered
		tries   int
		ok      bool
		gone    bool
		least   time.Duration // all of it took
	}{
		{"at once", []answered{{0, 200, good}}, 1, true, false, 0},
		{"too early", []answered{{0, 503, ""}, {0, 404, ""}, {0, 0, ""}, {0, 200, "<llsd><undef/></llsd>"}, {0, 200, ""}, {0, 200, good}}, 6, true, false, 10 * time.Second},
		{"missing", repeat(20, answered{0, 404, ""}), 5, false, true, 5 * time.Second},
		{"gone", repeat(20, answered{0, 410, ""}), 5, false, true, 5 * time.Second},
		{"broken", repeat(20, answered{0, 500, ""}), 10, false, false, 30 * time.Second},
		{"silent", repeat(20, answered{time.Hour, 200, good}), 10, false, false, 300 * time.Second},
		{"refused", repeat(20, answered{0, 403, ""}), 1, false, false, 0},
		{"elsewhere", repeat(20, answered{0, 302, ""}), 10, false, false, 30 * time.Second},
		{"a page", repeat(20, answered{0, 200, "<html/>"}), 10, false, false, 30 * time.Second},
		{"endless", repeat(20, answered{0, 200, strings.Repeat(" ", 2<<20)}), 10, false, false, 30 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &queueServer{replies: test.replies, began: time.Now()}
				set, err := caps.FetchSeed(t.Context(), &http.Client{Transport: server}, secret.New(queueURL))
				took := time.Since(server.began)
				if (err == nil) != test.ok || errors.Is(err, caps.ErrGone) != test.gone || len(server.asked) != test.tries {
					t.Errorf("found %v after %d tries, expected %d", err, len(server.asked), test.tries)
				}
				if took < test.least || took > test.least+2*time.Minute {
					t.Errorf("found that it took %v, expected at least %v", took, test.least)
				}
				if test.ok && !slices.Equal(set.Names(), []string{"EventQueueGet"}) {
					t.Errorf("found %v, expected only the one that was asked for and has an address of the web", set.Names())
				}
				noURL(t, err)
				noURL(t, set)
			})
		})
	}
}

// TestSeedRetryAfter: a region that says when it will be ready is asked then.
func TestSeedRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var asked []time.Duration
		waits := []string{"7", "9999", "soon", ""}
		transport := transportFunc(func(*http.Request) (*http.Response, error) {
			asked = append(asked, time.Since(began))
			n := len(asked) - 1
			if n == len(waits) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("<llsd><map/></llsd>"))}, nil
			}
			return &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {waits[n]}}, Body: http.NoBody}, nil
		})
		if _, err := caps.FetchSeed(t.Context(), &http.Client{Transport: transport}, secret.New(queueURL)); err != nil {
			t.Fatal(err)
		}
		if len(asked) != 5 || asked[1] != 7*time.Second || asked[2] != 37*time.Second || asked[4] > 40*time.Second {
			t.Errorf("found %v, expected 7 s, then the bound of 30 s, then pauses of our own", asked)
		}
	})
}

func TestSeedEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
		defer cancel()
		server := &queueServer{replies: []answered{{0, 500, ""}, {0, 500, ""}}, began: time.Now()}
		_, err := caps.FetchSeed(ctx, &http.Client{Transport: server}, secret.New(queueURL))
		if took := time.Since(server.began); !errors.Is(err, context.DeadlineExceeded) || took != 600*time.Millisecond {
			t.Errorf("found %v after %v, expected the end of the context", err, took)
		}
	})
}

// TestLoopback runs seed and queue over real sockets: a redirect to another
// host is not followed, the type that an answer claims is not looked at, and
// nothing is left behind.
func TestLoopback(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("found a request at another host, expected no redirect to be followed")
	}))
	defer elsewhere.Close()

	polls := 0
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	mux.HandleFunc("POST /seed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html;charset=UTF-8")
		_, _ = w.Write(llsd.Map(entry("EventQueueGet", llsd.String(server.URL+"/queue"))).AppendXML(nil))
	})
	hold := make(chan struct{})
	mux.HandleFunc("POST /queue", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch polls++; polls {
		case 1:
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case 2:
			_, _ = io.WriteString(w, eventBatch(1, "A"))
		default:
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
	})
	defer close(hold)

	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	set, err := caps.FetchSeed(t.Context(), client, secret.New(server.URL+"/seed"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var got []string
	err = caps.NewQueue(client, set.URL(caps.EventQueueGet)).Run(ctx, func(d caps.Delivery) {
		for _, e := range d.Events {
			got = append(got, e.Name)
			cancel()
		}
		noURL(t, d)
	})
	if !errors.Is(err, context.Canceled) || !slices.Equal(got, []string{"A"}) {
		t.Errorf("found %v, %v, expected the event and the end", got, err)
	}
}

// TestUntrusted: a certificate of an unknown authority is an error of its own,
// at once: no further attempt can mend it.
func TestUntrusted(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	_, err := caps.FetchSeed(t.Context(), &http.Client{Transport: &http.Transport{}}, secret.New(server.URL+"/cap/secret"))
	if !errors.Is(err, caps.ErrUntrusted) || strings.Contains(err.Error(), "secret\"") || strings.Contains(err.Error(), server.URL) {
		t.Errorf("found %v, expected %v", err, caps.ErrUntrusted)
	}
}
