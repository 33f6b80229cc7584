package cleantext

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// joint is what stands between two labels of a host name.
type joint uint8

const (
	noJoint  joint = iota
	plainDot       // a dot, or a defanged one in brackets
	fullStop       // stopDot: counts only before an ASCII top-level domain
	spaceDot       // a dot after spaces
	lateDot        // a dot before spaces, which as a rule ends a sentence
	wordDot        // the word dot, or a bullet
)

// host is a run of labels and what stands between them.
type host struct {
	start, end int
	labels     int
	weak       bool // a joint other than a plain dot is in it
	alphabetic bool // the last label begins with a letter
	first      int  // end of the first label
	www        bool

	domain    span // the part that ends in a top-level domain, if end is above start
	domainDot joint
	domainLen int // labels in domain
}

// host reads the run of labels that starts at start.
func (m *matcher) host(start int) host {
	end := m.labelEnd(start)
	h := host{start: start, end: end, first: end}
	if end == start {
		return h
	}
	h.add(m.t[start:end])
	run, runLen := start, 1 // the labels joined by plain dots up to here
	mixed, mixedLen := start, 1
	last := m.t[start:end]
	for {
		j, from := m.joint(h.end)
		if j == noJoint {
			return h
		}
		to := m.labelEnd(from)
		label := m.t[from:to]
		if j == lateDot {
			// Only www. evil. com and evil. com/path are more than a sentence's end.
			tld := dotTLDs[strings.ToLower(label)]
			if !(h.www && (h.labels == 1 || tld)) && !(tld && m.byteAt(to) == '/') {
				return h
			}
			j = spaceDot
		}
		h.add(label)
		if j != plainDot {
			h.weak = true
			run, runLen = from, 0
		}
		if j == fullStop {
			// An ideographic full stop ends a sentence far more often than a
			// label, so that what is before it counts only if this is the end.
			if n := tldPrefix(j, last, label); n > 0 {
				h.domain, h.domainDot, h.domainLen = span{mixed, from + n}, j, mixedLen+1
			}
			mixed, mixedLen = from, 0
		} else if n := tldPrefix(j, last, label); n > 0 {
			first, count := run, runLen+1
			if j != plainDot {
				first, count = mixed, mixedLen+1
			}
			if count > 1 {
				h.domain, h.domainDot, h.domainLen = span{first, from + n}, j, count
			}
		}
		runLen++
		mixedLen++
		h.end, last = to, label
	}
}

// add notes what the next label tells about the host.
func (h *host) add(label string) {
	if h.labels == 0 {
		h.www = len(label) >= 3 && len(label) <= 4 && strings.EqualFold(label[:3], "www") &&
			(len(label) == 3 || isDigit(label[3]))
	}
	h.labels++
	h.alphabetic = isLower(label[0]|0x20) || label[0] >= utf8.RuneSelf
}

// judge decides whether a host is URL-shaped, and where the token ends.
func (m *matcher) judge(h *host) (span, bool) {
	if link, ok := m.ipv4(h.first); ok {
		return link, true
	}
	next := m.byteAt(h.end)
	goesOn := (next == ':' || next == '/' || next == '@' || next == '?' || next == '#' || next == '\\') &&
		m.isLabelAt(h.end+1)
	port := next == ':' && m.isPort(h.end)
	switch {
	case h.domain.end > h.domain.start:
		d := h.domain
		if _, n := utf8.DecodeRuneInString(m.t[d.start:]); !goesOn && m.byteAt(d.start+n) == '.' && m.t[d.start+n+1] >= utf8.RuneSelf {
			return span{}, false // an abbreviation of one letter, as that of a city before its name
		}
		if h.domainDot == plainDot && !goesOn && next != '/' && h.domainLen == 2 && d.end == h.end && m.isFile(d) {
			return span{}, false
		}
		if d.end < h.end && goesOn && !h.weak {
			d.end = h.end
		}
		if !h.weak && h.www {
			d.start = h.start
		}
		return span{m.localPart(d.start), m.tail(d.end)}, true
	case h.www && h.labels > 1, port && h.labels > 1 && h.alphabetic && !h.weak:
		return span{h.start, m.tail(h.end)}, true
	}
	return span{}, false
}

// isFile reports whether the two labels of d are the name of a file.
func (m *matcher) isFile(d span) bool {
	name := strings.ToLower(m.t[d.start:d.end])
	ext := name[strings.LastIndexByte(name, '.')+1:]
	return fileTLDs[ext] && !strings.HasPrefix(name, "www.") && m.byteAt(d.start-1) != '@' &&
		!(m.byteAt(d.start-1) == '/' && m.byteAt(d.start-2) == '/')
}

// isPort reports whether the colon at i has a port after it: 80, or three to
// five digits.
func (m *matcher) isPort(i int) bool {
	end := i + 1
	for isDigit(m.byteAt(end)) {
		end++
	}
	return end-i-1 >= 3 && end-i-1 <= 5 || m.t[i+1:end] == "80"
}

