package cleantext_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"mvdan.cc/xurls/v2"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// check returns what is wrong with what Clean made of in, or nil. oracle adds
// the outside matcher, which is slow.
func check(in string, max int, oracle bool) error {
	out, r := cleantext.Clean(in, max)
	again, r2 := cleantext.Clean(out, max)
	switch {
	case again != out:
		return fmt.Errorf("cleaned again it is %+q", again)
	case r2.Changed():
		return fmt.Errorf("cleaned again it is the same, but reported as %+v", r2)
	case !utf8.ValidString(out):
		return fmt.Errorf("not UTF-8")
	case max > 0 && len(out) > max:
		return fmt.Errorf("%d bytes, want at most %d", len(out), max)
	case out != in && !r.Changed():
		return fmt.Errorf("changed, but not reported")
	case out == in && r.Changed():
		return fmt.Errorf("unchanged, but reported as %+v", r)
	case cleantext.Links(out) > 0:
		return fmt.Errorf("a link is left")
	}
	if max == 0 || r.Cut == 0 {
		// What is shown may not be longer than what came, but for markers.
		if n := len(in) + r.Links*len(cleantext.Marker) + 2*r.Invalid; len(out) > n {
			return fmt.Errorf("%d bytes, want at most %d", len(out), n)
		}
	}
	if err := checkRunes(out); err != nil {
		return err
	}
	if !oracle {
		return nil
	}
	for _, loc := range xurls.Relaxed().FindAllStringIndex(out, -1) {
		if !excused(out, loc[0], loc[1]) {
			return fmt.Errorf("xurls finds %+q", out[loc[0]:loc[1]])
		}
	}
	for _, loc := range xurls.Strict().FindAllStringIndex(out, -1) {
		if !excused(out, loc[0], loc[1]) {
			return fmt.Errorf("strict xurls finds %+q", out[loc[0]:loc[1]])
		}
	}
	return nil
}

// checkRunes looks for characters that no cleaned text holds.
func checkRunes(s string) error {
	marks, prev := 0, rune(0)
	runes := []rune(s)
	for i, r := range runes {
		next := rune(0)
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		joiner := r == 0x200c || r == 0x200d
		selector := unicode.Is(unicode.Variation_Selector, r)
		switch {
		case unicode.IsControl(r), r == 0x2028, r == 0x2029:
			return fmt.Errorf("control character %U is left", r)
		case joiner && (prev < 0x80 || next < 0x80):
			return fmt.Errorf("joiner beside ASCII")
		case selector && unicode.Is(unicode.Variation_Selector, prev):
			return fmt.Errorf("two selectors in a row")
		case joiner, selector, r == 0x180e:
		case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Bidi_Control),
			r == 0xad, r == 0xfeff, r >= 0xe0000 && r <= 0xe0fff, r >= 0xfff9 && r <= 0xfffc,
			r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x206f, unicode.Is(unicode.Noncharacter_Code_Point, r):
			return fmt.Errorf("invisible character %U is left", r)
		}
		if unicode.In(r, unicode.Mn, unicode.Me) && !selector {
			if marks++; marks > 8 {
				return fmt.Errorf("more than 8 marks on one character")
			}
		} else {
			marks = 0
		}
		prev = r
	}
	return nil
}

var (
	ipv4    = regexp.MustCompile(`^\d+\.\d+\.\d+\.\d+`)
	version = regexp.MustCompile(`(?i)(v|ver|versions?|releases?|rel|build|viewer|firmware|driver|opensim(ulator)?) +$`)
	file    = regexp.MustCompile(`(?i)^[\pL\pM\pN-]+\.([a-z]+)$`)
)

