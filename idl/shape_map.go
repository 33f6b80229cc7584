package idl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// mapping shapes a map. Its keys are cleaned as text, and it leaves in the
// order of the cleaned keys.
func (s *shaper) mapping(n *shapeNode, c byte) *ResultError {
	if c != '{' {
		return mistyped(c, n.Type.String())
	}
	s.pos++
	if err := s.enter(); err != nil {
		return err
	}
	var members []mapMember
	for first := true; ; {
		more, err := s.more(&first, '}')
		if err != nil {
			return err
		}
		if !more {
			break
		}
		key, err := s.key()
		if err != nil {
			return err
		}
		members = append(members, mapMember{raw: key, pos: s.pos})
		if err := s.skip(); err != nil {
			return err.in("*")
		}
	}
	if !n.Range.holds(float64(len(members))) {
		return &ResultError{Expected: n.Type.String(), Found: fmt.Sprintf("%d members", len(members))}
	}
	if !nameKeys(members) {
		return &ResultError{Expected: "each key once", Found: "a second one"}
	}
	end, depth := s.pos, s.depth
	s.depth++
	s.out = append(s.out, '{')
	for i, m := range members {
		if i > 0 {
			s.out = append(s.out, ',')
		}
		s.out = append(appendQuoted(s.out, m.key), ':')
		s.pos = m.pos
		if err := s.value(n.elem); err != nil {
			return err.in("*")
		}
		if err := s.room(); err != nil {
			return err
		}
	}
	s.pos, s.depth = end, depth
	s.out = append(s.out, '}')
	return nil
}

// mapMember is one member of a map.
type mapMember struct {
	raw, key string // the key as sent and as it leaves
	pos      int    // of the value in the source
}

// nameKeys gives each member the key under which it leaves, and sorts by it;
// it reports whether the raw keys differ. A key that is clean keeps its name.
// Where cleaning made keys equal, they get numbers in the order of the raw
// keys, so that nothing is lost and the order of sending does not matter.
func nameKeys(members []mapMember) bool {
	slices.SortFunc(members, func(a, b mapMember) int { return strings.Compare(a.raw, b.raw) })
	taken := make(map[string]int, len(members)) // key -> the last number given
	for i := range members {
		m := &members[i]
		if i > 0 && m.raw == members[i-1].raw {
			return false
		}
		if m.key, _ = cleantext.Clean(m.raw, maxKeyBytes); m.key == m.raw {
			taken[m.key] = 1
		}
	}
	for i := range members {
		m := &members[i]
		if m.key == m.raw {
			continue
		}
		clean := m.key
		for taken[m.key] > 0 {
			taken[clean]++
			m.key = numbered(clean, taken[clean])
		}
		taken[m.key]++
	}
	slices.SortFunc(members, func(a, b mapMember) int { return strings.Compare(a.key, b.key) })
	return true
}

// numbered returns the key with a number, within the bound of keys.
func numbered(key string, n int) string {
	suffix := " (" + strconv.Itoa(n) + ")"
	for len(key)+len(suffix) > maxKeyBytes {
		_, size := utf8.DecodeLastRuneInString(key)
		key = key[:len(key)-size]
	}
	return key + suffix
}
