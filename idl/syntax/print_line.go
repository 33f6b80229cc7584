package syntax

import (
	"strings"
	"unicode/utf8"
)

// printer writes tokens and their comments. Before each token it is told
// whether a line starts there; comments follow from that.
type printer struct {
	toks    []printed
	i       int // the next token
	out     []byte
	written int    // tokens in out
	depth   int    // of the current line, as line was told it
	indent  int    // depth of the line that has started and has no text yet
	column  int    // characters on the current line, blanks before its text counted
	last    string // the last token; empty at the start
	prev    string // the last token or comment of the current line; empty at its start
}

// gapRule says what becomes of the author's blank lines where a line starts.
type gapRule uint8

const (
	gapNone   gapRule = iota // they go
	gapKept                  // they stay, as one
	gapForced                // there is one, whether written or not
)

// token prints the next token behind its comments, on the current line. What
// follows a line comment continues one step deeper.
func (p *printer) token() {
	t := &p.toks[p.i]
	broken := false
	for _, c := range t.comments {
		if broken || c.line && c.newlines > 0 {
			p.newline(p.depth+1, false)
		}
		p.text(c.text)
		broken = c.line
	}
	if broken {
		p.newline(p.depth+1, false)
	}
	p.write(t.text)
	p.i++
}

// through prints up to and with the next token of this text.
func (p *printer) through(text string) {
	for p.toks[p.i].text != text {
		p.token()
	}
	p.token()
}

// comma prints the next token if it is a comma, and puts one there if not.
func (p *printer) comma() {
	if p.toks[p.i].text == "," {
		p.token()
	} else {
		p.write(",")
	}
}

// dropComma skips a comma at the end of a list. Its comments stay.
func (p *printer) dropComma() bool {
	next := &p.toks[p.i+1]
	if p.toks[p.i].text != "," || !closes(next.text) {
		return false
	}
	next.prepend(&p.toks[p.i])
	p.i++
	return true
}

// line starts a line with the next token, whose comments it prints.
func (p *printer) line(depth int, rule gapRule) {
	p.depth = depth
	blank, same := p.gap(depth, rule, false)
	if !same {
		p.newline(depth, blank)
	}
}

// close prints a closing token on its own line, behind comments that belong to
// the list or block it closes.
func (p *printer) close(depth int) {
	p.gap(depth+1, gapKept, true)
	p.depth = depth
	p.newline(depth, false)
	p.token()
}

// gap prints the comments before the next token, the first of which may end
// the line before. It reports whether the token is to have a blank line before
// it, and whether it stands on the same line as the last comment.
func (p *printer) gap(depth int, rule gapRule, closing bool) (blank, same bool) {
	t := &p.toks[p.i]
	n := p.trailing(t, closing)
	for _, c := range t.comments[:n] {
		p.text(c.text)
	}
	opened := opens(p.last)
	blank = rule == gapForced && p.last != ""
	same, first := false, true
	step := func(newlines int) {
		if newlines > 1 && rule != gapNone && !(first && opened) {
			blank = true
		}
		same = !first && newlines == 0
	}
	for _, c := range t.comments[n:] {
		step(c.newlines)
		if !same {
			p.newline(depth, blank)
		}
		p.text(c.text)
		blank, first = false, false
		if c.doc {
			rule = gapNone // what it documents follows at once
		}
	}
	step(t.newlines)
	t.comments = nil
	return blank, same
}

// trailing returns how many of the comments before t end the line before.
func (p *printer) trailing(t *printed, closing bool) int {
	n := 0
	for n < len(t.comments) && t.comments[n].newlines == 0 && !t.comments[n].doc {
		n++
	}
	newlines := t.newlines
	if n < len(t.comments) {
		newlines = t.comments[n].newlines
	} else if closing && !opens(p.last) {
		return n
	}
	if newlines == 0 || p.last == "" {
		return 0
	}
	return n
}

// opens reports whether a token is the start of the file or opens a block or
// list, so that no blank line stands behind it.
func opens(token string) bool { return token == "" || token == "{" || token == "(" }

// closes reports whether a token closes a block or list.
func closes(token string) bool { return token == "}" || token == ")" }

// newline ends the current line, if there is any, and puts a blank line behind
// it if asked to.
func (p *printer) newline(depth int, blank bool) {
	if len(p.out) > 0 {
		p.out = append(p.out, '\n')
		if blank {
			p.out = append(p.out, '\n')
		}
	}
	p.prev, p.indent, p.column = "", depth, 2*depth
}

// write prints a token.
func (p *printer) write(token string) {
	p.text(token)
	p.last = token
	p.written++
}

// text prints a token or a comment behind what the line has.
func (p *printer) text(text string) {
	if p.prev == "" {
		for range p.indent {
			p.out = append(p.out, "  "...)
		}
	} else if spaced(p.prev, text) {
		p.out = append(p.out, ' ')
		p.column++
	}
	p.out = append(p.out, text...)
	p.prev = text
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		p.column, text = 0, text[i+1:]
	}
	p.column += utf8.RuneCountInString(text)
}

// stays reports whether the tokens [from, to) go on the current line: the
// author has them there, and they fit, with more characters behind them.
func (p *printer) stays(from, to, more int) bool {
	return !p.breaks(from) && p.column+p.width(p.prev, from, to, lineWidth)+more <= lineWidth
}

// width returns how many characters the tokens [from, to) add to a line that
// ends with prev, without a comma at the end of a list and what follows a line
// comment. It counts no further than it must to exceed limit.
func (p *printer) width(prev string, from, to, limit int) int {
	w := 0
	add := func(text string) {
		if prev != "" && spaced(prev, text) {
			w++
		}
		w += utf8.RuneCountInString(text)
		prev = text
	}
	for i := from; i < to && w <= limit; i++ {
		t := &p.toks[i]
		for _, c := range t.comments {
			if c.line {
				return w
			}
			add(c.text)
		}
		if t.text == "," && i+1 < to && closes(p.toks[i+1].text) {
			continue
		}
		add(t.text)
	}
	return w
}
