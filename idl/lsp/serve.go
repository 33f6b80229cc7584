// Package lsp is a language server: it shows the authors of documents, in
// their editor and as they type, what package project finds, and helps them
// to write: completion, navigation, rename, formatting, quick fixes.
//
// One goroutine reads messages, one answers them in order, one checks
// documents. Requests that look through a workspace are answered apart, so
// that edits and hovers overtake them. Answers are made from snapshots, so
// none waits for another. Everything that an editor sends is bounded.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/wipagent/wipagent/idl"
)

// Config is what a server may be given. Its zero value is useful.
type Config struct {
	// Schema returns the JSON Schemas of an operation's arguments and result
	// as AI models are shown them, for hover. If it is nil, hover shows none.
	Schema func(*idl.Operation) (input, output json.RawMessage)
	// Version is the program's version, to be shown by editors; may be empty.
	Version string
}

// ErrNoShutdown is returned by Serve when the editor went away without
// shutting the server down first.
var ErrNoShutdown = errors.New("the editor ended the session without a shutdown request")

// maxQueue is how many messages may wait; then no more are read.
const maxQueue = 128

// Serve speaks the protocol on in and out until the editor ends the session,
// the input ends, or the context does; a read that is under way then goes on
// until in is closed. It returns nil after a shutdown, ErrNoShutdown without
// one, or the reason why the input cannot be understood. The config may be nil.
//
// Spec: Language Server Protocol 3.17
func Serve(ctx context.Context, in io.Reader, out io.Writer, config *Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if config == nil {
		config = &Config{}
	}
	s := &server{Config: config, ctx: ctx, end: cancel, queue: make(chan message, maxQueue), running: map[jsonrpc2.ID]context.CancelFunc{}, answered: make(chan struct{}, 1), searches: newSearches()}
	s.snap = newSnapshot(map[string]*document{}, nil, &projects{report: s.complain, nowhere: nowhere()}, &closedFiles{})
	s.checker = newChecker(s)
	transport := newStream(in, out)
	transport.atEnd = func() { // what was sent before the end is answered
		s.enqueue(message{end: true})
		<-ctx.Done()
	}
	transport.onSkip = func(e *envelope) { s.enqueue(message{skipped: e}) }
	s.conn = jsonrpc2.NewConn(ctx, transport, s, jsonrpc2.SetLogger(silent{}))

	var group sync.WaitGroup
	group.Go(func() { s.checker.run(ctx) })
	group.Go(func() { s.answer(ctx) })
	select {
	case <-s.conn.DisconnectNotify():
	case <-ctx.Done():
	}
	cancel()
	group.Wait()
	s.searches.group.Wait()
	s.conn.Close()
	switch err := transport.failure(); {
	case err != nil:
		return err
	case !s.shutdown:
		return ErrNoShutdown
	}
	return nil
}

// silent drops what the transport would log; Serve returns what matters.
type silent struct{}

func (silent) Printf(string, ...any) {}

// server is one session.
type server struct {
	*Config
	ctx     context.Context // of the session
	end     context.CancelFunc
	conn    *jsonrpc2.Conn
	queue   chan message
	checker *checker

	// What only the goroutine of answer touches.
	snap        *snapshot
	openBytes   int
	initialized bool
	shutdown    bool
	snippets    bool // the editor can insert snippets
	watches     bool // the editor can be asked to watch files
	searches    *searches

	mu      sync.Mutex
	running map[jsonrpc2.ID]context.CancelFunc // requests that were read and not answered
	waiting int                                // number of answers that the editor waits for

	answered chan struct{} // it waits for none
}

// message is one message on its way to be answered.
type message struct {
	ctx context.Context
	req *jsonrpc2.Request
	end bool // there are no more

	skipped *envelope // it was too large to be read; otherwise nil
}

// Handle takes in one message. It is called from the reading goroutine, in
// order; a full queue makes the editor wait.
func (s *server) Handle(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Method == "$/cancelRequest" {
		var p struct {
			ID jsonrpc2.ID `json:"id"`
		}
		if req.Params != nil && json.Unmarshal(*req.Params, &p) == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if cancel := s.running[p.ID]; cancel != nil {
				cancel()
			}
		}
		return
	}
	if !req.Notif {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		s.mu.Lock()
		if old := s.running[req.ID]; old != nil {
			old()
		}
		s.running[req.ID] = cancel
		s.waiting++
		s.mu.Unlock()
	}
	s.enqueue(message{ctx: ctx, req: req})
}

func (s *server) enqueue(m message) {
	select {
	case s.queue <- m:
	case <-s.ctx.Done():
	}
}

// answer handles the messages of the queue, one after the other.
func (s *server) answer(ctx context.Context) {
	for {
		select {
		case m := <-s.queue:
			switch {
			case m.end:
				s.searches.group.Wait()
				s.end()
				return
			case m.skipped != nil:
				s.skip(m.skipped)
			case searching[m.req.Method] && !m.req.Notif && s.initialized && !s.shutdown:
				s.search(m)
			default:
				if changing[m.req.Method] {
					s.searches.outdate()
				}
				s.reply(m, s)
			}
		case <-ctx.Done():
			return
		}
	}
}