// excused reports whether the oracle's match s[start:end] is one of those that
// Clean leaves on purpose.
func excused(s string, start, end int) bool {
	match := s[start:end]
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	inWord := start > 0 && (unicode.IsLetter(before) || unicode.IsNumber(before) || unicode.IsMark(before))
	if m := file.FindStringSubmatch(match); m != nil && cleantext.FileTLDs[strings.ToLower(m[1])] {
		return true // README.md
	}
	if _, n := utf8.DecodeRuneInString(match); n+1 < len(match) && match[n] == '.' && match[n+1] >= utf8.RuneSelf {
		return true // an abbreviation of one letter before a name that is a domain too
	}
	if ipv4.MatchString(match) {
		// A version: of more than four parts, or one that a word announces.
		return strings.HasPrefix(match, "0.") || strings.Contains(match, ".0.0.0") || before == '.' || after == '.' ||
			before == ' ' && version.MatchString(s[:start])
	}
	if colon := strings.IndexByte(match, ':'); colon >= 0 && !strings.Contains(match, "://") {
		if strings.Count(match, ":") > 1 || strings.Contains(match, "::") {
			// IPv6 that is part of a longer word, or decoration: std::x, ::BED.
			if addr, err := netip.ParseAddr(strings.Trim(match, "[]")); err == nil && addr.Is6() {
				wordAfter := unicode.IsLetter(after) || unicode.IsDigit(after) || after == '_' || after == ':' || after == '.'
				return inWord || wordAfter || before == '_' || before == ':' || before == '.' ||
					!strings.ContainsAny(match, "0123456789")
			}
		}
		return inWord // hotel:5 holds tel:5
	}
	return false
}

// pieces are what hostile texts are made of.
var pieces = []string{
	"http", "https", "hxxp", "HTTPS", "ftp", "hop", "secondlife", "data", "javascript", "mailto", "tel", "file", "cid", "geo",
	":", "/", "//", "://", "\\", "\\\\", ".", "..", "@", "?", "#", "%", "&", "=", "-", "_", ",", ";", "!", "'", "\"", "`", "~", "*", "+", "|", "^", "$",
	"(", ")", "[", "]", "{", "}", "<", ">", " ", "  ", "\n", "\t", "\r\n", "\x00", "\x1b", "\x1b[31m", "\x1b]0;", "\a", "\u009b", "\u2028",
	"evil", "com", "www", "example", "org", "md", "README", "co", "uk", "io", "it", "so", "dot", "DOT", "(dot)", "[.]", " . ", " dot ", "localhost", "host",
	"0", "1", "10", "127", "255", "256", "8002", "80", "0x7f", "0x7f000001", "::1", "fe80", "version", "v1", "a", "b", "x", "e", "xn--", "xn--p1ai",
	"\u200b", "\u200c", "\u200d", "\u2060", "\u00ad", "\u202e", "\u2066", "\ufeff", "\ufe0f", "\ufe0e", "\U000e0041", "\U000e0100", "\u3164", "\u180e", "\u180b", "\u034f",
	"\u0301", "\u0338", "\u20e3", "\u3002", "\uff0e", "\uff61", "\u2024", "·", "•", "\uff1a", "\uff0f", "\u2215", "\u2236", "【", "】", "\u00a0", "\u3000",
	"ｅｖｉｌ", "ｃｏｍ", "𝐜𝐨𝐦", "ⓒⓞⓜ", "⒞", "ᴄᴏᴍ", "с", "о", "м", "і", "рф", "пример", "例え", "みんな", "中国", "भारत", "한국", "ไทย", "كوم", "שלום", "مثال",
	"क्", "ष", "می", "خواهم", "ᠮ", "葛", "👩", "🚀", "👨‍👩‍👧", "🏳️‍🌈", "🇯🇵", "🇨", "👍🏽", "1️⃣", "❤", "é", "é", "ß", "ﬁ", "㏂", "℡", "½", "…", "\ufffd", "\xff", "\xc3", "\xe2\x80",
	"%2e", "%2F", "%3a", "&#46;", "&#x2f;", "&period;", "&", "%6", `\u002e`, `\x2e`,
	cleantext.Marker, "[link", "removed]",
}

func hostileText() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom(pieces), rapid.SampledFrom(pieces), rapid.SampledFrom(pieces),
		rapid.Map(rapid.Rune(), func(r rune) string { return string(r) }))
	return rapid.Map(rapid.SliceOfN(piece, 0, 24), func(s []string) string { return strings.Join(s, "") })
}

func TestCleanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := hostileText().Draw(t, "text")
		max := rapid.OneOf(rapid.Just(0), rapid.IntRange(1, 64), rapid.Just(256)).Draw(t, "max")
		if err := check(in, max, true); err != nil {
			out, _ := cleantext.Clean(in, max)
			t.Fatalf("Clean(%+q, %d) = %+q: %v", in, max, out, err)
		}
	})
}

