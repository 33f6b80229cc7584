package lsp

import "github.com/wipagent/wipagent/idl/syntax"

// Completion must know where it is in a text that is broken just there, so it
// does not ask the tree: it follows the brackets of the tokens before the
// place, and recovers where the parser does, at the next declaration.

// scope is a bracket that is open at a place.
type scope struct {
	bracket byte   // '{', '(', '<' or '['
	of      string // of '{' the keyword; of '(' the annotation with its "@", or the operation; of '<' the type
	first   int    // index of the first token within
}

// site is where a completion is asked for.
type site struct {
	toks   []token // before the place, without comments and the name that is being written
	scopes []scope // open brackets, the outermost first
	prefix int     // offset at which the name that is being written starts
	inside tokenKind
	within token // the string or comment that the place is in
}

// newSite reads a text up to an offset.
func newSite(src string, off int) *site {
	all := scan(src, off, syntax.MaxTokens)
	s := &site{prefix: off, inside: nameToken}
	for i, t := range all {
		last := i == len(all)-1 && t.end == off
		switch {
		case t.kind == commentToken || t.kind == docToken:
			if last && t.open {
				s.inside, s.within = commentToken, t
			}
		case last && t.kind == stringToken && t.open:
			s.inside, s.within = stringToken, t
		case last && t.kind == nameToken:
			s.prefix = t.start
		case last && t.kind == numberToken:
			s.inside, s.within = numberToken, t
		default:
			s.toks = append(s.toks, t)
		}
	}
	for i := range s.toks {
		s.step(src, i)
	}
	return s
}

// word returns the text of the token n before the place, or "".
func (s *site) word(src string, n int) string {
	if i := len(s.toks) - n; n > 0 && i >= 0 {
		return src[s.toks[i].start:s.toks[i].end]
	}
	return ""
}

// step takes in one token.
func (s *site) step(src string, i int) {
	t := s.toks[i]
	before := func(n int) string {
		if i-n < 0 {
			return ""
		}
		return src[s.toks[i-n].start:s.toks[i-n].end]
	}
	switch t.kind {
	case nameToken:
		return
	case punctToken:
	default:
		return
	}
	switch c := src[t.start:t.end]; c {
	case "{":
		word := before(2)
		if !declares(word) {
			word = ""
		}
		s.scopes = append(s.scopes[:0], scope{'{', word, i + 1}) // a block stands in no other
	case "(":
		of := before(1)
		if before(2) == "@" {
			of = "@" + of
		}
		s.scopes = append(s.scopes, scope{'(', of, i + 1})
	case "<":
		s.scopes = append(s.scopes, scope{'<', before(1), i + 1})
	case "[":
		s.scopes = append(s.scopes, scope{'[', before(1), i + 1})
	case "}":
		s.scopes = s.scopes[:0]
	case ")", ">", "]":
		open := map[string]byte{")": '(', ">": '<', "]": '['}[c]
		for n := len(s.scopes) - 1; n >= 0 && s.scopes[n].bracket != '{'; n-- {
			if s.scopes[n].bracket == open {
				s.scopes = s.scopes[:n]
				break
			}
		}
	case ";":
		for n := len(s.scopes); n > 0 && s.scopes[n-1].bracket != '{'; n-- {
			s.scopes = s.scopes[:n-1]
		}
	}
}

// declares reports whether a word begins a declaration.
func declares(word string) bool { return word == "interface" || word == "record" || word == "enum" }

// top returns the innermost open bracket; its zero value if there is none.
func (s *site) top() scope {
	if len(s.scopes) == 0 {
		return scope{}
	}
	return s.scopes[len(s.scopes)-1]
}

// outer returns the innermost open bracket that is none of a type.
func (s *site) outer() scope {
	for i := len(s.scopes) - 1; i >= 0; i-- {
		if b := s.scopes[i].bracket; b == '(' || b == '{' {
			return s.scopes[i]
		}
	}
	return scope{}
}

// item returns the texts of the tokens of the list element that the place is
// in, within the bracket b.
func (s *site) item(src string, b scope) []string {
	var words []string
	depth := 0
	for _, t := range s.toks[min(b.first, len(s.toks)):] {
		w := src[t.start:t.end]
		switch w {
		case "(", "<", "[":
			depth++
		case ")", ">", "]":
			depth--
		case ",":
			if depth == 0 {
				words = words[:0]
				continue
			}
		}
		words = append(words, w)
	}
	return words
}