// reply lets a session, which may be a copy, handle one message, and answers it
// if it is a request.
func (s *server) reply(m message, by *server) {
	result, err := by.handle(m.ctx, m.req)
	if m.req.Notif {
		return
	}
	if err != nil {
		s.refuse(m.req.ID, err)
		return
	}
	s.forget(m.req.ID)
	defer s.done()
	s.conn.Reply(s.ctx, m.req.ID, result) // an editor that is gone needs no answer
}

// refuse answers a request with an error.
func (s *server) refuse(id jsonrpc2.ID, err error) {
	s.forget(id)
	defer s.done()
	var refusal *jsonrpc2.Error
	if !errors.As(err, &refusal) {
		refusal = &jsonrpc2.Error{Code: requestFailed, Message: err.Error()}
	}
	s.conn.ReplyWithError(s.ctx, id, refusal)
}

// forget ends the context of a request that is about to be answered.
func (s *server) forget(id jsonrpc2.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[id]; cancel != nil {
		cancel()
		delete(s.running, id)
	}
}

// done says that a request was answered.
func (s *server) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting--; s.waiting == 0 {
		select {
		case s.answered <- struct{}{}:
		default:
		}
	}
}

// asked reports whether the editor waits for an answer.
func (s *server) asked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting > 0
}

// Error codes of the protocol beside those of JSON-RPC.
const (
	notInitialized   = -32002
	requestFailed    = -32803
	requestCancelled = -32800
	contentModified  = -32801
)

// handle finds the method's handler and runs it. A fault of the server's own
// costs one answer, not the session.
func (s *server) handle(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("internal error in %s: %v\n%s", req.Method, p, debug.Stack())}
		}
	}()
	h, known := methods[req.Method]
	switch {
	case req.Method == "exit":
		s.end()
		return nil, nil
	case s.shutdown:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "found a request after shutdown, expected exit"}
	case !known:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: fmt.Sprintf("found no method %.80q", req.Method)}
	case !s.initialized && req.Method != "initialize":
		return nil, &jsonrpc2.Error{Code: notInitialized, Message: "found a request before initialize"}
	case ctx.Err() != nil:
		return nil, whyCancelled(ctx)
	}
	params := json.RawMessage("{}")
	if req.Params != nil {
		params = *req.Params
	}
	result, err = h(s, ctx, params)
	if ctx.Err() != nil && !req.Notif {
		return nil, whyCancelled(ctx)
	}
	return result, err
}

var (
	errCancelled = &jsonrpc2.Error{Code: requestCancelled, Message: "cancelled"}
	errModified  = &jsonrpc2.Error{Code: contentModified, Message: "the documents have changed meanwhile"}
)

// whyCancelled returns the refusal of a request whose context has ended.
func whyCancelled(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errModified) {
		return errModified
	}
	return errCancelled
}

// handler handles one method.
type handler func(*server, context.Context, json.RawMessage) (any, error)

// on makes a handler of a function that takes the method's parameters.
func on[P any](f func(*server, context.Context, *P) (any, error)) handler {
	return func(s *server, ctx context.Context, raw json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
		}
		return f(s, ctx, &p)
	}
}

// methods are the protocol's methods that the server knows.
var methods = map[string]handler{
	"initialize":                        on((*server).initialize),
	"initialized":                       on((*server).whenInitialized),
	"shutdown":                          on((*server).shutDown),
	"$/setTrace":                        on((*server).ignore),
	"textDocument/didOpen":              on((*server).didOpen),
	"textDocument/didChange":            on((*server).didChange),
	"textDocument/didSave":              on((*server).didSave),
	"textDocument/didClose":             on((*server).didClose),
	"workspace/didChangeWatchedFiles":   on((*server).filesChanged),
	"workspace/didChangeConfiguration":  on((*server).ignore),
	"textDocument/hover":                on((*server).hover),
	"textDocument/completion":           on((*server).complete),
	"textDocument/definition":           on((*server).definition),
	"textDocument/references":           on((*server).references),
	"textDocument/documentHighlight":    on((*server).highlight),
	"textDocument/documentSymbol":       on((*server).documentSymbols),
	"workspace/symbol":                  on((*server).workspaceSymbols),
	"textDocument/prepareRename":        on((*server).prepareRename),
	"textDocument/rename":               on((*server).rename),
	"textDocument/formatting":           on((*server).format),
	"textDocument/codeAction":           on((*server).codeActions),
	"textDocument/semanticTokens/full":  on((*server).semanticTokens),
	"textDocument/semanticTokens/range": on((*server).semanticRange),
	"textDocument/foldingRange":         on((*server).foldingRanges),
}

// open returns the open document of a URI.
func (s *server) open(uri string) (*document, error) {
	if d := s.snap.docs[s.path(uri)]; d != nil {
		return d, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: fmt.Sprintf("found no open document %.200q", uri)}
}

// path returns the file of a URI.
func (s *server) path(uri string) string {
	dir := s.snap.projects.nowhere
	if len(s.snap.folders) > 0 {
		dir = s.snap.folders[0]
	}
	return pathOf(uri, dir)
}

// complain shows an error to the author.
func (s *server) complain(err error) {
	s.conn.Notify(s.ctx, "window/showMessage", showMessageParams{Type: 1, Message: err.Error()})
}
