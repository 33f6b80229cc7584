package cleantext

import (
	"unicode"
	"unicode/utf8"
)

const (
	maxMarks    = 8 // marks on one character; a Tibetan stack has up to eight
	maxGeneral  = 4 // of these, general diacritics; phonetic writing has up to four
	replacement = "\uFFFD"
)

// A charCleaner walks over a text once. It copies what stays in pieces, so
// that a text that stays whole is never copied.
type charCleaner struct {
	s    string
	out  []byte
	done int // s[:done] is dealt with: copied to out, or left away
	*Report

	prev    rune // last character that stayed; 0 at the start
	emoji   bool // prev ends an emoji that a joiner may follow
	marks   int  // marks on the current character so far
	general int  // of these, general diacritics
}

// cleanChars does what the package comment says under Characters.
func cleanChars(s string, r *Report) string {
	i := plainPrefix(s)
	if i == len(s) {
		return s
	}
	c := charCleaner{s: s, Report: r}
	if i > 0 {
		c.prev = rune(s[i-1])
	}
	for i < len(s) {
		i = c.step(i)
	}
	if c.done == 0 && c.out == nil {
		return s
	}
	return string(append(c.out, s[c.done:]...))
}

// plainPrefix returns how many bytes of s, from its start, are printable ASCII.
func plainPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		// The top bit of each byte tells whether one is below 0x20 or above
		// 0x7e. A carry comes only out of a byte that is.
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		if ((w-0x2020202020202020)|(w+0x0101010101010101)|w)&0x8080808080808080 != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return i
		}
	}
	return len(s)
}

// replace puts with in the place of s[from:to].
func (c *charCleaner) replace(from, to int, with string) {
	if c.out == nil {
		c.out = make([]byte, 0, len(c.s))
	}
	c.out = append(c.out, c.s[c.done:from]...)
	c.out = append(c.out, with...)
	c.done = to
}

// keep notes that r stays as it is.
func (c *charCleaner) keep(r rune, emoji bool) {
	c.prev, c.emoji, c.marks, c.general = r, emoji, 0, 0
}

// step deals with the character at i and returns where the next one begins.
func (c *charCleaner) step(i int) int {
	if b := c.s[i]; b < utf8.RuneSelf {
		if b >= ' ' && b != 0x7f {
			c.keep(rune(b), false)
			return i + 1
		}
		return c.control(i)
	}
	r, n := utf8.DecodeRuneInString(c.s[i:])
	if r == utf8.RuneError && n == 1 {
		return c.invalid(i)
	}
	switch kindOf(r) {
	case kindPlain:
		c.keep(r, isPictograph(r) || c.emoji && isSkinTone(r))
	case kindControl:
		return c.control(i)
	case kindMark:
		general := isGeneralMark(r)
		if c.marks >= maxMarks || general && c.general >= maxGeneral {
			c.Marks++
			c.replace(i, i+n, "")
			break
		}
		c.marks++
		if general {
			c.general++
		}
		c.prev, c.emoji = r, false
	case kindJoiner:
		if !c.joins(r, i+n) {
			c.drop(i, n)
			break
		}
		c.prev, c.emoji = r, false
	case kindSelector:
		if !c.selects(r, i+n) {
			c.drop(i, n)
			break
		}
		c.prev = r
	default:
		c.drop(i, n)
	}
	return i + n
}

// drop leaves away the invisible character s[i:i+n].
func (c *charCleaner) drop(i, n int) {
	c.Invisible++
	c.replace(i, i+n, "")
}

// invalid replaces a run of bytes that are not UTF-8.
func (c *charCleaner) invalid(i int) int {
	j := i
	for j < len(c.s) {
		if r, n := utf8.DecodeRuneInString(c.s[j:]); r != utf8.RuneError || n != 1 {
			break
		}
		j++
	}
	c.Invalid += j - i
	c.replace(i, j, replacement)
	c.keep(utf8.RuneError, false)
	return j
}

