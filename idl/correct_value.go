package idl

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wipagent/wipagent/idl/cleantext"
)

func (c *corrector) value(t *Type, v *sentValue) bool {
	if v.lost {
		return false
	}
	if v.kind == sentNull {
		c.out = append(c.out, "null"...)
		return t.Optional
	}
	if t.Kind != RecordOf && t.Kind != List && t.Kind != Map {
		v = single(v)
	}
	switch t.Kind {
	case RecordOf:
		slots := slotsOfFields(t.Record.Fields)
		if v.kind == sentArray && len(v.items) > 0 && len(v.items) <= len(slots) && !v.lost { // in declared order
			items := make([]sentMember, len(v.items))
			for i := range items {
				items[i] = sentMember{key: slots[i].name, value: v.items[i].value}
			}
			return c.object(slots, items)
		}
		inner, ok := c.composite(v, sentObject)
		return ok && c.object(slots, inner.items)
	case List:
		return c.list(t, v)
	case Map:
		return c.mapping(t, v)
	case Bool:
		return c.bool(v)
	case Int, Float, Timestamp, Duration:
		return c.number(t, v)
	}
	s, ok := c.correctString(t, v)
	if ok && t.Kind != Bytes && !harmless(s) { // the text of bytes says nothing
		c.refused = true
	}
	c.out = appendQuoted(c.out, s)
	return ok
}

// single takes a scalar out of a list of one, or out of an object that holds it as
// its value.
func single(v *sentValue) *sentValue {
	switch {
	case v.lost:
	case v.kind == sentArray && len(v.items) == 1:
		return &v.items[0].value
	case v.kind == sentObject:
		for i := range v.items {
			if inner := &v.items[i].value; v.items[i].key == "value" && inner.kind != sentObject && inner.kind != sentArray {
				return inner
			}
		}
	}
	return v
}

// harmless reports whether a string may be shown to a model. One that may not
// is not made showable either: then it would no longer be what was sent.
func harmless(s string) bool {
	plain := strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(s)
	clean, _ := cleantext.Clean(plain, 0)
	return clean == plain
}

func (c *corrector) bool(v *sentValue) bool {
	word := strings.TrimSpace(lower(v.text))
	switch {
	case v.kind == sentNumber && word == "1":
		word = "true"
	case v.kind == sentNumber && word == "0":
		word = "false"
	case v.kind == sentString && (word == "yes" || word == "on" || word == "1"):
		word = "true"
	case v.kind == sentString && (word == "no" || word == "off" || word == "0"):
		word = "false"
	}
	c.out = append(c.out, word...)
	return word == "true" || word == "false"
}

// number writes the nearest number that the type allows.
func (c *corrector) number(t *Type, v *sentValue) bool {
	text := strings.TrimSpace(v.text)
	if !isNumber(text) {
		text = plainNumber(text)
	}
	if amount, unit := quantityOf(text); v.kind == sentString && unit != "" && isNumber(amount) {
		switch {
		case t.Kind == Duration:
			text = amount + timeUnit(unit)
		case t.Kind != Timestamp && isUnit(unit, c.name):
			text = amount
		}
	}
	var n float64
	switch {
	case (v.kind == sentNumber || v.kind == sentString) && isNumber(text):
		n, _ = readNumber(t.Kind, text)
	case v.kind == sentString && strings.TrimPrefix(lower(text), "-") == "infinity":
		n, _ = strconv.ParseFloat(text, 64)
	case v.kind == sentString && t.Kind == Timestamp:
		at, err := time.Parse(time.RFC3339, text)
		if err != nil || at.Nanosecond()%int(time.Millisecond) != 0 {
			return false
		}
		n = float64(at.UnixMilli())
	case v.kind == sentString && t.Kind == Duration:
		d, err := time.ParseDuration(text)
		if err != nil || d%time.Millisecond != 0 {
			return false
		}
		n = float64(d.Milliseconds())
	default:
		return false
	}
	low, high := math.Inf(-1), math.Inf(1)
	if t.Kind != Float {
		low, high = -maxSafeInt, maxSafeInt
		n = math.Round(n) // keeps infinities
	}
	if r := t.Range; r != nil {
		if r.HasMin {
			low = max(low, r.Min)
		}
		if r.HasMax {
			high = min(high, r.Max)
		}
		if t.Kind != Float {
			low, high = math.Ceil(low), math.Floor(high)
		}
	}
	n = min(max(n, low), high)
	if math.IsInf(n, 0) || low > high {
		return false
	}
	c.out = appendNumber(c.out, n)
	return true
}

// quantityOf splits a number and what follows it, in lower case.
func quantityOf(text string) (amount, unit string) {
	i := strings.LastIndexAny(text, "0123456789")
	return plainNumber(strings.TrimSpace(text[:i+1])), lower(strings.TrimSpace(text[i+1:]))
}

// isUnit reports whether a unit is the one that a name ends with: "m", "meters"
// and "metres" of radius_meters, "ms" of age_millis.
func isUnit(unit, name string) bool {
	words := NameWords(name)
	if len(words) < 2 {
		return false
	}
	last := words[len(words)-1]
	unit = strings.NewReplacer("metre", "meter", "ms", "millis", "milliseconds", "millis").Replace(strings.TrimSuffix(unit, "."))
	return strings.HasPrefix(last, unit) || strings.TrimSuffix(unit, "s") == last
}

