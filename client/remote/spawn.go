package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"golang.org/x/time/rate"

	"github.com/wipagent/wipagent/space/wip"
)

const (
	exitWithin   = 2 * time.Second        // for a child whose stdin was closed
	leaveWithin  = 200 * time.Millisecond // for one that has not said what it is: nothing was asked of it yet
	drainWithin  = 200 * time.Millisecond // for what a child that is gone has written
	maxAbandoned = 1024                   // requests that were given up and not answered
	maxUnderWay  = 256
)

// Spawn starts a program that serves a Host on its stdin and stdout, as
// ServeStdio does. It is started again when it is needed and has died; after it
// died young, a little later each time. Close ends it: by the end of its stdin,
// or else by force, together with all that it has started and that is still in
// its process group. opt may be nil.
func Spawn(ctx context.Context, command []string, opt *Options) (*Host, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, errors.New("found no command of a Host to start")
	}
	o := opt.withDefaults()
	h := newHost(o, func(context.Context) (link, error) { return startChild(command, &o) })
	h.restart = &restarts{}
	return h.start(ctx)
}

// childLink speaks with a child process. It is of use once.
type childLink struct {
	conn    *jsonrpc2.Conn
	stream  *lines
	cmd     *exec.Cmd
	stdin   *os.File
	limit   atomic.Int64  // bytes of a request
	met     atomic.Bool   // it has said what it is
	writing chan struct{} // held while a message is written
	slots   chan struct{} // one is held by each request under way
	seq     atomic.Uint64
	tasks   sync.WaitGroup
	gone    chan struct{} // closed when the process has ended

	mu        sync.Mutex
	abandoned map[jsonrpc2.ID]bool
}

func startChild(command []string, o *Options) (_ *childLink, err error) {
	var files [6]*os.File // stdin, stdout, stderr: each to read and to write
	defer func() {
		if err != nil {
			closeAll(files[:]...)
		}
	}()
	for i := 0; i < len(files); i += 2 {
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			return nil, &wip.Failure{Class: wip.Transient, Message: "the Host cannot be started", Err: err}
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Dir = o.Env, o.Dir
	separate(cmd)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
	if err = cmd.Start(); err != nil {
		class := wip.Transient
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
			class = wip.Internal
		}
		if errors.Is(err, exec.ErrNotFound) {
			err = missing{err}
		}
		return nil, &wip.Failure{Class: class, Message: "the Host cannot be started", Err: err}
	}
	closeAll(files[0], files[3], files[5])
	stdin, stdout, stderr := files[1], files[2], files[4]
	l := &childLink{
		cmd: cmd, stdin: stdin, writing: make(chan struct{}, 1), slots: make(chan struct{}, maxUnderWay),
		gone: make(chan struct{}), abandoned: map[jsonrpc2.ID]bool{},
	}
	l.limit.Store(int64(o.MaxRequest))
	l.stream = &lines{
		in: bufio.NewReaderSize(stdout, 64<<10), out: stdin,
		maxRead: o.MaxResponse + 1<<10, maxWrite: o.MaxRequest, closer: stdin.Close,
	}
	l.conn = jsonrpc2.NewConn(context.Background(), l.stream, l, jsonrpc2.SetLogger(silent{}), jsonrpc2.OnRecv(l.received))
	drained := make(chan struct{})
	l.tasks.Go(func() {
		drain(stderr, o.Stderr)
		close(drained)
	})
	l.tasks.Go(func() {
		reap(cmd) // how it ended is told by what it wrote to stderr, if at all
		close(l.gone)
		t := time.NewTimer(drainWithin)
		defer t.Stop()
		for _, end := range []<-chan struct{}{drained, l.conn.DisconnectNotify()} {
			select {
			case <-end:
			case <-t.C: // others that it has started write to the same
				t.Reset(0)
			}
		}
		closeAll(stdout, stderr)
	})
	l.tasks.Go(func() { // a child that closed its stdout, or wrote nonsense, is of no use
		<-l.conn.DisconnectNotify()
		l.stop()
	})
	return l, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// stop ends the process and all that it has started, by force if it does not go.
func (l *childLink) stop() {
	l.stdin.Close()
	within := exitWithin
	if !l.met.Load() {
		within = leaveWithin
	}
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-l.gone:
	case <-t.C:
		killAll(l.cmd)
		<-l.gone
	}
}

func (l *childLink) close() {
	l.conn.Close()
	l.tasks.Wait()
}

func (l *childLink) alive() bool {
	select {
	case <-l.conn.DisconnectNotify():
		return false
	default:
		return true
	}
}

func (l *childLink) learn(c Capabilities) {
	l.met.Store(true)
	if c.MaxRequestBytes > 0 {
		l.limit.Store(min(l.limit.Load(), int64(c.MaxRequestBytes)))
	}
}

// Handle passes over what a Host asks of its client: the protocol knows nothing
// of the kind.
func (l *childLink) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

// received forgets a request that was given up and is answered now.
func (l *childLink) received(_ *jsonrpc2.Request, resp *jsonrpc2.Response) {
	if resp != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.abandoned, resp.ID)
	}
}

