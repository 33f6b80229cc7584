package syntax

import "strings"

// Comment is a comment where it stands.
type Comment struct {
	Text string // with its slashes, without the line's end
	Span Span
	Next int  // offset of the next token, or of the text's end
	Own  bool // nothing stands before it on its line
}

// Comments returns the comments of a document in order, those of a faulty one
// too. Spans carry the name. Of a text over MaxSource it returns none.
func Comments(name string, src []byte) []Comment {
	if len(src) > MaxSource {
		return nil
	}
	s := scan(name, string(src))
	list := make([]Comment, len(s.comments))
	for i, c := range s.comments {
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
		list[i] = Comment{Text: text, Span: span, Next: c.next, Own: own}
	}
	return list
}
