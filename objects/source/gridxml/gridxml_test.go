package gridxml_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/source/gridxml"
)

const maxRun = 1 << 10 // bytes of a tag and the text after it

// decodeText returns the text of a document's root element.
func decodeText(document string) (string, error) {
	d := gridxml.NewDecoder(strings.NewReader(document), maxRun)
	var v struct {
		Text string `xml:",chardata"`
	}
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	return gridxml.Unescape(v.Text), nil
}

func TestXMLText(t *testing.T) {
	for _, test := range []struct{ name, document, want string }{
		{"declared utf-16", `<?xml version="1.0" encoding="utf-16"?><a>広場 🏞</a>`, "広場 🏞"},
		{"byte order mark", "\ufeff<a>x</a>", "x"},
		{"byte order mark inside", "<a>\ufeffx</a>", "\ufeffx"},
		{"little-endian utf-16", wide("\ufeff<a>日本 🐉</a>", 0), "日本 🐉"},
		{"big-endian utf-16", wide("\ufeff<a>日本 🐉</a>", 1), "日本 🐉"},
		{"utf-16 without a mark", wide("<a>x</a>", 0), "x"},
		{"forbidden references", "<a>&#x1;&#x1b;[31m&#27;&#x0;</a>", "\x01\x1b[31m\x1b\x00"},
		{"forbidden bytes", "<a>\x01\x1b\x00</a>", "\x01\x1b\x00"},
		{"noncharacters", "<a>&#xFFFE;\uffff</a>", "\ufffe\uffff"},
		{"allowed references", "<a>&lt;&#65;&amp;&#x9;&quot;&#xD;</a>", "<A&\t\"\r"},
		{"reference of an ampersand", "<a>&amp;#x1;</a>", "&#x1;"},
		{"ampersands as they are", "<a>Tom & Jerry &&amp;&#65; AT&T; &</a>", "Tom & Jerry &&A AT&T; &"},
		{"ampersands before what is no reference", "<a>&boom; &#; &#x; &#xZZ; &#65 &lt &#x110000;</a>", "&boom; &#; &#x; &#xZZ; &#65 &lt &#x110000;"},
		{"the private form itself", "<a>\U0010FFFD\U0010F001&#x10FFFD;\U0010F001</a>", "\U0010FFFD\U0010F001\U0010FFFD\U0010F001"},
		{"surrogate references", "<a>&#xD83D;&#xDE00;&#55357;&#56832;</a>", "😀😀"},
		{"half a surrogate", "<a>&#xD83D;x&#xDE00;</a>", "\ufffdx\ufffd"},
		{"invalid UTF-8", "<a>a\xffb\xc3</a>", "a\ufffdb\ufffd"},
		{"cdata", "<a><![CDATA[&#x1;<b>\x1b]]>&#x1;</a>", "&#x1;<b>\x1b\x01"},
		{"comment", "<a>x<!-- &#x1; <b> -->y</a>", "xy"},
		{"spaces", "<a>  padded  </a>", "  padded  "},
		{"empty", "<a />", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := decodeText(test.document)
			if err != nil || got != test.want {
				t.Errorf("found %q, %v, expected %q", got, err, test.want)
			}
		})
	}
}

// wide encodes as UTF-16; low is the index of a unit's low byte.
func wide(s string, low int) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if low == 0 {
			b = append(b, byte(u), byte(u>>8))
		} else {
			b = append(b, byte(u>>8), byte(u))
		}
	}
	return string(b)
}

func TestXMLRefused(t *testing.T) {
	for _, test := range []struct{ name, document string }{
		{"nothing", ""},
		{"text only", "hello"},
		{"cut off", "<a>x"},
		{"cut off in a tag", "<a"},
		{"mismatched", "<a></b>"},
		{"deep", strings.Repeat("<a>", gridxml.MaxDepth+1) + strings.Repeat("</a>", gridxml.MaxDepth+1)},
		{"long text", "<a>" + strings.Repeat("x", maxRun) + "</a>"},
		{"long cdata", "<a><![CDATA[" + strings.Repeat("<", maxRun) + "]]></a>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := decodeText(test.document); err == nil {
				t.Errorf("found %.20q, expected an error", got)
			}
		})
	}
}

// TestXMLProperty: whatever text the simulator writes comes back as it was.
func TestXMLProperty(t *testing.T) {
	character := rapid.OneOf(
		rapid.Rune(),
		rapid.RuneFrom([]rune{0, 1, 0x1b, '&', '#', 'x', ';', '<', '>', '-', '[', ']', '\n', '\ufeff', '\ufffe', '\U0010FFFD', '\U0010F001', '\U0010F100', '\U0010F101', 'C', 'D'}),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(character, 0, 40).Draw(t, "text"))
		if got, err := decodeText(`<?xml version="1.0" encoding="utf-16"?><a>` + escapeXML(text) + "</a>"); err != nil || got != text {
			t.Fatalf("found %q, %v, expected %q", got, err, text)
		}
	})
}

// TestXMLBareAmpersands: a text survives though its ampersands were not
// escaped, as long as none of them begins a reference.
func TestXMLBareAmpersands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("&& ;amplt#x1\u00e9")), 0, 40, -1).Filter(func(s string) bool {
			return !strings.Contains(s, "amp;") && !strings.Contains(s, "lt;") && !strings.Contains(s, "#")
		}).Draw(t, "text")
		if got, err := decodeText("<a>" + text + "</a>"); err != nil || got != text {
			t.Fatalf("found %q, %v, expected %q", got, err, text)
		}
	})
}

// escapeXML writes a text as the simulator does.
func escapeXML(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x20 && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF:
			fmt.Fprintf(&b, "&#x%X;", r)
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