// do sends one request and awaits its answer.
func (l *childLink) do(ctx context.Context, method string, params any, limit int) (json.RawMessage, error) {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return nil, ended(ctx, false)
	}
	raw, err := json.Marshal(params)
	switch {
	case err != nil:
		return nil, &wip.Failure{Class: wip.Internal, Message: "the request cannot be written as JSON", Err: err}
	case len(raw)+128 > int(l.limit.Load()): // with what goes around it
		return nil, requestTooLarge(int(l.limit.Load()))
	}
	id := jsonrpc2.ID{Num: l.seq.Add(1)}
	waiter, sent, err := l.send(ctx, id, method, raw)
	if err == nil {
		var result json.RawMessage
		if err = waiter.Wait(ctx, &result); err == nil {
			if len(result) > limit {
				return nil, tooLarge(limit)
			}
			return result, nil
		}
	}
	var told *jsonrpc2.Error
	switch {
	case errors.As(err, &told):
		return nil, fromError(told)
	case ctx.Err() != nil:
		if sent {
			l.giveUp(id)
		}
		return nil, ended(ctx, sent)
	}
	return nil, l.lost(err, sent)
}

// lost is the failure of a request that a child took with it. How a child ended
// explains more than that its connection did.
func (l *childLink) lost(err error, sent bool) *wip.Failure {
	if cause := l.stream.why(); cause != nil {
		err = cause
	} else {
		t := time.NewTimer(drainWithin)
		defer t.Stop()
		select {
		case <-l.gone:
			err = exited{l.cmd.ProcessState}
		case <-t.C:
		}
	}
	return &wip.Failure{Class: wip.Transient, Message: "the connection to the Host was lost", MaybeDone: sent, Err: err}
}

// exited is how the program of a child ended.
type exited struct{ state *os.ProcessState }

func (e exited) Error() string { return "its program ended: " + e.state.String() }

// Notice is what an operator's log may have of it.
func (e exited) Notice() string { return e.Error() }

// missing is a program that is not to be found.
type missing struct{ error }

func (m missing) Unwrap() error { return m.error }

// Notice is what an operator's log may have of it.
func (missing) Notice() string { return "there is no such program in PATH" }

// send writes a request, and says whether it may have been read. Who does not
// wait for it to be written leaves that to go on: it cannot be taken back.
func (l *childLink) send(ctx context.Context, id jsonrpc2.ID, method string, params json.RawMessage) (jsonrpc2.Waiter, bool, error) {
	select {
	case l.writing <- struct{}{}:
	case <-ctx.Done():
		return jsonrpc2.Waiter{}, false, ctx.Err()
	case <-l.conn.DisconnectNotify():
		return jsonrpc2.Waiter{}, false, jsonrpc2.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		<-l.writing
		return jsonrpc2.Waiter{}, false, err
	}
	type dispatched struct {
		waiter jsonrpc2.Waiter
		err    error
	}
	done := make(chan dispatched, 1)
	go func() {
		defer func() { <-l.writing }()
		w, err := l.conn.DispatchCall(context.Background(), method, params, jsonrpc2.PickID(id))
		done <- dispatched{w, err}
	}()
	select {
	case d := <-done:
		return d.waiter, true, d.err
	case <-ctx.Done():
		return jsonrpc2.Waiter{}, true, ctx.Err()
	}
}

// giveUp tells the Host that nobody waits for an answer any more.
func (l *childLink) giveUp(id jsonrpc2.ID) {
	l.mu.Lock()
	l.abandoned[id] = true
	many := len(l.abandoned) > maxAbandoned
	l.mu.Unlock()
	if many { // a Host answers what is cancelled too; this one fills our memory
		l.stream.ended(fmt.Errorf("found more than %d cancelled requests without an answer", maxAbandoned))
		go l.conn.Close()
		return
	}
	go func() {
		select {
		case l.writing <- struct{}{}:
			defer func() { <-l.writing }()
			l.conn.Notify(context.Background(), cancel, cancelParams{id.Num})
		case <-l.conn.DisconnectNotify():
		}
	}()
}

// What is told of a child's stderr.
const (
	maxLine      = 1 << 10 // bytes
	linesASecond = 32
	linesAtOnce  = 128
)

// drain reads a child's stderr to its end, so that the child never waits.
func drain(stderr io.Reader, tell func(string)) {
	if tell == nil {
		io.Copy(io.Discard, stderr)
		return
	}
	in := bufio.NewReaderSize(stderr, maxLine)
	limiter := rate.NewLimiter(linesASecond, linesAtOnce)
	left, middle := 0, false
	for {
		line, err := in.ReadSlice('\n')
		first := !middle
		middle = errors.Is(err, bufio.ErrBufferFull)
		if first && len(line) > 0 { // what does not fit is cut off
			if limiter.Allow() {
				if left > 0 {
					tell(fmt.Sprintf("(%d lines were left out)", left))
					left = 0
				}
				tell(stderrLine(line))
			} else {
				left++
			}
		}
		if err != nil && !middle {
			if left > 0 {
				tell(fmt.Sprintf("(%d lines were left out)", left))
			}
			return
		}
	}
}
