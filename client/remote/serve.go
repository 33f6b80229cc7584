package remote

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/space/wip"
)

// ServeOptions configures the server's end. The zero value works: over HTTP it
// serves anybody who can connect, all as the zero [wip.Caller]; over stdio, whose
// other end has started this process, it takes a request's word for its caller.
type ServeOptions struct {
	// Tokens are those that a request over HTTP must bear one of; none lets
	// everybody in.
	Tokens []Token
	// AnyCaller lets requests without a token name any caller. It is for a
	// Host that only its own client can reach.
	AnyCaller bool
	// Log gets the defects, by the refs that the other end is told; nil
	// discards them.
	Log *audit.Log
	// MaxRequest bounds a request, in bytes of expanded JSON; 0 is 4 MiB.
	MaxRequest int
	// MaxResponse bounds an answer to a call; 0 is 64 MiB.
	MaxResponse int
	// MaxConcurrent is how many requests the Host works on at once; 0 is 64.
	// Four times as many may wait.
	MaxConcurrent int
	// MaxDuration bounds a request whose caller has more time; 0 is a minute.
	MaxDuration time.Duration
	// MaxEntries bounds a tree; 0 is 250,000. As many entries are remembered, of
	// a Host without TreeSource, to tell what has changed.
	MaxEntries int
}

// Token lets its bearer in.
type Token struct {
	// SHA256 is the digest of the token's text.
	SHA256 [sha256.Size]byte
	// Caller is the bearer's own principal: who calls unless a request may
	// name somebody else, and does.
	Caller wip.Caller
	// MayName decides whom a request may name; nil is nobody else. A name that
	// it may not give is passed over, and Caller stands.
	MayName func(wip.Caller) bool
}

// NewToken returns a Token for a text that the bearer keeps secret.
func NewToken(text string, caller wip.Caller) Token {
	return Token{SHA256: sha256.Sum256([]byte(text)), Caller: caller}
}

func (o *ServeOptions) withDefaults() ServeOptions {
	var out ServeOptions
	if o != nil {
		out = *o
	}
	setDefault(&out.MaxRequest, defaultMaxRequest)
	setDefault(&out.MaxResponse, defaultMaxResponse)
	setDefault(&out.MaxConcurrent, 64)
	setDefault(&out.MaxDuration, time.Minute)
	setDefault(&out.MaxEntries, defaultMaxEntries)
	return out
}

// bearer is who has been let in.
type bearer struct {
	caller  wip.Caller
	mayName func(wip.Caller) bool
}

func anyone(wip.Caller) bool { return true }

