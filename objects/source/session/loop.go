package session

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/world"
)

const (
	inboxSize   = 1_024           // datagrams between the reader and the loop
	socketBytes = 4 << 20         // asked of the kernel for what arrives in bursts
	enterWithin = 3 * time.Second // for an agent that leaves before it has arrived
	leaveWithin = 2 * time.Second
	queueDone   = time.Second
)

// loop is one login at work: the only holder of the socket, and with it of any
// way to send. Everything in core happens on its goroutine; the others wait
// for what blocks and post what came.
type loop struct {
	*core
	conn   PacketConn
	client *http.Client
	cache  *caps.Cache

	inbox chan datagram
	posts chan func(now time.Time)
	free  sync.Pool // of datagram buffers

	ctx    context.Context // of all goroutines but the loop's
	cancel context.CancelFunc
	wg     sync.WaitGroup

	polls     map[*region]poll
	stopCrawl context.CancelFunc
	done      chan struct{} // closed when the loop takes no more posts
}

type datagram struct {
	from  netip.AddrPort
	bytes *[]byte
	n     int
}

// poll is an event queue at work.
type poll struct {
	queue  *caps.Queue
	cancel context.CancelFunc
}

// run keeps a session until ctx ends, when it logs out and returns nil, or
// until the session is lost, and returns why.
func run(ctx context.Context, cfg *Config, client *http.Client, cache *caps.Cache, w *world.World, generation uint64, reply *login.Reply, watch func(c *core, now time.Time)) error {
	conn, err := listen(cfg)
	if err != nil {
		return err
	}
	l := &loop{
		conn: conn, client: client, cache: cache,
		inbox: make(chan datagram, inboxSize), posts: make(chan func(time.Time), 16),
		polls: map[*region]poll{}, done: make(chan struct{}),
	}
	l.free.New = func() any { b := make([]byte, lludp.MaxDatagram+1); return &b }
	l.core = newCore(cfg, w, l, generation)
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		l.cancel()
		close(l.done)
		conn.Close()
		l.wg.Wait()
	}()
	l.wg.Go(l.read)

	l.core.start(time.Now(), reply)
	err = l.turn(ctx, watch)
	switch {
	case ctx.Err() != nil:
		l.leave()
		err = nil
	case !errors.Is(err, ErrKicked):
		l.logout(time.Now()) // in case somebody listens, so that no ghost stays
	}
	w.Apply(world.Disconnected{Stamp: l.stamp(time.Now())})
	return err
}

func listen(cfg *Config) (PacketConn, error) {
	if cfg.Listen != nil {
		return cfg.Listen()
	}
	conn, err := net.ListenUDP("udp4", nil)
	if err != nil {
		return nil, err
	}
	_ = conn.SetReadBuffer(socketBytes) // as much as the system allows
	return conn, nil
}

// turn turns until ctx or the session ends.
func (l *loop) turn(ctx context.Context, watch func(*core, time.Time)) error {
	second := time.NewTicker(updateEvery)
	defer second.Stop()
	due := time.NewTimer(0)
	defer due.Stop()
	armed := time.Time{} // when due is set to fire
	for {
		now := time.Now()
		l.tick(now)
		if watch != nil {
			watch(l.core, now)
		}
		if l.ended != nil {
			return l.ended
		}
		if at := l.next(); at.IsZero() {
			due.Stop()
			armed = at
		} else if !at.Equal(armed) { // setting a timer wakes the system
			due.Reset(max(at.Sub(now), time.Millisecond))
			armed = at
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case d := <-l.inbox:
			l.take(d)
		case post := <-l.posts:
			post(time.Now())
		case <-due.C:
			armed = time.Time{}
		case now := <-second.C:
			l.second(now)
		}
	}
}

// take handles a datagram and those that already wait behind it.
func (l *loop) take(d datagram) {
	now := time.Now()
	for n := 0; ; n++ {
		l.received(now, d.from, (*d.bytes)[:d.n])
		l.free.Put(d.bytes)
		if n == inboxSize {
			return
		}
		select {
		case d = <-l.inbox:
		default:
			return
		}
	}
}

// read moves datagrams from the socket to the loop until the socket closes.
func (l *loop) read() {
	for {
		buffer := l.free.Get().(*[]byte)
		n, from, err := l.conn.ReadFromUDPAddrPort(*buffer)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// Such as the echo of a packet that could not be delivered.
			// Nothing is lost but that; silence is noticed by time.
			l.free.Put(buffer)
			if !l.pause(10 * time.Millisecond) {
				return
			}
			continue
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		select {
		case l.inbox <- datagram{from, buffer, n}:
		case <-l.done:
			return
		}
	}
}

