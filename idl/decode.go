package idl

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// Bounds of an argument record. They are far above what a call needs; a
// record beyond them is refused before it is read.
const (
	MaxArgumentBytes = 64 << 10 // of the record as it was sent
	maxArgumentDepth = 32       // levels of objects and arrays
	maxRecordBytes   = 1 << 20  // of the canonical record
	maxFaults        = 32       // listed in one ArgumentError
	maxRepairs       = 32       // listed in one Args
	maxQuoted        = 48       // bytes of the caller's text in a message
	maxPointer       = 256      // bytes of a JSON Pointer
)

// DecodeArgs checks a raw argument record against the operation's parameters
// before anything is bound to it. raw is one JSON object; its members are the
// parameters by name.
//
// Slips of form are put right and reported in Args.Repairs: a record sent as a
// JSON string, one needless envelope, a label or UUID in other capitals, a
// number or bool written in another way, a key in camelCase. In each case every
// value sent has exactly one place to go, and none is changed, dropped,
// supplied or chosen. Nothing but an object is ever read as the empty record.
//
// The error is an *ArgumentError with all that is wrong, and a corrected
// record wherever one can be built without inventing content. DecodeArgs is
// safe for concurrent use. It keeps nothing of raw.
func (o *Operation) DecodeArgs(raw []byte) (*Args, error) {
	d := decoder{op: o}
	sent, readable := d.decode(raw)
	if len(d.faults) == 0 {
		if d.more > 0 {
			d.repairs = append(d.repairs, Repair{Note: fmt.Sprintf("put %d more slips of form right", d.more)})
		}
		return &Args{Record: d.out, Repairs: d.repairs}, nil
	}
	err := &ArgumentError{Operation: o, Faults: d.faults}
	if d.full() {
		err.Faults = append(err.Faults, Fault{Constraint: fmt.Sprintf("found more faults, only the first %d are listed", maxFaults)})
	}
	if readable {
		err.Corrected = correct(o, &sent)
	}
	return nil, err
}

// decoder checks one record and writes its canonical form.
type decoder struct {
	op      *Operation
	out     json.RawMessage
	path    []argStep // to the value at hand
	faults  []Fault
	repairs []Repair
	more    int // repairs beyond maxRepairs
}

// decode checks a whole record. It returns what was sent, and whether that
// could be read.
func (d *decoder) decode(raw []byte) (sentValue, bool) {
	sent, readable := d.read(raw)
	if readable {
		record := d.unwrap(sent)
		d.object(slotsOf(d.op.Params), &record)
	}
	return sent, readable
}

// read scans the text of a record. If it reports false there is nothing to
// check.
func (d *decoder) read(raw []byte) (sentValue, bool) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		d.fault("found nothing, expected a JSON object with the parameters by name, {} for none")
		return sentValue{}, true // as if null had been sent, for the correction
	case len(raw) > MaxArgumentBytes:
		d.fault("found %d bytes, expected at most %d", len(raw), MaxArgumentBytes)
		return sentValue{}, false
	}
	d.out = make(json.RawMessage, 0, len(raw)+128)
	return d.scan(string(raw))
}

func (d *decoder) scan(text string) (sentValue, bool) {
	v, broken, trail := scanRecord(text)
	if broken == "" {
		return v, true
	}
	for i := len(trail) - 1; i >= 0; i-- {
		d.path = append(d.path, trail[i])
	}
	d.fault("%s", broken)
	return sentValue{}, false
}

// fault notes what is wrong with the value at hand.
func (d *decoder) fault(format string, args ...any) {
	if d.full() {
		return
	}
	pointer, under := pointer(d.path)
	d.faults = append(d.faults, Fault{pointer, under + fmt.Sprintf(format, args...)})
}

// full reports that no more faults are listed, so that none need be looked for.
func (d *decoder) full() bool { return len(d.faults) == maxFaults }

// repair notes a slip that was put right in the value at hand.
func (d *decoder) repair(format string, args ...any) {
	if len(d.repairs) == maxRepairs {
		d.more++
		return
	}
	pointer, under := pointer(d.path)
	d.repairs = append(d.repairs, Repair{pointer, under + fmt.Sprintf(format, args...)})
}

// faultAt and repairAt are for a member of the value at hand.
func (d *decoder) faultAt(key, format string, args ...any) {
	d.path = append(d.path, argStep{key, -1})
	d.fault(format, args...)
	d.path = d.path[:len(d.path)-1]
}

func (d *decoder) repairAt(key, format string, args ...any) {
	d.path = append(d.path, argStep{key, -1})
	d.repair(format, args...)
	d.path = d.path[:len(d.path)-1]
}

// slot is a place that a member of an object can go to: a parameter or a
// field.
type slot struct {
	name     string
	typ      *Type
	fallback json.RawMessage // what an absent member counts as; nil if it must be sent
}

var nullValue = json.RawMessage("null")

func slotsOf(params []*Param) []slot {
	slots := make([]slot, len(params))
	for i, p := range params {
		slots[i] = slot{p.Name, p.Type, p.Default}
		if p.Default == nil && p.Type.Optional {
			slots[i].fallback = nullValue
		}
	}
	return slots
}

