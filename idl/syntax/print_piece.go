package syntax

import (
	"slices"
	"strings"
)

// printed is a token to print, and the comments between it and the token before.
type printed struct {
	text     string // empty at the end of the file
	newlines int    // line ends between it and what stands before it; 2 for more
	comments []remark
}

// remark is a comment as it is printed.
type remark struct {
	text     string // without blanks at its end
	newlines int    // as those of a token
	line     bool   // it ends with its line
	doc      bool
}

// printables returns all that a faultless text holds. Before commas, semicolons
// and the like there are no line comments: they move behind them, where they
// end the line as they did.
func printables(s *scanner) []printed {
	all := make([]printed, 0, len(s.toks))
	remarks := make([]remark, 0, len(s.comments))
	end := 0 // of what was read last
	newlines := func(start int) int { return min(strings.Count(s.text[end:start], "\n"), 2) }
	for _, tok := range s.toks {
		first := len(remarks)
		for len(remarks) < len(s.comments) && s.comments[len(remarks)].start < tok.Pos.Offset {
			c := &s.comments[len(remarks)]
			r := remark{text: s.text[c.start:c.end], newlines: newlines(c.start), doc: c.doc}
			r.line = strings.HasPrefix(r.text, "//")
			r.text = plain(r.text, r.line)
			remarks = append(remarks, r)
			end = c.end
		}
		p := printed{text: tok.Value, newlines: newlines(tok.Pos.Offset), comments: remarks[first:len(remarks):len(remarks)]}
		end = tok.Pos.Offset + len(tok.Value)
		all = append(all, p)
	}
	for i := range all {
		t := &all[i]
		switch t.text {
		case ",", "{":
			if len(t.comments) == 0 && len(all[i+1].comments) == 0 {
				all[i+1].newlines = max(all[i+1].newlines, t.newlines)
			}
			fallthrough
		case ";", ":", "(":
			if hasLine(t.comments) {
				all[i+1].prepend(t)
			}
		}
	}
	return all
}

// plain returns a comment's text without carriage returns at its lines' ends
// and, of a line comment, without blanks there.
func plain(text string, line bool) string {
	if line {
		return strings.TrimRight(text, " \t\r")
	}
	if !strings.Contains(text, "\r\n") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	return strings.Join(lines, "\n")
}

// prepend moves the comments of the token before t to t.
func (t *printed) prepend(before *printed) {
	n := len(before.comments)
	if n == 0 {
		return
	}
	newlines := &t.newlines
	all := append(before.comments, t.comments...)
	if len(all) > n {
		newlines = &all[n].newlines
	}
	*newlines = max(*newlines, before.newlines)
	t.comments, before.comments = all, nil
}

// hoist moves the doc comments that stand between the first token of what they
// document and its name to before that first token.
func (p *printer) hoist(start, name int) {
	first := &p.toks[start]
	for i := start + 1; i <= name; i++ {
		t := &p.toks[i]
		if !hasDoc(t.comments) {
			continue
		}
		var kept []remark
		for _, c := range t.comments {
			if c.doc {
				c.newlines, first.newlines = first.newlines, 1
				first.comments = append(first.comments, c)
			} else {
				kept = append(kept, c)
			}
		}
		t.comments = kept
	}
}

// skipAnnotations returns the index of the first token behind the annotations
// at i.
func (p *printer) skipAnnotations(i int) int {
	for p.toks[i].text == "@" {
		i = p.skipAnnotation(i)
	}
	return i
}

// skipAnnotation returns the index of the token behind the annotation at i.
func (p *printer) skipAnnotation(i int) int {
	i += 2
	if p.toks[i].text == "(" {
		i = p.closing(i+1) + 1
	}
	return i
}

// closing returns the index of the parenthesis that closes what is open at i.
func (p *printer) closing(i int) int {
	for depth := 0; ; i++ {
		switch p.toks[i].text {
		case "(":
			depth++
		case ")":
			if depth == 0 {
				return i
			}
			depth--
		}
	}
}

// find returns the index of the next token of this text, from i on.
func (p *printer) find(i int, text string) int {
	for p.toks[i].text != text {
		i++
	}
	return i
}

// endOfParam returns the index of the token behind a parameter whose name is
// at i.
func (p *printer) endOfParam(i int) int {
	for depth := 0; ; i++ {
		switch p.toks[i].text {
		case "<":
			depth++
		case ">":
			depth--
		case ",", ")":
			if depth == 0 {
				return i
			}
		}
	}
}

// endOfArgument returns the index of the token behind an annotation's argument
// at i.
func (p *printer) endOfArgument(i int) int {
	for p.toks[i].text != "," && p.toks[i].text != ")" {
		i++
	}
	return i
}

// firstStretch returns the index behind those tokens of the annotation at i
// that its author has on its first line.
func (p *printer) firstStretch(i int) int {
	end := p.skipAnnotation(i)
	for i += 3; i < end; i++ {
		if before := p.toks[i-1].text; (before == "(" || before == ",") && p.breaks(i) {
			return i
		}
	}
	return end
}

// breaks reports whether there is a line end before the token at i.
func (p *printer) breaks(i int) bool {
	t := &p.toks[i]
	return t.newlines > 0 || slices.ContainsFunc(t.comments, func(c remark) bool { return c.line || c.newlines > 0 })
}

// commented reports whether any of the tokens [from, to) has a comment before
// it.
func (p *printer) commented(from, to int) bool {
	return slices.ContainsFunc(p.toks[from:to], func(t printed) bool { return len(t.comments) > 0 })
}

func hasLine(comments []remark) bool {
	return slices.ContainsFunc(comments, func(c remark) bool { return c.line })
}

func hasDoc(comments []remark) bool {
	return slices.ContainsFunc(comments, func(c remark) bool { return c.doc })
}

// spaced reports whether a blank stands between two tokens or comments of one
// line.
func spaced(prev, next string) bool {
	if strings.HasPrefix(next, "//") {
		return true
	}
	switch next {
	case ",", ";", ":", ".", "..", "(", ")", "<", ">", "]", "?":
		return false
	}
	switch prev {
	case "(", "<", "[", ".", "@":
		return false
	case "..": // a number follows, or the word bytes
		return isLetter(next[0]) || next[0] == '/'
	case "{":
		return next != "}"
	}
	return true
}
