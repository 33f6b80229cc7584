package syntax

import "strings"

// Comment is a comment where it stands.
type Comment struct {
	Text string // with its slashes, without the line's end
	Span Span
	Own  bool // nothing stands before it on its line
	// Prev and Next are the offsets of the tokens between which it stands: -1
	// where there is none before it, and the text's end where there is none
	// behind it. Commas, semicolons, colons and what opens a list or block do
	// not count, since Format moves comments behind them.
	Prev, Next int
}

// Comments returns the comments of a document in order, those of a faulty one
// too. Spans carry the name. Of a text over MaxSource it returns none.
func Comments(name string, src []byte) []Comment {
	if len(src) > MaxSource {
		return nil
	}
	s := scan(name, string(src))
	list := make([]Comment, len(s.comments))
	prev, behind := -1, 0 // behind: the first token that counts and may stand behind a comment
	for i, c := range s.comments {
		for ; behind < len(s.toks); behind++ {
			tok := &s.toks[behind]
			switch tok.Value {
			case ",", ";", ":", "(", "{":
				continue
			}
			if tok.Pos.Offset >= c.start {
				break
			}
			prev = tok.Pos.Offset
		}
		next := len(s.text)
		if behind < len(s.toks) {
			next = s.toks[behind].Pos.Offset
		}
		text := strings.TrimRight(s.text[c.start:c.end], "\r")
		span := Span{File: name, Start: c.pos, End: c.pos}
		if n := strings.Count(text, "\n"); n > 0 {
			span.End.Line += n
			span.End.Col = len(text) - strings.LastIndexByte(text, '\n')
		} else {
			span.End.Col += len(text)
		}
		span.End.Offset = c.start + len(text)
		line := s.text[strings.LastIndexByte(s.text[:c.start], '\n')+1 : c.start]
		own := strings.Trim(line, " \t\r\ufeff") == ""
		list[i] = Comment{Text: text, Span: span, Own: own, Prev: prev, Next: next}
	}
	return list
}
