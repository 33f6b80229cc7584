package lsp

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// slowPosition counts from the start, rune by rune.
func slowPosition(src string, off int) position {
	var p position
	for i, r := range src {
		if i >= off {
			break
		}
		switch {
		case r == '\n', r == '\r' && !strings.HasPrefix(src[i+1:], "\n"):
			p = position{Line: p.Line + 1}
		default:
			p.Character += utf16.RuneLen(r)
		}
	}
	return p
}

func TestPositions(t *testing.T) {
	tests := []struct {
		name, src, before string // the place is behind before
		want              position
	}{
		{"start", "abc", "", position{0, 0}},
		{"ascii", "ab\ncd", "ab\nc", position{1, 1}},
		{"crlf", "ab\r\ncd", "ab\r\nc", position{1, 1}},
		{"lone cr", "ab\rcd", "ab\rc", position{1, 1}},
		{"accent", "é: x", "é", position{0, 1}},
		{"combining accent", "e\u0301: x", "e\u0301", position{0, 2}},
		{"cjk", "門: x", "門", position{0, 1}},
		{"emoji", "🚪: x", "🚪", position{0, 2}},
		{"emoji of several runes", "👩‍👩‍👧‍👦 x", "👩‍👩‍👧‍👦", position{0, 11}},
		{"flag", "🇩🇪 x", "🇩🇪", position{0, 4}},
		{"bytes that are no UTF-8", "\xff\xfe x", "\xff\xfe", position{0, 2}},
		{"byte order mark", "\ufeffab", "\ufeffa", position{0, 2}},
		{"second line behind emoji", "🚪\n🚪 x", "🚪\n🚪 ", position{1, 3}},
		{"end", "ab\n", "ab\n", position{1, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			txt := newText(tt.src)
			if got := txt.position(len(tt.before)); got != tt.want {
				t.Errorf("position: got %v, want %v", got, tt.want)
			}
			if got := txt.offset(tt.want); got != len(tt.before) {
				t.Errorf("offset: got %d, want %d", got, len(tt.before))
			}
		})
	}
}

func TestPlacesOutside(t *testing.T) {
	txt := newText("ab🚪\ncd")
	tests := []struct {
		name string
		p    position
		want int
	}{
		{"behind a line", position{0, 99}, 6},
		{"behind the text", position{9, 0}, 9},
		{"within a surrogate pair", position{0, 3}, 2},
		{"before a line", position{1, -1}, 0},
		{"before the text", position{-1, 5}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := txt.offset(tt.p); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
	if got := txt.position(99); got != (position{1, 2}) {
		t.Errorf("position behind the text: got %v", got)
	}
	if got := txt.position(-1); got != (position{}) {
		t.Errorf("position before the text: got %v", got)
	}
}

// someText draws texts with lines long enough for several blocks.
func someText() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"a", "é", "門", "🚪", "e\u0301", "\n", "\r\n", "\r", "\xff", "\xe4\xb8", "👩‍👧", strings.Repeat("x", block-1), strings.Repeat("門", 90)})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "") })
}

func TestAnyPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := someText().Draw(t, "text")
		txt := newText(src)
		off := rapid.IntRange(0, len(src)).Draw(t, "offset")
		for off < len(src) && !runeStart(src, off) {
			off++
		}
		p := txt.position(off)
		if want := slowPosition(src, off); p != want {
			t.Fatalf("position(%d) = %v, want %v in %q", off, p, want, src)
		}
		if strings.HasSuffix(src[:off], "\r") && strings.HasPrefix(src[off:], "\n") {
			return // between the two bytes of a line's end is no place
		}
		if back := txt.offset(p); back != off {
			t.Fatalf("offset(%v) = %d, want %d in %q", p, back, off, src)
		}
	})
}

// runeStart reports whether a rune, or a byte that is none, starts at off.
func runeStart(src string, off int) bool {
	for i := range src {
		if i >= off {
			return i == off
		}
	}
	return off == len(src)
}

// TestAnyChanges keeps a document by incremental changes, and another of the
// same in UTF-16 as an editor does.
func TestAnyChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := strings.ToValidUTF8(strings.ReplaceAll(someText().Draw(t, "text"), "\r", ""), "?")
		d := newDocument("file:///a.wip", "/a.wip", 1, src, nil)
		mirror := utf16.Encode([]rune(src))
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			start := rapid.IntRange(0, len(mirror)).Draw(t, "start")
			end := min(len(mirror), start+rapid.IntRange(0, 20).Draw(t, "length"))
			for _, at := range []*int{&start, &end} { // editors do not cut pairs
				if *at < len(mirror) && *at > 0 && utf16.IsSurrogate(rune(mirror[*at])) && mirror[*at] >= 0xdc00 {
					*at--
				}
			}
			with := rapid.SampledFrom([]string{"", "x", "🚪", "門\n", "\n\n"}).Draw(t, "with")
			r := textRange{Start: mirrorPosition(mirror, start), End: mirrorPosition(mirror, end)}
			after, err := d.changed(d.version+1, []contentChange{{Range: &r, Text: with}})
			if err != nil {
				t.Fatal(err)
			}
			d = after
			mirror = append(append(append([]uint16(nil), mirror[:start]...), utf16.Encode([]rune(with))...), mirror[end:]...)
			if want := string(utf16.Decode(mirror)); d.src != want {
				t.Fatalf("got %q, want %q", d.src, want)
			}
		}
	})
}

func mirrorPosition(units []uint16, at int) position {
	var p position
	for _, u := range units[:at] {
		if u == '\n' {
			p = position{Line: p.Line + 1}
		} else {
			p.Character++
		}
	}
	return p
}

func TestEdits(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"same", "a\nb\n", "a\nb\n"},
		{"one line", "a\nb\nc\n", "a\nB\nc\n"},
		{"first", "a\nb\n", "A\nb\n"},
		{"last", "a\nb", "a\nb\n"},
		{"removed", "a\na\na\n", "a\na\n"},
		{"added", "a\na\n", "a\na\na\n"},
		{"all", "🚪", "x\n"},
		{"nothing before", "", "x\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			txt := newText(tt.before)
			if got := applied(txt, txt.edits(tt.after)); got != tt.after {
				t.Errorf("got %q, want %q", got, tt.after)
			}
		})
	}
}

func TestAnyEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := newText(someText().Draw(t, "before")), someText().Draw(t, "after")
		if strings.Contains(before.src, "\r") {
			return // an edit's places are lines that end with \n
		}
		if got := applied(before, before.edits(after)); got != after {
			t.Fatalf("got %q, want %q", got, after)
		}
	})
}

func TestPathOf(t *testing.T) {
	tests := []struct{ uri, want string }{
		{"file:///a/b%20c/d.wip", "/a/b c/d.wip"},
		{"file:///a/%E9%96%80.wip", "/a/門.wip"},
		{"file:///a/../b.wip", "/b.wip"},
		{"untitled:Untitled-1", "/ws/untitled%3AUntitled-1.wip"},
		{"git:/../../x.wip", "/ws/git%3A%2F..%2F..%2Fx.wip"},
	}
	for _, tt := range tests {
		if got := pathOf(tt.uri, "/ws"); got != tt.want {
			t.Errorf("pathOf(%q) = %q, want %q", tt.uri, got, tt.want)
		}
	}
	if got, want := uriOf("/a/b c/門.wip"), "file:///a/b%20c/%E9%96%80.wip"; got != want {
		t.Errorf("uriOf: got %q, want %q", got, want)
	}
}
