package syntax

import "fmt"

// The widths of the canonical form, in characters. What the author has put on
// one line stays there up to lineWidth; what the printer itself joins, an
// operation's parameters, up to joinWidth.
const (
	joinWidth = 100
	lineWidth = 120
)

// Format returns one document in its canonical form. Tokens are kept as they
// are written, commas at the end of lists apart, and so are comments; doc
// comments move before the annotations of what they document. Parse gives the
// same tree for the result, but for spans, and Format the same text.
//
// A document with any fault is not formatted: the text is nil and the faults
// are those of Parse, or the one that the result would exceed Parse's limits.
// Without faults the text is never nil, the caller's own, and ends with a line
// end. Format keeps no reference to src, and is safe for concurrent use.
//
// Spec: spec/idl.md#canonical-form
func Format(name string, src []byte) ([]byte, []Diagnostic) {
	tree, faults := Parse(name, src)
	if len(faults) > 0 {
		return nil, faults
	}
	p := &printer{toks: printables(scan(name, string(src))), out: make([]byte, 0, len(src)+len(src)/8)}
	p.document()
	at := Span{File: name, Start: tree.Span.Start, End: tree.Span.Start}
	switch {
	case len(p.out) > MaxSource:
		return nil, []Diagnostic{{Rule: RuleTooLarge, Span: at, Hint: usualHint(RuleTooLarge),
			Message: fmt.Sprintf("found a document of %d bytes once it is formatted, expected at most %d", len(p.out), MaxSource)}}
	case p.written > MaxTokens:
		return nil, []Diagnostic{{Rule: RuleTooLarge, Span: at, Hint: usualHint(RuleTooLarge),
			Message: fmt.Sprintf("found a document of %d tokens once it is formatted, expected at most %d", p.written, MaxTokens)}}
	}
	return p.out, nil
}

// document prints everything. Between what takes several lines and its
// neighbours there is a blank line; elsewhere the author decides.
func (p *printer) document() {
	large, header := false, false // what the item before is
	for p.toks[p.i].text != "" {
		start := p.i
		word := p.skipAnnotations(start)
		switch p.toks[word].text {
		case "package", "version", "import":
			p.line(0, gapIf(large))
			p.through(";")
			large, header = false, true
			continue
		}
		p.hoist(start, word+1)
		open := p.find(word+1, "{")
		flat := p.flat(word, open)
		several := !flat || start < word || hasDoc(p.toks[start].comments)
		p.line(0, gapIf(several || large || header))
		p.annotations(0)
		if start < word {
			p.line(0, gapNone)
		}
		p.declaration(open, flat)
		large, header = several, false
	}
	p.gap(0, gapKept, true)
	p.newline(0, false)
}

// gapIf returns gapForced where a blank line must stand, and gapKept where one
// may.
func gapIf(must bool) gapRule {
	if must {
		return gapForced
	}
	return gapKept
}

// flat reports whether a declaration whose keyword and brace are at word and
// open stays on its line: an empty one, and a record or enum that its author
// has put on one line, without comments, if it fits.
func (p *printer) flat(word, open int) bool {
	if p.toks[open+1].text == "}" && len(p.toks[open+1].comments) == 0 {
		return true
	}
	if p.toks[word].text == "interface" {
		return false
	}
	end := open + 1
	for ; ; end++ {
		if t := &p.toks[end]; t.newlines > 0 || len(t.comments) > 0 {
			return false
		} else if t.text == "}" {
			return p.width("", word, end+1, lineWidth) <= lineWidth
		}
	}
}

// declaration prints from the keyword to the closing brace.
func (p *printer) declaration(open int, flat bool) {
	word := p.toks[p.i].text
	for p.i <= open {
		p.token()
	}
	if flat {
		for p.toks[p.i].text != "}" {
			p.element()
		}
		p.token()
		return
	}
	for p.toks[p.i].text != "}" {
		switch word {
		case "interface":
			p.operation()
		case "record":
			p.field()
		default:
			p.label()
		}
	}
	p.close(0)
}

// element prints a token of a list on one line, unless it is the comma at the
// end.
func (p *printer) element() {
	if !p.dropComma() {
		p.token()
	}
}

func (p *printer) field() {
	start := p.i
	name := p.skipAnnotations(start)
	p.hoist(start, name)
	p.line(1, gapKept)
	p.annotations(1)
	if start < name && !p.stays(name, p.find(name, ";")+1, 0) {
		p.line(1, gapNone)
	}
	p.through(";")
}

// label prints a label and its comma, on the line of the label before it if
// the author has it there.
func (p *printer) label() {
	if p.last == "{" || !p.stays(p.i, p.i+1, 1) {
		p.line(1, gapKept)
	}
	p.token()
	p.comma()
}

func (p *printer) operation() {
	start := p.i
	name := p.skipAnnotations(start)
	p.hoist(start, name)
	p.line(1, gapKept)
	p.annotations(1)
	if start < name {
		p.line(1, gapNone)
	}
	p.through("(")
	p.params()
	p.through(";")
}

// params prints an operation's parameters up to the closing parenthesis: on
// one line if all of the operation fits there and no comment is among them,
// otherwise each on its own.
func (p *printer) params() {
	end := p.closing(p.i)
	if !p.commented(p.i, end+1) && p.column+p.width(p.prev, p.i, p.find(end, ";")+1, joinWidth) <= joinWidth {
		for p.i < end {
			p.element()
		}
		p.token()
		return
	}
	for p.toks[p.i].text != ")" {
		p.param()
	}
	p.close(1)
}

func (p *printer) param() {
	start := p.i
	name := p.skipAnnotations(start)
	end := p.endOfParam(name)
	p.hoist(start, name)
	p.line(2, gapKept)
	p.annotations(2)
	if start < name && !p.stays(name, end, 1) {
		p.line(2, gapNone)
	}
	for p.i < end {
		p.token()
	}
	p.comma()
}

// annotations prints annotations, each on the line of the one before it if the
// author has it there and its first arguments fit.
func (p *printer) annotations(depth int) {
	for first := true; p.toks[p.i].text == "@"; first = false {
		if !first && !p.stays(p.i, p.firstStretch(p.i), 0) {
			p.line(depth, gapNone)
		}
		p.token()
		p.token()
		if p.toks[p.i].text == "(" {
			p.arguments(depth)
		}
	}
}

// arguments prints an annotation's arguments. The author's line breaks stay.
// Where there is one behind the opening parenthesis, the closing one stands on
// its own line too.
func (p *printer) arguments(depth int) {
	p.token()
	end := p.closing(p.i)
	if p.i == end && !p.commented(end, end+1) {
		p.token()
		return
	}
	block := p.breaks(p.i) || hasLine(p.toks[end].comments) ||
		p.toks[end-1].text == "," && hasLine(p.toks[end-1].comments)
	for first := true; p.toks[p.i].text != ")"; first = false {
		stop := p.endOfArgument(p.i)
		switch {
		case first && block, !first && !p.stays(p.i, stop, 1):
			p.line(depth+1, gapNone)
		}
		for p.i < stop {
			p.token()
		}
		if block {
			p.comma()
		} else if p.i < end {
			p.element()
		}
	}
	if block {
		p.close(depth)
	} else {
		p.token()
	}
}
