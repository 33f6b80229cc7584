package idl

import (
	"encoding/json"
	"strings"
)

// typographic reads a record whose quotes are typographic ones, all of them. The
// value has a slip.
func typographic(text string) (sentValue, bool) {
	if !strings.ContainsAny(text, "“”") || strings.Contains(text, `"`) {
		return sentValue{}, false
	}
	v, broken, _ := scanRecord(strings.NewReplacer("“", `"`, "”", `"`).Replace(text))
	v.slip = "found typographic quotes, expected double quotes"
	return v, broken == "" && v.kind == sentObject && !v.cut
}

// salvage reads the one record in a text that is no JSON by what stands around
// it: a fence, a tag, words. The value has a slip.
func salvage(text string) (sentValue, bool) {
	start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	// What stands around must not look like more of the call.
	const structure = `"'=()[]{}`
	if start < 0 || end < start || strings.ContainsAny(text[:start], structure) || strings.ContainsAny(text[end+1:], structure) {
		return sentValue{}, false
	}
	v, broken, _ := scanRecord(text[start : end+1])
	v.slip = "found text around the record, expected the JSON object alone"
	return v, broken == "" && !v.cut
}

// Mended is the record in a text that is not quite JSON.
type Mended struct {
	JSON   json.RawMessage // the values as they were sent
	Faults []Fault         // what is wrong with the text, at JSON Pointers into the record
	// Cut says that the text ends before the record does: more may have followed.
	Cut bool
}

// Mend reads a text that is not quite JSON as a careful reader would, and writes
// the values that are in it as JSON: single quotes, commas too many or missing,
// words of other languages, a fence or words around the record, closing brackets
// that are missing at the end. A corrected record may be made of what it returns,
// which is never to be run as if it had been sent so. It reports false if the text
// cannot be read, or if what one of the values is cannot be told.
func Mend(text []byte) (mended Mended, ok bool) {
	if len(text) > MaxArgumentBytes {
		return Mended{}, false
	}
	d := decoder{}
	v, ok := d.scan(string(text))
	m := mending{decoder: &d}
	if !ok || !m.value(&v) {
		return Mended{}, false
	}
	return Mended{d.out, d.faults, v.cut}, true
}

// mending writes a value as it was sent, in JSON.
type mending struct{ *decoder }

func (m mending) value(v *sentValue) bool {
	if v.slip != "" {
		m.fault("%s", v.slip)
	}
	switch v.kind {
	case sentNull:
		m.out = append(m.out, "null"...)
	case sentBool, sentNumber:
		m.out = append(m.out, v.text...)
	case sentString:
		m.out = appendQuoted(m.out, v.text)
	case sentArray, sentObject:
		return m.items(v)
	}
	return !v.lost
}

func (m mending) items(v *sentValue) bool {
	open, end := byte('['), byte(']')
	if v.kind == sentObject {
		open, end = '{', '}'
	}
	m.out = append(m.out, open)
	for i := range v.items {
		item := &v.items[i]
		step := argStep{"", i}
		if i > 0 {
			m.out = append(m.out, ',')
		}
		if v.kind == sentObject {
			step = argStep{item.key, -1}
			m.out = append(appendQuoted(m.out, item.key), ':')
		}
		m.path = append(m.path, step)
		if item.slip != "" {
			m.fault("%s", item.slip)
		}
		if !m.value(&item.value) {
			return false
		}
		m.path = m.path[:len(m.path)-1]
	}
	m.out = append(m.out, end)
	return !v.lost
}
