package space

import (
	"math"
	"strings"
	"sync"

	"github.com/wipagent/wipagent/idl"
)

// wordIndex is an inverted index. Documents are operations and nodes, each
// indexed once however many candidates it belongs to.
type wordIndex struct {
	terms      map[string]int // a stem's number
	forms      map[string]int // a word's term, as it is written
	postings   [][]posting    // by term
	spellings  []spelling     // words as written, for slips
	documents  int
	pairs      []pair           // by candidate
	candidates [][]int32        // by document: those that it is part of
	scratch    sync.Pool        // of *evidence
	phrases    map[int][]phrase // by their first term
	tells      []bool           // by document: an operation that changes nothing
	names      [][]int          // by document: the terms of an operation's name
}

// pair says which documents make a candidate; operation is -1 for none.
type pair struct{ node, operation int }

// posting says what one document has of a term.
type posting struct {
	document int32
	weight   float32 // of all occurrences together
	cover    float32 // of the best occurrence
	name     bool    // whether it stands in the name, an alias or the title
}

// spelling is a word that a slip of the finger can have meant.
type spelling struct {
	word    string
	letters uint64 // one bit a letter or digit
	term    int
}

// phrase is an alias or a name as a row of words.
type phrase struct {
	document int
	words    []string
	terms    []int // of the words
}

// addOperation indexes an operation and returns its document.
func (x *wordIndex) addOperation(op *idl.Operation) int {
	d := x.document()
	name := split(op.Name)
	x.tells[d] = op.Risk == idl.ReadOnly
	for _, w := range name {
		x.names[d] = append(x.names[d], x.term(w))
	}
	x.add(d, inName, name, true)
	x.addPhrase(d, name)
	for _, a := range op.Aliases {
		words := split(bounded(a.Text))
		x.add(d, inAlias, words, true)
		x.addPhrase(d, words)
	}
	x.add(d, inDoc, split(bounded(op.Doc)), false)
	for _, p := range op.Params {
		x.add(d, inParam, split(p.Name), false)
		x.add(d, inMore, split(bounded(p.Doc)), false)
		x.addType(d, p.Type, 0)
	}
	if op.Interface != nil {
		x.add(d, inKind, split(op.Interface.Name), true)
		x.add(d, inMore, split(bounded(op.Interface.Doc)), false)
	}
	return d
}

// addType adds the labels that an argument may have.
func (x *wordIndex) addType(d int, t *idl.Type, depth int) {
	switch {
	case t == nil || depth > 3:
	case t.Enum != nil:
		for _, l := range t.Enum.Labels {
			x.add(d, inMore, split(l.Name), false)
		}
	default:
		x.addType(d, t.Elem, depth+1)
	}
}

// addNode indexes an entry and returns its document.
func (x *wordIndex) addNode(n *Node) int {
	d := x.document()
	title := split(n.Title)
	x.add(d, inTitle, title, true)
	x.addPhrase(d, title)
	x.add(d, inSummary, split(n.Summary), false)
	x.add(d, inPath, split(n.Path), true)
	if n.Mount != nil && n.Mount.Path != n.Path {
		x.add(d, inMore, split(n.Mount.Title), false)
	}
	return d
}

// document makes an empty document and returns its number.
func (x *wordIndex) document() int {
	x.documents++
	x.tells, x.names, x.candidates = append(x.tells, false), append(x.names, nil), append(x.candidates, nil)
	return x.documents - 1
}

// add indexes the words of one field. Where compounds may be written together,
// each two neighbours are indexed as one word too.
func (x *wordIndex) add(d int, f field, words []string, compounds bool) {
	named := f == inName
	// A long text says less with each word.
	f.weight /= float32(math.Sqrt(1 + float64(len(words))/20))
	for i, w := range words {
		if classOf(w) != empty || named && light[w] {
			x.post(d, f, w, compounds)
		}
		if compounds && i+1 < len(words) && len(w) > 1 {
			x.post(d, f, w+words[i+1], false)
		}
	}
}

// post adds one occurrence of a word.
func (x *wordIndex) post(d int, f field, word string, name bool) {
	t := x.term(word)
	list := x.postings[t]
	if len(list) == 0 || list[len(list)-1].document != int32(d) {
		list = append(list, posting{document: int32(d)})
	}
	p := &list[len(list)-1]
	p.weight += f.weight
	p.cover = max(p.cover, f.cover)
	p.name = p.name || name && f.cover == 1
	x.postings[t] = list
}

// term returns the number of a word's stem, a new one if need be.
func (x *wordIndex) term(word string) int {
	if t, ok := x.forms[word]; ok {
		return t
	}
	s := stem(word)
	t, ok := x.terms[s]
	if !ok {
		t = len(x.postings)
		x.terms[s] = t
		x.postings = append(x.postings, nil)
	}
	x.forms[word] = t
	x.spellings = append(x.spellings, spelling{word, letters(word), t})
	return t
}

// addPhrase makes words findable as a row.
func (x *wordIndex) addPhrase(d int, words []string) {
	if len(words) == 0 || len(words) > maxWords {
		return
	}
	p := phrase{document: d, words: words}
	for _, w := range words {
		p.terms = append(p.terms, x.term(w))
	}
	x.phrases[p.terms[0]] = append(x.phrases[p.terms[0]], p)
}

// bounded cuts a text to what is worth indexing.
func bounded(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}
