package space

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl"
)

// exhaustive is Words as it is meant: each candidate is looked at for each word,
// and nothing is shared, prepared or remembered.
type exhaustive struct{}

// bag is what one document says: of each stem and each form, and its rows of words.
type bag struct {
	stems map[string]impact
	forms map[string]int
	rows  [][]string
	name  []string // stems
	tells bool
}

func (b *bag) add(f field, text string, compounds, name bool) {
	words := split(bounded(text))
	named := f == inName
	f.weight /= float32(math.Sqrt(1 + float64(len(words))/20))
	post := func(word string, name bool) {
		b.forms[word]++
		i := b.stems[stem(word)]
		b.stems[stem(word)] = impact{i.weight + f.weight, max(i.cover, f.cover), i.name || name}
	}
	for i, w := range words {
		if classOf(w) != empty || named && light[w] {
			post(w, name)
		}
		if compounds && i+1 < len(words) && len(w) > 1 {
			post(w+words[i+1], false)
		}
	}
}

func (b *bag) row(text string) { b.rows = append(b.rows, split(bounded(text))) }

func bagOf(n *Node, op *idl.Operation) *bag {
	b := &bag{stems: map[string]impact{}, forms: map[string]int{}}
	if op == nil {
		b.add(inTitle, n.Title, true, false)
		b.row(n.Title)
		b.add(inSummary, n.Summary, false, false)
		b.add(inPath, n.Path, true, false)
		if n.Mount != nil && n.Mount.Path != n.Path {
			b.add(inMore, n.Mount.Title, false, false)
		}
		return b
	}
	b.tells = op.Risk == idl.ReadOnly
	for _, w := range split(op.Name) {
		b.name = append(b.name, stem(w))
	}
	b.add(inName, op.Name, true, true)
	b.row(op.Name)
	for _, a := range op.Aliases {
		b.add(inAlias, a.Text, true, true)
		b.row(a.Text)
	}
	b.add(inDoc, op.Doc, false, false)
	for _, p := range op.Params {
		b.add(inParam, p.Name, false, false)
		b.add(inMore, p.Doc, false, false)
		if p.Type.Enum != nil {
			for _, l := range p.Type.Enum.Labels {
				b.add(inMore, l.Name, false, false)
			}
		}
	}
	b.add(inKind, op.Interface.Name, true, false)
	b.add(inMore, op.Interface.Doc, false, false)
	return b
}

type exhaustiveIndex struct {
	candidates []Candidate
	nodes      []*bag
	operations map[*idl.Operation]*bag
}

func (exhaustive) Index(candidates []Candidate, _ Index) Index {
	x := &exhaustiveIndex{candidates: candidates, operations: map[*idl.Operation]*bag{}}
	for _, c := range candidates {
		x.nodes = append(x.nodes, bagOf(c.Node, nil))
		for _, op := range c.Operations {
			x.operations[op.Operation] = bagOf(nil, op.Operation)
		}
	}
	return x
}

func (x *exhaustiveIndex) bags() []*bag {
	return slices.AppendSeq(slices.Clone(x.nodes), maps.Values(x.operations))
}

func (x *exhaustiveIndex) size() int { return len(x.bags()) }

func (x *exhaustiveIndex) frequency(stem string) (count int) {
	for _, b := range x.bags() {
		if _, ok := b.stems[stem]; ok {
			count++
		}
	}
	return count
}

func (x *exhaustiveIndex) written(word string) bool {
	return slices.ContainsFunc(x.bags(), func(b *bag) bool { return b.forms[word] > 0 })
}

func (x *exhaustiveIndex) similar(word string) []match {
	length, allowed := len([]rune(word)), 0
	switch {
	case length >= 7:
		allowed = 2
	case length >= 4:
		allowed = 1
	}
	edits, begun := map[string]int{}, map[string]int{} // by stem
	best := allowed
	for _, b := range x.bags() {
		for form := range b.forms {
			begins := allowed > 0 && len(form) > len(word) && strings.HasPrefix(form, word)
			if begins && (length > 4 || len(form) <= len(word)+2) {
				begun[stem(form)] = 0
			}
			if length == 4 && letters(word)&^letters(form) != 0 {
				continue
			}
			if d := distance(word, form, 2); allowed > 0 && d <= allowed {
				if old, ok := edits[stem(form)]; !ok || d < old {
					edits[stem(form)] = d
				}
				best = min(best, d)
			}
		}
	}
	var matches []match
	for s, d := range edits {
		if d == best {
			matches = append(matches, match{s, typoQuality - 0.1*float32(d-1)})
		}
	}
	if len(matches) == 0 {
		for s := range begun {
			matches = append(matches, match{s, prefixQuality})
		}
	}
	slices.SortFunc(matches, func(a, b match) int { return strings.Compare(a.stem, b.stem) })
	return matches
}

