package idl

import (
	"fmt"
	"strconv"
	"strings"
)

// objectState is one object that is being shaped.
type objectState struct {
	*shapeObject
	base    int      // of its members in shaper.offsets
	next    int      // the first slot that is not yet written
	unknown bool     // it is an unknown fact
	items   int      // on the page
	counts  [3]int64 // page, page_size, total_matching
	nCounts int      // how many of them are known
	waiting bool     // a member was skipped
}

// object shapes an object. While members come in the order of the slots, each
// is shaped at once; the others wait until all before them are written.
func (s *shaper) object(o *shapeObject) *ResultError {
	s.pos++
	if err := s.enter(); err != nil {
		return err
	}
	st := objectState{shapeObject: o, base: len(s.offsets)}
	s.offsets = append(s.offsets, make([]int, len(o.slots))...)
	s.out = append(s.out, '{')
	for first := true; ; {
		more, err := s.more(&first, '}')
		if err != nil {
			return err
		}
		if !more {
			break
		}
		done, err := s.expected(&st)
		if !done {
			err = s.member(&st)
		}
		if err != nil {
			return err
		}
	}
	end, depth := s.pos, s.depth
	s.depth++ // what waited stands inside this object
	for st.next < len(o.slots) {
		i := st.next
		at := s.offsets[st.base+i]
		s.pos = at
		if err := s.slot(&st, at > 0); err != nil {
			return err
		}
	}
	s.pos, s.depth = end, depth
	s.out = append(s.out, '}')
	s.offsets = s.offsets[:st.base]
	return s.room()
}

// member takes one member of the source: it is shaped if its turn has come, or
// skipped.
func (s *shaper) member(st *objectState) *ResultError {
	name, err := s.key()
	if err != nil {
		return err
	}
	i := st.find(name)
	if i < 0 {
		return (&ResultError{Expected: "only the fields of " + st.name, Found: "an undeclared field"}).in("?")
	}
	seen := &s.offsets[st.base+i]
	if *seen > 0 {
		return (&ResultError{Expected: "each field once", Found: "a second one"}).in(name)
	}
	*seen = s.pos
	if i < st.next { // written without it
		return s.late(st, i)
	}
	for j := st.next; j < i; j++ {
		if !st.slots[j].passable(st.slots[i].kind) || s.offsets[st.base+j] > 0 {
			st.waiting = true
			if err := s.skip(); err != nil {
				return err.in(name)
			}
			return nil
		}
	}
	return s.upTo(st, i)
}

// upTo writes the slots before slot i without a value, and slot i with the one
// at s.pos.
func (s *shaper) upTo(st *objectState, i int) *ResultError {
	for st.next < i {
		if err := s.slot(st, false); err != nil {
			return err
		}
	}
	return s.slot(st, true)
}

// expected takes a member if it is the one that is due, written as we would
// write it: what our own bindings send, found without a search.
func (s *shaper) expected(st *objectState) (bool, *ResultError) {
	if st.waiting || st.next == len(st.slots) {
		return false, nil
	}
	i := st.slots[st.next].due
	if i == len(st.slots) || !strings.HasPrefix(s.src[s.pos:], st.slots[i].quoted) {
		return false, nil
	}
	s.pos += len(st.slots[i].quoted)
	s.space()
	s.offsets[st.base+i] = s.pos
	return true, s.upTo(st, i)
}

// find returns the slot of that name, or -1. Members mostly come in order.
func (st *objectState) find(name string) int {
	for i := st.next; i < len(st.slots); i++ {
		if st.slots[i].name == name {
			return i
		}
	}
	for i := range st.next {
		if st.slots[i].name == name {
			return i
		}
	}
	return -1
}

// passable reports whether the slot may be written for the sake of one of kind
// next before it is known whether the Host sends it. Where it does, late makes
// sure that what was written is right. A reason tells of a status to come.
func (sl *shapeSlot) passable(next slotKind) bool {
	switch sl.kind {
	case slotLiteral, slotReason, slotNext:
		return true
	case slotStatus:
		return next != slotReason
	}
	return false
}

// late checks a member whose slot was passed.
func (s *shaper) late(st *objectState, i int) *ResultError {
	sl := &st.slots[i]
	mark := len(s.out)
	var err *ResultError
	switch sl.kind {
	case slotStatus:
		var status string
		if status, err = s.status(); err == nil && status != "observed" {
			err = &ResultError{Expected: "observed, since there are other fields", Found: "unknown"}
		}
	case slotReason:
		err = &ResultError{Expected: "no reason of a known fact", Found: "one"}
	case slotNext:
		err = s.nextPage(st)
	default:
		err = s.skip()
	}
	s.out = s.out[:mark]
	if err != nil {
		return err.in(sl.name)
	}
	return nil
}

// slot writes the next slot; present says that s.pos is at its value.
func (s *shaper) slot(st *objectState, present bool) *ResultError {
	sl := &st.slots[st.next]
	st.next++
	err := s.fill(st, sl, present)
	if err != nil {
		return err.in(sl.name)
	}
	return nil
}

// begin writes a member's name.
func (s *shaper) begin(sl *shapeSlot) {
	if s.out[len(s.out)-1] != '{' {
		s.out = append(s.out, ',')
	}
	s.out = append(s.out, sl.quoted...)
}

