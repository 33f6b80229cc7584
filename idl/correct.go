package idl

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/wipagent/wipagent/idl/cleantext"
)

// maxGuesses bounds the names for which a nearest one is looked for in one
// record.
const maxGuesses = 64

// correct builds the record that the caller most likely wants from what it
// sent, or returns nil. Unlike a repair it may change and drop values: the
// caller decides whether to send it. It invents nothing: what must be sent
// and was not leaves the record without correction. And it never asks for more
// than the caller did: a dry run stays one, or there is no correction.
func correct(o *Operation, sent *sentValue) json.RawMessage {
	c := corrector{op: o}
	slots := slotsOf(o.Params)
	items, ok := c.members(slots, sent)
	if !ok || !c.object(slots, items) || c.refused {
		return nil
	}
	d := decoder{op: o}
	d.decode(c.out)
	if len(d.faults) > 0 || len(d.repairs) > 0 {
		return nil
	}
	return c.out
}

// corrector writes a corrected record. Its methods report whether they could
// write a value; what they wrote otherwise is cut off by the caller.
type corrector struct {
	op      *Operation
	out     json.RawMessage
	guesses int
	refused bool // no correction may be offered at all
}

// members finds the named values in whatever was sent for a record.
func (c *corrector) members(slots []slot, v *sentValue) ([]sentMember, bool) {
	switch v.kind {
	case sentNull:
		return nil, true
	case sentObject:
		return c.flatten(slots, v.items), !v.lost
	case sentArray:
		if len(v.items) == 1 && v.items[0].value.kind == sentObject {
			return c.members(slots, &v.items[0].value)
		}
		if len(v.items) > len(slots) {
			return nil, false
		}
		items := make([]sentMember, len(v.items))
		for i := range items {
			items[i] = sentMember{key: slots[i].name, value: v.items[i].value}
		}
		return items, true
	case sentString:
		if inner, ok := embedded(v.text, sentObject, 0); ok {
			return c.members(slots, &inner)
		}
		if inner, ok := embedded(v.text, sentArray, 0); ok {
			return c.members(slots, &inner)
		}
	}
	// A bare value belongs to the only parameter that must be sent, or to the
	// only one.
	only, required := -1, 0
	for i := range slots {
		if slots[i].fallback == nil || len(slots) == 1 {
			only = i
			required++
		}
	}
	if required != 1 {
		return nil, true
	}
	return []sentMember{{key: slots[only].name, value: *v}}, true
}

// flatten takes the members out of envelopes. What stands beside an envelope
// is kept only where it names a parameter: else it belongs to the envelope, as
// an operation's name does.
func (c *corrector) flatten(slots []slot, items []sentMember) []sentMember {
	var flat []sentMember
	found := false
	for i := range items {
		inner := items[i].value
		if !isEnvelope(c.op, items[i].key) {
			continue
		}
		if v, ok := embedded(inner.text, sentObject, 0); ok && inner.kind == sentString {
			inner = v
		}
		if inner.kind == sentObject && !inner.lost {
			found = true
			flat = append(flat, c.flatten(slots, inner.items)...)
		}
	}
	if !found {
		return items
	}
	for i := range items {
		if to, _ := placeOf(slots, items[i].key); to >= 0 {
			flat = append(flat, items[i])
		} else if !isEnvelope(c.op, items[i].key) {
			c.drop(items[i].key)
		}
	}
	return flat
}

// drop leaves a value out. Without a value that made the call a mere trial, it
// would do what the caller did not ask for; near spellings count, too.
func (c *corrector) drop(key string) {
	if len(key) <= maxNearName && letters(fold(key), "dryrun") < far {
		c.refused = true
	}
}

// object writes the members that can be placed, in declaration order.
func (c *corrector) object(slots []slot, items []sentMember) bool {
	chosen := c.choose(slots, items)
	c.out = append(c.out, '{')
	for i, s := range slots {
		if chosen[i] == nil {
			if s.fallback == nil {
				return false
			}
			continue
		}
		mark := len(c.out)
		if c.out[mark-1] != '{' {
			c.out = append(c.out, ',')
		}
		c.out = appendQuoted(c.out, s.name)
		c.out = append(c.out, ':')
		if !c.value(s.typ, chosen[i]) {
			if s.fallback == nil {
				return false
			}
			c.drop(s.name)
			c.out = c.out[:mark]
		}
	}
	c.out = append(c.out, '}')
	return true
}

// choose says which of the values sent goes to which slot.
func (c *corrector) choose(slots []slot, items []sentMember) []*sentValue {
	chosen := make([]*sentValue, len(slots))
	var rest []*sentMember
	for i := range items {
		if to, _ := placeOf(slots, items[i].key); to >= 0 {
			if first := chosen[to]; first != nil && (first.kind != items[i].value.kind || first.text != items[i].value.text) {
				c.drop(slots[to].name)
			}
			chosen[to] = &items[i].value // of two, the later
		} else {
			rest = append(rest, &items[i])
		}
	}
	var texts []*sentMember
	for _, m := range rest {
		if to := c.nearest(slots, m.key); to >= 0 && chosen[to] == nil {
			chosen[to] = &m.value
		} else if m.value.kind == sentString && m.value.text != c.op.Name {
			texts = append(texts, m)
		} else {
			c.drop(m.key)
		}
	}
	// The only string without a place is meant for the only place that lacks
	// a string.
	var lacking []int
	for i, s := range slots {
		if chosen[i] == nil && s.fallback == nil && (s.typ.Kind == String || s.typ.Kind == Text) {
			lacking = append(lacking, i)
		}
	}
	if len(texts) == 1 && len(lacking) == 1 {
		chosen[lacking[0]] = &texts[0].value
	} else {
		for _, m := range texts {
			c.drop(m.key)
		}
	}
	return chosen
}

func (c *corrector) nearest(slots []slot, key string) int {
	if c.guesses++; c.guesses > maxGuesses {
		return -1
	}
	return nearestSlot(slots, key)
}

func (c *corrector) value(t *Type, v *sentValue) bool {
	if v.lost {
		return false
	}
	if v.kind == sentNull {
		c.out = append(c.out, "null"...)
		return t.Optional
	}
	switch t.Kind {
	case RecordOf:
		inner, ok := c.composite(v, sentObject)
		return ok && c.object(slotsOfFields(t.Record.Fields), inner.items)
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
	var n float64
	switch {
	case (v.kind == sentNumber || v.kind == sentString) && isNumber(text):
		n, _ = readNumber(t.Kind, text)
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
		n = math.Round(n)
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
		return correctText(t, s)
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
		s = strings.TrimSpace(s)
		if label := labelOf(t.Enum, s); label != "" {
			return label, true
		}
		if c.guesses++; c.guesses > maxGuesses {
			return "", false
		}
		label := nearestLabel(t.Enum, s)
		return label, label != ""
	}
	return "", false
}

// correctText cuts a string that is too long, between two of what a reader
// sees as characters, and puts one into the form of a pattern where only
// capitals or outer spaces are in the way.
func correctText(t *Type, s string) (string, bool) {
	if r := t.Range; r != nil && r.HasMax && float64(len(s)) > r.Max {
		end, state := 0, -1
		for rest := s; rest != ""; {
			var cluster string
			cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
			if float64(end+len(cluster)) > r.Max {
				break
			}
			end += len(cluster)
		}
		if s = s[:end]; s == "" {
			return "", false
		}
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
