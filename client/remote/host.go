package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wipagent/wipagent/space/wip"
)

// Options configures the client's end. The zero value works.
type Options struct {
	// Token is the bearer token that goes with each request over HTTP; empty
	// sends none. It is in no error. A token is not sent in the clear to
	// another machine unless PlainToken says so.
	Token string
	// PlainToken allows Token over http to a machine that is not this one.
	PlainToken bool
	// CAFile names a file of PEM certificates to trust instead of the
	// system's.
	CAFile string
	// Lazy makes Dial and Spawn succeed without asking the Host anything: it is
	// connected to when the first request is made. A Host that is down is then
	// one that fails, not one that is not there.
	Lazy bool
	// Timeout bounds each request whose context ends later or never; 0 is a
	// minute.
	Timeout time.Duration
	// MaxRequest and MaxResponse bound a request and the answer to a call, in
	// bytes of JSON; 0 is 4 MiB and 64 MiB. Every other answer has at most 16
	// MiB.
	MaxRequest, MaxResponse int
	// MaxEntries bounds a tree; 0 is 250,000.
	MaxEntries int
	// Stderr gets what a child writes to its stderr: lines of at most 1 KiB
	// without control characters, at most 32 a second and some more at once;
	// what is beyond is counted and left out. Nil discards everything. It is
	// called from one goroutine a child.
	Stderr func(line string)
	// Env is the environment of a child, as os.Environ writes it; nil is this
	// process's own.
	Env []string
	// Dir is the working directory of a child; empty is this process's own.
	Dir string
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	setDefault(&out.Timeout, time.Minute)
	setDefault(&out.MaxRequest, defaultMaxRequest)
	setDefault(&out.MaxResponse, defaultMaxResponse)
	setDefault(&out.MaxEntries, defaultMaxEntries)
	return out
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// connectWithin bounds how long a Host may take to be connected to.
const connectWithin = 30 * time.Second

// link is a connection to a Host: one request, one answer, many at once.
type link interface {
	// do makes a request and returns its result of at most limit bytes. Every
	// error is a *wip.Failure whose MaybeDone says whether the request may have
	// been received. It wraps ctx.Err() if that is why.
	do(ctx context.Context, method string, params any, limit int) (json.RawMessage, error)
	// learn is told once what the Host said of itself.
	learn(c Capabilities)
	// alive reports whether another request may be made.
	alive() bool
	close()
}

// Host is a Host at the other end of a wire. It is safe for concurrent use. A
// connection that is lost is made anew by the next request.
//
// Trouble with the wire is a *wip.Failure of class Transient, or Internal where
// trying again does not help; MaybeDone is set if an operation may have been
// carried out. A context that ends while an operation is being called ends as
// such a failure too, which wraps the context's error.
//
// Requests end with their contexts, but a Host elsewhere may hold up those that
// wait for it: it is no [wip.Prompt], so that a client puts limits around it.
type Host struct {
	opt  Options
	open func(ctx context.Context) (link, error)
	// restart bounds how often a link is opened after one has broken; nil does
	// not.
	restart *restarts

	life context.Context // ends with Close
	end  context.CancelFunc
	busy sync.WaitGroup // attempts to connect

	mu      sync.Mutex
	link    link // nil before the first
	caps    Capabilities
	attempt *attempt // nil if nobody connects
}

var (
	_ wip.TreeSource = (*Host)(nil)
	_ wip.KeyKeeper  = (*Host)(nil)
)

// attempt is one attempt to connect, which those who need it await.
type attempt struct {
	done chan struct{}
	link link
	err  error
}

func newHost(opt Options, open func(ctx context.Context) (link, error)) *Host {
	h := &Host{opt: opt, open: open}
	h.life, h.end = context.WithCancel(context.Background())
	return h
}

// start connects unless that is to wait.
func (h *Host) start(ctx context.Context) (*Host, error) {
	if h.opt.Lazy {
		return h, nil
	}
	if _, err := h.ready(ctx); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// Close ends the connection, and a child with it. Requests that are under way
// fail. It may be called more than once.
func (h *Host) Close() error {
	h.end()
	h.busy.Wait()
	h.mu.Lock()
	l := h.link
	h.mu.Unlock()
	if l != nil {
		l.close()
	}
	return nil
}

// Capabilities returns what the Host says of itself, and connects for it if
// need be.
func (h *Host) Capabilities(ctx context.Context) (Capabilities, error) {
	ctx, done := context.WithTimeout(ctx, h.opt.Timeout)
	defer done()
	if _, err := h.ready(ctx); err != nil {
		return Capabilities{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.caps, nil
}

// KeepsKeys reports whether the Host said, when it was last connected to, that it
// honours idempotency keys. Nothing is asked.
func (h *Host) KeepsKeys() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.caps.IdempotencyKeys
}

// ready returns the connection, which it makes if there is none. The attempt
// outlives a caller that is in a hurry.
func (h *Host) ready(ctx context.Context) (link, error) {
	h.mu.Lock()
	if h.life.Err() != nil {
		h.mu.Unlock()
		return nil, internal("the Host was closed")
	}
	if h.link != nil && h.link.alive() {
		defer h.mu.Unlock()
		return h.link, nil
	}
	a := h.attempt
	if a == nil {
		if wait := h.restart.wait(); wait > 0 {
			h.mu.Unlock()
			return nil, &wip.Failure{Class: wip.Transient, Message: "the Host keeps failing and is started again a little later", RetryAfter: wait}
		}
		a = &attempt{done: make(chan struct{})}
		h.attempt = a
		h.busy.Go(func() { h.connect(a) })
	}
	h.mu.Unlock()
	select {
	case <-a.done:
		return a.link, a.err
	case <-ctx.Done():
		return nil, ended(ctx, false)
	}
}

// connect makes a connection and shakes hands.
func (h *Host) connect(a *attempt) {
	ctx, done := context.WithTimeout(h.life, connectWithin)
	defer done()
	h.mu.Lock()
	old := h.link
	h.mu.Unlock()
	if old != nil {
		old.close()
	}
	l, err := h.open(ctx)
	var caps Capabilities
	if err == nil {
		if caps, err = h.handshake(ctx, l); err != nil {
			l.close()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	defer close(a.done)
	h.attempt = nil
	if a.err = err; err != nil {
		h.restart.failed()
		return
	}
	l.learn(caps)
	h.restart.began()
	a.link, h.link, h.caps = l, l, caps
}

// handshake says which version is spoken and learns what the Host can do.
func (h *Host) handshake(ctx context.Context, l link) (Capabilities, error) {
	raw, err := l.do(ctx, initialize, initializeParams{Version}, maxPage)
	if err != nil {
		var f *wip.Failure
		if errors.As(err, &f) {
			f.MaybeDone = false // nothing was asked for yet
		}
		return Capabilities{}, err
	}
	var r initializeResult
	switch err := json.Unmarshal(raw, &r); {
	case err != nil:
		return Capabilities{}, broken(err)
	case r.ProtocolVersion == nil || r.Capabilities == nil:
		return Capabilities{}, broken(errors.New("found a handshake without protocol_version or capabilities"))
	case *r.ProtocolVersion != Version:
		return Capabilities{}, internal("the Host does not speak version " + Version + " of the protocol")
	}
	return *r.Capabilities, nil
}

// scope is what every request says: on whose behalf, and how long there is.
func scope(ctx context.Context, caller wip.Caller) common {
	var c common
	if caller.ID != "" {
		c.Caller = &wireCaller{caller.ID}
	}
	if end, ok := ctx.Deadline(); ok {
		left := max(millis(time.Until(end)), 1)
		c.DeadlineMillis = &left
	}
	return c
}

// ask makes a request that changes nothing, with parameters that are made once
// the Host is there. Its error is the context's own or a *wip.Failure.
func (h *Host) ask(outer context.Context, method string, params func(ctx context.Context) any, result any) error {
	return h.stream(outer, method, params, func(d *decoder) error { return d.Decode(result) })
}

// stream is ask for a result that is read as it comes.
func (h *Host) stream(outer context.Context, method string, params func(ctx context.Context) any, result func(*decoder) error) error {
	ctx, done := context.WithTimeout(outer, h.opt.Timeout)
	defer done()
	err := h.request(ctx, method, params, maxPage, result)
	if err != nil && outer.Err() != nil {
		return outer.Err()
	}
	return harmless(err)
}

// harmless takes back that something may have been done. The failure may be that
// of others too, who waited for the same connection.
func harmless(err error) error {
	var f *wip.Failure
	if errors.As(err, &f) && f.MaybeDone {
		own := *f
		own.MaybeDone = false
		return &own
	}
	return err
}

// streamer is a link whose answers can be read as they come.
type streamer interface {
	stream(ctx context.Context, method string, params any, limit int, result func(*decoder) error) error
}

// request makes one request and has its result read.
func (h *Host) request(ctx context.Context, method string, params func(ctx context.Context) any, limit int, result func(*decoder) error) error {
	if ctx.Err() != nil {
		return ended(ctx, false)
	}
	l, err := h.ready(ctx)
	if err != nil {
		return err
	}
	if s, ok := l.(streamer); ok {
		err = s.stream(ctx, method, params(ctx), limit, result)
	} else {
		var raw json.RawMessage
		if raw, err = l.do(ctx, method, params(ctx), limit); err == nil {
			if err = result(newDecoder(newInput(bytes.NewReader(raw), limit))); err != nil {
				err = broken(err)
			}
		}
	}
	var f *wip.Failure
	if errors.As(err, &f) && f.Class == wip.Transient && over(ctx) {
		err = ended(ctx, f.MaybeDone) // the server, which had the same deadline, was faster to say so
	}
	return err
}

// over reports whether the context has ended, also if its timer is late.
func over(ctx context.Context) bool {
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}

// Fetch asks the Host for the entry at path.
func (h *Host) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	var r fetchResult
	err := h.ask(ctx, fetch, func(ctx context.Context) any { return fetchParams{scope(ctx, caller), &path} }, &r)
	if err != nil {
		return wip.Entry{}, err
	}
	if r.Entry == nil {
		err = errors.New("found an answer to fetch without an entry")
	} else {
		err = r.Entry.check()
	}
	if err != nil {
		return wip.Entry{}, harmless(broken(err))
	}
	return r.Entry.entry(), nil
}

// FetchTree asks the Host for the tree at path.
func (h *Host) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	c, err := h.FetchTreeSince(ctx, caller, path, "")
	if err != nil {
		return wip.Tree{}, err
	}
	return *c.Whole, nil // which is what there is without a tag
}

// FetchTreeSince asks the Host for what has changed in the tree at path since
// the state that tag names, page by page.
func (h *Host) FetchTreeSince(ctx context.Context, caller wip.Caller, path, tag string) (wip.Change, error) {
	c, err := h.fetchTreeSince(ctx, caller, path, tag)
	if err != nil && ctx.Err() == nil {
		err = harmless(err)
	}
	return c, err
}

func (h *Host) fetchTreeSince(ctx context.Context, caller wip.Caller, path, tag string) (wip.Change, error) {
	r := &treeReader{limit: h.opt.MaxEntries}
	for range maxPages {
		params := func(ctx context.Context) any { return treeParams{scope(ctx, caller), &path, tag, r.cursor} }
		if err := h.stream(ctx, fetchTree, params, r.page); err != nil {
			return wip.Change{}, err
		}
		if r.cursor == "" {
			c, err := r.change(tag)
			if err != nil {
				err = broken(err)
			}
			return c, err
		}
	}
	return wip.Change{}, broken(fmt.Errorf("found a tree of more than %d pages", maxPages))
}

// Document asks the Host for an IDL document.
func (h *Host) Document(ctx context.Context, name string) ([]byte, error) {
	var r documentResult
	err := h.ask(ctx, document, func(ctx context.Context) any { return documentParams{scope(ctx, wip.Caller{}), &name} }, &r)
	switch {
	case err != nil:
		return nil, err
	case r.Text == nil:
		return nil, harmless(broken(errors.New("found an answer to document without a text")))
	}
	return []byte(*r.Text), nil
}

// CallOperation runs an operation at the Host. It is sent at most once.
func (h *Host) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	ctx, done := context.WithTimeout(ctx, h.opt.Timeout)
	defer done()
	var r callResult
	err := h.request(ctx, callOperation, func(ctx context.Context) any {
		return callParams{
			common: scope(ctx, call.Caller), CallID: call.ID, Path: &call.Path, Object: &call.Object, Interface: &call.Interface,
			Operation: &call.Operation, Arguments: call.Arguments, IdempotencyKey: call.IdempotencyKey,
			Idempotent: call.Idempotent, DryRun: call.DryRun,
		}
	}, h.opt.MaxResponse, func(d *decoder) error { return d.Decode(&r) })
	switch {
	case err != nil:
		return wip.Result{}, err
	case len(r.Value) == 0:
		return wip.Result{}, broken(errors.New("found an answer to call_operation without a value"))
	}
	return wip.Result{Value: r.Value, CacheHit: r.CacheHit}, nil
}

// ended is the failure of a request whose context ended.
func ended(ctx context.Context, sent bool) *wip.Failure {
	message := "the request was cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		message = "the Host did not answer in time"
	}
	return &wip.Failure{Class: wip.Transient, Message: message, MaybeDone: sent, Err: ctx.Err()}
}
