package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// searching are the methods that may look through a workspace: they are
// answered apart from the others.
var searching = map[string]bool{
	"workspace/symbol": true, "textDocument/references": true, "textDocument/rename": true, completionMethod: true,
}

// completionMethod is what editors go on to want while the author types: they
// narrow down what they are offered themselves.
const completionMethod = "textDocument/completion"

// changing are the methods after which what a search finds is out of date.
var changing = map[string]bool{
	"textDocument/didOpen": true, "textDocument/didChange": true, "textDocument/didClose": true, "workspace/didChangeWatchedFiles": true,
}

// How many searches there are at a time.
const (
	maxSearching = 2        // that run
	maxSearches  = maxQueue // that run or wait
)

// searches are the requests that are answered apart.
type searches struct {
	group sync.WaitGroup
	slots chan struct{} // holds one for each that runs

	mu    sync.Mutex
	open  map[*jsonrpc2.Request]context.CancelCauseFunc // those that edits outdate
	count int
}

func newSearches() *searches {
	return &searches{slots: make(chan struct{}, maxSearching), open: map[*jsonrpc2.Request]context.CancelCauseFunc{}}
}

// enter counts one in, unless there are too many.
func (s *searches) enter(req *jsonrpc2.Request, cancel context.CancelCauseFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == maxSearches {
		return false
	}
	s.count++
	if req.Method != completionMethod {
		s.open[req] = cancel
	}
	return true
}

func (s *searches) leave(req *jsonrpc2.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count--
	delete(s.open, req)
}

// outdate cancels the searches whose answers would be of a former state.
func (s *searches) outdate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.open {
		cancel(errModified)
	}
}

// search answers a request apart, from the state that the session has now.
func (s *server) search(m message) {
	ctx, cancel := context.WithCancelCause(m.ctx)
	if !s.searches.enter(m.req, cancel) {
		cancel(nil)
		s.refuse(m.req.ID, fmt.Errorf("found more than %d requests that look through the workspace", maxSearches))
		return
	}
	m.ctx = ctx
	now := &server{Config: s.Config, ctx: s.ctx, conn: s.conn, snap: s.snap, checker: s.checker, initialized: true, snippets: s.snippets, watches: s.watches}
	s.searches.group.Go(func() {
		defer cancel(nil)
		defer s.searches.leave(m.req)
		select {
		case s.searches.slots <- struct{}{}:
			defer func() { <-s.searches.slots }()
		case <-ctx.Done(): // then it is refused at once
		}
		s.reply(m, now)
	})
}

// skip answers a message that was too large to be read. A document whose text
// it has is out of step, and so is left out until it is opened again.
func (s *server) skip(e *envelope) {
	var id jsonrpc2.ID
	if e.id != nil && e.method != "" && json.Unmarshal(e.id, &id) == nil {
		s.conn.ReplyWithError(s.ctx, id, &jsonrpc2.Error{Code: requestFailed, Message: e.Error()})
		return
	}
	if e.uri != "" && changing[e.method] {
		s.close(s.path(e.uri))
		s.complain(fmt.Errorf("%s is left out until it is opened again: %w", s.path(e.uri), e))
		return
	}
	s.complain(e)
}
