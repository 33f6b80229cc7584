package caps

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// Times of the event queue. Second Life holds a poll for 20 to 30 s,
// OpenSimulator for 58 s.
const (
	// pollTimeout is longer than any server holds a poll: what a server
	// answers to a poll that was given up is lost.
	pollTimeout = 100 * time.Second
	// longHold is from when on a time-out of the server is its way to say
	// that nothing has happened.
	longHold = 5 * time.Second
	// goneGrace is how long a queue may be missing that is only being made.
	goneGrace = 10 * time.Second
)

// Bounds of an answer.
const (
	maxBatch     = 16 << 20 // bytes
	maxEventName = 128      // bytes
)

// pauses are how long to wait after polls that fail one after the other. A
// hiccup begins at the first, trouble of the server at troublePause; the last
// one is repeated.
var pauses = [...]time.Duration{500 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}

const troublePause = 2

// The status that some proxies give instead of 502 when the server's time is up.
const statusClientClosed = 499

// Event is one event of a region: its name, which is the grid's, and its body.
type Event struct {
	Name string
	Body llsd.Value
}

// Delivery is what became of one poll.
type Delivery struct {
	// Ready says that the queue has proved to work: by an answer, or by a
	// poll that the server held and then ended because nothing happened. It
	// stays true. Having posted is no proof.
	Ready bool
	// Events are in the order in which the region sent them, known or not.
	Events []Event
	// Malformed counts the events that were left out because they have no
	// name.
	Malformed int
	// Trouble says why the poll failed; the queue goes on.
	Trouble error
}

// Queue polls a region's event queue. The server forgets events when it
// writes them, received or not: so a poll is never given up early, and there
// is only one at a time.
type Queue struct {
	client *http.Client
	c      capability

	mu  sync.Mutex
	ack llsd.Value // the last batch's id; undef before there is one
}

// NewQueue returns the queue of the capability EventQueueGet. A nil client is
// http.DefaultClient; its time-out is not looked at.
func NewQueue(client *http.Client, url secret.Of[string]) *Queue {
	return &Queue{client: client, c: capability{EventQueueGet, url}}
}

// Run polls until ctx ends or the queue is gone, and returns ctx's error or
// ErrGone. It calls deliver after each poll, from its own goroutine and one at
// a time; deliver must not block for long, since nothing is polled meanwhile,
// and owns what it gets. Run is to be called once.
func (q *Queue) Run(ctx context.Context, deliver func(Delivery)) error {
	began := time.Now()
	ready := false
	failures := 0 // polls in a row that brought nothing and were not held
	for {
		posted := time.Now()
		a, err := q.poll(ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
		held := time.Since(posted) >= longHold
		if held {
			failures = 0
		}
		d, pause, longest := Delivery{}, 0, pauses[len(pauses)-1]
		switch {
		case err != nil:
			d.Trouble, pause = err, troublePause
		case a.status == http.StatusOK:
			if d, err = q.batch(a.body); err != nil {
				d.Trouble = err
				break
			}
			ready, pause = true, -1
		case a.status == http.StatusNotFound || a.status == http.StatusGone:
			if ready || time.Since(began) >= goneGrace {
				return q.c.statusError(a.status)
			}
			d.Trouble, longest = q.c.statusError(a.status), goneGrace-time.Since(began)
		case held && isTimeout(a.status):
			ready, pause = true, -1
		default:
			d.Trouble, pause = q.c.statusError(a.status), troublePause
			// OpenSimulator ends the first polls at once after a login
			// whose forerunner was not closed.
			if !ready && a.status == http.StatusBadGateway {
				pause = 0
			}
		}
		d.Ready = ready
		deliver(d)
		if pause < 0 {
			failures = 0
			continue
		}
		if err := sleep(ctx, min(pauses[min(pause+failures, len(pauses)-1)], longest)); err != nil {
			return err
		}
		failures++
	}
}

// isTimeout reports whether a server or its proxy ends a poll with the status
// when its time is up.
func isTimeout(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusGatewayTimeout || status == statusClientClosed
}

func (q *Queue) poll(ctx context.Context) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	return q.post(ctx, false)
}

func (q *Queue) post(ctx context.Context, done bool) (*response, error) {
	q.mu.Lock()
	ack := q.ack
	q.mu.Unlock()
	return q.c.post(ctx, q.client, llsd.Map(
		llsd.Member{Key: "ack", Value: ack},
		llsd.Member{Key: "done", Value: llsd.Boolean(done)},
	), maxBatch)
}

// batch reads the body of an answer and notes its id. The events of a batch
// that came before are left out.
func (q *Queue) batch(body []byte) (Delivery, error) {
	if len(body) == 0 {
		return Delivery{}, q.c.errorf("found an empty answer")
	}
	v, err := llsd.Parse(body)
	if err != nil {
		return Delivery{}, q.c.errorf("%w", err)
	}
	id, events := v.Get("id"), v.Get("events")
	if events.Kind() != llsd.KindArray && id.Kind() != llsd.KindInteger {
		return Delivery{}, q.c.errorf("found %s, expected a map of events", v.Kind())
	}
	if id.Kind() != llsd.KindUndef {
		q.mu.Lock()
		known := q.ack.Equal(id)
		q.ack = id
		q.mu.Unlock()
		if known {
			return Delivery{}, nil
		}
	}
	var d Delivery
	for e := range events.Values() {
		name, _ := e.Get("message").Str()
		switch {
		case name == "" || len(name) > maxEventName:
			d.Malformed++
		case name == "FAKEEVENT": // OpenSimulator's filler
		default:
			d.Events = append(d.Events, Event{Name: name, Body: e.Get("body")})
		}
	}
	return d, nil
}

// Done tells the region that the queue is not polled any more. It is for
// logging out, after Run has been ended by its context; whether it was heard
// does not matter.
func (q *Queue) Done(ctx context.Context) {
	_, _ = q.post(ctx, true)
}
