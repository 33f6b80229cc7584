package audit

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// Describe says what is known of an error without quoting foreign text: our
// own errors promise to hold no payload, those with a Notice too; of the system's
// and the standard library's it is what happened, without names and addresses. Of
// all others only the type is told.
func Describe(err error) string {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return describeAll(list.Unwrap())
	}
	var result *idl.ResultError
	if errors.As(err, &result) {
		return result.Error()
	}
	own := notice(err)
	var failure *wip.Failure
	switch isFailure := errors.As(err, &failure); {
	case own != "" && (!isFailure || own != notice(failure.Err)): // around the failure, as a mount's
		if why := system(err); !strings.Contains(own, why) {
			own += ": " + why
		}
		return own
	case !isFailure:
		return cause(err)
	}
	said := "host failure of a class that is none"
	if failure.Class.Known() {
		said = "host failure of class " + string(failure.Class)
	}
	if failure.Err != nil {
		said += ": " + cause(failure.Err)
	}
	return said
}

// cause says what is known of an error that is no failure of a Host.
func cause(err error) string { return cmp.Or(notice(err), system(err), types(err)) }

// notice returns what an error of ours says for an operator's log, empty if it is
// none.
func notice(err error) string {
	var own interface{ Notice() string }
	if errors.As(err, &own) {
		return own.Notice()
	}
	return ""
}

// system says what happened if an error is the system's or the standard
// library's, and nothing of what it happened to; empty if it is another.
func system(err error) string {
	var (
		errno     syscall.Errno
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		refused   *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		alert     tls.AlertError
		exit      *exec.ExitError
		form      *json.SyntaxError
		slow      interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "time ran out"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &authority):
		return "certificate signed by unknown authority"
	case errors.As(err, &host):
		return "the certificate is for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired or is not yet valid"
	case errors.As(err, &invalid), errors.As(err, &refused):
		return "the certificate is not valid"
	case errors.As(err, &record):
		return "the answer is not TLS"
	case errors.As(err, &alert):
		return alert.Error()
	case errors.As(err, &exit):
		return exit.ProcessState.String()
	case errors.As(err, &form):
		return fmt.Sprintf("found no JSON at byte %d", form.Offset)
	case errors.Is(err, os.ErrClosed):
		return "the connection was closed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended"
	case errors.As(err, &slow) && slow.Timeout():
		return "timeout"
	}
	return ""
}

// describeAll describes errors that were joined, each once, and says how many are
// left out.
func describeAll(list []error) string {
	const most = 16
	var said []string
	for _, err := range list {
		if s := Describe(err); !slices.Contains(said, s) {
			said = append(said, s)
		}
	}
	if more := len(said) - most; more > 0 {
		said = append(said[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(said, "; ")
}

// types names the Go types of an error and of what it wraps.
func types(err error) string {
	s := fmt.Sprintf("%T", err)
	for depth := 0; depth < 8; depth++ {
		if err = errors.Unwrap(err); err == nil {
			break
		}
		s += fmt.Sprintf(" of %T", err)
	}
	return s
}