func slotsOfFields(fields []*Field) []slot {
	slots := make([]slot, len(fields))
	for i, f := range fields {
		slots[i] = slot{name: f.Name, typ: f.Type}
		if f.Type.Optional {
			slots[i].fallback = nullValue
		}
	}
	return slots
}

// object checks v against a closed set of members and writes them in
// declaration order.
func (d *decoder) object(slots []slot, v *sentValue) {
	if v.slip != "" {
		d.fault("%s", v.slip)
	}
	if v.kind != sentObject {
		if len(d.faults) == 0 {
			d.fault("found %s, expected %s", v.describe(), describeSlots(slots))
		}
		return
	}
	// Members are checked in the order in which they were sent, so that the
	// faults come in it too, but written in the declared one.
	var few [8]span
	written := few[:]
	if len(slots) > len(few) {
		written = make([]span, len(slots))
	}
	written = written[:len(slots)]
	start := len(d.out)
	var envelope *sentValue // what seems to be missing may be in it
	for i := range v.items {
		if d.full() {
			return
		}
		m := &v.items[i]
		if to := d.place(slots, written, m); to >= 0 {
			written[to] = span{&m.key, len(d.out), 0}
			d.member(&slots[to], m)
			written[to].end = len(d.out)
		} else if m.value.kind == sentObject && isEnvelope(d.op, m.key) {
			envelope = &m.value
		}
	}
	for i, s := range slots {
		if written[i].key == nil && s.fallback == nil && !envelope.names(slots, i) {
			d.faultAt(s.name, "missing field, expected %s", describe(s.typ))
		}
	}
	if len(d.faults) == 0 {
		d.assemble(slots, written, start)
	}
}

// place returns the slot of a member, or -1 after a fault.
func (d *decoder) place(slots []slot, written []span, m *sentMember) int {
	if m.slip != "" {
		d.faultAt(m.key, "%s", m.slip)
	}
	to, ambiguous := placeOf(slots, m.key)
	switch {
	case ambiguous:
		d.faultAt(m.key, "unknown field, found %s, expected one of %s", quoteSent(m.key), slotNames(slots))
	case to < 0 && m.value.kind == sentObject && isEnvelope(d.op, m.key):
		d.faultAt(m.key, "unknown field, found an object in %s, expected its fields here: %s", quoteSent(m.key), slotNames(slots))
	case to < 0:
		d.faultAt(m.key, "%s", unknownField(slots, m.key))
	case written[to].key != nil && *written[to].key == m.key:
		d.faultAt(m.key, "found the field twice, expected it once")
		to = -1
	case written[to].key != nil:
		d.faultAt(m.key, "found both %s and %s for the field %s, expected only %s", quoteSent(*written[to].key), quoteSent(m.key), slots[to].name, slots[to].name)
		to = -1
	case m.key != slots[to].name:
		d.repairAt(m.key, "read %s as the field %s", quoteSent(m.key), slots[to].name)
	}
	return to
}

// member checks the value of a member that has its place.
func (d *decoder) member(s *slot, m *sentMember) {
	d.path = append(d.path, argStep{m.key, -1})
	if v := &m.value; v.kind == sentNull && v.slip == "" && !s.typ.Optional && s.fallback != nil {
		d.fault("found null, expected %s, or leave it out for its default", describe(s.typ))
	} else {
		d.value(s.typ, v)
	}
	d.path = d.path[:len(d.path)-1]
}

// assemble puts the members written from start on in order, and fills in what
// was not sent.
func (d *decoder) assemble(slots []slot, written []span, start int) {
	checked := string(d.out[start:])
	d.out = append(d.out[:start], '{')
	for i, s := range slots {
		if i > 0 {
			d.out = append(d.out, ',')
		}
		d.out = appendQuoted(d.out, s.name)
		d.out = append(d.out, ':')
		if w := written[i]; w.key != nil {
			d.out = append(d.out, checked[w.start-start:w.end-start]...)
		} else {
			d.out = append(d.out, s.fallback...)
		}
	}
	d.out = append(d.out, '}')
	// A list of empty records may grow much by what they did not hold.
	if len(d.out) > maxRecordBytes {
		d.fault("found more than %d bytes with all fields filled in, expected fewer items", maxRecordBytes)
	}
}

// names reports whether v has a member for the slot.
func (v *sentValue) names(slots []slot, slot int) bool {
	return v != nil && slices.ContainsFunc(v.items, func(m sentMember) bool {
		to, _ := placeOf(slots, m.key)
		return to == slot
	})
}

// span is where the value of a member stands in the output.
type span struct {
	key        *string // as sent; nil if it was not
	start, end int
}

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

// pointer returns the JSON Pointer (RFC 6901) of a path. A key that could
// not be shown to a model as it is ends it; under then names the key.
func pointer(path []argStep) (ptr, under string) {
	var b strings.Builder
	for _, s := range path {
		segment := strconv.Itoa(s.index)
		if s.index < 0 {
			clean, _ := cleantext.Clean(s.key, maxQuoted)
			if clean != s.key {
				return b.String(), "under the key " + quoteSent(s.key) + ": "
			}
			segment = pointerEscapes.Replace(s.key)
		}
		if b.Len()+len(segment) >= maxPointer {
			return b.String(), "far below: "
		}
		b.WriteByte('/')
		b.WriteString(segment)
	}
	return b.String(), ""
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
