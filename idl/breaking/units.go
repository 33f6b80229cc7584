package breaking

import (
	"slices"
	"strings"
	"unicode"

	"github.com/wipagent/wipagent/idl"
)

// units are the words for units in documentation, by the unit that they mean.
var units = func() map[string]string {
	m := map[string]string{}
	for _, words := range []string{
		"metres metre meter meters", "centimetres centimetre centimeter centimeters cm", "millimetres millimetre millimeter millimeters mm",
		"kilometres kilometre kilometer kilometers km", "feet foot ft", "inches inch", "miles mile", "yards yard",
		"seconds second sec secs", "milliseconds millisecond millis ms", "microseconds microsecond micros", "nanoseconds nanosecond nanos ns",
		"minutes minute", "hours hour", "days day", "weeks week", "months month", "years year",
		"bytes byte", "kilobytes kilobyte kib kb", "megabytes megabyte mib mb", "bits bit",
		"degrees degree deg", "radians radian rad", "percent pct", "fraction ratio",
		"grams gram", "kilograms kilogram kg", "celsius", "fahrenheit", "kelvin", "pixels pixel px",
	} {
		list := strings.Fields(words)
		for _, w := range list {
			m[w] = list[0]
		}
	}
	return m
}()

// unitsIn returns the units that a documentation names.
func unitsIn(doc string) (found []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(doc), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if u := units[w]; u != "" && !slices.Contains(found, u) {
			found = append(found, u)
		}
	}
	return found
}

// unit reports a number whose documentation named one unit and names another.
func (p place) unit(c *comparer, breaks Breaks, t *idl.Type, old, now string) {
	for t.Elem != nil {
		t = t.Elem
	}
	if t.Kind != idl.Int && t.Kind != idl.Float {
		return
	}
	a, b := unitsIn(old), unitsIn(now)
	if len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(u string) bool { return slices.Contains(b, u) }) {
		return
	}
	p.report(c, RuleUnitChanged, breaks|Implementer, "the same number means something else: give it another name", "was in %s and is in %s", a[0], b[0])
}
