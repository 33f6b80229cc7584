package idl

import (
	"github.com/wipagent/wipagent/idl/cleantext"
)

// minShortened is the length in bytes to which shorten cuts a text at most.
const minShortened = 16

// clusterSlack is what shorten looks at beyond the cut, so that the cut falls
// between grapheme clusters.
const clusterSlack = 256

// shapeEdit is a stretch of the output that shorten may replace: a text of a
// page, or the mark that a page is truncated.
type shapeEdit struct {
	start, end int    // in the output
	text       string // cleaned; of a text
	mark       bool
}

// shorten returns the output within limit bytes, with the longest texts cut to
// one common length, the longest that fits, and how many texts it cut. It
// returns nil if no length does.
func (s *shaper) shorten(limit int) ([]byte, int) {
	longest := 0
	for _, e := range s.edits {
		longest = max(longest, len(e.text))
	}
	if longest <= minShortened || s.size(minShortened) > limit {
		return nil, 0
	}
	low, high := minShortened, longest // low fits, high does not
	for high-low > 1 {
		if mid := (low + high) / 2; s.size(mid) <= limit {
			low = mid
		} else {
			high = mid
		}
	}
	out := make([]byte, 0, limit)
	from, cut := 0, 0
	for _, e := range s.edits {
		out = append(out, s.out[from:e.start]...)
		from = e.end
		switch {
		case e.mark:
			out = append(out, "true"...)
		case len(e.text) > low:
			out = appendQuoted(out, cutText(e.text, low))
			cut++
		default:
			out = append(out, s.out[e.start:e.end]...)
		}
	}
	return append(out, s.out[from:]...), cut
}

// size returns how long the output is with texts cut to length bytes.
func (s *shaper) size(length int) int {
	n := len(s.out)
	for _, e := range s.edits {
		switch {
		case e.mark:
			n += len("true") - (e.end - e.start)
		case len(e.text) > length:
			n += quotedLen(cutText(e.text, length)) - (e.end - e.start)
		}
	}
	return n
}

func cutText(text string, length int) string {
	clean, _ := cleantext.Clean(text[:min(len(text), length+clusterSlack)], length)
	return clean
}

// quotedLen is the length of what appendQuoted appends for a cleaned text,
// which holds no control characters.
func quotedLen(text string) int {
	n := len(text) + 2
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			n++
		}
	}
	return n
}