// found is what the words of a query find in a document.
func (b *bag) found(words []queryWord, verb int) ([]cell, finding) {
	cells, f := make([]cell, len(words)), finding{}
	for i, w := range words {
		for _, m := range w.matches {
			if p, ok := b.stems[m.stem]; ok && w.weight != 0 {
				if cells[i].weight == 0 && p.name {
					f.named++
				}
				cells[i] = cell{max(cells[i].weight, m.quality*p.weight), max(cells[i].cover, m.quality*p.cover)}
			}
		}
	}
	for _, row := range b.rows {
		n := len(row)
		if n == 0 || n > maxWords {
			continue
		}
		for at := range words {
			if at+n > len(words) || n == 1 && words[at].class == empty && len(words) > 1 {
				continue
			}
			stands, same := true, true
			for k, w := range row {
				stands = stands && words[at+k].stem == stem(w)
				same = same && words[at+k].word == w
			}
			if !stands {
				continue
			}
			for k := at; k < at+n; k++ {
				cells[k] = cell{max(cells[k].weight, inAlias.weight), 1}
			}
			f.phrased = max(f.phrased, float64(n)/float64(len(words)))
			f.meant = f.meant || at <= verb && verb < at+n
			switch {
			case n == len(words) && same:
				f.exact = 1
			case n == len(words):
				f.exact = max(f.exact, 0.5)
			}
		}
	}
	return cells, f
}

func (x *exhaustiveIndex) Rank(_ context.Context, query string, from int, of []int32) ([]Fit, error) {
	words := read(x, query)
	verb, demand := demanded(words)
	var fits []Fit
	for i := range of {
		c := x.candidates[from+i]
		entry, f := x.nodes[from+i].found(words, verb)
		touched := slices.ContainsFunc(entry, func(c cell) bool { return c != cell{} }) || f != finding{}
		var fit Fit
		if touched {
			fit.Entry = total(words, entry, nil, f, entryItself)
			fit.Entry.Value *= placeShare
		} else {
			entry = nil
		}
		for _, op := range c.Operations {
			b := x.operations[op.Operation]
			cells, f := b.found(words, verb)
			s := total(words, cells, entry, f, len(b.name))
			switch {
			case !b.tells:
			case len(words) > 0 && asking[words[0].word]:
				s.Value *= questionBoost
			case demand && !f.meant && !slices.Contains(b.name, words[verb].stem):
				s.Value *= demandShare
				s.Strong = false
			}
			fit.Operations = append(fit.Operations, s)
		}
		fits = append(fits, fit)
		of[i] = int32(len(fits))
	}
	return fits, nil
}

// total is the formula.
func total(words []queryWord, cells, entry []cell, f finding, name int) Score {
	var sum, value, covered, own float64
	for i, w := range words {
		sum += w.weight
		c := cells[i]
		own += w.weight * float64(c.cover)
		if entry != nil {
			c = cell{c.weight + fromEntry*entry[i].weight, max(c.cover, entry[i].cover)}
		}
		value += w.weight * float64(c.weight/(c.weight+saturation))
		covered += w.weight * float64(c.cover)
	}
	value, covered, own = value/sum, covered/sum, own/sum
	if sum == 0 {
		value, covered, own = 0, f.phrased, f.phrased
	}
	if !slices.ContainsFunc(words, func(w queryWord) bool { return w.class == content }) {
		own = min(own, f.phrased)
	}
	value = value*(0.4+0.6*covered) + phraseBonus*f.phrased
	if name != entryItself {
		value += nameBonus * min(1, float64(f.named)/float64(max(name, 1))) * covered
	}
	return Score{value + exactBonus*f.exact, f.exact > 0 || covered >= strongCover && own >= strongOwn}
}

// ranks returns what an index says of candidates from..to, one Fit for each, with
// what does not fit made one.
func ranks(t interface{ Fatal(...any) }, x Index, candidates []Candidate, query string, from, to int) []Fit {
	of := make([]int32, to-from)
	fits, err := x.Rank(context.Background(), query, from, of)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]Fit, len(of))
	for i, n := range of {
		list[i].Operations = make([]Score, len(candidates[from+i].Operations))
		if n == 0 {
			continue
		}
		list[i].Entry = fits[n-1].Entry.valid()
		for k := range list[i].Operations {
			list[i].Operations[k] = fits[n-1].operation(k).valid()
		}
	}
	return list
}

