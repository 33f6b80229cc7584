package cleantext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is a part of a folded text, from start up to but not including end.
type span struct{ start, end int }

// removeLinks puts Marker in the place of every URL-shaped token of s.
func removeLinks(s string, r *Report) string {
	f := folded{text: s}
	if plainPrefix(s) < len(s) || strings.IndexByte(s, '%') >= 0 || strings.IndexByte(s, '&') >= 0 || strings.IndexByte(s, '\\') >= 0 {
		f = fold(s)
	}
	links := findLinks(f.text)
	if len(links) == 0 && f.shifts != nil { // folding hid .com before a circled digit, say
		f = folded{text: s}
		links = findLinks(s)
	}
	if len(links) == 0 {
		return s
	}
	var out strings.Builder
	done := 0
	for _, l := range links {
		start, end := max(f.origin(l.start), done), f.origin(l.end)
		for end <= start { // the token lies within what one character folds to
			l.end++
			end = f.origin(l.end)
		}
		out.WriteString(s[done:start])
		out.WriteString(Marker)
		done = end
	}
	r.Links += len(links)
	out.WriteString(s[done:])
	return out.String()
}

// A matcher goes over a folded text once and stops only at the characters that
// a token can be recognized by: a dot, a colon, two slashes, an at sign, the
// word dot. Around these it looks at what stands before and after.
type matcher struct {
	t     string
	floor int // end of the last token or Marker; nothing before it is looked at
}

// triggers tells at which bytes the matcher looks closer.
var triggers = [256]uint8{
	'.': signal, stopDot: signal, bulletDot: signal, ':': signal, '/': signal, '\\': signal, '@': signal, '[': signal,
	'd': letter, 'D': letter,
}

const (
	quiet  = iota // part of no token that something else does not tell of
	letter        // may begin the word dot
	signal        // a sign that addresses are written with
)

// findLinks returns the URL-shaped tokens of a folded text, in order and apart
// from one another.
func findLinks(t string) []span {
	var links []span
	m := matcher{t: t}
	for i := 0; i < len(t); {
		switch triggers[t[i]] {
		case quiet:
			i++
			continue
		case letter:
			if i+2 >= len(t) || t[i+1]|0x20 != 'o' || t[i+2]|0x20 != 't' {
				i++
				continue
			}
		case signal:
			if m.idle(i) {
				i++
				continue
			}
		}
		link, next := m.at(i)
		if link.end > link.start {
			links = append(links, link)
			m.floor, next = link.end, link.end
		}
		i = next
	}
	return links
}

// idle reports, for the commonest uses of a trigger in prose, that the one at i
// is no more than that: a full stop, a colon before a space, a slash.
func (m *matcher) idle(i int) bool {
	t := m.t
	if i == 0 || i+2 >= len(t) {
		return false
	}
	next := t[i+1]
	switch t[i] {
	case '.':
		if next != ' ' || !isWord(t[i-1]) || t[i-1]|0x20 == 'w' {
			return next == '.' && isWord(t[i-1])
		}
		n := i + 2 // evil. com/path is not idle
		for n < len(t) && n < i+8 && isLower(t[n]|0x20) {
			n++
		}
		return n > i+2 && n < len(t) && t[n] != '/'
	case ':':
		if isDigit(next) && isDigit(t[i-1]) && isDigit(t[i+2]) { // a time
			return (i < 2 || !isWord(t[i-2]) || isDigit(t[i-2])) && (i < 3 || !isWord(t[i-3]) && t[i-3] != ':') &&
				(i+3 == len(t) || t[i+3] == ' ')
		}
		return next == ' ' && t[i+2] != ' ' && t[i+2] != '/' && isWord(t[i-1])
	case '/':
		return next != '/' && next != '\\'
	}
	return false
}

// at returns the token that is recognized by the trigger at i, if there is
// one, and otherwise where to go on.
func (m *matcher) at(i int) (link span, next int) {
	switch m.t[i] {
	case '[':
		if m.isMarker(i) {
			m.floor = i + len(Marker)
			return span{}, m.floor
		}
	case ':':
		return m.colon(i), i + 1
	case '/', '\\':
		if i+1 < len(m.t) && (m.t[i+1] == '/' || m.t[i+1] == '\\') {
			return m.slashes(i)
		}
	case '@':
		return m.mail(i), i + 1
	case 'd', 'D':
		return m.dotWord(i)
	default:
		return m.dot(i)
	}
	return span{}, i + 1
}

