// Package cleantext makes a stranger's text safe to show a model.
//
// Names, descriptions and chat of a virtual world are written by people whom
// nobody vouches for. Some of them write for the model that will read the
// text: instructions in characters that no person sees, addresses to fetch,
// escape sequences for the terminal of whoever looks on. Clean takes those
// away and leaves prose, in every script, as it was.
//
// # Characters
//
//   - A run of bytes that is not UTF-8 becomes one U+FFFD.
//   - Control characters (C0, DEL, C1, U+2028, U+2029; newline and tab too)
//     become one space a run; the run takes in the spaces that follow it, and
//     is dropped if a space precedes it. A complete terminal sequence (CSI,
//     and the OSC, DCS, SOS, PM and APC strings) counts as part of the run.
//   - Invisible and direction-changing characters are dropped: all that
//     Unicode calls default ignorable, the whole tag block, interlinear
//     annotations, the object replacement character and noncharacters.
//   - Of these a joiner (U+200C, U+200D) stays between two emoji or between
//     two letters of one joining script, never beside ASCII; a variation
//     selector stays, one at a time, after a character that has variants;
//     Mongolian selectors stay after Mongolian letters.
//   - Of the marks on one character the first 4 general diacritics stay, and
//     the first 8 marks in all; no orthography needs more.
//
// A flag that is spelled with tags (England, Scotland, Wales) becomes a black
// flag.
//
// # Links
//
// Every URL-shaped token becomes Marker; punctuation after it stays. Matching
// is done on a folded copy (compatibility forms, look-alike dots, colons and
// slashes, small capitals, enclosed letters, escapes of URLs and HTML), and on
// the text itself, so that a disguise does not help. URL-shaped are
//
//   - any scheme://, and the schemes that need no slashes (http:x, data:,
//     javascript:, mailto:, tel:, file:, hxxp: and so on);
//   - //host and \\host\share;
//   - a host name that ends in a top-level domain, or starts with www, or has
//     a port; with port, path, query and the hypergrid's region behind it;
//   - IPv4 and IPv6 literals, e-mail addresses, localhost and other bare
//     hosts with a port;
//   - the defanged forms of all these: evil[.]com, evil(dot)com, evil . com,
//     evil dot com, hxxp[:]//.
//
// Not URL-shaped are version numbers, abbreviations, Node.js, and a file name
// with a well-known extension (README.md) unless a path or port follows it.
// Where a dot is written with spaces or as a word, top-level domains that are
// also everyday words do not count. A script that is written without spaces
// ends a host or a path that it touches.
//
// # Guarantees
//
// The result is valid UTF-8, holds no control character and no URL-shaped
// token, not even one that a removal or the cut brought together, and cleaning
// it again changes nothing. Time is linear in the length of the text but for a
// small number of repeated passes. All functions are safe for concurrent use.
package cleantext

// Marker stands where a URL-shaped token was removed. A stranger may write it
// too; it means nothing more than that a link is not there.
const Marker = "[link removed]"

// maxPasses bounds how often a text is cleaned again because the last pass
// changed it. Removing a link may lay bare another, which takes a second pass
// and a third to see that all is done; more needs intent.
const maxPasses = 8

// Report counts what Clean took away. The zero value says: nothing.
type Report struct {
	Links     int // URL-shaped tokens replaced by Marker
	Invisible int // invisible and direction-changing characters dropped
	Control   int // control characters, and characters of terminal sequences
	Marks     int // combining marks dropped beyond the number a letter may bear
	Invalid   int // bytes that were not UTF-8
	Cut       int // bytes cut off the end to keep to the bound
}

// Changed reports whether anything was taken away.
func (r Report) Changed() bool { return r != Report{} }

// Add adds the counts of o to r, for the report on several texts.
func (r *Report) Add(o Report) {
	r.Links += o.Links
	r.Invisible += o.Invisible
	r.Control += o.Control
	r.Marks += o.Marks
	r.Invalid += o.Invalid
	r.Cut += o.Cut
}

// Clean returns s without what could mislead a model or harm a terminal, as
// the package comment says, and a count of what was taken away.
//
// If maxBytes is above 0, the result is at most that many bytes long. It then
// ends at the boundary of a grapheme cluster and never inside a Marker; if
// even the first cluster does not fit, it is empty. With 0 nothing is cut.
//
// A text whose links unravel into ever new ones, which takes intent, is
// replaced by a single Marker.
func Clean(s string, maxBytes int) (string, Report) {
	var r Report
	for range maxPasses {
		t := cleanChars(s, &r)
		t = removeLinks(t, &r)
		t = cut(t, maxBytes, &r)
		if t == s {
			return s, r
		}
		s = t
	}
	r.Links++
	return cut(Marker, maxBytes, &r), r
}
