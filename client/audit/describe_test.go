package audit_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// own is an error of ours, with words that quote nothing.
type own struct{ error }

func (own) Notice() string  { return "our own words" }
func (o own) Unwrap() error { return o.error }

func syntax() error {
	var v any
	return json.Unmarshal([]byte(`{"s3cr3t":s3cr3t}`), &v)
}

// TestDescribe: the cause of a fault is told where it is ours or the system's, and
// never in words that may be foreign.
func TestDescribe(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.UnixAddr{Name: secret}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	failure := func(err error) *wip.Failure {
		return &wip.Failure{Class: wip.Transient, Message: secret, Err: err}
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"refused":          {failure(refused), "host failure of class transient: connection refused"},
		"of a mount":       {&space.Error{Mount: "/m", Err: failure(&url.Error{Op: "Post", URL: secret, Err: refused})}, "mount /m: the Host answered with a failure of class transient: connection refused"},
		"reset":            {failure(&url.Error{URL: secret, Err: syscall.ECONNRESET}), "host failure of class transient: connection reset by peer"},
		"a timeout":        {failure(&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}), "host failure of class transient: timeout"},
		"time ran out":     {failure(context.DeadlineExceeded), "host failure of class transient: time ran out"},
		"cancelled":        {fmt.Errorf("s3cr3t: %w", context.Canceled), "cancelled"},
		"the end":          {failure(fmt.Errorf("s3cr3t: %w", io.ErrUnexpectedEOF)), "host failure of class transient: the connection ended"},
		"authority":        {failure(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), "host failure of class transient: certificate signed by unknown authority"},
		"another name":     {failure(x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{secret}}, Host: secret}), "host failure of class transient: the certificate is for another name"},
		"too old":          {failure(x509.CertificateInvalidError{Reason: x509.Expired, Detail: secret}), "host failure of class transient: the certificate has expired or is not yet valid"},
		"no TLS":           {failure(tls.RecordHeaderError{Msg: secret}), "host failure of class transient: the answer is not TLS"},
		"a file":           {failure(&fs.PathError{Op: "fork/exec", Path: secret, Err: syscall.ENOENT}), "host failure of class transient: no such file or directory"},
		"JSON":             {failure(syntax()), "host failure of class transient: found no JSON at byte 11"},
		"ours":             {failure(own{errors.New(secret)}), "host failure of class transient: our own words"},
		"foreign":          {failure(errors.New(secret)), "host failure of class transient: *errors.errorString"},
		"foreign, wrapped": {fmt.Errorf("s3cr3t: %w", errors.New(secret)), "*fmt.wrapError of *errors.errorString"},
		"none":             {&wip.Failure{Class: secret, Message: secret}, "host failure of a class that is none"},
		"several": {errors.Join(&space.Error{Mount: "/a", Err: failure(refused)}, &space.Error{Mount: "/b", Err: errors.New(secret)}),
			"mount /a: the Host answered with a failure of class transient: connection refused; mount /b: a *errors.errorString"},
	} {
		if got := audit.Describe(test.err); got != test.want || strings.Contains(got, secret) {
			t.Errorf("%s: found %q, want %q", name, got, test.want)
		}
	}
}
