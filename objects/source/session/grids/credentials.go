package grids

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// Environment variables that hold the credentials of an account which names
// none of its own.
const (
	PasswordVariable = "WIPAGENT_PASSWORD"
	MFAVariable      = "WIPAGENT_MFA_CODE"
)

// ErrNoPassword says that nothing was said about where the password is, so
// that it may be asked for.
var ErrNoPassword = errors.New("no password")

// CredentialError says why there is no password, and what to do.
type CredentialError struct {
	Account string // the account's name, or the avatar's
	Problem string
	Fix     string
	Err     error // nil, or the cause
}

// Error returns the account, the problem and what to do.
func (e *CredentialError) Error() string {
	return fmt.Sprintf("password of %s: %s; %s", e.Account, e.Problem, e.Fix)
}

// Unwrap returns the cause.
func (e *CredentialError) Unwrap() error { return e.Err }

// Password returns an account's password: from the environment variable or
// the file that the account names, and only if it names neither from
// WIPAGENT_PASSWORD, so that no grid is sent another's password. env is
// os.Getenv outside tests. A file has to be a regular one of the user's own,
// at most 4 KiB, closed to everybody else; one line break at its end is not
// part of the password, and spaces alone are none. Every error is a *CredentialError, which wraps
// ErrNoPassword where nothing was said, or the context's error.
func Password(ctx context.Context, a *Account, env func(string) string) (secret.Of[string], error) {
	var none secret.Of[string]
	who := strings.TrimSpace(a.First + " " + a.Last)
	if a.Name != "" {
		who = a.Name
	}
	if err := context.Cause(ctx); err != nil {
		return none, &CredentialError{who, "interrupted", "try again", err}
	}
	switch {
	case a.PasswordEnv != "":
		if p := env(a.PasswordEnv); p != "" {
			return secret.New(p), nil
		}
		return none, &CredentialError{who, fmt.Sprintf("the environment variable %s, which password_env names, is not set", a.PasswordEnv),
			"export it to wipagent, or use password_file", nil}
	case a.PasswordFile != "":
		b, err := readPrivate(a.PasswordFile)
		if err != nil {
			return none, &CredentialError{who, err.Error(), "expected a regular file of your own with mode 0600 that holds the password alone", err}
		}
		b = bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
		if problem := unfit(b); problem != "" {
			clear(b)
			return none, &CredentialError{who, a.PasswordFile + " " + problem, "expected the password alone", nil}
		}
		p := string(b)
		clear(b)
		return secret.New(p), nil
	}
	if p := env(PasswordVariable); p != "" {
		return secret.New(p), nil
	}
	return none, &CredentialError{who, "nothing says where it is",
		fmt.Sprintf("set %s, or password_env or password_file for the account in %s", PasswordVariable, FileName), ErrNoPassword}
}

// unfit says why what a file holds is no password; empty if it is one.
func unfit(b []byte) string {
	switch {
	case len(b) == 0:
		return "is empty"
	case bytes.IndexByte(b, 0) >= 0:
		return "holds a NUL byte, as a file in UTF-16 does"
	case len(bytes.TrimSpace(b)) == 0:
		return "holds spaces alone"
	case bytes.ContainsAny(b, "\r\n"):
		return "holds more than one line"
	}
	return ""
}

// MFACode returns the code for multi-factor authentication that the
// environment holds, without its spaces: in the variable that the account
// names, or else in WIPAGENT_MFA_CODE. The zero value says that there is none.
func MFACode(a *Account, env func(string) string) secret.Of[string] {
	name := a.MFAEnv
	if name == "" {
		name = MFAVariable
	}
	code := strings.Join(strings.Fields(env(name)), "")
	if code == "" {
		return secret.Of[string]{}
	}
	return secret.New(code)
}
