package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/wipagent/wipagent/objects/source/session/grids"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// errNobody says that there is no terminal to ask at.
var errNobody = errors.New("nobody can be asked, as stdin is no terminal")

// asks reports whether somebody can be asked. While serving, stdin is the
// model's, whatever it is.
func (c *cli) asks() bool {
	in, ok := c.io.in.(*os.File)
	return ok && c.mode != serving && term.IsTerminal(int(in.Fd()))
}

// ask asks on the terminal for something that must not be shown.
func (c *cli) ask(ctx context.Context, prompt string) (secret.Of[string], error) {
	var none secret.Of[string]
	if !c.asks() {
		return none, errNobody
	}
	fd := int(c.io.in.(*os.File).Fd())
	shown, err := term.GetState(fd)
	if err != nil {
		return none, err
	}
	fmt.Fprintf(c.io.err, "%s: ", printable(prompt))
	type line struct {
		text []byte
		err  error
	}
	read := make(chan line, 1)
	go func() { // which an interrupt leaves behind: reading cannot be broken off
		text, err := term.ReadPassword(fd)
		read <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		_ = term.Restore(fd, shown)
		fmt.Fprintln(c.io.err)
		return none, &exitError{exitUnavailable, errors.New("interrupted")}
	case l := <-read:
		fmt.Fprintln(c.io.err)
		return typed(prompt, l.text, l.err)
	}
}

// typed returns what was read, which it clears, or why that is no answer.
func typed(prompt string, line []byte, err error) (secret.Of[string], error) {
	text := string(line)
	clear(line)
	switch {
	case errors.Is(err, io.EOF):
		return secret.Of[string]{}, usageError("%s: nothing was typed before Ctrl-D", prompt)
	case err != nil:
		return secret.Of[string]{}, fmt.Errorf("reading from the terminal: %w", err)
	case text == "":
		return secret.Of[string]{}, usageError("%s: nothing was typed", prompt)
	}
	return secret.New(text), nil
}

// password returns the account's password, and asks for it if nothing says
// where it is.
func (c *cli) password(ctx context.Context, g *gridConfig) (secret.Of[string], error) {
	password, err := grids.Password(ctx, &g.account, os.Getenv)
	if !errors.Is(err, grids.ErrNoPassword) {
		if err != nil {
			err = &exitError{exitUnavailable, err}
		}
		return password, err
	}
	typed, failed := c.ask(ctx, fmt.Sprintf("Password of %s %s on %s", g.account.First, g.account.Last, g.where()))
	if errors.Is(failed, errNobody) {
		return typed, usageError("%w", err)
	}
	return typed, failed
}

// mfa is where codes for multi-factor authentication and what stands for them
// come from. One session uses it at a time.
type mfa struct {
	c       *cli
	config  *grids.Config
	grid    grids.Grid
	account *grids.Account
	asked   bool
	shown   string // what of the grid's words was shown with the prompt
}

// Hash returns what the grid gave last.
func (m *mfa) Hash() secret.Of[string] {
	hash, err := m.config.MFAHash(m.grid, m.account)
	if err != nil { // a code will do instead
		fmt.Fprintf(m.c.io.err, "wipagent: %s\n", printable(err.Error()))
	}
	return hash
}

// SetHash keeps what the grid gave.
func (m *mfa) SetHash(hash secret.Of[string]) error {
	return m.config.SetMFAHash(m.grid, m.account, hash)
}

// Code returns a code from the environment, or asks for one. It does so once:
// a code is good for half a minute, and whoever was there to type one need not
// be there when a session is lost.
func (m *mfa) Code(ctx context.Context, message string) (secret.Of[string], error) {
	if m.asked {
		return secret.Of[string]{}, errors.New("a code was asked for already")
	}
	m.asked = true
	if code := grids.MFACode(m.account, os.Getenv); !code.IsZero() {
		return code, nil
	}
	if m.c.asks() {
		for line := range strings.Lines(message) {
			fmt.Fprintf(m.c.io.err, "%s\n", printable(strings.TrimRight(line, "\n")))
		}
		m.shown = message
	}
	return m.c.ask(ctx, "Code for multi-factor authentication")
}
