package dialect_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/idl"
)

// told reports whether an export says that a fault may come.
func told(e *dialect.Export, tool string, declared []*idl.Param, fault idl.Fault) bool {
	if strings.HasPrefix(fault.Constraint, "found more faults") {
		return true // the first ones are looked at
	}
	for _, l := range e.Losses {
		if l.Tool == tool && tells(l, declared, fault) {
			return true
		}
	}
	return false
}

// faultKinds pairs what the check says with the losses that tell of it. What a
// fault of another kind says must be sayable by every schema.
var faultKinds = []struct{ fault, loss *regexp.Regexp }{
	{regexp.MustCompile(`^found \d+ bytes of UTF-8`), regexp.MustCompile(`^(at least|at most|exactly|\d+ to) .*bytes( of UTF-8)?$`)},
	{regexp.MustCompile(`^found \d+ bytes, expected standard base64`), regexp.MustCompile(`^(at least|at most|exactly|\d+ to) .*bytes$`)},
	{regexp.MustCompile(`^found text that is not standard base64`), regexp.MustCompile(`base64`)},
	{regexp.MustCompile(`^found ".*", expected a string matching `), regexp.MustCompile(`^matching `)},
	{regexp.MustCompile(`^found ".*", expected an entry's`), regexp.MustCompile(`^entry path$|^path of an entry`)},
	{regexp.MustCompile(`^found ".*", expected a UUID`), regexp.MustCompile(`^a UUID$`)},
	{regexp.MustCompile(`^found ".*", expected one of`), regexp.MustCompile(`^one of \d+ labels`)},
	{regexp.MustCompile(`^found \d+ items`), regexp.MustCompile(`^(at least|at most|exactly|\d+ to) .*elements$`)},
}

var (
	numberFault = regexp.MustCompile(`^found (-?\d[\d.eE+-]*), expected (an integer|a number|a time|a duration)`)
	rangeLoss   = regexp.MustCompile(`^(at least |at most |exactly )?-?\d[\d.e+-]*( to -?\d[\d.e+-]*)?( ms)?$`)
)

// tellsNumber reports whether a loss tells of a number.
func tellsNumber(l dialect.Loss, sent, expected string) bool {
	n, err := strconv.ParseFloat(sent, 64)
	switch {
	case err != nil || n == 0 && strings.ContainsAny(sent, "123456789"): // over- or underflow
		return strings.HasPrefix(l.Constraint, "a number that 64 bits hold") && expected == "a number"
	case math.Abs(n) > 1<<53-1 && expected != "a number" && strings.HasPrefix(l.Constraint, "within ±"):
		return true
	}
	return rangeLoss.MatchString(l.Constraint)
}

// tells reports whether one loss says that a fault may come.
func tells(l dialect.Loss, declared []*idl.Param, fault idl.Fault) bool {
	under := strings.HasPrefix(fault.Constraint, "under the key ") || strings.HasPrefix(fault.Constraint, "far below: ")
	constraint := fault.Constraint
	if under {
		_, constraint, _ = strings.Cut(constraint, ": ")
	}
	at := matches(l.Path, fault.Path, under)
	parent := fault.Path
	if !under {
		parent = fault.Path[:max(0, strings.LastIndexByte(fault.Path, '/'))]
	}
	switch {
	case strings.HasPrefix(l.Constraint, "the form of "), strings.HasPrefix(l.Constraint, "an object as the tool expects"):
		return at || above(l.Path, fault.Path)
	case strings.HasPrefix(l.Constraint, "no members but the declared ones"):
		// A further member may also be read as an envelope, or be taken for a
		// declared one of nearly the same name.
		named := strings.HasPrefix(constraint, "unknown field") || strings.HasPrefix(constraint, "found both ")
		into, further := furtherMember(fault.Path, declared)
		return named && matches(l.Path, parent, under) || further && matches(l.Path, into, false)
	case strings.HasPrefix(constraint, "found the key twice"):
		return strings.Contains(l.Constraint, "each key once") && matches(l.Path, parent, under)
	case strings.HasPrefix(constraint, "found a list, expected an object"):
		return strings.HasPrefix(l.Constraint, "pairs of key and value") && at
	}
	if number := numberFault.FindStringSubmatch(constraint); number != nil {
		return at && tellsNumber(l, number[1], number[2])
	}
	for _, k := range faultKinds {
		if k.fault.MatchString(constraint) && k.loss.MatchString(l.Constraint) {
			return at
		}
	}
	return false
}