// TestMutations cleans WIPAGENT_MUTATIONS texts, 2,000 by default, that are
// made of the tables' rows: cut, joined, repeated, with bytes changed.
func TestMutations(t *testing.T) {
	n := 2000
	if v, err := strconv.Atoi(os.Getenv("WIPAGENT_MUTATIONS")); err == nil {
		n = v
	}
	var seeds []string
	for _, tt := range removed {
		seeds = append(seeds, tt.in)
	}
	seeds = append(append(seeds, kept...), pieces...)
	for _, s := range benign {
		seeds = append(seeds, s.text)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		in := mutate(rng, seeds)
		max := []int{0, 256, rng.IntN(80)}[rng.IntN(3)]
		if err := check(in, max, i%4 == 0); err != nil {
			out, _ := cleantext.Clean(in, max)
			t.Fatalf("Clean(%+q, %d) = %+q: %v", in, max, out, err)
		}
	}
}

func mutate(rng *rand.Rand, seeds []string) string {
	s := seeds[rng.IntN(len(seeds))]
	for range 1 + rng.IntN(6) {
		at := rng.IntN(len(s) + 1)
		other := seeds[rng.IntN(len(seeds))]
		switch rng.IntN(6) {
		case 0:
			s = s[:at] + other + s[at:]
		case 1:
			s = s[:at]
		case 2:
			s = s[at:] + s[:at]
		case 3:
			s = s[:at] + other[rng.IntN(len(other)+1):]
		case 4:
			s = s[:at] + pieces[rng.IntN(len(pieces))] + s[at:]
		case 5:
			if at < len(s) {
				b := []byte(s)
				b[at] ^= 1 << rng.IntN(8)
				s = string(b)
			}
		}
		if len(s) > 2000 {
			s = s[:2000]
		}
	}
	return s
}

func TestTLDs(t *testing.T) {
	for _, tld := range append(append([]string{}, xurls.TLDs...), xurls.PseudoTLDs...) {
		if out, _ := cleantext.Clean("evil."+tld, 0); out != cleantext.Marker && !cleantext.FileTLDs[tld] {
			t.Errorf("evil.%s is left as %+q", tld, out)
		}
	}
	for _, no := range []string{"js", "The", "com1", "", "a", "md5", "c"} {
		if cleantext.IsTLD(no) {
			t.Errorf("%q is taken for a top-level domain", no)
		}
	}
}

// FuzzClean looks for texts whose cleaned form breaks a guarantee.
func FuzzClean(f *testing.F) {
	for _, tt := range removed {
		f.Add(tt.in, 0)
	}
	for i, s := range kept {
		f.Add(s, i)
	}
	f.Fuzz(func(t *testing.T, in string, max int) {
		if len(in) > 4096 {
			return
		}
		if err := check(in, max, len(in) < 256); err != nil {
			out, _ := cleantext.Clean(in, max)
			t.Fatalf("Clean(%+q, %d) = %+q: %v", in, max, out, err)
		}
	})
}

// TestCut cuts every text of the benign corpus at every length.
func TestCut(t *testing.T) {
	for _, b := range benign {
		want := 0 // the longest cut that fits
		g := uniseg.NewGraphemes(b.text)
		g.Next()
		for max := 1; max <= len(b.text)+1; max++ {
			if _, end := g.Positions(); end == max {
				want = end
				g.Next()
			}
			got, r := cleantext.Clean(b.text, max)
			if got != strings.TrimRight(b.text[:want], "\u200c\u200d\u180e") || r.Cut != len(b.text)-len(got) {
				t.Fatalf("%s cut to %d: %+q, %+v", b.name, max, got, r)
			}
		}
	}
}

func TestCutMarker(t *testing.T) {
	for _, tt := range []struct {
		in   string
		max  int
		want string
	}{
		{"see http://example.com now", 18, "see [link removed]"},
		{"see http://example.com now", 17, "see "},
		{"http://example.com", 14, "[link removed]"},
		{"http://example.com", 13, ""},
		{"a [link removed] b", 15, "a "},
		{"delivered.Italy", 12, ""},
		{"delivered.Italy is far away", 14, "delivered.Ital"},
		{"e\u0301e\u0301", 4, "e\u0301"},
		{"👨\u200d👩\u200d👧", 17, ""},
		{"🇯🇵🇩🇪", 15, "🇯🇵"},
	} {
		if got, _ := cleantext.Clean(tt.in, tt.max); got != tt.want {
			t.Errorf("Clean(%+q, %d) = %+q, want %+q", tt.in, tt.max, got, tt.want)
		}
	}
}
