package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// history is what was typed before, kept in a file between runs: an input a
// line, as a JSON string. The file is its owner's alone, and several processes may
// append to it.
type history struct {
	path  string
	lines []string
}

// How much of a history is kept.
const (
	maxHistory      = 1000     // inputs; the file may have twice as many
	maxHistoryInput = 16 << 10 // bytes
	maxHistoryFile  = 8 << 20
)

// history returns the history of earlier runs, nil if none is wanted. Without a
// file to keep it in there is still that of this run.
func (r *replCmd) history() (*history, error) {
	if r.NoHistory {
		return nil, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return openHistory(filepath.Join(base, "wipagent", "history"))
}

// openHistory reads a history, and writes it anew if it has grown too long.
func openHistory(path string) (*history, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: found %s, expected a regular file", path, kindOf(info))
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Chmod(0o600); err != nil {
		return nil, err
	}
	h := &history{path: path}
	scanner := bufio.NewScanner(io.LimitReader(f, maxHistoryFile))
	scanner.Buffer(nil, 8*maxHistoryInput)
	for scanner.Scan() {
		var line string
		if json.Unmarshal(scanner.Bytes(), &line) == nil { // else it was cut off, or is somebody else's
			h.lines = append(h.lines, line)
		}
	}
	tooLong := len(h.lines) > 2*maxHistory || scanner.Err() != nil
	h.lines = h.lines[max(len(h.lines)-maxHistory, 0):]
	if tooLong {
		return h, h.rewrite()
	}
	return h, nil
}

// rewrite replaces the file by what is in memory.
func (h *history) rewrite() error {
	var all bytes.Buffer
	for _, line := range h.lines {
		all.Write(append(quoteJSON(line), '\n'))
	}
	f, err := os.CreateTemp(filepath.Dir(h.path), "history.*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(all.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Write adds an input. An input that repeats the last is not added again.
func (h *history) Write(input string) (int, error) {
	input = strings.TrimRight(input, " \n")
	if input == "" || len(input) > maxHistoryInput || len(h.lines) > 0 && h.lines[len(h.lines)-1] == input {
		return len(h.lines), nil
	}
	h.lines = append(h.lines, input)
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return len(h.lines), err
	}
	_, err = f.Write(append(quoteJSON(input), '\n'))
	return len(h.lines), errors.Join(err, f.Close())
}

// GetLine returns the input with a number, the oldest first.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.lines) {
		return "", fmt.Errorf("found the number %d, expected one below %d", i, len(h.lines))
	}
	return h.lines[i], nil
}

// Len returns how many inputs there are.
func (h *history) Len() int { return len(h.lines) }

// Dump returns all inputs.
func (h *history) Dump() any { return h.lines }
