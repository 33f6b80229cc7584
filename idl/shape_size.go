package idl

import (
	"bytes"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// minShortened is the length in bytes below which shorten cuts no text.
const minShortened = 16

// clusterSlack is what shorten looks at beyond a cut, so that the cut falls
// between grapheme clusters.
const clusterSlack = 256

// shapeEdit is a stretch of the output that shorten may replace: a text of a
// page in its quotes, or the mark that a page is truncated.
type shapeEdit struct {
	start, end int
	mark       bool
}

// shortener is one run of shorten.
type shortener struct {
	out   []byte
	edits []shapeEdit
	texts []string // of the edits; "" of a mark
}

// shorten returns the output within limit bytes, with the longest texts cut to
// one common length, the longest that fits, and how many texts it cut. It
// returns nil if no length does.
func (s *shaper) shorten(limit int) ([]byte, int) {
	r := shortener{s.out, s.edits, make([]string, len(s.edits))}
	longest := 0
	for i, e := range r.edits {
		if !e.mark {
			r.texts[i] = unquoteClean(s.out[e.start:e.end])
			longest = max(longest, len(r.texts[i]))
		}
	}
	if longest <= minShortened || r.size(minShortened) > limit {
		return nil, 0
	}
	low, high := minShortened, longest // low fits, high does not
	for high-low > 1 {
		if mid := (low + high) / 2; r.size(mid) <= limit {
			low = mid
		} else {
			high = mid
		}
	}
	return r.cutTo(low, make([]byte, 0, limit))
}

// size returns how long the output is with texts cut to length bytes.
func (r *shortener) size(length int) int {
	n := len(r.out)
	for i, e := range r.edits {
		switch {
		case e.mark:
			n += len("true") - (e.end - e.start)
		case len(r.texts[i]) > length:
			n += quotedLen(cutText(r.texts[i], length)) - (e.end - e.start)
		}
	}
	return n
}

// cutTo appends the output with texts cut to length bytes, and counts them.
func (r *shortener) cutTo(length int, b []byte) ([]byte, int) {
	from, cut := 0, 0
	for i, e := range r.edits {
		b = append(b, r.out[from:e.start]...)
		from = e.end
		switch {
		case e.mark:
			b = append(b, "true"...)
		case len(r.texts[i]) > length:
			b = appendQuoted(b, cutText(r.texts[i], length))
			cut++
		default:
			b = append(b, r.out[e.start:e.end]...)
		}
	}
	return append(b, r.out[from:]...), cut
}

func cutText(text string, length int) string {
	clean, _ := cleantext.Clean(text[:min(len(text), length+clusterSlack)], length)
	return clean
}

// unquoteClean undoes appendQuoted for a cleaned text, which holds no control
// characters, and so no escapes but of quotes and backslashes.
func unquoteClean(quoted []byte) string {
	quoted = quoted[1 : len(quoted)-1]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted)
	}
	text := make([]byte, 0, len(quoted))
	for i := 0; i < len(quoted); i++ {
		if quoted[i] == '\\' {
			i++
		}
		text = append(text, quoted[i])
	}
	return string(text)
}

// quotedLen is the length of what appendQuoted appends for a cleaned text.
func quotedLen(text string) int {
	n := len(text) + 2
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			n++
		}
	}
	return n
}
