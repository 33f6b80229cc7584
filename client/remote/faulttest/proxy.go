// Package faulttest stands between a Host that is dialed over HTTP and its
// server, for tests: a Proxy does to requests and answers what networks,
// gateways and dying servers do, as a seeded generator chooses.
package faulttest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Fault is what becomes of one request.
type Fault string

// The faults. Of those that can befall a request or its answer, the generator
// chooses which.
const (
	None      Fault = "none"
	Cut       Fault = "cut"       // the connection is closed: before, in or after the request, and so perhaps after it was carried out
	Delay     Fault = "delay"     // the request or its answer comes late
	Duplicate Fault = "duplicate" // the server gets the request twice; the first answer counts
	Truncate  Fault = "truncate"  // the answer ends early, with the connection
	Garble    Fault = "garble"    // bytes of the request's body or of the answer are not what they were
	Limited   Fault = "429"       // the request is refused
	LimitedBy Fault = "429 with Retry-After"
	Down      Fault = "503"       // the answer is that of a gateway, which may have passed the request on
	HalfOpen  Fault = "half-open" // nobody answers, though the server may have
)

// All returns every fault but None.
func All() []Fault {
	return []Fault{Cut, Delay, Duplicate, Truncate, Garble, Limited, LimitedBy, Down, HalfOpen}
}

// Config says what befalls whom. The zero value lets everything pass.
type Config struct {
	Seed uint64
	// Rate is the share of requests with a fault, 0 to 1.
	Rate float64
	// Faults are those to choose from, each as often as it is listed; nil is All.
	Faults []Fault
	// Spare reports whether a fault must not befall a request, of which it gets
	// the body; nil spares none.
	Spare func(f Fault, body []byte) bool
	// MaxDelay bounds a Delay; 0 is 20 ms.
	MaxDelay time.Duration
}

// Proxy is a server on the loopback before another. It is safe for concurrent
// use.
type Proxy struct {
	listener net.Listener
	target   string // host and port
	work     sync.WaitGroup
	life     context.Context
	end      context.CancelFunc
	server   *http.Transport

	mu    sync.Mutex
	cfg   Config
	dice  *rand.Rand
	conns map[net.Conn]bool
	stats map[Fault]int
}

// New starts a Proxy before the server at an URL such as http://127.0.0.1:7070.
func New(target string, cfg Config) (*Proxy, error) {
	host, ok := strings.CutPrefix(target, "http://")
	if !ok {
		return nil, fmt.Errorf("found the target %q, expected one of http", target)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		listener: l, target: strings.TrimSuffix(host, "/"),
		conns: map[net.Conn]bool{}, stats: map[Fault]int{},
		server: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	}
	p.Set(cfg)
	p.life, p.end = context.WithCancel(context.Background())
	p.work.Go(p.accept)
	return p, nil
}

// URL is where to dial.
func (p *Proxy) URL() string { return "http://" + p.listener.Addr().String() }

// Set changes what befalls the requests from now on.
func (p *Proxy) Set(cfg Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cfg.Faults == nil {
		cfg.Faults = All()
	}
	if cfg.MaxDelay <= 0 {
		cfg.MaxDelay = 20 * time.Millisecond
	}
	p.cfg, p.dice = cfg, rand.New(rand.NewPCG(cfg.Seed, 0))
}

// Stats returns how many requests each fault befell.
func (p *Proxy) Stats() map[Fault]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[Fault]int{}
	for f, n := range p.stats {
		out[f] = n
	}
	return out
}

// Conns returns how many connections to the Proxy are open.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// Close closes all connections and returns when nothing is under way any more,
// at the server neither.
func (p *Proxy) Close() {
	p.listener.Close()
	p.end()
	p.mu.Lock()
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.work.Wait()
	p.server.CloseIdleConnections()
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		open := p.life.Err() == nil
		if open {
			p.conns[c] = true
			p.work.Go(func() { p.serve(c) })
		} else {
			c.Close()
		}
		p.mu.Unlock()
	}
}

// serve answers the requests of one connection until a fault ends it.
func (p *Proxy) serve(c net.Conn) {
	defer func() {
		c.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, c)
	}()
	r := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		x := exchange{proxy: p, conn: c, client: r, header: req.Header, path: req.URL.RequestURI(), body: body, roll: p.roll(body)}
		if !x.run() {
			return
		}
	}
}

// roll is what the generator chose for one request.
type roll struct {
	fault Fault
	after bool    // it befalls the answer, or comes after the server had the request
	at    float64 // where in a text, or for how much of the longest time
	delay time.Duration
}