// control replaces a run of control characters, of invisible ones among them
// and of the spaces after them.
func (c *charCleaner) control(i int) int {
	j := i
run:
	for j < len(c.s) {
		r, n := utf8.DecodeRuneInString(c.s[j:])
		switch kind := kindOf(r); {
		case r == ' ':
		case kind == kindControl:
			n = sequence(c.s[j:], r, n)
			c.Control += utf8.RuneCountInString(c.s[j : j+n])
		case kind == kindInvisible, kind == kindJoiner, kind == kindSelector:
			c.Invisible++
		default:
			break run
		}
		j += n
	}
	if c.prev == ' ' {
		c.replace(i, j, "")
		return j
	}
	c.replace(i, j, " ")
	c.keep(' ', false)
	return j
}

// sequence returns the length of the terminal sequence that s starts with, or
// n if the control character r, n bytes long, starts none that is complete.
// Source: ECMA-48, sections 5.4 and 5.6.
func sequence(s string, r rune, n int) int {
	if r == 0x1b {
		if len(s) < 2 {
			return n
		}
		n = 2
		switch s[1] {
		case '[', ']', 'P', 'X', '^', '_':
			r = rune(s[1]) + 0x40 // the C1 form of the same introducer
		default:
			return 1
		}
	}
	alone := 1
	if r >= 0x80 && s[0] != 0x1b {
		alone = n
	}
	i := n
	switch r {
	case 0x9b: // CSI: parameters, intermediates, one final byte
		for i < len(s) && s[i] >= 0x30 && s[i] <= 0x3f {
			i++
		}
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // a string up to BEL or ST
		for i < len(s) {
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == 0x07, r == 0x9c:
				return i + n
			case r == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case kindOf(r) == kindControl:
				return alone
			}
			i += n
		}
	}
	return alone
}

// joins reports whether the joiner r, with the text going on at next, joins.
func (c *charCleaner) joins(r rune, next int) bool {
	after, _ := utf8.DecodeRuneInString(c.s[next:])
	if r == zwj && c.emoji && isPictograph(after) {
		return true
	}
	s := joiningScript(c.prev)
	return s != 0 && s == joiningScript(after)
}

// selects reports whether the variation selector r has a meaning after the
// last character, with the text going on at next.
func (c *charCleaner) selects(r rune, next int) bool {
	switch {
	case r == 0xfe0e || r == 0xfe0f:
		if c.prev < utf8.RuneSelf {
			after, _ := utf8.DecodeRuneInString(c.s[next:])
			return isKeycapBase(c.prev) && after == keycap
		}
		return isPictograph(c.prev)
	case r >= 0xfe00 && r <= 0xfe02:
		return isHan(c.prev) || isMathOperator(c.prev) ||
			c.prev >= 0x1000 && c.prev <= 0x109f || c.prev >= 0xa840 && c.prev <= 0xa87f
	case r >= 0xe0100 && r <= 0xe01ef:
		return isHan(c.prev)
	case r == 0x180e: // the vowel separator stands between letters
		after, _ := utf8.DecodeRuneInString(c.s[next:])
		return isMongolian(c.prev) && isMongolian(after)
	case r >= 0x180b && r <= 0x180f:
		return isMongolian(c.prev)
	}
	return false
}

// kind is what Clean makes of a character.
type kind uint8

const (
	kindPlain kind = iota
	kindControl
	kindInvisible
	kindMark
	kindJoiner
	kindSelector
)

const (
	zwnj   = 0x200c
	zwj    = 0x200d
	keycap = 0x20e3
)