// matches reports whether a pointer with "*" for any token means a pointer, or
// with under one that begins with it.
func matches(pattern, pointer string, under bool) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(pointer, "/")
	if len(want) < len(got) || !under && len(want) > len(got) {
		return false
	}
	for i := range got {
		if want[i] != got[i] && want[i] != "*" {
			return false
		}
	}
	return true
}

// above reports whether a pattern means something that a pointer leads into.
func above(pattern, pointer string) bool {
	for i := range pointer {
		if pointer[i] == '/' && matches(pattern, pointer[:i], false) {
			return true
		}
	}
	return false
}

// furtherMember returns the object of which a pointer leads into a member that
// is not declared; ok is false if there is none.
func furtherMember(pointer string, params []*idl.Param) (parent string, ok bool) {
	members := map[string]*idl.Type{}
	for _, p := range params {
		members[p.Name] = p.Type
	}
	t := &idl.Type{Kind: idl.RecordOf}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch t.Kind {
		case idl.RecordOf:
			if t.Record != nil {
				clear(members)
				for _, f := range t.Record.Fields {
					members[f.Name] = f.Type
				}
			}
			if t = members[token]; t == nil {
				return parent, true
			}
		case idl.List, idl.Map:
			t = t.Elem
		default:
			return "", false
		}
		parent += "/" + token
	}
	return "", false
}

// TestTells holds the test's own reading of losses.
func TestTells(t *testing.T) {
	for _, test := range []struct {
		path, loss, at, fault string
		want                  bool
	}{
		{"/a", "at most 5 bytes of UTF-8", "/a", "found 6 bytes of UTF-8, expected a string of at most 5 bytes of UTF-8", true},
		{"/a", "at most 5 bytes of UTF-8", "/b", "found 6 bytes of UTF-8, expected a string of at most 5 bytes of UTF-8", false},
		{"/a", "at most 5 bytes of UTF-8", "/a", "found the number 3, expected a string of at most 5 bytes of UTF-8", false},
		{"/a/*", "within ±9007199254740991", "/a/3", "found 9e300, expected an integer", true},
		{"/a/*", "within ±9007199254740991", "/a", "missing field, expected an integer", false},
		{"/a", "within ±9007199254740991", "/a", "found 7, expected an integer of at most 5", false},
		{"/a", "at most 5", "/a", "found 7, expected an integer of at most 5", true},
		{"/a", "1 to 5", "/a", "found 0, expected an integer from 1 to 5", true},
		{"/a", "at most 5 bytes", "/a", "found 7, expected an integer of at most 5", false},
		{"/a", "the form of X", "/a/b/c", "missing field, expected an integer", true},
		{"/a", "the form of X", "/ab", "missing field, expected an integer", false},
		{"/a", "each key once", "/a/k", "found the key twice, expected it once", true},
		{"/a", "each key once", "/a", "found the key twice, expected it once", false},
		{"/a", "pairs of key and value, each key once", "/a", "found a list, expected an object, each true or false", true},
		{"/a", "pairs of key and value, each key once", "/a", "found true, expected an object, each true or false", false},
		{"/a", "no members but the declared ones", "/a/b", "unknown field, found \"b\"", true},
		{"", "no members but the declared ones", "/b", "unknown field, found \"b\"", true},
		{"", "no members but the declared ones", "/args/b", "found 3, expected an integer", true},
		{"", "no members but the declared ones", "/A", "found 3, expected true or false", true},
		{"", "no members but the declared ones", "/a", "found 3, expected true or false", false},
		{"", "no members but the declared ones", "/a", "found both \"A\" and \"a\" for the field a, expected only a", true},
		{"", "no members but the declared ones", "/a/b", "unknown field, found \"b\"", false},
	} {
		if got := tells(dialect.Loss{Path: test.path, Constraint: test.loss}, []*idl.Param{{Name: "a", Type: &idl.Type{Kind: idl.Int}}}, idl.Fault{Path: test.at, Constraint: test.fault}); got != test.want {
			t.Errorf("the loss of %q at %s tells of %q at %s: found %v, expected %v", test.loss, test.path, test.fault, test.at, got, test.want)
		}
	}
}
