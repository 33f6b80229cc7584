package syntax

import (
	"fmt"
	"slices"
)

// Apply returns the text with the fix made. The edits must lie within it and
// not overlap; src is left as it is.
func (f Fix) Apply(src []byte) ([]byte, error) {
	edits := slices.Clone(f.Edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Span.Start.Offset - b.Span.Start.Offset })
	var out []byte
	at := 0
	for _, e := range edits {
		from, to := e.Span.Start.Offset, e.Span.End.Offset
		if from < at || to < from || to > len(src) {
			return nil, fmt.Errorf("found an edit of the bytes %d to %d, expected one within %d to %d", from, to, at, len(src))
		}
		out = append(out, src[at:from]...)
		out = append(out, e.Text...)
		at = to
	}
	return append(out, src[at:]...), nil
}
