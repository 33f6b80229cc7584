package gridtest

import (
	"bytes"
	"container/heap"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Conn is a client's UDP socket in memory. One goroutine reads it.
type Conn struct {
	grid *Grid
	addr netip.AddrPort
	news chan struct{} // in is not empty any more
	done chan struct{}
	once sync.Once

	mu sync.Mutex
	in []datagram
}

type datagram struct {
	from netip.AddrPort
	data []byte
}

// socketBuffer is how many datagrams wait for a client to read them; more are
// lost.
const socketBuffer = 16 << 10

// Listen returns a socket of a client on the network in memory.
func (g *Grid) Listen() *Conn {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := &Conn{
		grid: g, addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 200}), g.nextPort),
		news: make(chan struct{}, 1), done: make(chan struct{}),
	}
	g.nextPort++
	if g.closed {
		c.shut()
	} else {
		g.conns[c.addr] = c
	}
	return c
}

// ReadFromUDPAddrPort waits for a datagram. It fails with net.ErrClosed once
// the socket or the grid is closed.
func (c *Conn) ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error) {
	for {
		if d, ok := c.take(); ok {
			return copy(b, d.data), d.from, nil
		}
		select {
		case <-c.done:
			return 0, netip.AddrPort{}, net.ErrClosed
		case <-c.news:
		}
	}
}

func (c *Conn) take() (datagram, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.in) == 0 {
		c.in = nil // so that a burst is not kept
		return datagram{}, false
	}
	first := c.in[0]
	c.in[0] = datagram{}
	c.in = c.in[1:]
	return first, true
}

func (c *Conn) put(d datagram) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.in) < socketBuffer {
		c.in = append(c.in, d)
	}
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// WriteToUDPAddrPort sends a datagram, to nobody if nobody is there.
func (c *Conn) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	select {
	case <-c.done:
		return 0, net.ErrClosed
	default:
	}
	c.grid.mu.Lock()
	defer c.grid.mu.Unlock()
	for _, r := range c.grid.regions {
		if r.addr == to {
			r.receive(c.addr, slices.Clone(b))
		}
	}
	c.grid.poke()
	return len(b), nil
}

// LocalAddr returns the socket's address.
func (c *Conn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(c.addr) }

// Close closes the socket.
func (c *Conn) Close() error {
	c.shut()
	c.grid.mu.Lock()
	defer c.grid.mu.Unlock()
	delete(c.grid.conns, c.addr)
	return nil
}

func (c *Conn) shut() { c.once.Do(func() { close(c.done) }) }

// transport is the grid's HTTP server as a RoundTripper.
type transport Grid

// RoundTrip implements http.RoundTripper. An answer is there as a whole or not
// at all.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	g := (*Grid)(t)
	var sent []byte
	if req.Body != nil {
		var err error
		sent, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil, net.ErrClosed
	}
	ctx, cancel := context.WithCancel(req.Context())
	served := req.Clone(ctx)
	served.Body = io.NopCloser(bytes.NewReader(sent))
	served.RequestURI = req.URL.RequestURI()
	answer := httptest.NewRecorder()
	failed := make(chan error, 1)
	g.wg.Go(func() {
		defer cancel()
		defer func() {
			if e := recover(); e != nil {
				if e != http.ErrAbortHandler {
					panic(e)
				}
				failed <- io.ErrUnexpectedEOF
			}
			close(failed)
		}()
		g.ServeHTTP(answer, served)
	})
	g.mu.Unlock()
	select {
	case <-req.Context().Done():
		cancel()
		return nil, context.Cause(req.Context())
	case err := <-failed:
		if err != nil {
			return nil, err
		}
		resp := answer.Result()
		resp.Request = req
		return resp, nil
	}
}

// wire is what is to happen later, datagrams that are under way among it.
type wire struct {
	queue events
	n     uint64
}

type event struct {
	at   time.Time
	n    uint64 // what was scheduled first comes first
	what func()
}

type events []event

func (e events) Len() int      { return len(e) }
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e events) Less(i, j int) bool {
	if e[i].at.Equal(e[j].at) {
		return e[i].n < e[j].n
	}
	return e[i].at.Before(e[j].at)
}
func (e *events) Push(x any) { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	(*e)[len(*e)-1] = event{}
	*e = (*e)[:len(*e)-1]
	return last
}

func (w *wire) schedule(at time.Time, what func()) {
	w.n++
	heap.Push(&w.queue, event{at, w.n, what})
}

// run does what is due.
func (w *wire) run(now time.Time) {
	for len(w.queue) > 0 && !w.queue[0].at.After(now) {
		heap.Pop(&w.queue).(event).what()
	}
}

// next returns when something is due; zero if nothing ever is.
func (w *wire) next() time.Time {
	if len(w.queue) == 0 {
		return time.Time{}
	}
	return w.queue[0].at
}

// sockets are real ones.
type sockets struct {
	server *http.Server
	udp    []*net.UDPConn
}

func (s *sockets) close() {
	s.server.Close()
	for _, c := range s.udp {
		c.Close()
	}
}

// serve opens real sockets.
func (g *Grid) serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &sockets{server: &http.Server{Handler: g, ReadHeaderTimeout: time.Minute}}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.regions {
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
		if err != nil {
			s.close()
			listener.Close()
			return err
		}
		s.udp = append(s.udp, conn)
		r.addr, r.socket = conn.LocalAddr().(*net.UDPAddr).AddrPort(), conn
		g.wg.Go(func() { g.listen(r, conn) })
	}
	g.real, g.base = s, "http://"+listener.Addr().String()
	g.wg.Go(func() { s.server.Serve(listener) })
	return nil
}

// listen reads a region's socket until it is closed.
func (g *Grid) listen(r *Region, conn *net.UDPConn) {
	b := make([]byte, 64<<10)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		g.mu.Lock()
		r.receive(from, slices.Clone(b[:n]))
		g.poke()
		g.mu.Unlock()
	}
}

// deliver hands a datagram to a client. g.mu is held.
func (r *Region) deliver(to netip.AddrPort, data []byte) {
	if r.socket != nil {
		r.socket.WriteToUDPAddrPort(data, to)
		return
	}
	if c := r.grid.conns[to]; c != nil {
		c.put(datagram{r.addr, data})
	}
}
