package space

import (
	"encoding/binary"
	"math"
	"slices"
)

// evidence is what a query found in documents. Documents in which it found the
// same share a pattern, so that there is little to score however many documents
// there are; where few can have the same, each has a pattern of its own. It is used
// again for another query.
type evidence struct {
	width      int     // words of the query
	operations []int32 // patterns, by document: 0 if nothing was found, less if it is the document's own
	nodes      []int32
	shared     patterns // the first one is that nothing was found
	own        patterns // from -1 down
	known      map[string]int32
	next       []int32 // by shared pattern: what becomes of it
	key        []byte
}

// patterns are what was found in documents.
type patterns struct {
	cells    []cell // by pattern and word
	findings []finding
}

// cell is what a document has for one word of the query.
type cell struct{ weight, cover float32 }

// finding is what a query found in a document, beside its cells.
type finding struct {
	named   int     // words of the query in an operation's name or an alias
	phrased float64 // share of the query that a name, an alias or a title takes word for word
	exact   float64 // 1 if the query is one and nothing else, less if in other forms
	meant   bool    // whether one has the verb that demands a change
}

// source is a segment in which a query looks for evidence.
type source struct {
	*segment
	of       []int32 // patterns, by document
	from, to int32   // documents that are wanted
}

// begin makes room for a query of so many words.
func (e *evidence) begin(width int) {
	e.width = width
	e.shared = patterns{append(e.shared.cells[:0], make([]cell, width)...), append(e.shared.findings[:0], finding{})}
	e.own = patterns{e.own.cells[:0], e.own.findings[:0]}
	if e.known == nil {
		e.known = map[string]int32{}
	}
	clear(e.known)
}

// pattern returns what a pattern is.
func (e *evidence) pattern(n int32) ([]cell, *finding) {
	p, i := &e.shared, int(n)
	if n < 0 {
		p, i = &e.own, -int(n)-1
	}
	return p.cells[i*e.width:][:e.width], &p.findings[i]
}

// copied adds a copy of a pattern to p.
func (e *evidence) copied(p *patterns, pattern int32) {
	cells, f := e.pattern(pattern)
	p.cells, p.findings = append(p.cells, cells...), append(p.findings, *f)
}

// look finds the documents of a source that have a stem which answers to a word
// of the query.
func (e *evidence) look(s source, word int, m match) {
	t := s.term(m.stem)
	if t < 0 {
		return
	}
	for r := s.first[t]; r < s.first[t+1]; r++ {
		run := s.runs[r]
		e.change(s.of, between(s.in[run.from:s.runs[r+1].from], s.from, s.to), func(cells []cell, f *finding) {
			c := &cells[word]
			if c.weight == 0 && run.name {
				f.named++
			}
			c.weight = max(c.weight, m.quality*run.weight)
			c.cover = max(c.cover, m.quality*run.cover)
		})
	}
}

// lookForRows finds the documents of which a name, an alias or a title stands in
// the query word for word, and marks its words as fully answered. A single word
// that says nothing is a row only if it is all of the query. verb is the word that
// demands a change, or -1.
func (e *evidence) lookForRows(sources []source, words []queryWord, verb int) {
	h := newHashes()
	for at := range words {
		h.reset()
		for n := 1; at+n <= len(words); n++ {
			w := &words[at+n-1]
			h.add(w.word, w.stem)
			if n == 1 && w.class == empty && e.width > 1 {
				continue
			}
			stems, written := h.sums()
			for _, s := range sources {
				for rows := s.rows(stems); len(rows) > 0; {
					same := 1
					for same < len(rows) && rows[same].words == rows[0].words {
						same++
					}
					e.stand(s, rows[:same], at, n, verb, rows[0].words == written)
					rows = rows[same:]
				}
			}
		}
	}
}

// stand marks the documents of rows that stand at some words of the query, in the
// same forms or in others: where one row has these forms, it is meant.
func (e *evidence) stand(s source, rows []phrase, at, n, verb int, same bool) {
	const otherForms = 0.5
	documents := make([]int32, 0, len(rows))
	for _, p := range rows {
		if p.document >= s.from && p.document < s.to {
			documents = append(documents, p.document)
		}
	}
	e.change(s.of, documents, func(cells []cell, f *finding) {
		for k := at; k < at+n; k++ {
			cells[k].cover = 1
			cells[k].weight = max(cells[k].weight, inAlias.weight)
		}
		f.phrased = max(f.phrased, float64(n)/float64(e.width))
		f.meant = f.meant || at <= verb && verb < at+n
		switch {
		case n < e.width:
		case same:
			f.exact = 1
		default:
			f.exact = max(f.exact, otherForms)
		}
	})
}

// change changes the patterns of documents, each of which is there once.
func (e *evidence) change(of, documents []int32, change func([]cell, *finding)) {
	patterns := len(e.shared.findings)
	alone := len(documents) < patterns // few can have the same
	if !alone {
		e.next = slices.Grow(e.next[:0], patterns)[:patterns]
		clear(e.next)
	}
	for _, d := range documents {
		was := of[d]
		switch {
		case was < 0:
			change(e.pattern(was))
			continue
		case alone:
			e.copied(&e.own, was)
			of[d] = -int32(len(e.own.findings))
			change(e.pattern(of[d]))
			continue
		case e.next[was] == 0:
			e.next[was] = e.changed(was, change)
		}
		of[d] = e.next[was]
	}
}

// changed returns what a shared pattern becomes.
func (e *evidence) changed(pattern int32, change func([]cell, *finding)) int32 {
	n, made := len(e.shared.cells), int32(len(e.shared.findings))
	e.copied(&e.shared, pattern)
	cells, f := e.pattern(made)
	change(cells, f)
	e.key = e.key[:0]
	for _, c := range cells {
		e.key = binary.LittleEndian.AppendUint32(e.key, math.Float32bits(c.weight))
		e.key = binary.LittleEndian.AppendUint32(e.key, math.Float32bits(c.cover))
	}
	e.key = binary.LittleEndian.AppendUint64(e.key, math.Float64bits(f.phrased))
	e.key = binary.LittleEndian.AppendUint64(e.key, math.Float64bits(f.exact))
	e.key = binary.AppendUvarint(e.key, uint64(f.named))
	if f.meant {
		e.key = append(e.key, 1)
	}
	if known, ok := e.known[string(e.key)]; ok {
		e.shared = patterns{e.shared.cells[:n], e.shared.findings[:made]}
		return known
	}
	e.known[string(e.key)] = made
	return made
}
