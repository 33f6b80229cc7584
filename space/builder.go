package space

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
)

// builder makes a segment. It counts its documents from 0 in the order in which
// they are added.
type builder struct {
	documents int
	byWord    map[string]int32 // in forms
	forms     []builtForm
	byStem    map[string]int32 // in terms
	terms     []term
	phrases   []phrase
	others    map[string]string // stems of words that stand in phrases alone
	hash      *hashes
	both      []byte // two words written together
}

type builtForm struct {
	form
	term int32
}

// term is a stem with what each document has of it.
type term struct {
	stem     string
	postings []posting
}

type posting struct {
	impact
	document int32
}

func newBuilder() *builder {
	return &builder{byWord: map[string]int32{}, byStem: map[string]int32{}, others: map[string]string{}, hash: newHashes()}
}

// operation indexes an operation and returns the stems of its name.
func (b *builder) operation(op *idl.Operation) (stems []string) {
	name := split(op.Name)
	for _, w := range name {
		stems = append(stems, stem(w))
	}
	b.add(inName, name, true, true)
	b.phrase(name)
	for _, a := range op.Aliases {
		words := split(bounded(a.Text))
		b.add(inAlias, words, true, true)
		b.phrase(words)
	}
	b.add(inDoc, split(bounded(op.Doc)), false, false)
	for _, p := range op.Params {
		b.add(inParam, split(p.Name), false, false)
		b.add(inMore, split(bounded(p.Doc)), false, false)
		b.labels(p.Type, 0)
	}
	if op.Interface != nil {
		b.add(inKind, split(op.Interface.Name), true, false)
		b.add(inMore, split(bounded(op.Interface.Doc)), false, false)
	}
	b.documents++
	return stems
}

// labels adds the labels that an argument may have.
func (b *builder) labels(t *idl.Type, depth int) {
	switch {
	case t == nil || depth > 3:
	case t.Enum != nil:
		for _, l := range t.Enum.Labels {
			b.add(inMore, split(l.Name), false, false)
		}
	default:
		b.labels(t.Elem, depth+1)
	}
}

// node indexes an entry. What it reads is what sameWords compares.
func (b *builder) node(n *Node) {
	title := split(n.Title)
	b.add(inTitle, title, true, false)
	b.phrase(title)
	b.add(inSummary, split(n.Summary), false, false)
	b.add(inPath, split(n.Path), true, false)
	if n.Mount != nil && n.Mount.Path != n.Path {
		b.add(inMore, split(n.Mount.Title), false, false)
	}
	b.documents++
}

// sameWords reports whether two nodes of one path are indexed alike.
func sameWords(a, b *Node) bool {
	return a.Title == b.Title && a.Summary == b.Summary &&
		(a.Mount == b.Mount || a.Mount != nil && b.Mount != nil && a.Mount.Title == b.Mount.Title && a.Mount.Path == b.Mount.Path)
}

// add indexes the words of one field. Where compounds may be written together,
// each two neighbours are indexed as one word too.
func (b *builder) add(f field, words []string, compounds, name bool) {
	named := f == inName
	// A long text says less with each word.
	f.weight /= float32(math.Sqrt(1 + float64(len(words))/20))
	for i, w := range words {
		if classOf(w) != empty || named && light[w] {
			b.post(f, b.form(w), name)
		}
		if compounds && i+1 < len(words) && len(w) > 1 {
			b.both = append(append(b.both[:0], w...), words[i+1]...)
			b.post(f, b.formOf(b.both), false)
		}
	}
}

// post adds one occurrence of a word.
func (b *builder) post(f field, form int32, name bool) {
	b.forms[form].count++
	t := &b.terms[b.forms[form].term]
	if n := len(t.postings); n == 0 || t.postings[n-1].document != int32(b.documents) {
		t.postings = append(t.postings, posting{document: int32(b.documents)})
	}
	p := &t.postings[len(t.postings)-1]
	p.weight += f.weight
	p.cover = max(p.cover, f.cover)
	p.name = p.name || name
}

