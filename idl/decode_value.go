package idl

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// value checks v against t and writes its canonical form.
func (d *decoder) value(t *Type, v *sentValue) {
	if v.kind == sentNull && v.slip == "" && t.Optional {
		d.out = append(d.out, "null"...)
		return
	}
	switch t.Kind {
	case RecordOf, List, Map:
		d.composite(t, v)
		return
	}
	if v.slip != "" {
		d.fault("%s", v.slip)
		return
	}
	switch t.Kind {
	case Bool:
		d.bool(t, v)
	case Int, Timestamp, Duration, Float:
		d.number(t, v)
	case String, Text, UUID, Bytes, Entry, EnumOf:
		if v.kind != sentString {
			d.wrongType(t, v)
			return
		}
		d.string(t, v.text)
	default:
		d.fault("found a value for a type that only results have, expected none")
	}
}

func (d *decoder) wrongType(t *Type, v *sentValue) {
	d.fault("found %s, expected %s", v.describe(), describe(t))
}

func (d *decoder) bool(t *Type, v *sentValue) {
	word := v.text
	switch {
	case v.kind == sentBool:
	case v.kind == sentString && (lower(word) == "true" || lower(word) == "false"):
		word = lower(word)
		d.repair("read %s as %s", quoteSent(v.text), word)
	default:
		d.wrongType(t, v)
		return
	}
	d.out = append(d.out, word...)
}

// number checks a number of any kind. A string that holds a JSON number is
// read as one.
func (d *decoder) number(t *Type, v *sentValue) {
	text := v.text
	if v.kind != sentNumber && (v.kind != sentString || !isNumber(text)) {
		d.wrongType(t, v)
		return
	}
	n, exact := readNumber(t.Kind, text)
	if !exact || !t.Range.holds(n) {
		d.fault("found %s, expected %s", quoteNumber(v), describe(t))
		return
	}
	start := len(d.out)
	d.out = appendNumber(d.out, n)
	if canon := string(d.out[start:]); v.kind == sentString {
		d.repair("read %s as the number %s", quoteSent(text), canon)
	} else if text != canon && (t.Kind != Float || n == 0 && text[0] == '-') {
		d.repair("read %s as %s", quoteSent(text), canon)
	}
}

// readNumber reads a JSON number as a value of the kind. It reports false if
// the kind has no such value: a fraction or more than 53 bits of an integer, or
// what overflows or underflows a float. n is then the nearest there is.
func readNumber(k Kind, text string) (n float64, exact bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return n, false
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	if n == 0 {
		return 0, !strings.ContainsAny(mantissa, "123456789")
	}
	if k == Float {
		return n, true
	}
	if n < -maxSafeInt || n > maxSafeInt || n != float64(int64(n)) {
		return n, false
	}
	// What rounds to an integer need not be one: 1.00000000000000000001.
	return n, isIntegral(text)
}

// holds reports whether n lies in the range; a nil range holds everything.
func (r *Range) holds(n float64) bool {
	return r == nil || (!r.HasMin || n >= r.Min) && (!r.HasMax || n <= r.Max)
}

func (d *decoder) string(t *Type, s string) {
	switch t.Kind {
	case String, Text:
		if !t.Range.holds(float64(len(s))) {
			d.fault("found %d bytes of UTF-8, expected %s", len(s), describe(t))
			return
		}
		if t.Pattern != nil && !t.Pattern.MatchString(s) {
			d.fault("found %s, expected %s", quoteSent(s), describe(t))
			return
		}
	case UUID:
		canon := lower(s)
		if !isUUID(canon) {
			d.fault("found %s, expected %s", quoteSent(s), describe(t))
			return
		}
		if canon != s {
			d.repair("read the UUID in lower case")
			s = canon
		}
	case Bytes:
		b, err := base64.StdEncoding.Strict().DecodeString(s)
		if err != nil || strings.ContainsAny(s, "\r\n") {
			d.fault("found text that is not standard base64 with padding, expected %s", describe(t))
			return
		}
		if !t.Range.holds(float64(len(b))) {
			d.fault("found %d bytes, expected %s", len(b), describe(t))
			return
		}
	case Entry:
		if !isEntryPath(s) {
			d.fault("found %s, expected %s", quoteSent(s), describe(t))
			return
		}
	case EnumOf:
		label := labelOf(t.Enum, s)
		if label == "" {
			d.fault("%s", unknownLabel(t, s))
			return
		}
		if label != s {
			d.repair("read %s as the label %s", quoteSent(s), label)
			s = label
		}
	}
	d.out = appendQuoted(d.out, s)
}

// composite checks an object or a list. One that was sent as the JSON text of
// itself is read.
func (d *decoder) composite(t *Type, v *sentValue) {
	want := sentObject
	if t.Kind == List {
		want = sentArray
	}
	if v.kind == sentString && v.slip == "" {
		if inner, ok := embedded(v.text, want, len(d.path)); ok {
			d.repair("read the string as the JSON that it holds")
			v = &inner
		} else {
			before := len(d.faults)
			if inner = d.misquoted(*v, want); len(d.faults) > before {
				return
			}
			v = &inner
		}
	}
	if v.kind != want {
		if v.slip != "" {
			d.fault("%s", v.slip)
		} else {
			d.wrongType(t, v)
		}
		return
	}
	if t.Kind == RecordOf {
		d.object(slotsOfFields(t.Record.Fields), v)
		return
	}
	if v.slip != "" {
		d.fault("%s", v.slip)
	}
	if !t.Range.holds(float64(len(v.items))) {
		d.fault("found %d items, expected %s", len(v.items), describe(t))
	}
	if t.Kind == List {
		d.list(t, v)
	} else {
		d.mapping(t, v)
	}
}

func (d *decoder) list(t *Type, v *sentValue) {
	d.out = append(d.out, '[')
	for i := range v.items {
		if d.full() {
			return
		}
		if i > 0 {
			d.out = append(d.out, ',')
		}
		d.path = append(d.path, argStep{"", i})
		d.value(t.Elem, &v.items[i].value)
		d.path = d.path[:len(d.path)-1]
	}
	d.out = append(d.out, ']')
}

func (d *decoder) mapping(t *Type, v *sentValue) {
	seen := make(map[string]bool, len(v.items))
	d.out = append(d.out, '{')
	for i := range v.items {
		if d.full() {
			return
		}
		m := &v.items[i]
		if m.slip != "" {
			d.faultAt(m.key, "%s", m.slip)
		}
		if seen[m.key] {
			d.faultAt(m.key, "found the key twice, expected it once")
			continue
		}
		seen[m.key] = true
		if i > 0 {
			d.out = append(d.out, ',')
		}
		d.out = appendQuoted(d.out, m.key)
		d.out = append(d.out, ':')
		d.path = append(d.path, argStep{m.key, -1})
		d.value(t.Elem, &m.value)
		d.path = d.path[:len(d.path)-1]
	}
	d.out = append(d.out, '}')
}
