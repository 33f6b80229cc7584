package space

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
)

// segment is an inverted index over documents: operations or entries. It is
// immutable.
type segment struct {
	documents int
	forms     []form   // words as they are written, sorted
	stems     []string // sorted
	first     []int32  // by stem, and one more: its first run
	runs      []run    // and one more, where the last one ends
	in        []int32  // the documents of all runs
	phrases   []phrase // sorted
}

// form is a word that stands in documents as it is written.
type form struct {
	word    string
	letters uint64 // one bit a letter or digit
	stem    string
	count   int32 // how often it was indexed
}

// impact is what a word says of a document.
type impact struct {
	weight float32 // of all occurrences together
	cover  float32 // of the best occurrence
	name   bool    // whether it stands in an operation's name or an alias
}

// run is a list of documents, in their order, of which a word says the same.
type run struct {
	impact
	from int32 // in in
}

// phrase is an alias, a name or a title as a row of words.
type phrase struct {
	stems    uint64 // a hash of the words' stems
	words    uint32 // and one of the words as they are written
	document int32
}

// seed makes it impossible to choose texts for the hashes that they have.
var seed = maphash.MakeSeed()

// hashes hash a row of words, one by one.
type hashes struct{ stems, words maphash.Hash }

func newHashes() *hashes {
	h := &hashes{}
	h.stems.SetSeed(seed)
	h.words.SetSeed(seed)
	return h
}

func (h *hashes) reset() {
	h.stems.Reset()
	h.words.Reset()
}

// add adds a word. No word holds a zero.
func (h *hashes) add(word, stem string) {
	h.words.WriteString(word)
	h.words.WriteByte(0)
	h.stems.WriteString(stem)
	h.stems.WriteByte(0)
}

func (h *hashes) sums() (stems uint64, words uint32) { return h.stems.Sum64(), uint32(h.words.Sum64()) }

// term returns the number of a stem, or -1.
func (s *segment) term(stem string) int {
	if i, ok := slices.BinarySearch(s.stems, stem); ok {
		return i
	}
	return -1
}

// frequency returns how many documents have a stem.
func (s *segment) frequency(stem string) int {
	t := s.term(stem)
	if t < 0 {
		return 0
	}
	return int(s.runs[s.first[t+1]].from - s.runs[s.first[t]].from)
}

// written returns how often a word was indexed in just this form.
func (s *segment) written(word string) int32 {
	if i, ok := slices.BinarySearchFunc(s.forms, word, func(f form, w string) int { return strings.Compare(f.word, w) }); ok {
		return s.forms[i].count
	}
	return 0
}

// beginning returns the forms that begin with a text.
func (s *segment) beginning(text string) []form {
	from, _ := slices.BinarySearchFunc(s.forms, text, func(f form, t string) int { return strings.Compare(f.word, t) })
	n, _ := slices.BinarySearchFunc(s.forms[from:], text, func(f form, t string) int {
		if strings.HasPrefix(f.word, t) {
			return -1
		}
		return 1
	})
	return s.forms[from:][:n]
}

// rows returns the phrases with that hash of stems.
func (s *segment) rows(stems uint64) []phrase {
	by := func(p phrase, h uint64) int { return cmp.Compare(p.stems, h) }
	from, ok := slices.BinarySearchFunc(s.phrases, stems, by)
	if !ok {
		return nil
	}
	n := 1
	for from+n < len(s.phrases) && s.phrases[from+n].stems == stems {
		n++
	}
	return s.phrases[from:][:n]
}

// between returns those of sorted documents that are in a range.
func between(documents []int32, from, to int32) []int32 {
	if n := len(documents); n == 0 || documents[0] >= from && documents[n-1] < to {
		return documents
	}
	a, _ := slices.BinarySearch(documents, from)
	b, _ := slices.BinarySearch(documents[a:], to)
	return documents[a:][:b]
}