func (p *Proxy) roll(body []byte) roll {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := roll{fault: None}
	if len(p.cfg.Faults) > 0 && p.dice.Float64() < p.cfg.Rate {
		o.fault = p.cfg.Faults[p.dice.IntN(len(p.cfg.Faults))]
	}
	o.after, o.at = p.dice.IntN(2) == 0, p.dice.Float64()
	o.delay = time.Duration(o.at * float64(p.cfg.MaxDelay))
	if p.cfg.Spare != nil && p.cfg.Spare(o.fault, body) {
		o.fault = None
	}
	p.stats[o.fault]++
	return o
}

// exchange is one request and its answer.
type exchange struct {
	roll
	proxy  *Proxy
	conn   net.Conn
	client *bufio.Reader
	header http.Header
	path   string
	body   []byte
}

// run carries the request out, with its fault, and reports whether the
// connection goes on.
func (x *exchange) run() bool {
	switch x.fault {
	case Cut:
		switch {
		case x.after:
			x.forward(x.body)
		case x.at < 0.5:
			x.half()
		}
		return false
	case Delay:
		if !x.after && !x.sleep() {
			return false
		}
		answer := x.forward(x.body)
		if x.after && !x.sleep() {
			return false
		}
		return x.write(answer)
	case Duplicate:
		answer := x.forward(x.body)
		x.forward(x.body)
		return x.write(answer)
	case Truncate:
		answer := x.forward(x.body)
		x.write(answer[:int(x.at*float64(len(answer)))])
		return false
	case Garble:
		if x.after {
			return x.write(x.garbled(x.forward(x.body)))
		}
		return x.write(x.forward(x.garbled(x.body)))
	case Limited:
		return x.write(status(http.StatusTooManyRequests, ""))
	case LimitedBy:
		return x.write(status(http.StatusTooManyRequests, "0"))
	case Down:
		if x.after {
			x.forward(x.body)
		}
		return x.write(status(http.StatusServiceUnavailable, [...]string{"", "0", "1"}[int(x.at*3)]))
	case HalfOpen:
		if x.after {
			x.forward(x.body)
		}
		x.client.ReadByte() // until the client leaves, or Close
		return false
	}
	return x.write(x.forward(x.body))
}

// sleep reports whether the Proxy still runs after the delay.
func (x *exchange) sleep() bool {
	t := time.NewTimer(x.delay)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.proxy.life.Done():
		return false
	}
}

// forward sends the request to the server and returns its answer as the text of
// a response, or that of a gateway. The server may take longer than the client.
func (x *exchange) forward(body []byte) []byte {
	req, err := http.NewRequest(http.MethodPost, "http://"+x.proxy.target+x.path, bytes.NewReader(body))
	if err != nil {
		return status(http.StatusBadGateway, "")
	}
	req.Header = x.header.Clone()
	resp, err := x.proxy.server.RoundTrip(req)
	if err != nil {
		return status(http.StatusBadGateway, "")
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return status(http.StatusBadGateway, "")
	}
	resp.Body, resp.ContentLength, resp.TransferEncoding = io.NopCloser(bytes.NewReader(answer)), int64(len(answer)), nil
	var out bytes.Buffer
	resp.Write(&out)
	return out.Bytes()
}

// half sends the server the head and a part of the body, and hangs up.
func (x *exchange) half() {
	c, err := net.Dial("tcp", x.proxy.target)
	if err != nil {
		return
	}
	defer c.Close()
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", x.path, x.proxy.target, len(x.body))
	x.header.WriteSubset(c, map[string]bool{"Host": true, "Content-Length": true})
	fmt.Fprintf(c, "\r\n%s", x.body[:len(x.body)/2])
}

// garbled returns a text with some bytes replaced by such as no header and no
// JSON has. Others could make another request of it, or another answer: from
// that nothing but TLS protects.
func (x *exchange) garbled(text []byte) []byte {
	text = bytes.Clone(text)
	for i := range min(3, len(text)) {
		text[(int(x.at*float64(len(text)))+i*7)%len(text)] = byte(i)
	}
	return text
}

// write reports whether the whole answer went out.
func (x *exchange) write(text []byte) bool {
	_, err := x.conn.Write(text)
	return err == nil
}

// status is the text of an answer of a gateway.
func status(code int, retryAfter string) []byte {
	s := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: 0\r\n", code, http.StatusText(code))
	if retryAfter != "" {
		s += "Retry-After: " + retryAfter + "\r\n"
	}
	return []byte(s + "\r\n")
}