// pause waits; false if all is over.
func (l *loop) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.done:
		return false
	}
}

// post hands something to the loop's goroutine, unless all is over.
func (l *loop) post(do func(now time.Time)) {
	select {
	case l.posts <- do:
	case <-l.done:
	}
}

// The driver of the core.

func (l *loop) send(to netip.AddrPort, datagram []byte) {
	// A packet that the system refuses is lost, as any may be: those that
	// matter are sent again until they are acknowledged.
	_, _ = l.conn.WriteToUDPAddrPort(datagram, to)
}

func (l *loop) fetchSeed(r *region) {
	seed := r.seed
	l.wg.Go(func() {
		set, err := caps.FetchSeed(l.ctx, l.client, seed)
		l.post(func(now time.Time) { l.seedFetched(now, r, set, err) })
	})
}

func (l *loop) pollQueue(r *region) {
	for old, p := range l.polls {
		if old != r {
			p.cancel() // of a region that was left
			delete(l.polls, old)
		}
	}
	queue := caps.NewQueue(l.client, r.caps.URL(caps.EventQueueGet))
	ctx, cancel := context.WithCancel(l.ctx)
	l.polls[r] = poll{queue, cancel}
	l.wg.Go(func() {
		defer cancel()
		_ = queue.Run(ctx, func(d caps.Delivery) {
			l.post(func(now time.Time) { l.delivered(now, r, d) })
		})
		if ctx.Err() == nil {
			l.post(func(now time.Time) { l.queueClosed(now, r) })
		}
	})
}

func (l *loop) crawl(r *region, folders []caps.Folder) {
	if l.stopCrawl != nil {
		l.stopCrawl() // of a region that was left: its capability is gone
	}
	ctx, cancel := context.WithCancel(l.ctx)
	l.stopCrawl = cancel
	c := &caps.Crawl{
		Client: l.client, URL: r.caps.URL(caps.FetchInventoryDescendents2), Owner: l.agent, Cache: l.cache,
		Progress: func(done, total int) {
			l.post(func(now time.Time) { l.notify(Notice{At: now, Kind: Crawling, Done: done, Total: total}) })
		},
		Report: func(err error) { l.post(func(now time.Time) { l.trouble(now, err) }) },
	}
	l.wg.Go(func() {
		defer cancel()
		missing, err := c.Run(ctx, folders, func(contents caps.Contents) {
			l.post(func(now time.Time) { l.contents(now, &contents) })
		})
		if ctx.Err() != nil {
			return
		}
		l.post(func(now time.Time) { l.crawlEnded(now, r, missing, err) })
	})
}

func (l *loop) fetchNames(r *region, ids []world.UUID) {
	url := r.caps.URL(caps.GetDisplayNames)
	l.wg.Go(func() {
		names, err := caps.FetchNames(l.ctx, l.client, url, ids)
		l.post(func(now time.Time) { l.named(now, r, names, err) })
	})
}

func (l *loop) notify(n Notice) { l.cfg.Notify(n) }

// leave logs out: it tells the queue and the simulator, and waits a moment for
// a sign that it was heard.
func (l *loop) leave() {
	for r, p := range l.polls {
		p.cancel()
		if r == l.root {
			ctx, cancel := context.WithTimeout(l.ctx, queueDone)
			l.wg.Go(func() {
				defer cancel()
				p.queue.Done(ctx)
			})
		}
	}
	if l.stopCrawl != nil {
		l.stopCrawl()
	}
	// A simulator takes no leave of an agent that has not arrived, and would
	// go on expecting it.
	l.until(enterWithin, func() bool { return l.root.arrival != nil })
	l.logout(time.Now())
	l.until(leaveWithin, func() bool { return l.goodbye })
	l.tick(time.Now()) // the last acknowledgements
}

// until turns until something is done or the session is over, within limits.
func (l *loop) until(limit time.Duration, done func() bool) {
	late := time.NewTimer(limit)
	defer late.Stop()
	due := time.NewTimer(0)
	defer due.Stop()
	for !done() && !l.goodbye {
		now := time.Now()
		l.tick(now)
		if at := l.next(); !at.IsZero() {
			due.Reset(max(at.Sub(now), time.Millisecond))
		}
		select {
		case d := <-l.inbox:
			l.take(d)
		case post := <-l.posts:
			post(time.Now())
		case <-due.C:
		case <-late.C:
			return
		}
	}
}
