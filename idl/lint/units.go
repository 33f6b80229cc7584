package lint

import (
	"slices"
	"strings"
	"unicode"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// set returns the words of a text as a set.
func set(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

var (
	// measures are words of a name that stand for something measured.
	measures = set(`radius diameter distance height depth width length area volume speed velocity acceleration mass weight
		force energy power angle rotation heading yaw pitch roll bearing temperature pressure timeout delay interval
		duration age time period ttl lifetime latency lag elevation altitude range offset uptime bandwidth frequency`)
	// spans are the measures of time, for which there is a type.
	spans = set(`timeout delay interval duration age ttl lifetime latency lag uptime`)
	// otherTimes are units of time that durations and timestamps are not in.
	otherTimes = set(`s sec secs second seconds us micros microseconds ns nanos nanoseconds minute minutes hour hours day days`)
	// unitWords say a unit, in a name or in a documentation.
	unitWords = set(`m cm mm km metre metres meter meters centimetre centimetres centimeter centimeters millimetre millimetres
		kilometre kilometres kilometer kilometers foot feet inch inches mile miles
		s ms ns us sec secs second seconds millis millisecond milliseconds micros microsecond microseconds nanos nanosecond
		nanoseconds minute minutes hour hours day days week weeks month months year years unix
		b kb mb gb kib mib gib bit bits byte bytes character characters
		deg degree degrees rad radian radians turn turns percent pct ratio fraction share factor times probability
		g kg gram grams kilogram kilograms tonne tonnes newton newtons joule joules watt watts volt volts pascal pascals
		hz khz mhz hertz fps rpm celsius fahrenheit kelvin px pixel pixels frame frames
		dollar dollars cent cents euro euros linden page pages item items element elements step steps index level`)
)

// unitOf checks that a number says what it counts in: in its name, in its
// documentation or in that of what it belongs to.
func (l *linter) unitOf(id syntax.Ident, e *syntax.TypeExpr, t *idl.Type, doc, ownerDoc string) {
	for t.Elem != nil && len(e.Args) > 0 {
		t, e = t.Elem, e.Args[0]
	}
	list := words(id.Name)
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(list, func(w string) bool { return set[w] || set[singular(w)] })
	}
	switch t.Kind {
	case idl.Duration, idl.Timestamp:
		l.unitConflict(id, t, list)
		return
	case idl.Int:
		if !has(measures) {
			return
		}
	case idl.Float:
	default:
		return
	}
	if has(unitWords) || saysUnit(doc, t.Kind) || saysUnit(ownerDoc, 0) {
		return
	}
	hint := "say it in the name or in the documentation"
	if unit := usualUnit(list); unit != "" {
		hint = "say it in the name, as in " + strings.Join(list, "_") + "_" + unit + ", or in the documentation"
	}
	if has(spans) {
		hint = "write duration, which is in milliseconds"
	}
	l.report(RuleUnitMissing, id.Span, hint, "found %s %q, which says its unit neither in its name nor in its documentation", t, id.Name)
}

// usualUnits are in what the measures are given that are mostly given in one
// unit.
var usualUnits = []struct {
	unit string
	of   map[string]bool
}{
	{"meters", set("radius diameter distance height depth width length elevation altitude")},
	{"square_meters", set("area")},
	{"cubic_meters", set("volume")},
	{"meters_per_second", set("speed velocity")},
	{"kilograms", set("mass weight")},
	{"newtons", set("force")},
	{"joules", set("energy")},
	{"watts", set("power")},
	{"degrees", set("angle rotation heading yaw pitch roll bearing")},
	{"celsius", set("temperature")},
	{"pascals", set("pressure")},
	{"millis", set("time period")},
	{"bytes_per_second", set("bandwidth")},
	{"hertz", set("frequency")},
}

// usualUnit returns the unit in which what a name's words say is mostly given,
// by the last word that says it; empty if none does.
func usualUnit(list []string) string {
	for _, w := range slices.Backward(list) {
		for _, u := range usualUnits {
			if u.of[w] || u.of[singular(w)] {
				return u.unit
			}
		}
	}
	return ""
}

// saysUnit reports whether a documentation names a unit, or of a float, which
// may be a share of something, a scale.
func saysUnit(doc string, kind idl.Kind) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(doc), func(r rune) bool { return !unicode.IsLetter(r) && r != '%' && !unicode.IsDigit(r) }) {
		if unitWords[w] && w != "s" || strings.Contains(w, "%") { // 's is no second
			return true
		}
		if kind == idl.Float && unicode.IsDigit(rune(w[0])) {
			return true
		}
	}
	return false
}

// unitConflict reports a name that says another unit than its type has.
func (l *linter) unitConflict(id syntax.Ident, t *idl.Type, list []string) {
	last := list[len(list)-1]
	if !otherTimes[last] {
		return
	}
	l.report(RuleUnitConflict, id.Span, "end the name with _millis, or leave the unit out",
		"found %s %q, which is in milliseconds", t, id.Name)
}
