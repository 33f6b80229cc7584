package archive

import (
	"encoding/xml"
	"strings"
)

// Limits lets tests lower the bounds.
type Limits = limits

// LoadLimited is Load with bounds of the test's own.
var LoadLimited = load

// DefaultLimits returns the bounds of Load.
func DefaultLimits() Limits { return defaults }

// Entries sets how many tar entries there may be.
func (l Limits) Entries(n int) Limits { l.entries = n; return l }

// Total sets how many bytes may be unpacked.
func (l Limits) Total(n int64) Limits { l.total = n; return l }

// Bomb sets when and how much unpacking becomes suspicious.
func (l Limits) Bomb(bytes, ratio int64) Limits { l.bomb, l.ratio = bytes, ratio; return l }

// Texts sets how many bytes of text are kept.
func (l Limits) Texts(n int) Limits { l.texts = n; return l }

// Bounds that tests step over.
const (
	MaxWarnings = maxWarnings
	MaxXMLRun   = 1 << 10 // of DecodeText
	MaxXMLDepth = maxXMLDepth
)

// DecodeText returns the text of a document's root element.
func DecodeText(document string) (string, error) {
	d := newDecoder(strings.NewReader(document), MaxXMLRun)
	start, err := root(d)
	if err != nil {
		return "", err
	}
	var v struct {
		Text string `xml:",chardata"`
	}
	if err := d.DecodeElement(&v, &start); err != nil {
		return "", unexpected(err)
	}
	return unescape(v.Text), nil
}

var _ xml.TokenReader = (*shallow)(nil)
