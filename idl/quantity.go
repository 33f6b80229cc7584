package idl

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/idl/syntax"
)

// The units of quantities, as factors to milliseconds and to bytes.
var (
	durationUnits = map[string]float64{"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
	sizeUnits     = map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
)

// quantity returns the value of a quantity in the smallest unit, if it is a
// whole number of it.
func quantity(v *syntax.Value, units map[string]float64) (int64, bool) {
	factor, ok := units[v.Unit]
	n, err := strconv.ParseFloat(v.Text, 64)
	n *= factor
	if !ok || err != nil || n != math.Trunc(n) || math.Abs(n) > maxSafeInt {
		return 0, false
	}
	return int64(n), true
}

// unitHint lists the units if the fault is the unit.
func unitHint(v *syntax.Value, units map[string]float64) string {
	if _, ok := units[v.Unit]; ok {
		return ""
	}
	names := make([]string, 0, len(units))
	for name := range units {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return int(units[a] - units[b]) })
	return "the units are " + strings.Join(names, ", ")
}
