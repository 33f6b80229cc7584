package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// held passes on what a program says beside its results, but holds it back as
// long as somebody edits a line of the terminal. It is safe for concurrent use.
type held struct {
	to       io.Writer
	terminal bool // to is one

	mu      sync.Mutex
	holding bool
	kept    bytes.Buffer
	dropped int
}

// maxHeld bounds what is held back, in bytes.
const maxHeld = 16 << 10

// Write passes p on, or keeps it. What overwrites the line it is in is not kept.
func (h *held) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.holding:
		return h.to.Write(p)
	case len(p) == 0 || p[0] == '\r':
	case h.kept.Len()+len(p) > maxHeld:
		h.dropped++
	default:
		h.kept.Write(p)
	}
	return len(p), nil
}

// hold begins or ends holding back. At the end what was kept is passed on.
func (h *held) hold(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holding = on
	if on {
		return
	}
	if h.dropped > 0 {
		fmt.Fprintf(&h.kept, "wipagent: %s more\n", plural(h.dropped, "message"))
	}
	_, _ = h.kept.WriteTo(h.to) // who cannot be told is not told
	h.dropped = 0
}

// isTerminal reports whether w writes to a terminal.
func isTerminal(w io.Writer) bool {
	switch w := w.(type) {
	case *os.File:
		return term.IsTerminal(int(w.Fd()))
	case *held:
		return w.terminal
	}
	return false
}