// form returns the number of a word, a new one if need be.
func (b *builder) form(word string) int32 {
	if i, ok := b.byWord[word]; ok {
		return i
	}
	return b.newForm(word)
}

func (b *builder) formOf(word []byte) int32 {
	if i, ok := b.byWord[string(word)]; ok {
		return i
	}
	return b.newForm(string(word))
}

func (b *builder) newForm(word string) int32 {
	s := stem(word)
	t, ok := b.byStem[s]
	if !ok {
		t = int32(len(b.terms))
		b.byStem[s] = t
		b.terms = append(b.terms, term{stem: s})
	}
	i := int32(len(b.forms))
	b.byWord[word] = i
	b.forms = append(b.forms, builtForm{form{word, letters(word), b.terms[t].stem, 0}, t})
	return i
}

// phrase makes words findable as a row.
func (b *builder) phrase(words []string) {
	if len(words) == 0 || len(words) > maxWords {
		return
	}
	b.hash.reset()
	for _, w := range words {
		b.hash.add(w, b.stem(w))
	}
	p := phrase{document: int32(b.documents)}
	p.stems, p.words = b.hash.sums()
	b.phrases = append(b.phrases, p)
}

// stem returns the stem of a word.
func (b *builder) stem(word string) string {
	if i, ok := b.byWord[word]; ok {
		return b.forms[i].stem
	}
	s, ok := b.others[word]
	if !ok {
		s = stem(word)
		b.others[word] = s
	}
	return s
}

// segment returns what was built. The builder is of no use afterwards.
func (b *builder) segment() *segment {
	s := &segment{documents: b.documents, phrases: slices.Clip(b.phrases)}
	slices.SortFunc(s.phrases, func(a, b phrase) int {
		return cmp.Or(cmp.Compare(a.stems, b.stems), cmp.Compare(a.words, b.words), cmp.Compare(a.document, b.document))
	})
	s.forms = make([]form, len(b.forms))
	for i := range b.forms {
		s.forms[i] = b.forms[i].form
	}
	slices.SortFunc(s.forms, func(a, b form) int { return strings.Compare(a.word, b.word) })
	slices.SortFunc(b.terms, func(a, b term) int { return strings.Compare(a.stem, b.stem) })
	postings := 0
	for i := range b.terms {
		postings += len(b.terms[i].postings)
	}
	s.in = make([]int32, 0, postings)
	s.stems, s.first = make([]string, len(b.terms)), make([]int32, len(b.terms)+1)
	var g grouping
	for i := range b.terms {
		s.stems[i], s.first[i] = b.terms[i].stem, int32(len(s.runs))
		g.group(s, b.terms[i].postings)
		b.terms[i].postings = nil
	}
	s.first[len(b.terms)] = int32(len(s.runs))
	s.runs = slices.Clip(append(s.runs, run{from: int32(len(s.in))}))
	return s
}

// grouping makes runs of postings.
type grouping struct {
	at   map[impact]int
	runs []run
	of   []int32 // by posting
}

// group adds a term's postings, which are in the order of their documents, as runs.
func (g *grouping) group(s *segment, postings []posting) {
	clear(g.at)
	g.runs, g.of = g.runs[:0], g.of[:0]
	last := -1
	for i := range postings {
		p := &postings[i]
		if last < 0 || g.runs[last].impact != p.impact {
			at, ok := g.at[p.impact]
			if !ok {
				if at = len(g.runs); g.at == nil {
					g.at = map[impact]int{}
				}
				g.at[p.impact] = at
				g.runs = append(g.runs, run{impact: p.impact})
			}
			last = at
		}
		g.runs[last].from++ // its length, for now
		g.of = append(g.of, int32(last))
	}
	from := int32(len(s.in))
	for i := range g.runs {
		g.runs[i].from, from = from, from+g.runs[i].from
	}
	s.runs = append(s.runs, g.runs...)
	s.in = s.in[:from]
	for i := range postings {
		r := &g.runs[g.of[i]]
		s.in[r.from] = postings[i].document
		r.from++
	}
}

// bounded cuts a text to what is worth indexing.
func bounded(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}
