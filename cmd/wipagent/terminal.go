package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/rivo/uniseg"
)

// table prints rows in columns, the first row being the header. On a terminal
// that is too narrow the widest columns are cut until the rest fits; where there
// is none, nothing is.
func (p *page) table(rows [][]string) {
	const gap, narrowest = 2, 8 // columns of the terminal
	widths := []int{}
	for _, row := range rows {
		for i := range row {
			row[i] = strings.TrimSpace(printable(row[i]))
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(row[i]))
		}
	}
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for p.width > 0 && total > p.width {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			break
		}
		widths[widest]--
		total--
	}
	for _, row := range rows {
		var b strings.Builder
		for i, c := range row {
			c = cut(c, widths[i])
			b.WriteString(c)
			b.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(c)+gap))
		}
		p.line("%s", b.String())
	}
}

// cut shortens a cell to a width on a grapheme boundary.
func cut(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var b strings.Builder
	used := 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if used += g.Width(); used > width-1 {
			break
		}
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}

// printable takes away what could control a terminal, or change what a reader
// sees without being seen.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			return ' '
		case invisible(r):
			return -1
		}
		return r
	}, s)
}

// invisible reports whether r is a format character, such as one that changes
// the direction of writing. Joiners are none: letters and emoji need them.
func invisible(r rune) bool {
	const joiner, nonJoiner = 0x200d, 0x200c
	return unicode.Is(unicode.Cf, r) && r != joiner && r != nonJoiner
}

// escapeControls writes as JSON escapes what printable takes away. The encoder
// has already done so below U+0020.
func escapeControls(raw string) string {
	unsafe := func(r rune) bool {
		return r >= 0x7f && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || invisible(r))
	}
	if strings.IndexFunc(raw, unsafe) < 0 {
		return raw
	}
	var b strings.Builder
	for _, r := range raw {
		if !unsafe(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// shellQuote quotes a word for a POSIX shell if it needs it.
func shellQuote(word string) string {
	plain := func(r rune) bool { return !strings.ContainsRune("/_-.,:=#", r) && !isAlnum(r) }
	if word != "" && strings.IndexFunc(word, plain) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func isAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