func (m *matcher) isMarker(i int) bool { return strings.HasPrefix(m.t[i:], Marker) }

// byteAt returns the byte at i, and 0 outside the part that may be looked at.
func (m *matcher) byteAt(i int) byte {
	if i < m.floor || i >= len(m.t) {
		return 0
	}
	return m.t[i]
}

// dot looks for a host name or an IPv4 literal around the dot at i.
func (m *matcher) dot(i int) (span, int) {
	start, end := m.labelBefore(i)
	if start == end {
		return span{}, i + 1
	}
	h := m.host(start)
	if link, ok := m.judge(&h); ok {
		return link, link.end
	}
	// Within the labels there may be an IPv4 literal, or a joined word dot.
	for k := h.first; k < h.end; k++ {
		switch m.t[k] {
		case '.':
			if link, ok := m.ipv4(k); ok {
				return link, link.end
			}
		case 'd', 'D':
			if link := m.joinedDot(k); link.end > 0 {
				return link, link.end
			}
		}
	}
	return span{}, max(h.end, i+1)
}

// dotWord looks for a host name around the word dot at i.
func (m *matcher) dotWord(i int) (span, int) {
	if before := m.byteAt(i - 1); before == ' ' || isOpen(before) {
		return m.dot(i)
	}
	return m.joinedDot(i), i + 1
}

// joinedDot looks for a host name whose dot is the word at i, joined to what is
// around it: evil-dot-com, evil_dot_com, evilDOTcom.
func (m *matcher) joinedDot(i int) span {
	before, after := m.byteAt(i-1), m.byteAt(i+3)
	from := i + 3
	switch {
	case after == 0 || !strings.EqualFold(m.t[i:from], "dot"):
		return span{}
	case before == after && (before == '-' || before == '_'):
		from++
	case m.t[i:from] == "DOT" && isLower(before) && isLower(after):
	default:
		return span{}
	}
	end := from
	for end-from < 8 && isLower(m.byteAt(end)|0x20) { // no dotTLD is longer
		end++
	}
	if !dotTLDs[strings.ToLower(m.t[from:end])] || m.isLabelAt(end) {
		return span{}
	}
	return span{m.labelStart(i), m.tail(end)}
}

// labelBefore returns the label that the separator at i, a dot or the word
// dot, would end, over the spaces and the bracket that may stand between.
func (m *matcher) labelBefore(i int) (start, end int) {
	end = m.skipSpacesBack(i)
	if isOpen(m.byteAt(end - 1)) {
		end = m.skipSpacesBack(end - 1)
	}
	return m.labelStart(end), end
}

// colon looks for a scheme, a port or an IPv6 literal around the colon at i.
func (m *matcher) colon(i int) span {
	if link, ok := m.ipv6(i); ok {
		return link
	}
	// What is between a word and its colon: nothing, spaces, a bracket.
	wordEnd, next := i, i+1
	bracketed := isOpen(m.byteAt(i - 1))
	if bracketed {
		wordEnd--
		if isClose(m.byteAt(next)) {
			next++
		}
	}
	start := m.schemeStart(wordEnd)
	slashes := next
	for c := m.byteAt(slashes); c == '/' || c == '\\'; c = m.byteAt(slashes) {
		slashes++
	}
	if slashes-next >= 2 || slashes > next && m.isWeb(start, wordEnd) {
		if start == wordEnd {
			start = i
			if s := m.skipSpacesBack(i); m.isWeb(m.schemeStart(s), s) {
				start = m.schemeStart(s)
			}
		}
		if isClose(m.byteAt(slashes)) {
			slashes++ // http[://]host
		}
		return span{start, m.swallow(slashes, slashes, true)}
	}
	if p := m.skipSpaces(next); m.byteAt(p) == '/' && m.byteAt(p+1) == '/' {
		end := m.skipSpacesBack(wordEnd) // http : //
		if s := m.schemeStart(end); m.isWeb(s, end) {
			return span{s, m.swallow(p+2, p+2, true)}
		}
	}
	if start == wordEnd {
		return span{}
	}
	if !isBareScheme(m.t[start:wordEnd]) {
		start += strings.LastIndexAny(m.t[start:wordEnd], ".+-_") + 1
	}
	if isBareScheme(m.t[start:wordEnd]) {
		end := m.swallow(next, next, true)
		if r, _ := utf8.DecodeRuneInString(m.t[next:]); end > next || r >= utf8.RuneSelf && !unicode.IsSpace(r) {
			return span{start, end}
		}
		return span{}
	}
	return m.port(i)
}

