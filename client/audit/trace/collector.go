package trace

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"unicode"
)

// This file reads where the collector is and what it is told of who sends. The
// library would log what it cannot read of its variables, tokens and all: so it
// is given none that it cannot read.

// endpointOf reads a collector's URL.
func endpointOf(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("expected an URL such as http://127.0.0.1:4318")
	case u.User != nil:
		return nil, errors.New("found user information in the URL; put what the collector asks for into OTEL_EXPORTER_OTLP_HEADERS")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("found a query or a fragment, expected an URL such as http://127.0.0.1:4318")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	return u, nil
}

// checkEnvironment refuses variables that the library would pass over, or that
// would send a token where it can be read on the way.
func checkEnvironment(endpoint *url.URL) error {
	headers := false
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		value := strings.TrimSpace(os.Getenv(name))
		if value == "" {
			continue
		}
		headers = true
		for pair := range strings.SplitSeq(value, ",") {
			key, value, ok := strings.Cut(pair, "=")
			value, err := url.PathUnescape(value)
			if !ok || err != nil || !isToken(strings.TrimSpace(key)) || strings.ContainsFunc(value, unicode.IsControl) {
				return errors.New(name + ": expected NAME=VALUE,... with values in percent-encoding")
			}
		}
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		if _, err := url.Parse(strings.TrimSpace(os.Getenv(name))); err != nil {
			return errors.New(name + ": expected an URL")
		}
	}
	if headers && endpoint.Scheme == "http" && !isLoopback(endpoint.Hostname()) {
		return errors.New("found http and headers to send, which could be read on the way; expected https")
	}
	return nil
}

// isToken reports whether a name is one of a header.
// Source: RFC 9110 section 5.6.2.
func isToken(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return name != ""
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// reason says why spans could not be sent, without a collector's words.
func reason(err error) error {
	var broken *net.OpError
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("the collector does not answer in time")
	case errors.As(err, &broken):
		return broken
	}
	return errors.New("the collector does not take them")
}
