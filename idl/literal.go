package idl

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl/syntax"
)

// literal returns the JSON form of a value written in a document where a
// value of type t is expected, or nil after a fault.
func (c *compiler) literal(u *unit, v *syntax.Value, t *Type) json.RawMessage {
	if v == nil || t == nil {
		return nil
	}
	if isNull(v) && t.Kind != EnumOf {
		u.fault(ruleValueType, v.Span, "what is null is left out", "found null, which no value in a document is")
		return nil
	}
	switch t.Kind {
	case Bool:
		if v.Kind == syntax.NameValue && (v.Text == "true" || v.Text == "false") {
			return json.RawMessage(v.Text)
		}
		d := u.fault(ruleValueType, v.Span, "", "found %s, expected true or false", literalText(v))
		c.unquote(d, v, t)
	case Int, Timestamp:
		return c.wholeLiteral(u, v, t, "an integer")
	case Duration:
		return c.wholeLiteral(u, v, t, "a duration, such as 500ms, or an integer of milliseconds")
	case Float:
		f, err := strconv.ParseFloat(v.Text, 64)
		if v.Kind != syntax.NumberValue || err != nil || math.IsInf(f, 0) {
			d := u.fault(ruleValueType, v.Span, "", "found %s, expected a number that fits 64 bits", literalText(v))
			c.unquote(d, v, t)
			return nil
		}
		if !inRange(u, v, t, f, "") {
			return nil
		}
		return appendNumber(nil, f)
	case String, UUID, Bytes, Entry:
		return c.stringLiteral(u, v, t)
	case EnumOf:
		return c.labelLiteral(u, v, t.Enum)
	}
	return nil
}

// isNull reports whether a value is what other languages write for none.
func isNull(v *syntax.Value) bool {
	return v.Kind == syntax.NameValue && (v.Text == "null" || v.Text == "nil" || v.Text == "None" || v.Text == "undefined")
}

// wholeLiteral reads an integer, or a duration in milliseconds.
func (c *compiler) wholeLiteral(u *unit, v *syntax.Value, t *Type, want string) json.RawMessage {
	var n int64
	ok, hint := false, ""
	switch {
	case v.Kind == syntax.NumberValue:
		var err error
		n, err = strconv.ParseInt(v.Text, 10, 64)
		ok = err == nil && n >= -maxSafeInt && n <= maxSafeInt
		if !ok && numIsWhole(v.Text) {
			want = fmt.Sprintf("an integer within ±%d", int64(maxSafeInt))
		}
	case v.Kind == syntax.QuantityValue && t.Kind == Duration:
		n, ok = quantity(v, durationUnits)
		hint = unitHint(v, durationUnits)
	}
	if !ok {
		d := u.fault(ruleValueType, v.Span, hint, "found %s, expected %s", literalText(v), want)
		c.unquote(d, v, t)
		return nil
	}
	unit := ""
	if t.Kind == Duration {
		unit = " ms"
	}
	if !inRange(u, v, t, float64(n), unit) {
		return nil
	}
	return strconv.AppendInt(nil, n, 10)
}

// stringLiteral reads what is written in quotes.
func (c *compiler) stringLiteral(u *unit, v *syntax.Value, t *Type) json.RawMessage {
	if v.Kind != syntax.StringValue {
		quoted := strconv.Quote(v.Text + v.Unit)
		d := u.fault(ruleValueType, v.Span, "write it in quotes: "+quoted, "found %s, expected a string", literalText(v))
		if t.Kind == String && t.Range == nil && t.Pattern == nil {
			rewrite(d, v.Span, quoted)
		}
		return nil
	}
	length := len(v.Text)
	switch t.Kind {
	case UUID:
		if !isUUID(v.Text) || v.Text != strings.ToLower(v.Text) {
			d := u.fault(ruleValueType, v.Span, "", "found %s, expected a UUID in lower case, 8-4-4-4-12", literalText(v))
			if lower := strings.ToLower(v.Text); isUUID(lower) {
				rewrite(d, v.Span, strconv.Quote(lower))
			}
			return nil
		}
	case Bytes:
		data, err := base64.StdEncoding.Strict().DecodeString(v.Text)
		if err != nil || strings.ContainsAny(v.Text, "\r\n") {
			u.fault(ruleValueType, v.Span, "", "found %s, expected standard base64", literalText(v))
			return nil
		}
		length = len(data)
	case Entry:
		if !isEntryPath(v.Text) {
			u.fault(ruleValueType, v.Span, "", "found %s, expected an entry's absolute path, such as \"/tracker/issue\"", literalText(v))
			return nil
		}
	}
	if t.Pattern != nil && !t.Pattern.MatchString(v.Text) {
		u.fault(ruleValueRange, v.Span, "", "found %s, expected a string that matches %s", literalText(v), quote(t.PatternText))
		return nil
	}
	if !inRange(u, v, t, float64(length), " bytes") {
		return nil
	}
	return appendQuoted(nil, v.Text)
}

