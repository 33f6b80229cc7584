package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/wipagent/wipagent/space/wip"
)

// How long a server over stdio waits: at the end of its input for the answers
// to what was asked, and when it is to end for those who write them.
const (
	answersWithin = 10 * time.Second
	writersWithin = time.Second
)

// ServeStdio serves a Host on in and out, a line a message, until in ends, which
// is no error, or the context does. Requests that are open when in ends are
// answered. When the context ends, a read that is under way goes on until in is
// closed. opt may be nil; its Tokens are of no meaning here.
func ServeStdio(ctx context.Context, host wip.Host, in io.Reader, out io.Writer, opt *ServeOptions) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s := &stdioServer{server: newServer(host, opt), running: map[jsonrpc2.ID]context.CancelFunc{}}
	stream := &lines{
		in: bufio.NewReaderSize(in, 64<<10), out: out,
		maxRead: s.MaxRequest, maxWrite: max(s.MaxResponse, maxPage) + 1<<10,
	}
	stream.onBad = func(bad error) error {
		e := &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: bad.Error()}
		if errors.Is(bad, errLine) {
			e.Code = codeTooLarge
		}
		line, err := json.Marshal(refused{"2.0", nil, e})
		if err != nil {
			return err
		}
		return stream.write(append(line, '\n'))
	}
	s.stream = stream
	stream.atEnd = func() { wait(ctx, &s.open, answersWithin) }
	conn := jsonrpc2.NewConn(ctx, stream, s, jsonrpc2.SetLogger(silent{}))
	select {
	case <-conn.DisconnectNotify():
	case <-ctx.Done():
	}
	err := ctx.Err()
	end()
	conn.Close()
	wait(context.Background(), &s.open, writersWithin)
	if err != nil {
		return err
	}
	return stream.why()
}

// wait waits for a group, for some time. Who waits in vain leaves a goroutine
// that ends with the group.
func wait(ctx context.Context, group *sync.WaitGroup, within time.Duration) {
	ctx, done := context.WithTimeout(ctx, within)
	defer done()
	ended := make(chan struct{})
	go func() {
		group.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// stdioServer handles the messages of one session.
type stdioServer struct {
	*server
	stream      *lines
	open        sync.WaitGroup
	initialized bool // touched by the reading goroutine only

	mu      sync.Mutex
	running map[jsonrpc2.ID]context.CancelFunc
}

// Handle takes in one message, on the reading goroutine.
func (s *stdioServer) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	refuse := func(e *jsonrpc2.Error) {
		conn.SendResponse(ctx, &jsonrpc2.Response{ID: req.ID, Error: e}) // an error is of a client that is gone
	}
	switch {
	case req.Notif && req.Method == cancel:
		var p struct {
			ID jsonrpc2.ID `json:"id"`
		}
		if req.Params != nil && json.Unmarshal(*req.Params, &p) == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if end := s.running[p.ID]; end != nil {
				end()
			}
		}
		return
	case req.Notif:
		return
	case req.Method != initialize && !s.initialized:
		refuse(&jsonrpc2.Error{Code: codeNotInitialized, Message: "found a request before initialize"})
		return
	}
	leave, ok := s.enter()
	if !ok {
		refuse(errBusy)
		return
	}
	ctx, end := context.WithCancel(ctx)
	s.mu.Lock()
	_, twice := s.running[req.ID]
	if !twice {
		s.running[req.ID] = end
	}
	s.mu.Unlock()
	if twice {
		leave()
		end()
		refuse(&jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "found the id of a request that is still open"})
		return
	}
	work := func() {
		defer leave()
		resp := s.answer(ctx, bearer{mayName: anyone}, req)
		s.mu.Lock()
		delete(s.running, req.ID)
		s.mu.Unlock()
		end()
		s.stream.send(resp) // an error is of a client that is gone
		if req.Method == initialize && resp.Error == nil {
			s.initialized = true
		}
	}
	if req.Method == initialize {
		work() // before anything else is read
		return
	}
	s.open.Go(work)
}
