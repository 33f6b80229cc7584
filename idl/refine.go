package idl

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	rx "regexp/syntax"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/idl/syntax"
)

// maxSafeInt is the largest integer that every JSON reader keeps exactly.
const maxSafeInt = 1<<53 - 1

// What patterns may cost. RE2 runs in linear time, but the time and the memory
// grow with the compiled program.
const (
	maxPatternBytes      = 1000
	maxPatternSize       = 4000   // instructions, as estimated by patternSize
	maxPatternsTotalSize = 100000 // in one Compile
)

// refine checks the refinement of a type and puts it into t.
func (c *compiler) refine(u *unit, e *syntax.TypeExpr, t *Type) {
	r := e.Refinement
	switch {
	case r == nil:
	case r.Pattern != nil:
		if t.Kind != String {
			u.fault(ruleRefinementType, r.Span, "", "found a pattern on %s, expected it only on string", e.Name.Name)
			return
		}
		c.pattern(u, r.Pattern, t)
	default:
		c.rangeOf(u, e, t)
	}
}

// rangeOf checks a range.
func (c *compiler) rangeOf(u *unit, e *syntax.TypeExpr, t *Type) {
	r := e.Refinement
	var length, unit bool
	switch t.Kind {
	case Int, Float, Timestamp, Duration:
	case String, Text, Bytes:
		length, unit = true, true
	case List, Map:
		length = true
	default:
		u.fault(ruleRefinementType, r.Span, "", "found a range on %s, which has neither a value nor a length to bound", e.Name.Name)
		return
	}
	switch {
	case unit && !r.Bytes:
		of := " of UTF-8"
		if t.Kind == Bytes {
			of = ""
		}
		hint := "a length is counted in bytes" + of + ", such as [1..256 bytes]"
		if r.Min != nil || r.Max != nil {
			hint = "a length is counted in bytes" + of + ": write " + rangeText(r) + " bytes]"
		}
		d := u.fault(ruleRangeUnit, r.Span, hint, "found a range without a unit on %s, expected \"bytes\"", e.Name.Name)
		if r.Min != nil || r.Max != nil {
			suggest(d, "insert bytes", syntax.Edit{Span: empty(r.Span.File, lastByte(r.Span).Start), Text: " bytes"})
		}
	case !unit && r.Bytes:
		what := "value"
		if length {
			what = "number of elements"
		}
		d := u.fault(ruleRangeUnit, r.Span, "remove \"bytes\"", "found a range in bytes on %s, whose range bounds its %s", e.Name.Name, what)
		if r.Max != nil {
			suggest(d, "remove bytes", syntax.Edit{Span: until(r.Span.File, r.Max.Span.End, lastByte(r.Span).Start)})
		}
	}
	if r.Min == nil && r.Max == nil {
		d := u.fault(ruleEmptyRange, r.Span, "remove it, or say where it begins or ends", "found a range that is open at both ends")
		suggest(d, "remove it", syntax.Edit{Span: until(r.Span.File, beforeRefinement(e), r.Span.End)})
		return
	}
	out := &Range{}
	var ok1, ok2 = true, true
	if r.Min != nil {
		out.Min, ok1 = c.bound(u, r.Min, t.Kind, length)
		out.HasMin = true
	}
	if r.Max != nil {
		out.Max, ok2 = c.bound(u, r.Max, t.Kind, length)
		out.HasMax = true
	}
	if !ok1 || !ok2 {
		return
	}
	if out.HasMin && out.HasMax && out.Min > out.Max {
		d := u.fault(ruleEmptyRange, r.Span, "swap the bounds", "found a range from %s down to %s, which allows nothing", r.Min.Text, r.Max.Text)
		suggest(d, "swap the bounds", syntax.Edit{Span: r.Min.Span, Text: r.Max.Text}, syntax.Edit{Span: r.Max.Span, Text: r.Min.Text})
		leave(d) // one of them may have a digit too many or too few
		return
	}
	t.Range = out
}