// timeUnit returns a unit of time as time.ParseDuration knows it.
func timeUnit(unit string) string {
	switch strings.TrimSuffix(unit, "s") {
	case "milli", "millisecond", "msec":
		return "ms"
	case "sec", "second":
		return "s"
	case "min", "minute":
		return "m"
	case "hour", "hr":
		return "h"
	}
	return unit
}

// correctString returns the string of the type that is nearest to v.
func (c *corrector) correctString(t *Type, v *sentValue) (string, bool) {
	s := v.text
	switch v.kind {
	case sentString:
	case sentNumber, sentBool:
		if t.Kind != String && t.Kind != Text {
			return "", false
		}
	default:
		return "", false
	}
	switch t.Kind {
	case String, Text:
		return c.correctText(t, s)
	case UUID:
		s = lower(strings.TrimSpace(s))
		s = strings.TrimPrefix(s, "urn:uuid:")
		s = strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
		if len(s) == 32 {
			s = s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
		}
		return s, isUUID(s)
	case Bytes:
		s = strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "").Replace(strings.TrimSpace(s))
		b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
		return base64.StdEncoding.EncodeToString(b), err == nil && t.Range.holds(float64(len(b)))
	case Entry:
		s = strings.TrimSpace(s)
		if len(s) > maxEntryPath {
			return "", false
		}
		s = "/" + strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '/' }), "/")
		return s, isEntryPath(s)
	case EnumOf:
		s = strings.Trim(s, " \t\r\n\"'`")
		if label := labelOf(t.Enum, s); label != "" {
			return label, true
		}
		if _, after, ok := strings.Cut(s, "."); ok && labelOf(t.Enum, after) != "" { // with the enum's name
			return labelOf(t.Enum, after), true
		}
		if c.guesses++; c.guesses > maxGuesses {
			return "", false
		}
		label := nearestLabel(t.Enum, s)
		return label, label != ""
	}
	return "", false
}

// correctText puts a string into the form of a pattern where only capitals or
// outer spaces are in the way. One of the wrong length has no nearest: half a
// question is another question.
func (c *corrector) correctText(t *Type, s string) (string, bool) {
	if r := t.Range; r != nil && r.HasMax && float64(len(s)) > r.Max {
		c.refused = true // without it the record would ask for something else, too
		return "", false
	}
	if !t.Range.holds(float64(len(s))) {
		return "", false
	}
	if t.Pattern == nil {
		return s, true
	}
	trimmed := strings.TrimSpace(s)
	for _, form := range []string{s, trimmed, strings.ToLower(trimmed), strings.ToUpper(trimmed)} {
		if t.Pattern.MatchString(form) {
			return form, true
		}
	}
	return "", false
}

// composite returns v, or what it holds as the JSON text of an object or list.
func (c *corrector) composite(v *sentValue, want sentKind) (*sentValue, bool) {
	if v.kind == sentString {
		if inner, ok := embedded(v.text, want, 0); ok {
			v = &inner
		}
	}
	return v, v.kind == want && !v.lost
}

// list writes the elements that can be corrected, as many as are allowed. A
// single value stands for a list of itself.
func (c *corrector) list(t *Type, v *sentValue) bool {
	inner, ok := c.composite(v, sentArray)
	if !ok {
		inner = &sentValue{kind: sentArray, items: []sentMember{{value: *v}}}
		if v.kind == sentString && t.Elem.Kind != String && t.Elem.Kind != Text { // in words a comma may be part of one
			inner.items = nil
			for part := range strings.SplitSeq(v.text, ",") {
				inner.items = append(inner.items, sentMember{value: sentValue{kind: sentString, text: strings.TrimSpace(part)}})
			}
		}
	}
	n := 0
	c.out = append(c.out, '[')
	for i := range inner.items {
		if t.Range != nil && t.Range.HasMax && float64(n+1) > t.Range.Max {
			break
		}
		mark := len(c.out)
		if n > 0 {
			c.out = append(c.out, ',')
		}
		if c.value(t.Elem, &inner.items[i].value) {
			n++
		} else {
			c.out = c.out[:mark]
		}
	}
	c.out = append(c.out, ']')
	return t.Range.holds(float64(n)) && (n > 0 || len(inner.items) == 0)
}

// mapping writes the members that can be corrected, as many as are allowed.
func (c *corrector) mapping(t *Type, v *sentValue) bool {
	inner, ok := c.composite(v, sentObject)
	if !ok {
		return false
	}
	last := make(map[string]int, len(inner.items))
	for i := range inner.items {
		last[inner.items[i].key] = i
	}
	n := 0
	c.out = append(c.out, '{')
	for i := range inner.items {
		m := &inner.items[i]
		if last[m.key] != i || t.Range != nil && t.Range.HasMax && float64(n+1) > t.Range.Max {
			continue
		}
		mark := len(c.out)
		if n > 0 {
			c.out = append(c.out, ',')
		}
		c.out = appendQuoted(c.out, m.key)
		c.out = append(c.out, ':')
		if c.value(t.Elem, &m.value) {
			n++
			c.refused = c.refused || !harmless(m.key)
		} else {
			c.out = c.out[:mark]
		}
	}
	c.out = append(c.out, '}')
	return t.Range.holds(float64(n)) && (n > 0 || len(inner.items) == 0)
}