// port looks for a bare host before the colon with a port after it: localhost,
// a number that is an address, or a name that a path or a region follows too.
func (m *matcher) port(colon int) span {
	start := m.labelStart(colon)
	end := colon + 1
	for isDigit(m.byteAt(end)) {
		end++
	}
	digits := end - colon - 1
	if start == colon || digits < 2 || digits > 5 || m.isLabelAt(end) {
		return span{}
	}
	host := strings.ToLower(m.t[start:colon])
	sep, after := m.byteAt(end), m.byteAt(end+1)
	goesOn := sep == '/' && isWord(after) || sep == ':' && (isWord(after) && !isDigit(after) || after >= utf8.RuneSelf)
	switch {
	case host == "localhost",
		(digits >= 4 || m.t[colon+1:end] == "80") && goesOn && !isNumber(host),
		isNumber(host) && (len(host) >= 8 || strings.HasPrefix(host, "0x") && len(host) > 8):
		return span{start, m.tail(colon)}
	}
	return span{}
}

// isBareScheme reports whether word, in any case and in letters that look like
// it, is a scheme that needs no slashes.
func isBareScheme(word string) bool {
	if len(word) < 2 || len(word) > 64 {
		return false
	}
	word = strings.ToLower(word)
	if !isASCII(word) {
		word = skeleton(word)
	}
	return bareSchemes[word]
}

// isWeb reports whether t[start:end] is a scheme that may be written loosely.
func (m *matcher) isWeb(start, end int) bool {
	return end-start >= 2 && end-start <= 64 && webSchemes[strings.ToLower(m.t[start:end])]
}

// slashes looks for a reference without a scheme at the two slashes at i:
// //host or \\host\share.
func (m *matcher) slashes(i int) (span, int) {
	end := i
	for c := m.byteAt(end); c == '/' || c == '\\'; c = m.byteAt(end) {
		end++
	}
	if before := m.byteAt(i - 1); isWord(before) || before >= utf8.RuneSelf || before == '.' || !m.isLabelAt(end) {
		return span{}, end
	}
	h := m.host(end)
	if link, ok := m.judge(&h); ok && link.start == end {
		return span{i, link.end}, link.end
	}
	after := m.byteAt(h.end)
	share := (after == '/' || after == '\\') && m.isLabelAt(h.end+1)
	if share || h.labels > 1 && h.alphabetic && !h.weak || strings.EqualFold(m.t[end:h.end], "localhost") {
		return span{i, m.tail(h.end)}, h.end
	}
	return span{}, end
}

// mail looks for an e-mail address around the at sign at i.
func (m *matcher) mail(i int) span {
	start := i
	for start > m.floor {
		r, n := utf8.DecodeLastRuneInString(m.t[m.floor:start])
		if !isLabel(r) && r != '.' && r != '+' && r != '%' || isUnspaced(r) {
			break
		}
		start -= n
	}
	if start == i || !m.isLabelAt(i+1) && m.byteAt(i+1) != '[' {
		return span{}
	}
	h := m.host(i + 1)
	if link, ok := m.judge(&h); ok && link.start == i+1 {
		return span{start, link.end}
	}
	if h.labels > 1 && h.alphabetic && !h.weak || strings.EqualFold(m.t[i+1:h.end], "localhost") {
		return span{start, m.tail(h.end)}
	}
	return span{}
}

// localPart returns where the e-mail address begins whose host begins at i and
// whose at sign is written as a word in brackets; i itself if there is none.
func (m *matcher) localPart(i int) int {
	p := m.skipSpacesBack(i)
	if !isClose(m.byteAt(p-1)) || p-4 < m.floor || !strings.EqualFold(m.t[p-3:p-1], "at") || !isOpen(m.t[p-4]) {
		return i
	}
	end := m.skipSpacesBack(p - 4)
	if start := m.schemeStart(end); start < end {
		return start
	}
	return i
}

