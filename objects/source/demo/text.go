package demo

import "strings"

// tagged returns a text in the invisible characters of the tag block.
func tagged(s string) string {
	return strings.Map(func(r rune) rune { return 0xE0000 + r }, s)
}

// over returns a letter under a heap of accents.
func over(letter string, accents int) string {
	var b strings.Builder
	b.WriteString(letter)
	for i := range accents {
		b.WriteRune(0x0300 + rune(i*7%0x6f))
	}
	return b.String()
}

func repeat(s string, n int) string { return strings.TrimSpace(strings.Repeat(s, n)) }
