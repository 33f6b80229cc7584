package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/wipagent/wipagent/client/audit"
)

// auditLog returns where a command's calls and faults are written. A single
// call at a prompt writes only its faults, unless a file is named.
// What closeLog returns, a record that could not be written, it has said.
func (c *cli) auditLog(use mode) (log *audit.Log, closeLog func() error, err error) {
	defer func() { c.told = log }()
	switch {
	case c.Log != "":
		if info, err := os.Stat(c.Log); err == nil && (info.IsDir() || info.Mode()&os.ModeNamedPipe != 0) {
			return nil, nil, &exitError{exitUnavailable, fmt.Errorf("%s: found %s, expected a file to append to", c.Log, kindOf(info))}
		}
		f, err := os.OpenFile(c.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, &exitError{exitUnavailable, err}
		}
		w := &logFile{cli: c, f: f}
		return audit.New(w, c.observers...), w.close, nil
	case use == serving:
		return audit.New(c.io.err, c.observers...), func() error { return nil }, nil
	}
	return audit.NewFaults(c.io.err, c.observers...), func() error { return nil }, nil
}

// logFile is the file of the audit log. The first failure is said at once: a
// call must not wait for it, and a model is not told.
type logFile struct {
	cli *cli
	f   *os.File
	mu  sync.Mutex
	err error
}

// Write writes a record, and never fails to those who log.
func (l *logFile) Write(p []byte) (int, error) {
	_, err := l.f.Write(p)
	l.note(err)
	return len(p), nil
}

func (l *logFile) close() error {
	l.note(l.f.Close())
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *logFile) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.err == nil {
		l.err = err
		l.cli.warn("the audit log: %v", err)
	}
}