// rangeText returns a range as it is written, up to its last number.
func rangeText(r *syntax.Refinement) string {
	text := "["
	if r.Min != nil {
		text += r.Min.Text
	}
	text += ".."
	if r.Max != nil {
		text += r.Max.Text
	}
	return text
}

// bound returns one end of a range.
func (c *compiler) bound(u *unit, v *syntax.Value, kind Kind, length bool) (float64, bool) {
	if v.Kind != syntax.NumberValue {
		u.fault(ruleRangeBound, v.Span, "a duration is bounded in milliseconds", "found %s, expected a plain number", literalText(v))
		return 0, false
	}
	if kind == Float {
		f, err := strconv.ParseFloat(v.Text, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			u.fault(ruleRangeBound, v.Span, "", "found %s, expected a number that fits 64 bits", v.Text)
			return 0, false
		}
		return f, true
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	switch {
	case err != nil && numIsWhole(v.Text), err == nil && (n > maxSafeInt || n < -maxSafeInt):
		u.fault(ruleRangeBound, v.Span, "", "found %s, expected an integer within ±%d", v.Text, int64(maxSafeInt))
	case err != nil:
		u.fault(ruleRangeBound, v.Span, "", "found %s, expected an integer", v.Text)
	case n < 0 && length:
		u.fault(ruleRangeBound, v.Span, "", "found %s, expected a length of 0 or more", v.Text)
	default:
		return float64(n), true
	}
	return 0, false
}

// numIsWhole reports whether a number is written without fraction and
// exponent.
func numIsWhole(text string) bool { return !strings.ContainsAny(text, ".eE") }

// pattern compiles a pattern, anchored at both ends.
func (c *compiler) pattern(u *unit, v *syntax.Value, t *Type) {
	text := v.Text
	if compiled, ok := c.patterns[text]; ok {
		t.Pattern, t.PatternText = compiled, text
		return
	}
	if len(text) > maxPatternBytes {
		u.fault(rulePatternTooLarge, v.Span, "", "found a pattern of %d bytes, expected at most %d", len(text), maxPatternBytes)
		return
	}
	tree, err := rx.Parse(text, rx.Perl)
	if err != nil {
		u.fault(ruleBadPattern, v.Span, "patterns are written in RE2: no look-around, no back-references", "%s", patternError(err))
		return
	}
	size := patternSize(tree)
	if size > maxPatternSize || c.patternSize+size > maxPatternsTotalSize {
		u.fault(rulePatternTooLarge, v.Span, "bound the length with a range instead of a repetition",
			"found a pattern that compiles to about %d instructions, expected at most %d, and %d for all patterns together",
			size, maxPatternSize, maxPatternsTotalSize)
		return
	}
	c.patternSize += size
	compiled, err := regexp.Compile(`\A(?:` + text + `)\z`)
	if err != nil {
		u.fault(ruleBadPattern, v.Span, "", "%s", patternError(err))
		return
	}
	c.patterns[text] = compiled
	t.Pattern, t.PatternText = compiled, text
}

// patternError words why a pattern does not parse.
func patternError(err error) string {
	var e *rx.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("found %s in a pattern: %q", e.Code, e.Expr)
	}
	return fmt.Sprintf("found a pattern that does not compile: %v", err)
}

// patternSize estimates the instructions of a pattern's program before it is
// compiled, without expanding a repetition.
func patternSize(re *rx.Regexp) int {
	size := 1 + len(re.Rune)/4 // a class of many ranges costs about as much
	switch re.Op {
	case rx.OpLiteral:
		return len(re.Rune)
	case rx.OpRepeat:
		return min(patternSize(re.Sub[0])*max(re.Min, re.Max, 1), math.MaxInt32)
	}
	for _, sub := range re.Sub {
		size += patternSize(sub)
	}
	return min(size, math.MaxInt32)
}
