package lsp

import (
	"cmp"
	"context"
	"slices"

	"github.com/wipagent/wipagent/idl/syntax"
)

// maxFolds is how many ranges one answer has.
const maxFolds = 10_000

// foldingRanges answers what can be folded: blocks and lists of several lines,
// comments, the imports.
func (s *server) foldingRanges(_ context.Context, p *documentParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	f := &folds{text: d.text, list: []foldingRange{}}
	imports := d.view().file.Imports
	if n := len(imports); n > 1 {
		f.add(imports[0].Span.Start.Offset, imports[n-1].Span.End.Offset, "imports")
	}
	var open []int // offsets of brackets
	toks := scan(d.src, len(d.src), syntax.MaxTokens)
	for i := 0; i < len(toks); i++ {
		switch t := toks[i]; {
		case t.kind == commentToken || t.kind == docToken:
			last := i
			for last+1 < len(toks) && toks[last+1].kind == t.kind && f.position(toks[last+1].start).Line == f.position(toks[last].end).Line+1 {
				last++
			}
			f.add(t.start, toks[last].end, "comment")
			i = last
		case t.kind != punctToken:
		case d.src[t.start] == '{' || d.src[t.start] == '(':
			open = append(open, t.start)
		case (d.src[t.start] == '}' || d.src[t.start] == ')') && len(open) > 0:
			f.add(open[len(open)-1], t.start, "")
			open = open[:len(open)-1]
		}
	}
	slices.SortFunc(f.list, func(a, b foldingRange) int { return cmp.Compare(a.StartLine, b.StartLine) })
	return f.list, nil
}

// folds collects folding ranges.
type folds struct {
	*text
	list []foldingRange
}

// add adds what stands between two offsets, if it takes several lines. The
// line of a closing bracket stays visible.
func (f *folds) add(start, end int, kind string) {
	from, to := f.position(start).Line, f.position(end).Line
	if kind == "" {
		to--
	}
	if to > from && len(f.list) < maxFolds {
		f.list = append(f.list, foldingRange{StartLine: from, EndLine: to, Kind: kind})
	}
}
