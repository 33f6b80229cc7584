package main

import (
	"context"
	"errors"
	"strings"

	"github.com/reeflective/readline"

	"github.com/wipagent/wipagent/adapter/script"
)

// errInterrupted says that what was typed is dropped.
var errInterrupted = errors.New("interrupted")

// editor edits inputs at a terminal. What a user's inputrc says of keys holds.
type editor struct {
	shell *readline.Shell
}

// reserve makes sure of two rows below the cursor: down, where the last row
// scrolls, and back. The editor works below an input, and without asking the
// terminal does not know when it is at the bottom.
const reserve = "\x1bD\x1bD\x1b[2A"

// newEditor returns an editor. history may be nil.
func newEditor(env *script.Env, history *history, color bool) *editor {
	shell := readline.NewShell()
	// The terminal is not asked where its cursor is: an answer that does not come
	// would block, and keys that come with one would be lost.
	settings := map[string]any{"cursor-position-probe": false, "multiline-column": false, "enable-bracketed-paste": true, "menu-complete-display-prefix": true}
	primary, more := ">>> ", "... "
	if color {
		primary, more = "\x1b[1;32m>>> \x1b[0m", "\x1b[2m... \x1b[0m"
	} else {
		settings["completion-selection-style"] = "\x1b[7m"
	}
	for name, value := range settings {
		_ = shell.Config.Set(name, value) // which fails for no name that there is
	}
	shell.Prompt.Primary(func() string { return primary })
	// The editor has no prompt for the lines between the first and the last; what
	// shows a line for it can write one where it leaves space.
	shell.SyntaxHighlighter = func(line []rune) string { return strings.ReplaceAll(string(line), "\n", "\n\r"+more) + reserve }
	shell.AcceptMultiline = func(line []rune) bool { return !script.Unfinished(string(line) + "\n") }
	shell.Completer = func(line []rune, cursor int) readline.Completions { return completions(env, line, cursor) }
	if history != nil {
		shell.History.Add("history", history)
	}
	return &editor{shell}
}

// read returns the next input, with the line's end. Its error is io.EOF for
// Ctrl-D on an empty line, errInterrupted for Ctrl-C, or ctx's: then the terminal
// is left as it is, and somebody still reads.
func (e *editor) read(ctx context.Context) (string, error) {
	type input struct {
		text string
		err  error
	}
	read := make(chan input, 1)
	go func() {
		text, err := e.shell.Readline()
		read <- input{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case in := <-read:
		if errors.Is(in.err, readline.ErrInterrupt) {
			in.err = errInterrupted
		}
		return in.text + "\n", in.err
	}
}

// completions returns how a line can go on, as the editor wants it: values that
// begin with a prefix, which must not be empty unless there is a space.
func completions(env *script.Env, line []rune, cursor int) readline.Completions {
	before := string(line[:min(max(cursor, 0), len(line))])
	if last := before[strings.LastIndexByte(before, '\n')+1:]; strings.TrimSpace(last) == "" && strings.Contains(before, "\n") {
		return readline.CompleteValues("    ") // the next level of a block
	}
	start, list := env.Complete(before, len(before))
	prefix, shared := before[start:], ""
	if prefix == "" && start > 0 && before[start-1] != ' ' && before[start-1] != '\n' {
		shared = before[start-1 : start]
		prefix = shared
	}
	for i := range len(prefix) {
		if prefix[i] >= 0x80 { // whose length the editor would get wrong
			return readline.Completions{}
		}
	}
	values := make([]readline.Completion, len(list))
	for i, c := range list {
		// A signature begins with what is completed, which is shown already.
		description := strings.TrimPrefix(strings.TrimPrefix(c.Description, strings.TrimRight(c.Text, "()=")), ": ")
		values[i] = readline.Completion{Value: shared + c.Text, Display: printable(c.Text), Description: printable(description)}
	}
	found := readline.CompleteRaw(values).NoSort()
	found.PREFIX = prefix
	return found
}
