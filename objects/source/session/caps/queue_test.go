package caps_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

const queueURL = "http://grid.invalid:9000/CE/5ec4e700-0000-4000-8000-000000000001"

// answered is what the scripted server answers to one poll.
type answered struct {
	after  time.Duration
	status int // 0: the connection breaks
	body   string
}

// queueServer is a transport that answers from a list, and notes what it was asked
// and when. After the list it holds polls for ever.
type queueServer struct {
	replies []answered
	began   time.Time
	asked   []string // "at ack done"
	onLast  func()   // called when the list is used up
}

func (s *queueServer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	v, err := llsd.Parse(body)
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/llsd+xml" || r.URL.String() != queueURL {
		return nil, fmt.Errorf("found a request of another form: %v", err)
	}
	ack, _ := v.Get("ack").Str()
	done, _ := v.Get("done").Bool()
	s.asked = append(s.asked, fmt.Sprintf("%v %q %t", time.Since(s.began), ack, done))
	if len(s.replies) == 0 {
		if s.onLast != nil {
			s.onLast()
		}
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	next := s.replies[0]
	s.replies = s.replies[1:]
	select {
	case <-time.After(next.after):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if next.status == 0 {
		return nil, &url.Error{Op: "Post", URL: queueURL, Err: io.ErrUnexpectedEOF}
	}
	return &http.Response{StatusCode: next.status, Body: io.NopCloser(strings.NewReader(next.body))}, nil
}

// batch is an answer with events of these names.
func eventBatch(id int64, names ...string) string {
	var events []llsd.Value
	for _, n := range names {
		events = append(events, llsd.Map(entry("message", llsd.String(n)), entry("body", llsd.Map())))
	}
	return string(llsd.Map(entry("id", llsd.Integer(id)), entry("events", llsd.Array(events...))).AppendXML(nil))
}

func entry(key string, v llsd.Value) llsd.Member { return llsd.Member{Key: key, Value: v} }

// TestQueue plays one server after another; each line of asked is when a poll
// was posted and what it acknowledged, each of got when something was
// delivered: + ready, the names of events, ! trouble.
func TestQueue(t *testing.T) {
	const html = "<html><body>Bad Gateway"
	held := 58 * time.Second
	for _, test := range []struct {
		name    string
		replies []answered
		asked   []string
		got     []string
		gone    bool
	}{
		{"events, acknowledged one after the other",
			[]answered{{time.Second, 200, eventBatch(7, "A", "B")}, {time.Second, 200, eventBatch(8, "C")}},
			[]string{`0s "" false`, `1s "7" false`, `2s "8" false`},
			[]string{"1s + A B", "2s + C"}, false},
		{"idle time-outs keep the id and are followed at once",
			[]answered{{0, 200, eventBatch(7, "A")}, {held, 502, ""}, {20 * time.Second, 499, ""}, {30 * time.Second, 504, html}, {5 * time.Second, 502, html}, {0, 200, eventBatch(8, "B")}},
			[]string{`0s "" false`, `0s "7" false`, `58s "7" false`, `1m18s "7" false`, `1m48s "7" false`, `1m53s "7" false`, `1m53s "8" false`},
			[]string{"0s + A", "58s +", "1m18s +", "1m48s +", "1m53s +", "1m53s + B"}, false},
		{"an idle time-out alone is ready",
			[]answered{{held, 502, html}},
			[]string{`0s "" false`, `58s "" false`},
			[]string{"58s +"}, false},
		{"quick time-outs before the first answer are followed soon",
			[]answered{{0, 502, ""}, {time.Millisecond * 8, 502, ""}, {0, 200, eventBatch(7, "A")}},
			[]string{`0s "" false`, `500ms "" false`, `1.008s "" false`, `1.008s "7" false`},
			[]string{"0s !", "508ms !", "1.008s + A"}, false},
		{"trouble is followed later and later, up to a bound",
			[]answered{{0, 200, eventBatch(7)}, {0, 502, ""}, {0, 500, ""}, {0, 503, ""}, {0, 0, ""}, {0, 502, ""}, {0, 403, ""}, {0, 200, eventBatch(8)}, {0, 500, ""}},
			[]string{`0s "" false`, `0s "7" false`, `1s "7" false`, `3s "7" false`, `8s "7" false`, `18s "7" false`, `28s "7" false`, `38s "7" false`, `38s "8" false`, `39s "8" false`},
			[]string{"0s +", "0s + !", "1s + !", "3s + !", "8s + !", "18s + !", "28s + !", "38s +", "38s + !"}, false},
		{"a long hold ends a row of failures",
			[]answered{{0, 500, ""}, {0, 500, ""}, {held, 500, ""}, {0, 500, ""}},
			[]string{`0s "" false`, `1s "" false`, `3s "" false`, `1m2s "" false`, `1m4s "" false`},
			[]string{"0s !", "1s !", "1m1s !", "1m2s !"}, false},
		{"answers without events are hiccups",
			[]answered{{0, 200, eventBatch(7)}, {0, 200, ""}, {0, 200, "<llsd><undef/></llsd>"}, {0, 200, "<llsd><map/></llsd>"}, {0, 200, html}, {0, 204, ""}, {0, 200, eventBatch(8, "A")}},
			[]string{`0s "" false`, `0s "7" false`, `500ms "7" false`, `1s "7" false`, `2s "7" false`, `4s "7" false`, `14s "7" false`, `14s "8" false`},
			[]string{"0s +", "0s + !", "500ms + !", "1s + !", "2s + !", "4s + !", "14s + A"}, false},
		{"a batch that comes twice counts once",
			[]answered{{0, 200, eventBatch(7, "A")}, {0, 200, eventBatch(7, "A")}, {0, 200, eventBatch(8, "A")}},
			[]string{`0s "" false`, `0s "7" false`, `0s "7" false`, `0s "8" false`},
			[]string{"0s + A", "0s +", "0s + A"}, false},
		{"batches without an id are delivered and change no id",
			[]answered{{0, 200, eventBatch(7)}, {0, 200, "<llsd><map><key>events</key><array><map><key>message</key><string>A</string></map></array></map></llsd>"}},
			[]string{`0s "" false`, `0s "7" false`, `0s "7" false`},
			[]string{"0s +", "0s + A"}, false},
		{"fillers are left out, nameless events too",
			[]answered{{0, 200, eventBatch(7, "FAKEEVENT", "A", "", strings.Repeat("x", 200), "Ünknown")}},
			[]string{`0s "" false`, `0s "7" false`},
			[]string{"0s + A Ünknown 2 malformed"}, false},
		{"a missing queue may be in the making",
			[]answered{{0, 404, ""}, {0, 404, ""}, {0, 404, ""}, {0, 200, eventBatch(7, "A")}},
			[]string{`0s "" false`, `500ms "" false`, `1s "" false`, `2s "" false`, `2s "7" false`},
			[]string{"0s !", "500ms !", "1s !", "2s + A"}, false},
		{"a queue that stays missing is gone",
			[]answered{{0, 404, ""}, {0, 404, ""}, {0, 404, ""}, {0, 404, ""}, {0, 410, ""}, {0, 404, ""}, {0, 404, ""}},
			[]string{`0s "" false`, `500ms "" false`, `1s "" false`, `2s "" false`, `4s "" false`, `9s "" false`, `10s "" false`},
			[]string{"0s !", "500ms !", "1s !", "2s !", "4s !", "9s !"}, true},
		{"a queue that was there is gone at once",
			[]answered{{0, 200, eventBatch(7, "A")}, {time.Second, 404, ""}},
			[]string{`0s "" false`, `0s "7" false`},
			[]string{"0s + A"}, true},
		{"and also if it was only held",
			[]answered{{held, 502, ""}, {0, 410, ""}},
			[]string{`0s "" false`, `58s "" false`},
			[]string{"58s +"}, true},
		{"our own time-out keeps the id and comes after a server's",
			[]answered{{0, 200, eventBatch(7, "A")}, {time.Hour, 200, eventBatch(8)}, {0, 200, eventBatch(9, "B")}},
			[]string{`0s "" false`, `0s "7" false`, `1m41s "7" false`, `1m41s "9" false`},
			[]string{"0s + A", "1m40s + !", "1m41s + B"}, false},
		{"redirects are not followed",
			[]answered{{0, 307, ""}},
			[]string{`0s "" false`, `1s "" false`},
			[]string{"0s !"}, false},
		{"an answer may not be endless",
			[]answered{{0, 200, strings.Repeat(" ", 17<<20)}},
			[]string{`0s "" false`, `1s "" false`},
			[]string{"0s !"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				server := &queueServer{replies: test.replies, began: time.Now(), onLast: cancel}
				q := caps.NewQueue(&http.Client{Transport: server, Timeout: time.Second}, secret.New(queueURL))
				var got []string
				err := q.Run(ctx, func(d caps.Delivery) { got = append(got, describeDelivery(server.began, d)) })
				if test.gone != errors.Is(err, caps.ErrGone) || !test.gone && !errors.Is(err, context.Canceled) {
					t.Errorf("found the end %v, expected it to be gone: %t", err, test.gone)
				}
				noURL(t, err)
				if diff := cmp.Diff(test.asked, server.asked); diff != "" {
					t.Errorf("polls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.got, got); diff != "" {
					t.Errorf("deliveries (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func describeDelivery(began time.Time, d caps.Delivery) string {
	s := time.Since(began).String()
	if d.Ready {
		s += " +"
	}
	for _, e := range d.Events {
		s += " " + e.Name
	}
	if d.Malformed > 0 {
		s += fmt.Sprintf(" %d malformed", d.Malformed)
	}
	if d.Trouble != nil {
		s += " !"
	}
	return s
}

// noURL fails if an address, or a part that opens it, is in what can be
// printed of v.
func noURL(t *testing.T, v any) {
	t.Helper()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if s := fmt.Sprintf(verb, v); strings.Contains(s, "5ec4e7") || strings.Contains(s, "://") {
			t.Errorf("found an address in %s", s)
		}
	}
}

// TestQueueEndsAtOnce: wherever Run is, its context ends it.
func TestQueueEndsAtOnce(t *testing.T) {
	for _, test := range []struct {
		name    string
		replies []answered
	}{
		{"while polling", []answered{{time.Hour, 200, ""}}},
		{"while pausing", []answered{{0, 500, ""}, {0, 500, ""}, {0, 500, ""}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
				defer cancel()
				server := &queueServer{replies: test.replies, began: time.Now()}
				err := caps.NewQueue(&http.Client{Transport: server}, secret.New(queueURL)).Run(ctx, func(caps.Delivery) {})
				if took := time.Since(server.began); !errors.Is(err, context.DeadlineExceeded) || took != 3500*time.Millisecond {
					t.Errorf("found %v after %v, expected the end of the context", err, took)
				}
			})
		})
	}
}

func TestQueueDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := &queueServer{replies: []answered{{0, 200, eventBatch(7, "A")}}, began: time.Now(), onLast: cancel}
		q := caps.NewQueue(&http.Client{Transport: server}, secret.New(queueURL))
		if err := q.Run(ctx, func(caps.Delivery) {}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		// OpenSimulator holds this one as any other.
		server.onLast = nil
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		q.Done(ctx)
		if last := server.asked[len(server.asked)-1]; last != `0s "7" true` {
			t.Errorf("found %q, expected the last id and done", last)
		}
		noURL(t, q)
	})
}

// TestTroubleHoldsNoURL: neither what net/http says nor what we say of a bad
// address has it.
func TestTroubleHoldsNoURL(t *testing.T) {
	for _, bad := range []string{queueURL, "http://5ec4e7 .invalid/", "http://[5ec4e7", "5ec4e7", "", "file:///5ec4e7", "http://h/%5ec4e7%zz"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			transport := transportFunc(func(r *http.Request) (*http.Response, error) {
				return nil, fmt.Errorf("around: %w", &url.Error{Op: "Post", URL: r.URL.String(), Err: &url.Error{Op: "dial", URL: queueURL, Err: io.EOF}})
			})
			err := caps.NewQueue(&http.Client{Transport: transport}, secret.New(bad)).Run(ctx, func(d caps.Delivery) {
				if d.Trouble == nil || !strings.HasPrefix(d.Trouble.Error(), "EventQueueGet: ") {
					t.Errorf("found the trouble %v, expected the capability's name", d.Trouble)
				}
				noURL(t, d.Trouble)
				noURL(t, d)
				cancel()
			})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