// ipv4 looks for an IPv4 literal whose first number ends at end. Four numbers
// are an address unless they are a version: a word before them says so, the
// first or the other three are zero, or there are more.
func (m *matcher) ipv4(end int) (span, bool) {
	start := end
	for isWord(m.byteAt(start - 1)) {
		start--
	}
	if !isOctet(m.t[start:end]) || m.byteAt(start-1) == '.' && isDigit(m.byteAt(start-2)) {
		return span{}, false
	}
	for range 3 {
		j, from := m.joint(end)
		if j != plainDot && j != fullStop {
			return span{}, false
		}
		for end = from; isWord(m.byteAt(end)); end++ {
		}
		if !isOctet(m.t[from:end]) {
			return span{}, false
		}
	}
	if m.byteAt(end) == '.' && isDigit(m.byteAt(end+1)) {
		return span{}, false
	}
	if next := m.byteAt(end); next != '/' && !(next == ':' && m.isPort(end)) {
		before := m.skipSpacesBack(start)
		word := strings.ToLower(m.t[m.labelStart(before):before])
		if strings.HasPrefix(m.t[start:], "0.") || strings.HasSuffix(m.t[start:end], ".0.0.0") || before < start && versionWords[word] {
			return span{}, false
		}
	}
	return span{start, m.tail(end)}, true
}

// isOctet reports whether s is one part of an IPv4 literal: up to 255, in
// decimal, octal or hexadecimal.
func isOctet(s string) bool {
	if !isNumber(s) || len(s) > 12 {
		return false
	}
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil { // 08 and 09 are no octal numbers, but somebody may mean them
		n, err = strconv.ParseUint(s, 10, 64)
	}
	return err == nil && n <= 255
}

// ipv6 looks for an IPv6 literal that holds the colon at i.
func (m *matcher) ipv6(i int) (span, bool) {
	const longest = 45 // bytes; an IPv4 address may be written at the end
	start, end := i, i+1
	colons := 1
	for c := m.byteAt(start - 1); isHex(c) && c != '.' && i-start < longest; c = m.byteAt(start - 1) {
		start--
	}
	for c := m.byteAt(end); isHex(c) && end-start <= longest; c = m.byteAt(end) {
		if c == ':' {
			colons++
		}
		end++
	}
	if colons < 2 {
		return span{}, false
	}
	addr, err := netip.ParseAddr(m.t[start:end])
	if err != nil { // a sentence may go on after it
		if dot := strings.IndexByte(m.t[start:end], '.'); dot > 0 {
			end = start + dot
		}
		if end-start > 2 && m.t[end-1] == ':' && m.t[end-2] != ':' {
			end--
		}
		addr, err = netip.ParseAddr(m.t[start:end])
	}
	if err != nil || !addr.Is6() || isWord(m.byteAt(end)) || isWord(m.byteAt(start-1)) {
		return span{}, false
	}
	if !strings.ContainsAny(m.t[start:end], "0123456789") && colons < 4 {
		return span{}, false // ::bed is decoration, or a word
	}
	if m.byteAt(end) == '%' { // a zone
		end = m.labelEnd(end + 1)
	}
	if m.byteAt(start-1) == '[' && m.byteAt(end) == ']' {
		start, end = start-1, end+1
	}
	return span{start, m.tail(end)}, true
}

// joint returns what stands at i between two labels, and where the second
// label begins. There is no joint where no label follows.
func (m *matcher) joint(i int) (joint, int) {
	spaced := m.skipSpaces(i)
	open := isOpen(m.byteAt(spaced))
	at := spaced
	if open {
		if m.isMarker(at) {
			return noJoint, 0
		}
		at = m.skipSpaces(at + 1)
	}
	j := noJoint
	after := at + 1
	switch m.byteAt(at) {
	case '.':
		j = plainDot
	case stopDot:
		j = fullStop
	case bulletDot:
		j = wordDot
	case 'd', 'D':
		if at+3 <= len(m.t) && strings.EqualFold(m.t[at:at+3], "dot") && at > i {
			j, after = wordDot, at+3
		}
	}
	if j == noJoint {
		return noJoint, 0
	}
	next := m.skipSpaces(after)
	closed := isClose(m.byteAt(next)) && (next == after || open)
	switch {
	case open && closed:
		// evil [.] com: nobody writes that but to be understood.
		if next = m.skipSpaces(next + 1); !m.isLabelAt(next) {
			return noJoint, 0
		}
		return plainDot, next
	case open || closed:
		// evil[.com: half of it, with nothing else around.
		if open && (spaced > i || next > after || j == wordDot) || closed && (at > i || j == wordDot) {
			return noJoint, 0
		}
		if closed {
			next++
		}
	case j == wordDot && m.byteAt(at) != bulletDot:
		if spaced == i || next == after {
			return noJoint, 0
		}
	case j == wordDot:
		if spaced > i || next > after {
			return noJoint, 0 // a bullet between words
		}
	case spaced > i:
		j = spaceDot
	case next > after:
		j = lateDot
	}
	if !m.isLabelAt(next) {
		return noJoint, 0
	}
	return j, next
}

