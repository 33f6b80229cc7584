package cleantext

import (
	"strings"

	"github.com/rivo/uniseg"
)

// cut returns the longest start of s that is at most max bytes long and ends
// at the boundary of a grapheme cluster and outside every Marker. A max of 0
// or less cuts nothing.
func cut(s string, max int, r *Report) string {
	if max <= 0 || len(s) <= max {
		return s
	}
	end, state := 0, -1
	for rest := s; ; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end+len(cluster) > max {
			break
		}
		end += len(cluster)
	}
	// A Marker that begins before the cut and ends after it goes as a whole.
	from := end - len(Marker) + 1
	if from < 0 {
		from = 0
	}
	to := end + len(Marker) - 1
	if to > len(s) {
		to = len(s)
	}
	if i := strings.Index(s[from:to], Marker); i >= 0 && from+i < end {
		end = from + i
	}
	r.Cut += len(s) - end
	return s[:end]
}
