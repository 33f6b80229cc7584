package llsd

import (
	"encoding/base64"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/wipagent/wipagent/objects/world"
)

// AppendXML appends v as a document. Parse reads it back as an equal value,
// unless v is nested deeper than Parse goes. Characters that XML forbids are
// written as references, as OpenSimulator does.
func (v Value) AppendXML(dst []byte) []byte {
	dst = append(dst, "<llsd>"...)
	dst = v.append(dst)
	return append(dst, "</llsd>"...)
}

func (v Value) append(b []byte) []byte {
	switch x := v.v.(type) {
	case bool:
		if x {
			return append(b, "<boolean>1</boolean>"...)
		}
		return append(b, "<boolean>0</boolean>"...)
	case int64:
		b = append(b, "<integer>"...)
		b = strconv.AppendInt(b, x, 10)
		return append(b, "</integer>"...)
	case float64:
		b = append(b, "<real>"...)
		b = appendReal(b, x)
		return append(b, "</real>"...)
	case world.UUID:
		b = append(b, "<uuid>"...)
		b = append(b, x.String()...)
		return append(b, "</uuid>"...)
	case string:
		b = append(b, "<string>"...)
		b = appendText(b, x)
		return append(b, "</string>"...)
	case uri:
		b = append(b, "<uri>"...)
		b = appendText(b, string(x))
		return append(b, "</uri>"...)
	case time.Time:
		b = append(b, "<date>"...)
		b = x.AppendFormat(b, time.RFC3339Nano)
		return append(b, "</date>"...)
	case bytes:
		b = append(b, `<binary encoding="base64">`...)
		b = base64.StdEncoding.AppendEncode(b, []byte(x))
		return append(b, "</binary>"...)
	case array:
		b = append(b, "<array>"...)
		for _, e := range x {
			b = e.append(b)
		}
		return append(b, "</array>"...)
	case dict:
		b = append(b, "<map>"...)
		for _, m := range x {
			b = append(b, "<key>"...)
			b = appendText(b, m.Key)
			b = append(b, "</key>"...)
			b = m.Value.append(b)
		}
		return append(b, "</map>"...)
	}
	return append(b, "<undef/>"...)
}

func appendReal(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

func appendText(b []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r < 0x20 && r != '\t' && r != '\n', r == 0xFFFE, r == 0xFFFF:
			b = append(b, "&#x"...)
			b = strconv.AppendInt(b, int64(r), 16)
			b = append(b, ';')
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}