// kindOf classifies a character. Invisible are the default ignorable ones of
// Unicode 17 (DerivedCoreProperties.txt), U+FFF9 to U+FFFC and noncharacters.
func kindOf(r rune) kind {
	switch {
	case r < 0x20:
		return kindControl
	case r < 0x7f:
		return kindPlain
	case r < 0xa0:
		return kindControl
	case r < 0x300:
		if r == 0xad {
			return kindInvisible
		}
		return kindPlain
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a0 && r <= 0x30ff, r >= 0x3400 && r <= 0x9fff,
		r >= 0xac00 && r <= 0xd7a3, r >= 0x370 && r <= 0x482, r >= 0x48a && r <= 0x58f:
		return kindPlain // whole alphabets without a mark, for speed
	case r >= 0x2000 && r <= 0x206f:
		switch {
		case r == zwnj, r == zwj:
			return kindJoiner
		case r == 0x2028, r == 0x2029:
			return kindControl
		case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060:
			return kindInvisible
		}
		return kindPlain
	case r >= 0x180b && r <= 0x180f:
		return kindSelector
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return kindSelector
	case r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5,
		r == 0x3164, r == 0xfeff, r == 0xffa0,
		r >= 0xfff0 && r <= 0xfffc,
		r >= 0x1bca0 && r <= 0x1bca3,
		r >= 0x1d173 && r <= 0x1d17a,
		r >= 0xe0000 && r <= 0xe0fff,
		r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe:
		return kindInvisible
	case isGeneralMark(r), unicode.Is(unicode.Mn, r), r >= 0x488 && r <= 0x489, r >= 0xa670 && r <= 0xa672:
		return kindMark // all of Mn and Me
	}
	return kindPlain
}

// isGeneralMark reports whether r is a diacritic of no one script.
func isGeneralMark(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x1ab0 && r <= 0x1aff ||
		r >= 0x1dc0 && r <= 0x1dff || r >= 0x20d0 && r <= 0x20ff || r >= 0xfe20 && r <= 0xfe2f
}

// joiningScript returns a number that two letters or marks share if a joiner
// between them changes how they are written, and 0 for any other character.
func joiningScript(r rune) rune {
	var script rune
	switch {
	case r >= 0x600 && r <= 0x8ff, r >= 0xfb50 && r <= 0xfdff, r >= 0xfe70 && r <= 0xfefc,
		r >= 0x10ac0 && r <= 0x10aff, r >= 0x10d00 && r <= 0x10d3f, r >= 0x1e900 && r <= 0x1e95f:
		script = 1 // Arabic and the scripts that join as it does
	case r >= 0x900 && r <= 0xdff, r >= 0x11000 && r <= 0x11fff:
		script = r >> 7 // one Brahmic script a block
	case r >= 0x1000 && r <= 0x109f, r >= 0xa9e0 && r <= 0xa9ff, r >= 0xaa60 && r <= 0xaa7f:
		script = 2 // Myanmar
	case r >= 0x1780 && r <= 0x17ff:
		script = 3 // Khmer
	case r >= 0x1800 && r <= 0x18af:
		script = 4 // Mongolian
	case r >= 0x1b00 && r <= 0x1bff, r >= 0xa980 && r <= 0xa9df:
		script = 5 // Balinese, Sundanese, Batak, Javanese
	default:
		return 0
	}
	if unicode.IsLetter(r) || unicode.IsMark(r) {
		return script
	}
	return 0
}

func isMongolian(r rune) bool { return r >= 0x1820 && r <= 0x18aa || r >= 0x180b && r <= 0x180f }

func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

func isKeycapBase(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

func isMathOperator(r rune) bool {
	return r >= 0x2200 && r <= 0x22ff || r >= 0x2a00 && r <= 0x2aff
}

func isHan(r rune) bool {
	return r >= 0x3400 && r <= 0x4dbf || r >= 0x4e00 && r <= 0x9fff ||
		r >= 0xf900 && r <= 0xfaff || r >= 0x20000 && r <= 0x3fffd
}

// isPictograph reports whether r lies where Unicode keeps pictographs. That is
// wider than Extended_Pictographic: arrows and technical signs are in it.
func isPictograph(r rune) bool {
	switch {
	case r < 0x2000:
		return r == 0xa9 || r == 0xae
	case r < 0x3000:
		return r == 0x203c || r == 0x2049 || r >= 0x2100 && r <= 0x21ff || r >= 0x2300 && r <= 0x23ff ||
			r >= 0x2460 && r <= 0x24ff || r >= 0x25a0 && r <= 0x27bf || r >= 0x2900 && r <= 0x297f ||
			r >= 0x2b00 && r <= 0x2bff
	}
	return r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299 ||
		r >= 0x1f000 && r <= 0x1faff && !isRegional(r) && !isSkinTone(r) || r >= 0x1fc00 && r <= 0x1fffd
}

func isRegional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }
