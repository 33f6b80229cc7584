package remote

import (
	"context"
	"net/http"
)

// Over returns a Host to which all requests go by a transport, without a
// handshake.
func Over(transport http.RoundTripper) *Host {
	o := (*Options)(nil).withDefaults()
	l, err := newHTTPLink("http://127.0.0.1:1/", &o)
	if err != nil {
		panic(err)
	}
	l.client.Transport = transport
	h := newHost(o, func(context.Context) (link, error) { return l, nil })
	h.link = l
	return h
}

// Levels returns how deep JSON is that comes in pieces.
func Levels(pieces []string) (deepest int) {
	var l levels
	for _, piece := range pieces {
		deepest = max(deepest, l.count([]byte(piece)))
	}
	return deepest
}
