package cleantext_test

import (
	"strings"
	"testing"

	"mvdan.cc/xurls/v2"

	"github.com/wipagent/wipagent/idl/cleantext"
)

const prose = "Welcome to Second's Garden! The plaza is open daily, 9:30 to 18:00; see the notice board (by the oak) for events. " +
	"Version 1.2.3 of the door script and/or the lamp is in the red box, e.g. for Node.js users. Price: L$250 - ask \"Ann\" or Bob. "

// corpus are the texts of the benchmarks, some 8 KiB each.
var corpus = func() []struct{ name, text string } {
	fill := func(s string) string { return strings.Repeat(s, 8192/len(s)+1) }
	mixed := ""
	for _, b := range benign {
		if b.name != "Fancy" {
			mixed += b.text + " "
		}
	}
	hostile := ""
	for _, tt := range removed {
		hostile += tt.in + " "
	}
	return []struct{ name, text string }{
		{"ascii", fill(prose)},
		{"mixed", mixed},
		{"hostile", hostile},
		{"name", "Second Resident"},
		{"dots", fill("a.")},
		{"colons", fill("a:")},
		{"slashes", fill("/")},
		{"ats", fill("a@a.")},
		{"brackets", fill("a[.]")},
		{"spaced", fill("a . ")},
		{"joined", fill("aDOTa")},
		{"han", fill("中.")},
		{"word", fill("中文字")},
		{"invisible", fill("\u200b\U000e0041")},
		{"marks", fill("\u0301")},
		{"escapes", fill("\x1b]")},
		{"links", fill("a.co ")},
		{"nested", fill("a.co.")},
	}
}()

func BenchmarkClean(b *testing.B) {
	for _, c := range corpus {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				cleantext.Clean(c.text, 0)
			}
		})
	}
}

// BenchmarkPeer finds links only, with the best-known finder of links in prose.
func BenchmarkPeer(b *testing.B) {
	re := xurls.Relaxed()
	for _, c := range corpus[:4] {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				re.FindAllStringIndex(c.text, -1)
			}
		})
	}
}