// labelLiteral reads an enum's label.
func (c *compiler) labelLiteral(u *unit, v *syntax.Value, e *Enum) json.RawMessage {
	names := make([]string, len(e.Labels))
	for i, l := range e.Labels {
		names[i] = l.Name
		if l.Name != v.Text || v.Unit != "" {
			continue
		}
		if v.Kind == syntax.NameValue {
			return appendQuoted(nil, l.Name)
		}
		if v.Kind == syntax.StringValue {
			d := u.fault(ruleValueType, v.Span, "write it without quotes", "found %s, expected a label of enum %q", literalText(v), e.Name)
			rewrite(d, v.Span, l.Name)
			return nil
		}
	}
	if v.Kind != syntax.NameValue {
		u.fault(ruleValueType, v.Span, "", "found %s, expected a label of enum %q", literalText(v), e.Name)
		return nil
	}
	if s := u.visible[e.Name]; s != nil && s.unit != u && s.unit.unreadable > 0 {
		return nil // the label may be what is lost there
	}
	d := u.fault(ruleUnknownLabel, v.Span, "", "found %q, which is not a label of enum %q", v.Text, e.Name)
	c.meant(d, v.Span, v.Text, names)
	if d.Hint == "" && len(names) > 0 && len(names) <= 20 {
		d.Hint = "the labels are " + strings.Join(names, ", ")
	}
	return nil
}

// inRange checks a value, or a length, against the type's range.
func inRange(u *unit, v *syntax.Value, t *Type, n float64, unit string) bool {
	r := t.Range
	if r.holds(n) {
		return true
	}
	found := literalText(v)
	if unit == " bytes" {
		found = fmt.Sprintf("a string of %s bytes", number(n))
	}
	u.fault(ruleValueRange, v.Span, "", "found %s, expected %s", found, rangeWords(r, unit))
	return false
}

// rangeWords says what a range allows.
func rangeWords(r *Range, unit string) string {
	switch {
	case !r.HasMin:
		return fmt.Sprintf("at most %s%s", number(r.Max), unit)
	case !r.HasMax:
		return fmt.Sprintf("at least %s%s", number(r.Min), unit)
	}
	return fmt.Sprintf("%s to %s%s", number(r.Min), number(r.Max), unit)
}

// literalText returns a value as it may be quoted in a message.
func literalText(v *syntax.Value) string {
	switch v.Kind {
	case syntax.StringValue:
		if len(v.Text) > 40 {
			return fmt.Sprintf("a string of %d bytes", len(v.Text))
		}
		return fmt.Sprintf("%q", v.Text)
	case syntax.NameValue:
		return fmt.Sprintf("the name %q", v.Text)
	}
	return v.Text + v.Unit
}

// argText is literalText of an annotation's argument.
func argText(a *syntax.Arg) string {
	switch {
	case a.Name != nil:
		return fmt.Sprintf("a named argument %q", a.Name.Name)
	case a.Value == nil:
		return "nothing"
	}
	return literalText(a.Value)
}

// isWords reports whether a text can be shown as it is.
func isWords(text string) bool {
	return strings.TrimSpace(text) == text && text != "" && !strings.ContainsFunc(text, unicode.IsControl)
}

// notWords says what keeps a text from being words.
func notWords(text string) string {
	at := strings.IndexFunc(text, unicode.IsControl)
	switch {
	case text == "":
		return "an empty string"
	case at < 0:
		return "space around the words"
	case text[at] == '\n':
		return "a line break"
	}
	r, _ := utf8.DecodeRuneInString(text[at:])
	return fmt.Sprintf("the control character %U", r)
}
