package idl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// maxNamesShown bounds a list of names in a message, in bytes.
const maxNamesShown = 400

// quoteSent quotes text of the caller so that it is short and safe to show.
func quoteSent(s string) string {
	more := ""
	if len(s) > maxQuoted {
		more = "…"
	}
	// Cleaning costs by length, and only the start is shown.
	clean, _ := cleantext.Clean(cutRunes(s, 8*maxQuoted), maxQuoted)
	return strconv.Quote(clean + more)
}

// quoteNumber shows a number as it was written.
func quoteNumber(v *sentValue) string {
	if v.kind == sentNumber && len(v.text) <= maxQuoted {
		return v.text
	}
	return quoteSent(v.text)
}

// describe says what a value is, for "found ...".
func (v *sentValue) describe() string {
	switch v.kind {
	case sentNull:
		return "null"
	case sentBool:
		return v.text
	case sentNumber:
		return "the number " + quoteNumber(v)
	case sentString:
		return "the string " + quoteSent(v.text)
	case sentArray:
		return "a list"
	default:
		return "an object"
	}
}

// describe says what a type allows, for "expected ...".
func describe(t *Type) string {
	s := describeBare(t)
	if t.Optional {
		s += ", or null"
	}
	return s
}

func describeBare(t *Type) string {
	switch t.Kind {
	case Bool:
		return "true or false"
	case Int:
		return "an integer" + t.Range.words("from", "")
	case Float:
		return "a number" + t.Range.words("from", "")
	case Timestamp:
		return "a time in Unix milliseconds, an integer" + t.Range.words("from", "")
	case Duration:
		return "a duration in milliseconds, an integer" + t.Range.words("from", "")
	case String, Text:
		return "a string" + t.Range.words("of", " bytes of UTF-8") + patternWords(t)
	case UUID:
		return "a UUID: 8-4-4-4-12 hexadecimal digits"
	case Bytes:
		return "standard base64 with padding" + t.Range.words("of", " bytes")
	case Entry:
		return "an entry's absolute path, such as /a/b"
	case EnumOf:
		names := make([]string, len(t.Enum.Labels))
		for i, l := range t.Enum.Labels {
			names[i] = l.Name
		}
		return "one of " + listed(names)
	case List:
		return "a list" + t.Range.words("of", " items") + ", each " + describeElem(t.Elem)
	case Map:
		return "an object" + t.Range.words("of", " members by any keys") + ", each " + describeElem(t.Elem)
	case RecordOf:
		return describeSlots(slotsOfFields(t.Record.Fields))
	}
	return "nothing"
}

// describeElem goes no further down than one level.
func describeElem(t *Type) string {
	switch t.Kind {
	case List:
		return "a list"
	case Map:
		return "an object"
	}
	return describe(t)
}

// words says what a range allows, or nothing if there is none. between is
// "from" for values and "of" for sizes.
func (r *Range) words(between, unit string) string {
	switch {
	case r == nil || !r.HasMin && !r.HasMax:
		return ""
	case !r.HasMin:
		return fmt.Sprintf(" of at most %s%s", appendNumber(nil, r.Max), unit)
	case !r.HasMax:
		return fmt.Sprintf(" of at least %s%s", appendNumber(nil, r.Min), unit)
	case r.Min == r.Max:
		return fmt.Sprintf(" of exactly %s%s", appendNumber(nil, r.Min), unit)
	}
	return fmt.Sprintf(" %s %s to %s%s", between, appendNumber(nil, r.Min), appendNumber(nil, r.Max), unit)
}

func patternWords(t *Type) string {
	if t.Pattern == nil {
		return ""
	}
	if clean, _ := cleantext.Clean(t.PatternText, maxNamesShown); clean == t.PatternText {
		return " matching the pattern " + clean
	}
	return " matching the declared pattern"
}

func describeSlots(slots []slot) string {
	if len(slots) == 0 {
		return "an object without fields: {}"
	}
	return "an object with the fields " + slotNames(slots)
}

// slotNames lists the fields of an object, telling those that must be sent.
func slotNames(slots []slot) string {
	names := make([]string, len(slots))
	for i, s := range slots {
		names[i] = s.name
		if s.fallback == nil {
			names[i] += " (required)"
		}
	}
	return listed(names)
}

// listed joins names, as far as they fit in a message.
func listed(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if b.Len()+len(n) > maxNamesShown {
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(n)
	}
	return b.String()
}

func unknownField(slots []slot, key string) string {
	s := fmt.Sprintf("unknown field, found %s, expected ", quoteSent(key))
	if len(slots) == 0 {
		return s + "no fields"
	}
	s += slotNames(slots)
	if near := nearestSlot(slots, key); near >= 0 {
		s += "; did you mean " + slots[near].name + "?"
	}
	return s
}

func unknownLabel(t *Type, sent string) string {
	s := fmt.Sprintf("found %s, expected %s", quoteSent(sent), describe(t))
	if near := nearestLabel(t.Enum, sent); near != "" {
		s += "; did you mean " + near + "?"
	}
	return s
}