func (s *shaper) fill(st *objectState, sl *shapeSlot, present bool) *ResultError {
	if sl.payload && st.unknown {
		if present {
			return &ResultError{Expected: "nothing beside an unknown fact's reason", Found: found(s.space())}
		}
		return nil
	}
	if !present {
		return s.absent(st, sl)
	}
	switch sl.kind {
	case slotLiteral:
		s.begin(sl)
		s.out = append(s.out, sl.literal...)
		return s.skip()
	case slotStatus:
		status, err := s.status()
		if err != nil {
			return err
		}
		st.unknown = status == "unknown"
		if st.scalar && !st.unknown {
			return &ResultError{Expected: "the bare value of a known fact", Found: "object"}
		}
		s.begin(sl)
		s.out = appendQuoted(s.out, status)
		return nil
	case slotReason:
		if !st.unknown {
			return &ResultError{Expected: "no reason of a known fact", Found: "one"}
		}
		s.begin(sl)
		return s.reason()
	case slotNext:
		if err := s.checkPage(st); err != nil {
			return err
		}
		if err := s.nextPage(st); err != nil {
			return err
		}
		return s.absent(st, sl)
	case slotTruncated:
		c := s.space()
		mark := len(s.out)
		if err := s.boolean(c); err != nil {
			return err
		}
		s.out = s.out[:mark]
		s.truncated(sl, c == 't' || st.more())
		return nil
	}
	s.begin(sl)
	switch sl.kind {
	case slotItems:
		s.inPage++
		n, err := s.list(sl.node, s.space())
		s.inPage--
		st.items = n
		return err
	case slotCount:
		v, err := s.integer(sl.node, s.space())
		st.counts[st.nCounts] = v
		st.nCounts++
		return err
	}
	return s.value(sl.node)
}

// absent writes a slot that the Host left out.
func (s *shaper) absent(st *objectState, sl *shapeSlot) *ResultError {
	switch sl.kind {
	case slotLiteral:
		s.begin(sl)
		s.out = append(s.out, sl.literal...)
	case slotStatus:
		if st.scalar {
			return &ResultError{Expected: "status of an unknown fact", Found: "nothing"}
		}
		s.begin(sl)
		s.out = append(s.out, `"observed"`...)
	case slotReason:
		if st.unknown {
			return &ResultError{Expected: "reason of an unknown fact", Found: "nothing"}
		}
	case slotNext:
		if err := s.checkPage(st); err != nil {
			return err
		}
		s.begin(sl)
		if st.more() && (s.maxPage == 0 || float64(st.counts[0]) < s.maxPage) {
			s.out = strconv.AppendInt(s.out, st.counts[0]+1, 10)
		} else {
			s.out = append(s.out, "null"...)
		}
	case slotTruncated:
		s.truncated(sl, st.more())
	default:
		switch {
		case sl.omit:
		case sl.node.optional && !sl.node.fact: // null of a fact is a claim
			s.begin(sl)
			s.out = append(s.out, "null"...)
		default:
			return &ResultError{Expected: sl.node.describe(), Found: "nothing"}
		}
	}
	return nil
}

// describe names what a node expects.
func (n *shapeNode) describe() string {
	if n.object != nil {
		return n.object.name
	}
	return n.Type.String()
}

// status reads the status of a fact.
func (s *shaper) status() (string, *ResultError) {
	if c := s.space(); c != '"' {
		return "", mistyped(c, "a status")
	}
	v, err := s.str()
	if err == nil && v != "unknown" && v != "observed" {
		err = &ResultError{Expected: "observed or unknown", Found: "another string"}
	}
	return v, err
}

// reason shapes the reason of an unknown fact: one word of code, so that it
// cannot carry a stranger's.
func (s *shaper) reason() *ResultError {
	if c := s.space(); c != '"' {
		return mistyped(c, "a reason")
	}
	v, err := s.str()
	if err != nil {
		return err
	}
	if !isReason(v) {
		return &ResultError{Expected: fmt.Sprintf("a reason of letters, digits and _, at most %d", maxReasonBytes), Found: "another string"}
	}
	s.out = appendQuoted(s.out, v)
	return nil
}

// isReason reports whether v may be the reason of an unknown fact: an
// identifier, so that nobody tells a model a story there.
func isReason(v string) bool {
	if v == "" || len(v) > maxReasonBytes {
		return false
	}
	for i := range len(v) {
		c := v[i] | 0x20
		if !(c >= 'a' && c <= 'z' || v[i] == '_' || i > 0 && c >= '0' && c <= '9' && v[i] == c) {
			return false
		}
	}
	return true
}

// checkPage checks that the items are what the counts say.
func (s *shaper) checkPage(st *objectState) *ResultError {
	page, size, total := st.counts[0], st.counts[1], st.counts[2]
	want := int64(0)
	if page-1 <= total/size { // so that the product cannot overflow
		want = max(0, min(size, total-(page-1)*size))
	}
	if int64(st.items) != want {
		return &ResultError{Expected: fmt.Sprintf("%d items on page %d of %d with %d in all", want, page, size, total), Found: strconv.Itoa(st.items)}
	}
	return nil
}

// more reports whether the selection goes on after the page.
func (st *objectState) more() bool {
	page, size, total := st.counts[0], st.counts[1], st.counts[2]
	return page <= total/size && page*size < total
}

// nextPage checks next_page as the Host sent it; what it writes is dropped.
func (s *shaper) nextPage(st *objectState) *ResultError {
	mark := len(s.out)
	defer func() { s.out = s.out[:mark] }()
	c := s.space()
	if c == 'n' {
		return s.null()
	}
	v, err := s.integer(countNode, c)
	if err == nil && (!st.more() || v != st.counts[0]+1) {
		err = &ResultError{Expected: "the page after this one, or null after the last", Found: "another page"}
	}
	return err
}

// truncated writes the mark that shorten may set later.
func (s *shaper) truncated(sl *shapeSlot, v bool) {
	s.begin(sl)
	start := len(s.out)
	s.out = strconv.AppendBool(s.out, v)
	s.edits = append(s.edits, shapeEdit{start: start, end: len(s.out), mark: true})
}
