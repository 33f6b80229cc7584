package main

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl/syntax"
)

func TestPoints(t *testing.T) {
	for _, unit := range []string{"a", "é", "語", "😀", "a😀é\n", "\ufeffx", "\xff\xfe", strings.Repeat("語😀", 999) + "\n"} {
		text := []byte(strings.Repeat(unit, 1+20_000/len(unit)))
		f := &findings{texts: map[string][]byte{"a.wip": text}}
		for offset := 0; offset <= len(text); offset += 1 + len(text)/97 {
			for offset < len(text) && !utf8.RuneStart(text[offset]) {
				offset++
			}
			begin := strings.LastIndexByte(string(text[:offset]), '\n') + 1
			before := string(text[begin:offset])
			got := f.point("a.wip", syntax.Pos{Offset: offset, Line: 1, Col: offset - begin + 1})
			if want := len([]rune(before)) + 1; got.Rune != want {
				t.Errorf("%.9q at %d: found code point %d, expected %d", unit, offset, got.Rune, want)
			}
			if want := len(utf16.Encode([]rune(before))) + 1; got.UTF16 != want {
				t.Errorf("%.9q at %d: found code unit %d, expected %d", unit, offset, got.UTF16, want)
			}
		}
	}
}

// BenchmarkPoints shows that a place costs the same in a document of one line.
func BenchmarkPoints(b *testing.B) {
	for name, line := range map[string]string{"lines": "import word é word;\n", "one_line": "import word é word; "} {
		text := strings.Repeat(line, (1<<20)/len(line))
		var list []syntax.Diagnostic
		for offset := 0; offset < len(text); offset += len(line) * (len(text) / len(line) / 1000) {
			at := syntax.Pos{Offset: offset, Line: 1 + strings.Count(text[:offset], "\n"), Col: offset - strings.LastIndex(text[:offset], "\n")}
			list = append(list, syntax.Diagnostic{Span: syntax.Span{File: "a.wip", Start: at, End: at}})
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f := &findings{list: list, texts: map[string][]byte{"a.wip": []byte(text)}}
				if got := f.json(); len(got) != len(list) {
					b.Fatal(len(got))
				}
			}
		})
	}
}