// tail returns the end of what belongs to the host that ends at end: port,
// region, path, query, fragment.
func (m *matcher) tail(end int) int {
	for {
		if m.byteAt(end) == ':' && isDigit(m.byteAt(end+1)) {
			p := end + 1
			for isDigit(m.byteAt(p)) {
				p++
			}
			if end = p; m.byteAt(p) == ':' && m.isLabelAt(p+1) {
				return m.swallow(p+1, p, true)
			}
		}
		switch m.byteAt(end) {
		case '/', '?', '#', '\\':
			return m.swallow(end, end, false)
		case '@': // what was taken for the host was a name
			if h := m.host(end + 1); h.end > end+1 {
				end = h.end
				continue
			}
		}
		return end
	}
}

// swallow returns the end of the token that goes on at i: up to a space, a
// quotation mark or a bracket that was not opened in it, without the
// punctuation at its end, but not before least. Scripts that are written
// without spaces end a path, since prose would be swallowed; the host before
// the path may be in them if inHost is set.
func (m *matcher) swallow(i, least int, inHost bool) int {
	var open [8]byte // closing brackets that are awaited
	depth := 0
	end := i
loop:
	for i < len(m.t) {
		c := m.t[i]
		switch {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(m.t[i:])
			if !isLabel(r) || isUnspaced(r) && !inHost {
				break loop
			}
			i += n
			end = i
			continue
		case c == stopDot || c == bulletDot:
			if !inHost || !m.isLabelAt(i+1) {
				break loop
			}
		case c <= ' ', c == '<', c == '>', c == '"', c == '`':
			break loop
		case c == '/', c == '?', c == '#', c == '\\':
			inHost = false
		case c == '[' && m.isMarker(i):
			break loop
		case c == '(', c == '[', c == '{':
			if depth == len(open) {
				break loop
			}
			open[depth] = c
			depth++
		case isClose(c):
			if depth == 0 || closing(open[depth-1]) != c {
				break loop
			}
			depth--
			i++
			end = i
			continue
		}
		i++
		if !strings.ContainsRune(".,;:!?'*([{\x01\x02", rune(c)) {
			end = i
		}
	}
	return max(end, least)
}

// schemeStart returns where the scheme that ends at end begins.
func (m *matcher) schemeStart(end int) int {
	start := end
	for start > m.floor {
		r, n := utf8.DecodeLastRuneInString(m.t[m.floor:start])
		if !isLabel(r) && r != '.' && r != '+' || isUnspaced(r) {
			break
		}
		start -= n
	}
	return start
}

func (m *matcher) skipSpaces(i int) int {
	for n := 0; n < maxSpaces && m.byteAt(i) == ' '; n++ {
		i++
	}
	return i
}

func (m *matcher) skipSpacesBack(i int) int {
	for n := 0; n < maxSpaces && m.byteAt(i-1) == ' '; n++ {
		i--
	}
	return i
}

// maxSpaces is how many spaces may stand on one side of a defanged dot.
const maxSpaces = 3

func isOpen(c byte) bool  { return c == '[' || c == '(' || c == '{' || c == '<' }
func isClose(c byte) bool { return c == ']' || c == ')' || c == '}' || c == '>' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isWord(c byte) bool  { return isDigit(c) || isLower(c|0x20) || c == '_' }

// closing returns the bracket that closes c.
func closing(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	}
	return '>'
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isLabel reports whether r may stand in a label of a host name. Pictographs
// may: there are domains made of them.
func isLabel(r rune) bool {
	if r < utf8.RuneSelf {
		return isWord(byte(r)) || r == '-'
	}
	if r == utf8.RuneError {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || isPictograph(r) || isSkinTone(r)
}

// isUnspaced reports whether r belongs to a script that is written without
// spaces, so that a word of it may touch an address without being part of it.
func isUnspaced(r rune) bool {
	switch {
	case r < 0xe00:
		return false
	case r < 0x10a0:
		return r <= 0xeff || r >= 0x1000 // Thai, Lao, Myanmar
	case r < 0x3040:
		return r >= 0x1780 && r <= 0x17ff || isPictograph(r) // Khmer
	}
	return r <= 0x30ff || r >= 0x3100 && r <= 0x312f || r >= 0x31f0 && r <= 0x31ff || isHan(r) || isPictograph(r)
}
