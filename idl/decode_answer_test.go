package idl_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/wipagent/wipagent/idl"
)

// checkAnswer holds for whatever is sent: the properties that DecodeArgs
// promises of its answer.
func checkAnswer(t interface {
	Helper()
	Fatalf(string, ...any)
}, o *idl.Operation, raw string) {
	t.Helper()
	args, err := o.DecodeArgs([]byte(raw))
	if err == nil {
		if !json.Valid([]byte(raw)) || !json.Valid(args.Record) {
			t.Fatalf("%q: passed as %s", raw, args.Record)
		}
		for _, r := range args.Repairs {
			if !resolves(raw, r.Path) || r.Note == "" {
				t.Fatalf("%s: repair %q leads nowhere", raw, r)
			}
		}
		again, err := o.DecodeArgs(args.Record)
		if err != nil || len(again.Repairs) > 0 || !bytes.Equal(again.Record, args.Record) {
			t.Fatalf("%s: found %v, %v on the second pass", args.Record, err, again)
		}
		if lost := lostValues(raw, string(args.Record)); lost != "" {
			t.Fatalf("%s: value %s did not arrive in %s", raw, lost, args.Record)
		}
		return
	}
	bad := err.(*idl.ArgumentError)
	if args != nil || bad.Operation != o || len(bad.Faults) == 0 || len(bad.Faults) > 33 {
		t.Fatalf("%q: found %v, %d faults", raw, args, len(bad.Faults))
	}
	for _, f := range bad.Faults {
		if f.Constraint == "" || json.Valid([]byte(raw)) && !resolves(raw, f.Path) {
			t.Fatalf("%s: fault %q leads nowhere", raw, f)
		}
	}
	if bad.Corrected == nil {
		return
	}
	if args, err = o.DecodeArgs(bad.Corrected); err != nil || len(args.Repairs) > 0 {
		t.Fatalf("%q: the correction %s is refused or repaired: %v, %v", raw, bad.Corrected, err, args)
	}
}

// resolves reports whether a pointer leads to a value, or names a field that
// is missing from an object. Of two members with one key it may mean either;
// strings that hold JSON are looked into.
func resolves(raw, pointer string) bool {
	return pointer == "" || pointer[0] == '/' && leads(gjson.Parse(raw), strings.Split(pointer[1:], "/"))
}

func leads(in gjson.Result, segments []string) bool {
	if len(segments) == 0 {
		return true
	}
	if in.Type == gjson.String {
		in = gjson.Parse(in.Str)
	}
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(segments[0])
	if in.IsArray() {
		n, err := strconv.Atoi(key)
		items := in.Array()
		return err == nil && n < len(items) && leads(items[n], segments[1:])
	}
	found, member := false, false
	in.ForEach(func(k, v gjson.Result) bool {
		if k.Str == key {
			member = true
			found = found || leads(v, segments[1:])
		}
		return true
	})
	return found || in.IsObject() && !member && len(segments) == 1
}

// lostValues returns a value of what was sent that is not in the record as
// often, in whatever form.
func lostValues(sent, record string) string {
	count := map[string]int{}
	leaves(plain(record), func(s string) { count[s]++ })
	lost := ""
	leaves(plain(sent), func(s string) {
		if count[s]--; count[s] < 0 {
			lost = s
		}
	})
	return lost
}

// leaves calls f with each scalar but null, in a form that slips of form do
// not change.
func leaves(v any, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			leaves(e, f)
		}
	case []any:
		for _, e := range v {
			leaves(e, f)
		}
	case string:
		var inner any
		if s := strings.TrimSpace(v); strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
			if inner = plain(s); inner != any(s) {
				leaves(inner, f)
				return
			}
		}
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			f(strconv.FormatFloat(n+0, 'g', -1, 64))
			return
		}
		f(strings.ToLower(v))
	case json.Number:
		n, _ := v.Float64()
		f(strconv.FormatFloat(n+0, 'g', -1, 64))
	case bool:
		f(strconv.FormatBool(v))
	}
}
