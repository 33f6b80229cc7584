package idl

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lower folds ASCII capitals only: with Unicode folding a long s or a Kelvin
// sign would count as the letter that it resembles.
func lower(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// isIntegral reports whether a JSON number, which is not 0, has no fraction.
func isIntegral(text string) bool {
	mantissa, exponent, _ := strings.Cut(lower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	fraction = strings.TrimRight(fraction, "0")
	if exponent == "" {
		return fraction == ""
	}
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return false
	}
	if fraction == "" { // the exponent may also be taken by zeros: 500e-2
		e += len(whole) - len(strings.TrimRight(whole, "0"))
	}
	return e >= len(fraction)
}

// maxEntryPath bounds an entry's path, in bytes.
const maxEntryPath = 1024

// isEntryPath reports whether s is an absolute path: a slash, or segments that
// each follow a slash and are neither empty nor a dot or two.
func isEntryPath(s string) bool {
	if s == "/" {
		return true
	}
	if !strings.HasPrefix(s, "/") || len(s) > maxEntryPath {
		return false
	}
	for segment := range strings.SplitSeq(s[1:], "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
		for _, r := range segment {
			if r < ' ' || 0x7f <= r && r < 0xa0 {
				return false
			}
		}
	}
	return true
}

// labelOf returns the label that s is, in whatever capitals; empty if none.
func labelOf(e *Enum, s string) string {
	folded := lower(s)
	for _, l := range e.Labels {
		if lower(l.Name) == folded {
			return l.Name
		}
	}
	return ""
}

// appendNumber writes a finite number in its canonical form: an integer
// without fraction or exponent where it has 53 bits, else the shortest decimal
// that reads back (as ECMAScript and encoding/json write it). -0 is 0.
func appendNumber(dst []byte, n float64) []byte {
	if n == math.Trunc(n) && math.Abs(n) <= maxSafeInt {
		return strconv.AppendInt(dst, int64(n), 10)
	}
	dst = appendFloat(dst, n)
	if i := len(dst) - 4; i >= 0 && string(dst[i:i+3]) == "e-0" { // e-07 is e-7
		dst = append(dst[:i+2], dst[i+3])
	}
	return dst
}

// cutRunes returns the longest start of s that has at most n bytes and ends
// between two characters.
func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// plainNumber takes what JSON does not allow from the outside of a number:
// +5, 007, .5, 5.
func plainNumber(w string) string {
	sign := ""
	switch {
	case strings.HasPrefix(w, "+"):
		w = w[1:]
	case strings.HasPrefix(w, "-"):
		sign, w = "-", w[1:]
	}
	for len(w) > 1 && w[0] == '0' && '0' <= w[1] && w[1] <= '9' {
		w = w[1:]
	}
	if strings.HasPrefix(w, ".") {
		w = "0" + w
	}
	return sign + strings.TrimSuffix(w, ".")
}

// isNumber reports whether w is a JSON number (RFC 8259, section 6).
func isNumber(w string) bool {
	w = strings.TrimPrefix(w, "-")
	n := digits(w)
	if n == 0 || n > 1 && w[0] == '0' {
		return false
	}
	w = w[n:]
	if strings.HasPrefix(w, ".") {
		if n = digits(w[1:]); n == 0 {
			return false
		}
		w = w[1+n:]
	}
	if w != "" && (w[0] == 'e' || w[0] == 'E') {
		w = w[1:]
		if w != "" && (w[0] == '+' || w[0] == '-') {
			w = w[1:]
		}
		if n = digits(w); n == 0 {
			return false
		}
		w = w[n:]
	}
	return w == ""
}

// digits counts the decimal digits that w starts with.
func digits(w string) int {
	n := 0
	for n < len(w) && '0' <= w[n] && w[n] <= '9' {
		n++
	}
	return n
}
