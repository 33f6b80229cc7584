package artifact

import (
	"context"
	"unicode"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl"
)

const (
	maxMatches   = 20000 // all that pages reach
	contextBytes = 160   // before and after a match
	searchChunk  = 1 << 16
)

// Search finds the matches of a query, which do not overlap, in the order of the
// text. It goes through the text once.
func (object) Search(ctx context.Context, v *view, args SearchArgs) (idl.Selection[Match], error) {
	p := newPattern(args.Query)
	var found []int32 // where matches begin
	for at := 0; at < v.size && len(found) <= maxMatches; {
		if err := ctx.Err(); err != nil {
			return idl.Selection[Match]{}, err
		}
		b, err := v.at(at, searchChunk+utf8.UTFMax-1)
		if err != nil {
			return idl.Selection[Match]{}, err
		}
		n := min(searchChunk, len(b))
		for n < len(b) && !utf8.RuneStart(b[n]) { // whole characters
			n++
		}
		found = p.find(b[:n], at, found)
		at += n
	}
	more := len(found) > maxMatches
	return idl.Select(min(len(found), maxMatches), func(i int) Match {
		m, err := v.match(int(found[i]), p.longest)
		if err != nil {
			v.broken = err
		}
		return m
	}, more), nil
}

// match tells of the match that begins at an offset.
func (v *view) match(offset, length int) (Match, error) {
	line, err := v.lineAt(offset)
	if err != nil {
		return Match{}, err
	}
	from := max(0, offset-contextBytes)
	b, err := v.at(from, offset-from+length+contextBytes)
	if err != nil {
		return Match{}, err
	}
	start, end := 0, len(b)
	for from > 0 && start < len(b) && !utf8.RuneStart(b[start]) {
		start++
	}
	if from+end < v.size {
		for end--; end > start && !utf8.RuneStart(b[end]); end-- {
		}
	}
	return Match{Line: int64(line) + 1, Offset: int64(offset), Context: string(b[start:end])}, nil
}

// pattern finds a text whatever its capitals, in time that does not depend on
// what either text is like (Knuth, Morris and Pratt).
type pattern struct {
	runes   []rune // folded
	back    []int  // where to go on if the rune behind so many does not fit
	longest int    // bytes that a match can have, at most
	matched int    // runes that fit so far
	starts  []int  // where the latest runes of the text begin, by their number
	seen    int    // runes of the text
}

func newPattern(query string) *pattern {
	p := &pattern{}
	for _, r := range query {
		p.runes = append(p.runes, fold(r))
	}
	p.longest = len(p.runes) * utf8.UTFMax
	p.back, p.starts = make([]int, len(p.runes)), make([]int, len(p.runes))
	for i, k := 1, 0; i < len(p.runes); i++ {
		for k > 0 && p.runes[i] != p.runes[k] {
			k = p.back[k-1]
		}
		if p.runes[i] == p.runes[k] {
			k++
		}
		p.back[i] = k
	}
	return p
}

// find adds the offsets of matches that end in b, which stands at an offset and
// follows what was looked through before. It stops soon after maxMatches.
func (p *pattern) find(b []byte, at int, found []int32) []int32 {
	for i := 0; i < len(b) && len(found) <= maxMatches; {
		r, size := rune(b[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(b[i:])
		}
		r = fold(r)
		p.starts[p.seen%len(p.starts)] = at + i
		p.seen++
		for p.matched > 0 && r != p.runes[p.matched] {
			p.matched = p.back[p.matched-1]
		}
		if r == p.runes[p.matched] {
			p.matched++
		}
		if p.matched == len(p.runes) {
			found = append(found, int32(p.starts[p.seen%len(p.starts)]))
			p.matched = 0 // the next match does not overlap
		}
		i += size
	}
	return found
}

// fold returns the one rune that stands for all that differ in capitals alone.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}