// admit returns who bears a token. How long it takes tells nothing about the
// tokens there are.
func (o *ServeOptions) admit(token string) (bearer, bool) {
	if len(o.Tokens) == 0 {
		if o.AnyCaller {
			return bearer{mayName: anyone}, true
		}
		return bearer{}, true
	}
	digest := sha256.Sum256([]byte(token))
	found := -1
	for i := range o.Tokens {
		same := subtle.ConstantTimeCompare(digest[:], o.Tokens[i].SHA256[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return bearer{}, false
	}
	return bearer{o.Tokens[found].Caller, o.Tokens[found].MayName}, true
}

// of returns who calls.
func (b bearer) of(c common) wip.Caller {
	if c.Caller != nil && b.mayName != nil {
		if named := (wip.Caller{ID: c.Caller.ID}); b.mayName(named) {
			return named
		}
	}
	return b.caller
}

// callers is what the handshake says of that.
func (b bearer) callers(tokens bool) string {
	switch {
	case b.mayName == nil:
		return "own"
	case tokens:
		return "listed"
	}
	return "any"
}

// server answers requests, however they come. It is safe for concurrent use.
type server struct {
	ServeOptions
	host   wip.Host
	prompt bool // the Host heeds contexts, and needs no goroutine to be left in
	trees  *trees
	slots  chan struct{} // one is held while the Host works
	queue  chan struct{} // one is held by each request that is there
}

func newServer(host wip.Host, opt *ServeOptions) *server {
	s := &server{ServeOptions: opt.withDefaults(), host: host}
	_, s.prompt = host.(wip.Prompt)
	s.trees = newTrees(host, s.MaxEntries, s.MaxEntries)
	s.slots = make(chan struct{}, s.MaxConcurrent)
	s.queue = make(chan struct{}, 5*s.MaxConcurrent)
	return s
}

// enter lets a request in; leave is called when it is answered.
func (s *server) enter() (leave func(), ok bool) {
	select {
	case s.queue <- struct{}{}:
		return func() { <-s.queue }, true
	default:
		return nil, false
	}
}

var errBusy = wireFailure{
	Class: wip.Transient, Message: "the Host is busy", RetryAfterMillis: 1000,
}.error()

// answer answers one request.
func (s *server) answer(ctx context.Context, who bearer, req *jsonrpc2.Request) *jsonrpc2.Response {
	resp := &jsonrpc2.Response{ID: req.ID}
	var raw json.RawMessage
	result, err := s.handle(ctx, who, req)
	if err == nil {
		if raw, err = json.Marshal(result); err == nil {
			err = s.checkSize(req.Method, len(raw))
		}
	}
	if err == nil {
		resp.Result = &raw
		return resp
	}
	if e, ok := err.(refusal); ok {
		resp.Error = e.answer
		return resp
	}
	ref := rand.Text()[:12]
	f, defect := toWireFailure(err, ref, req.Method == callOperation)
	if defect {
		s.Log.Fault(ref, "host."+req.Method, err)
	}
	resp.Error = f.error()
	return resp
}

// encodeResponse returns the text of what answer returned, in parts, of which the
// result is not copied again; and how long it is.
func encodeResponse(resp *jsonrpc2.Response) (parts net.Buffers, size int, err error) {
	if resp.Result == nil {
		raw, err := json.Marshal(resp)
		return net.Buffers{raw}, len(raw), err
	}
	id, err := json.Marshal(resp.ID)
	head := slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"result":`))
	parts = net.Buffers{head, *resp.Result, []byte("}")}
	return parts, len(head) + len(*resp.Result) + 1, err
}

func (s *server) checkSize(method string, size int) error {
	limit := maxPage
	if method == callOperation {
		limit = s.MaxResponse
	}
	if size <= limit {
		return nil
	}
	if method != callOperation {
		return fmt.Errorf("found an answer of %d bytes, expected at most %d", size, limit)
	}
	return &wip.Failure{
		Class: wip.Domain, Message: fmt.Sprintf("the result is larger than the %d bytes that the Host sends", limit),
		Hint: "ask for less: a smaller page, a narrower query", MaybeDone: true,
	}
}

// handle finds the method's handler and runs it.
func (s *server) handle(ctx context.Context, who bearer, req *jsonrpc2.Request) (any, error) {
	params := json.RawMessage("{}")
	if req.Params != nil {
		params = *req.Params
	}
	switch req.Method {
	case initialize:
		return s.initialize(who, params)
	case fetch:
		return on(ctx, s, who, params, func(p *fetchParams) common { return p.common }, s.fetch)
	case fetchTree:
		return on(ctx, s, who, params, func(p *treeParams) common { return p.common }, s.fetchTree)
	case document:
		return on(ctx, s, who, params, func(p *documentParams) common { return p.common }, s.document)
	case callOperation:
		return on(ctx, s, who, params, func(p *callParams) common { return p.common }, s.call)
	}
	return nil, refusal{&jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "found a method that is none of the protocol"}}
}

// refusal is our own answer to what is wrong with a request; a Host's error is
// never one, whatever its type.
type refusal struct{ answer *jsonrpc2.Error }

func (r refusal) Error() string { return r.answer.Message }

func invalid(message string) error {
	return refusal{&jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: message}}
}

// unknownVersion refuses a version other than ours.
func unknownVersion() *jsonrpc2.Error {
	e := &jsonrpc2.Error{Code: codeVersion, Message: "found a protocol version that is not spoken here, expected " + Version}
	e.SetError(map[string][]string{"supported": {Version}})
	return e
}

func (s *server) initialize(who bearer, raw json.RawMessage) (any, error) {
	var p initializeParams
	if err := json.Unmarshal(raw, &p); err != nil || p.ProtocolVersion == "" {
		return nil, invalid("found initialize without a protocol_version")
	}
	if p.ProtocolVersion != Version {
		return nil, refusal{unknownVersion()}
	}
	version := Version
	keeps := false
	if keeper, ok := s.host.(wip.KeyKeeper); ok {
		var err error
		if keeps, err = attempted(func() (bool, error) { return keeper.KeepsKeys(), nil }); err != nil {
			return nil, err
		}
	}
	return initializeResult{&version, &Capabilities{
		TreeSince: true, PageEntries: pageEntries, Gzip: true, Callers: who.callers(len(s.Tokens) > 0),
		MaxRequestBytes: s.MaxRequest, MaxResponseBytes: s.MaxResponse,
		MaxConcurrent: s.MaxConcurrent, MaxMillis: s.MaxDuration.Milliseconds(),
		IdempotencyKeys: keeps,
	}}, nil
}

// on reads a method's parameters and has the Host work on it, for as long as
// there is time.
func on[P, R any](ctx context.Context, s *server, who bearer, raw json.RawMessage, scope func(*P) common, f func(context.Context, wip.Caller, *P) (R, error)) (any, error) {
	p := new(P)
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, invalid("found parameters of another type than the protocol says")
	}
	c, left := scope(p), s.MaxDuration
	if c.DeadlineMillis != nil {
		left = time.Duration(min(max(*c.DeadlineMillis, 0), left.Milliseconds())) * time.Millisecond
	}
	ctx, done := context.WithTimeout(ctx, left)
	defer done()
	return worked(ctx, s, func() (R, error) { return f(ctx, who.of(c), p) })
}

// worked runs one request of the Host when there is a slot. A Host that heeds no
// context keeps its slot until it returns, but not who asked.
func worked[R any](ctx context.Context, s *server, request func() (R, error)) (R, error) {
	var none R
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return none, &wip.Failure{Class: wip.Transient, Message: "the Host was busy until the time was up"}
	}
	if err := ctx.Err(); err != nil {
		<-s.slots
		return none, &wip.Failure{Class: wip.Transient, Message: "the request came with no time left"}
	}
	if s.prompt {
		defer func() { <-s.slots }()
		return attempted(request)
	}
	type answer struct {
		value R
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("the Host ended its goroutine")} // what is left if it does
		defer func() {
			<-s.slots
			done <- a
		}()
		a.value, a.err = attempted(request)
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// attempted makes a panic an error.
func attempted[R any](request func() (R, error)) (value R, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &audit.Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	value, err = request()
	if err != nil {
		_ = err.Error() // one that cannot be looked into panics here, where that is expected
	}
	return value, err
}

func (s *server) fetch(ctx context.Context, caller wip.Caller, p *fetchParams) (fetchResult, error) {
	if p.Path == nil {
		return fetchResult{}, invalid("found fetch without a path")
	}
	e, err := s.host.Fetch(ctx, caller, *p.Path)
	if err != nil {
		return fetchResult{}, err
	}
	w := new(flattener).toWire(&e)
	return fetchResult{&w}, w.sendable()
}

func (s *server) fetchTree(ctx context.Context, caller wip.Caller, p *treeParams) (*treeResult, error) {
	switch {
	case p.Path == nil:
		return nil, invalid("found fetch_tree without a path")
	case len(p.Tag) > maxTag || len(p.Cursor) > maxTag:
		return nil, invalid("found a tag or cursor of more than 256 bytes")
	case p.Cursor != "":
		return s.trees.page(caller, answer{}, p.Cursor)
	}
	a, err := s.trees.since(ctx, caller, *p.Path, p.Tag)
	if err != nil {
		return nil, err
	}
	return s.trees.page(caller, a, "")
}

func (s *server) document(ctx context.Context, _ wip.Caller, p *documentParams) (documentResult, error) {
	if p.Name == nil {
		return documentResult{}, invalid("found document without a name")
	}
	raw, err := s.host.Document(ctx, *p.Name)
	if err == nil && !utf8.Valid(raw) {
		err = errors.New("found a document that is not UTF-8")
	}
	text := string(raw)
	return documentResult{&text}, err
}

func (s *server) call(ctx context.Context, caller wip.Caller, p *callParams) (callResult, error) {
	if p.Path == nil || p.Object == nil || p.Interface == nil || p.Operation == nil || len(p.Arguments) == 0 {
		return callResult{}, invalid("found call_operation without a path, object, interface, operation or arguments")
	}
	r, err := s.host.CallOperation(ctx, wip.Call{
		Caller: caller, ID: p.CallID, Path: *p.Path, Object: *p.Object, Interface: *p.Interface, Operation: *p.Operation,
		Arguments: p.Arguments, IdempotencyKey: p.IdempotencyKey, Idempotent: p.Idempotent, DryRun: p.DryRun,
	})
	switch {
	case err != nil:
		return callResult{}, err
	case checkDepth(r.Value) != nil || !json.Valid(r.Value):
		return callResult{}, errors.New("the Host returned a value that is no JSON, or nested too deeply")
	}
	return callResult{r.Value, r.CacheHit}, nil
}