// tldPrefix returns how many bytes at the start of label are a top-level
// domain that the joint j before it lets count; last is the label before.
func tldPrefix(j joint, last, label string) int {
	n := 0
	for n < len(label) && isWord(label[n]) && label[n] != '_' {
		n++
	}
	ends := n == len(label) || strings.Trim(label[n:], "_") == ""
	if n >= 2 && !isDigit(label[0]) && (ends || label[n] != '_' && (j == plainDot || j == fullStop || label[n] >= utf8.RuneSelf)) {
		if n == 2 && strings.EqualFold(label[:n], "xn") && strings.HasPrefix(label[n:], "--") {
			for n < len(label) && (isWord(label[n]) && label[n] != '_' || label[n] == '-') {
				n++
			}
			return n
		}
		if tld := strings.ToLower(label[:n]); isTLD(tld) && counts(j, last, label[:n], tld) {
			return n
		}
	}
	if n == len(label) || j != plainDot {
		return 0
	}
	if !isASCII(last) || !isASCII(label) {
		if sk := skeleton(strings.ToLower(label)); (hasLetter(last) || hasLetter(label)) && isASCII(sk) && isTLD(sk) {
			return len(label)
		}
	}
	// The longest start that is a domain: words of some scripts run on.
	longest := 0
	lower := strings.ToLower(label)
	if len(lower) != len(label) {
		return 0 // a letter whose two cases differ in length is in none of them
	}
	for i, runes := n, n; i < len(label) && runes < longestIDN; runes++ {
		_, size := utf8.DecodeRuneInString(label[i:])
		if i += size; idnTLDs[lower[:i]] {
			longest = i
		}
	}
	return longest
}

// counts reports whether the joint j makes an address of the label last and
// the top-level domain tld, which is written as.
func counts(j joint, last, as, tld string) bool {
	switch j {
	case fullStop: // after a word of a script that ends sentences with it, with care
		r, _ := utf8.DecodeLastRuneInString(last)
		return !isUnspaced(r) || dotTLDs[as]
	case spaceDot:
		loud := as == strings.ToUpper(as) && last == strings.ToUpper(last) && tld != "net" // ASP .NET
		return (as == tld || loud) && !wordTLDs[tld] && !leadWords[strings.ToLower(last)]
	case wordDot:
		return dotTLDs[tld] && !leadWords[strings.ToLower(last)]
	}
	return true
}

// isTLD reports whether label, in lower case and ASCII, is a top-level domain
// of the public root or one that is used as if it were.
func isTLD(label string) bool {
	if len(label) < 2 || len(label) > 63 {
		return false
	}
	_, icann := publicsuffix.PublicSuffix(label)
	return icann || pseudoTLDs[label]
}

// skeleton returns s with letters that look like ASCII letters replaced by
// these.
func skeleton(s string) string {
	return strings.Map(func(r rune) rune {
		if b := lookAlike(r); b != 0 {
			return rune(b)
		}
		return r
	}, s)
}

// isNumber reports whether s is a number as hosts are given in: decimal,
// octal, or hexadecimal after 0x.
func isNumber(s string) bool {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		for i := 2; i < len(s); i++ {
			if !isHex(s[i]) || s[i] == ':' || s[i] == '.' {
				return false
			}
		}
		return true
	}
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// isHex reports whether c may stand in an IPv6 literal.
func isHex(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' || c == ':' || c == '.'
}

func hasLetter(s string) bool {
	for i := 0; i < len(s); i++ {
		if isLower(s[i] | 0x20) {
			return true
		}
	}
	return false
}

// isLabelAt reports whether a label begins at i.
func (m *matcher) isLabelAt(i int) bool {
	if i < m.floor || i >= len(m.t) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(m.t[i:])
	return isLabel(r)
}

// labelEnd returns the end of the label that begins at i.
func (m *matcher) labelEnd(i int) int {
	for i < len(m.t) {
		r, n := utf8.DecodeRuneInString(m.t[i:])
		if !isLabel(r) {
			break
		}
		i += n
	}
	return i
}

// labelStart returns the start of the label that ends at end. Where an ASCII
// label touches a word of a script without spaces, it begins after the word.
func (m *matcher) labelStart(end int) int {
	start := end
	ascii := false
	for start > m.floor {
		if c := m.t[start-1]; c < utf8.RuneSelf {
			if !isWord(c) && c != '-' {
				break
			}
			ascii = true
			start--
			continue
		}
		r, n := utf8.DecodeLastRuneInString(m.t[m.floor:start])
		if !isLabel(r) || ascii && isUnspaced(r) {
			break
		}
		start -= n
	}
	return start
}
