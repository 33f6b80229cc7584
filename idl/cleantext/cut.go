package cleantext

import (
	"strings"

	"github.com/rivo/uniseg"
)

// cut returns the longest start of s that is at most maxBytes bytes long and ends
// at the boundary of a grapheme cluster and outside every Marker. A bound of 0
// or less cuts nothing.
func cut(s string, maxBytes int, r *Report) string {
	if maxBytes <= 0 || len(s) <= maxBytes {
		return s
	}
	end, state := 0, -1
	for rest := s; ; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end+len(cluster) > maxBytes {
			break
		}
		end += len(cluster)
	}
	// A Marker that begins before the cut and ends after it goes as a whole.
	from, to := max(0, end-len(Marker)+1), min(len(s), end+len(Marker)-1)
	if i := strings.Index(s[from:to], Marker); i >= 0 && from+i < end {
		end = from + i
	}
	// A joiner has nothing left to join.
	t := strings.TrimRight(s[:end], "\u200c\u200d\u180e")
	r.Cut += len(s) - len(t)
	return t
}
