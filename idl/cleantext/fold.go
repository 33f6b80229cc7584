package cleantext

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Two bytes that no cleaned text holds stand in a folded text for characters
// that are a dot only to somebody who wants to see one.
const (
	stopDot   = 0x01 // an ideographic or Urdu full stop
	bulletDot = 0x02 // a middle dot or bullet
)

// folded is a text as the matcher sees it, and the way back to the original.
type folded struct {
	text   string
	shifts []shift // ascending by at; empty if the text is the original
}

// shift says that the folded bytes from at on come from the original bytes
// from orig on, one for one, or, if stuck, all of them from that one position.
type shift struct {
	at, orig int
	stuck    bool
}

// origin returns where in the original the folded byte at i comes from.
func (f *folded) origin(i int) int {
	n := sort.Search(len(f.shifts), func(k int) bool { return f.shifts[k].at > i })
	if n == 0 {
		return i
	}
	s := f.shifts[n-1]
	if s.stuck {
		return s.orig
	}
	return s.orig + i - s.at
}

// fold makes the copy of s that is matched: compatibility forms as NFKC has
// them, dots, colons, slashes and spaces of every kind as the ASCII one, marks
// and joiners left away, and printable ASCII written as an escape of URLs, HTML
// or program text as what it stands for. It does not change letter case. Characters that look
// the same but belong to another script stay; see skeleton.
func fold(s string) folded {
	var f folded
	var out []byte
	done := 0
	for i := 0; i < len(s); {
		var b [4]byte
		var with []byte
		var change bool
		n := 1
		if c := s[i]; c >= utf8.RuneSelf {
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			with, change = foldRune(b[:0], r, s[i:i+n])
		} else if c == '%' || c == '&' || c == '\\' {
			var e byte
			if e, n = unescape(s[i:]); n > 1 {
				with, change = append(b[:0], e), true
			}
		}
		if change {
			if out == nil {
				out = make([]byte, 0, len(s))
			}
			out = append(out, s[done:i]...)
			f.shifts = append(f.shifts, shift{len(out), i, true})
			out = append(out, with...)
			f.shifts = append(f.shifts, shift{len(out), i + n, false})
			done = i + n
		}
		i += n
	}
	if f.shifts == nil {
		f.text = s
		return f
	}
	f.text = string(append(out, s[done:]...))
	return f
}

// foldRune appends what r, which is written s, is folded to, and reports
// whether that is anything but r.
func foldRune(dst []byte, r rune, s string) (folded []byte, changed bool) {
	switch {
	case r >= 0x3041 && r <= 0x309a, r >= 0x30a0 && r <= 0x30fa, r >= 0x3400 && r <= 0xa4f7, r >= 0xac00 && r <= 0xd7ff:
		return dst, false // nothing to fold in these, for speed
	case isGeneralMark(r), r == zwnj, r == zwj, r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100:
		return dst, true
	case r >= 0x249c && r <= 0x24b5: // parenthesized letters
		return append(dst, byte('a'+r-0x249c)), true
	case r >= 0x2776 && r <= 0x2793: // dingbat digits, three runs of 1 to 10
		return append(dst, byte('0'+(r-0x2776+1)%10)), true
	case r >= 0x1f150 && r <= 0x1f169: // negative circled letters
		return append(dst, byte('a'+r-0x1f150)), true
	case r >= 0x1f170 && r <= 0x1f189: // negative squared letters
		return append(dst, byte('a'+r-0x1f170)), true
	case isRegional(r):
		return append(dst, byte('a'+r-0x1f1e6)), true
	}
	if b := sign(r); b != 0 {
		return append(dst, b), true
	}
	if !mayFold(r) {
		return dst, false
	}
	d := norm.NFKC.PropertiesString(s).Decomposition()
	if d == nil {
		return dst, false
	}
	for i := 0; i < len(d); {
		r, n := utf8.DecodeRune(d[i:])
		if b := sign(r); b != 0 {
			dst = append(dst, b)
		} else if !isGeneralMark(r) {
			dst = append(dst, d[i:i+n]...)
		}
		i += n
	}
	return dst, true
}

// unescape returns the printable ASCII character that s starts with an escape
// of (%2e, &#46;, &#x2e;, &period;, \x2e, \u002e), and the escape's length,
// which is 1 if there is none.
func unescape(s string) (c byte, n int) {
	digits, base, entity := "", 16, false
	switch {
	case s[0] == '%' && len(s) >= 3:
		digits, n = s[1:3], 3
	case strings.HasPrefix(s, `\x`) && len(s) >= 4:
		digits, n = s[2:4], 4
	case strings.HasPrefix(s, `\u00`) && len(s) >= 6:
		digits, n = s[4:6], 6
	case strings.HasPrefix(s, "&#x"), strings.HasPrefix(s, "&#X"):
		digits, entity = s[3:], true
	case strings.HasPrefix(s, "&#"):
		digits, base, entity = s[2:], 10, true
	default:
		for _, e := range entities {
			if strings.HasPrefix(s, e.name) {
				return e.char, len(e.name)
			}
		}
		return 0, 1
	}
	if entity {
		end := strings.IndexByte(digits[:min(len(digits), 8)], ';')
		if end < 0 {
			return 0, 1
		}
		n = len(s) - len(digits) + end + 1
		digits = digits[:end]
	}
	v, err := strconv.ParseUint(digits, base, 32)
	if err != nil || v <= ' ' || v >= 0x7f {
		return 0, 1
	}
	return byte(v), n
}

// mayFold reports whether r lies in a block with compatibility forms.
func mayFold(r rune) bool {
	switch {
	case r < 0xa0:
		return false
	case r < 0xc0:
		return true
	case r < 0x1d00:
		return r == 0x132 || r == 0x133 || r == 0x149 || r == 0x17f ||
			r >= 0x1c4 && r <= 0x1cc || r >= 0x1f1 && r <= 0x1f3 || r >= 0x2b0 && r <= 0x2e4
	case r < 0x1dc0:
		return r >= 0x1d2c
	case r < 0x2c00:
		return r >= 0x2000
	case r < 0xa69c:
		return r >= 0x3000 && r <= 0x3400
	case r < 0xf900:
		return r >= 0xa7f0 && r <= 0xa7ff || r >= 0xab5b && r <= 0xab6f
	case r < 0x10000:
		return r >= 0xfb00 && r <= 0xfb06 || r >= 0xfe10 && r <= 0xfe6f || r >= 0xff01
	}
	return r >= 0x10780 && r <= 0x107bf || r >= 0x1ccd6 && r <= 0x1ccf9 || r >= 0x1d400 && r <= 0x1d7ff ||
		r >= 0x1f100 && r <= 0x1f190 || r >= 0x1fbf0 && r <= 0x1fbf9
}