// texts makes words that collide often, with forms, compounds, slips and what
// says nothing.
func texts(t *rapid.T, label string, most int) string {
	words := []string{"lamp", "lamps", "light", "lights", "the", "of", "issue", "issues", "close", "closed", "closes", "use", "up", "open",
		"desklamp", "desk", "bookshelf", "books", "weather", "wheather", "list", "who", "is", "here", "set", "color", "colour", "lmap", "2", "42", "Maria's", "天気予報"}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, most).Draw(t, label), " ")
}

// world makes candidates over few interfaces, as a View does.
type world struct {
	mounts     []*Mount
	interfaces [][]NamedOperation
	nodes      map[string]*Node
	offers     map[string]int
}

func newWorld(t *rapid.T) *world {
	w := &world{nodes: map[string]*Node{}, offers: map[string]int{}}
	for i := range 2 {
		w.mounts = append(w.mounts, &Mount{Path: fmt.Sprintf("/m%d", i), Title: texts(t, "mount", 2)})
	}
	w.interfaces = [][]NamedOperation{nil}
	for i := range rapid.IntRange(1, 4).Draw(t, "interfaces") {
		it := &idl.Interface{Name: "Lamp", Doc: texts(t, "interface", 3)}
		var list []NamedOperation
		for k := range rapid.IntRange(1, 3).Draw(t, "operations") {
			op := &idl.Operation{Interface: it, Name: strings.ReplaceAll(texts(t, "name", 3)+fmt.Sprint(i, k), " ", "_"), Doc: texts(t, "doc", 6)}
			if rapid.Bool().Draw(t, "tells") {
				op.Risk = idl.ReadOnly
			}
			for range rapid.IntRange(0, 2).Draw(t, "aliases") {
				op.Aliases = append(op.Aliases, idl.Alias{Text: texts(t, "alias", 4)})
			}
			list = append(list, NamedOperation{op.Name, op})
		}
		w.interfaces = append(w.interfaces, list)
	}
	return w
}

// change puts, changes and removes an entry or so.
func (w *world) change(t *rapid.T) {
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		path := fmt.Sprintf("/m%d/%s", rapid.IntRange(0, 1).Draw(t, "mount"), rapid.SampledFrom([]string{"lamp", "lamp/1", "lamp/2", "issue", "issue/desk-lamp", "issues", "a", "b", "c"}).Draw(t, "path"))
		if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
			delete(w.nodes, path)
			continue
		}
		w.nodes[path] = &Node{Path: path, Title: texts(t, "title", 4), Summary: texts(t, "summary", 6), Mount: w.mounts[path[2]-'0']}
		w.offers[path] = rapid.IntRange(0, len(w.interfaces)-1).Draw(t, "offer")
	}
}

func (w *world) candidates() []Candidate {
	var list []Candidate
	for _, path := range slices.SortedFunc(maps.Keys(w.nodes), comparePaths) {
		list = append(list, Candidate{w.nodes[path], w.interfaces[w.offers[path]]})
	}
	return list
}

// TestExhaustive compares the ranking of an index that follows a changing space
// with that of one made anew, which must be the same, and both with what looking
// at everything gives.
func TestExhaustive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		var followed Index
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			w.change(t)
			candidates := w.candidates()
			followed = Words{}.Index(candidates, followed)
			anew, slow := Words{}.Index(candidates, nil), exhaustive{}.Index(candidates, nil)
			for range 3 {
				query := rapid.SampledFrom([]string{"", "close ", "who is "}).Draw(t, "verb") + texts(t, "query", 6)
				from := rapid.IntRange(0, len(candidates)).Draw(t, "from")
				to := rapid.IntRange(from, len(candidates)).Draw(t, "to")
				fast := ranks(t, anew, candidates, query, from, to)
				if diff := cmp.Diff(ranks(t, slow, candidates, query, from, to), fast, near); diff != "" {
					t.Fatalf("%q of %d to %d is ranked otherwise than by looking at everything:\n%s", query, from, to, diff)
				}
				if diff := cmp.Diff(fast, ranks(t, followed, candidates, query, from, to)); diff != "" {
					t.Fatalf("%q of %d to %d is ranked otherwise by an index that followed changes:\n%s", query, from, to, diff)
				}
			}
		}
	})
}

// near lets sums differ by the order in which they were made.
var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
