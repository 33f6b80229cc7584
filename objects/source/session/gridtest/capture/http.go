package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"sort"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/tcpassembly"
)

// streams collects both halves of each TCP connection.
type streams struct {
	halves map[flow]*half
	order  []flow // of the halves that were seen first, which are the clients'
}

// New implements tcpassembly.StreamFactory.
func (s *streams) New(network, transport gopacket.Flow) tcpassembly.Stream {
	src, dst := network.Endpoints()
	a, _ := netip.AddrFromSlice(src.Raw())
	b, _ := netip.AddrFromSlice(dst.Raw())
	from, to := transport.Endpoints()
	f := flow{
		netip.AddrPortFrom(a, binary.BigEndian.Uint16(from.Raw())),
		netip.AddrPortFrom(b, binary.BigEndian.Uint16(to.Raw())),
	}
	h := &half{}
	if s.halves[f.reverse()] == nil {
		s.order = append(s.order, f)
	}
	s.halves[f] = h
	return h
}

// half is what one side of a connection sent, in order and without what was
// sent twice.
type half struct {
	data  []byte
	marks []mark
	gap   bool // bytes are missing: what comes after them is not read
}

// mark says when the bytes before end had been captured.
type mark struct {
	end int
	at  time.Time
}

// Reassembled implements tcpassembly.Stream.
func (h *half) Reassembled(pieces []tcpassembly.Reassembly) {
	for _, p := range pieces {
		h.gap = h.gap || p.Skip != 0 && len(h.data) > 0
		if h.gap || len(p.Bytes) == 0 {
			continue
		}
		h.data = append(h.data, p.Bytes...)
		at := p.Seen
		if n := len(h.marks); n > 0 && at.Before(h.marks[n-1].at) {
			at = h.marks[n-1].at // it had to wait for what came before it
		}
		h.marks = append(h.marks, mark{len(h.data), at})
	}
}

// ReassemblyComplete implements tcpassembly.Stream.
func (h *half) ReassemblyComplete() {}

// at returns when the first n bytes were there.
func (h *half) at(n int) time.Time {
	i := sort.Search(len(h.marks), func(i int) bool { return h.marks[i].end >= n })
	if i == len(h.marks) {
		return time.Time{}
	}
	return h.marks[i].at
}

// exchanges pairs requests and responses, connection by connection.
func (s *streams) exchanges(skipped *int) []Exchange {
	var all []Exchange
	for _, f := range s.order {
		requests, responses := newMessages(s.halves[f]), newMessages(s.halves[f.reverse()])
		for {
			e, err := exchange(requests, responses)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					*skipped++
				}
				break
			}
			all = append(all, e)
		}
	}
	return all
}

// exchange reads the next request and its response; io.EOF if there is no
// further request.
func exchange(requests, responses *messages) (Exchange, error) {
	req, err := http.ReadRequest(requests.in)
	if err != nil {
		return Exchange{}, err
	}
	e := Exchange{Method: req.Method, Path: req.URL.RequestURI()}
	if e.RequestBody, err = io.ReadAll(req.Body); err != nil {
		return Exchange{}, err
	}
	e.RequestAt = requests.read()
	for e.Status < 200 { // "100 Continue" is no answer
		resp, err := http.ReadResponse(responses.in, req)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return Exchange{}, err
		}
		e.Status = resp.StatusCode
		if e.ResponseBody, err = io.ReadAll(resp.Body); err != nil {
			return Exchange{}, err
		}
	}
	e.ResponseAt = responses.read()
	return e, nil
}

// messages reads one half of a connection and knows how far it is.
type messages struct {
	half *half
	data *bytes.Reader
	in   *bufio.Reader
}

func newMessages(h *half) *messages {
	if h == nil {
		h = &half{}
	}
	data := bytes.NewReader(h.data)
	return &messages{h, data, bufio.NewReader(data)}
}

// read returns when all that has been read so far was there.
func (m *messages) read() time.Time {
	return m.half.at(len(m.half.data) - m.data.Len() - m.in.Buffered())
}
