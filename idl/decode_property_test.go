package idl_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/wipagent/wipagent/idl"
	"pgregory.net/rapid"
)

// node is a generated value together with its type, so that it can be written
// in more than one way.
type node struct {
	t      *idl.Type
	scalar string // canonical JSON; of lists, maps and records empty
	kids   []kid
}

type kid struct {
	key string
	node
}

// names whose words differ, so that none is near another.
var names = []string{"radius_meters", "page_size", "query", "object_kind", "first_seen", "want_hidden", "lasting", "volume", "entry_path", "body_html", "owner", "zone_limits"}

func drawRange(t *rapid.T, low, high float64) *idl.Range {
	r := &idl.Range{}
	a, b := rapid.Int64Range(int64(low), int64(high)).Draw(t, "a"), rapid.Int64Range(int64(low), int64(high)).Draw(t, "b")
	r.Min, r.Max = float64(min(a, b)), float64(max(a, b))
	r.HasMin, r.HasMax = rapid.Bool().Draw(t, "has min"), rapid.Bool().Draw(t, "has max")
	if !r.HasMin && !r.HasMax {
		return nil
	}
	return r
}

// drawType draws a type; half of the time one of the kinds preferred.
func drawType(t *rapid.T, depth int, preferred ...idl.Kind) *idl.Type {
	kinds := []idl.Kind{idl.Bool, idl.Int, idl.Float, idl.String, idl.UUID, idl.Timestamp, idl.Duration, idl.Bytes, idl.Entry, idl.EnumOf}
	if depth > 0 {
		kinds = append(kinds, idl.List, idl.Map, idl.RecordOf)
	}
	if len(preferred) > 0 && rapid.Bool().Draw(t, "preferred") {
		kinds = preferred
	}
	out := &idl.Type{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Optional: rapid.Bool().Draw(t, "optional")}
	switch out.Kind {
	case idl.Int, idl.Float, idl.Timestamp, idl.Duration:
		out.Range = drawRange(t, -1000, 1000)
	case idl.String:
		if rapid.IntRange(0, 4).Draw(t, "pattern") == 0 {
			out.PatternText = "[a-z]{2}[0-9]+"
			out.Pattern = matching(out.PatternText).Pattern
		} else {
			out.Range = drawRange(t, 0, 40)
		}
	case idl.Bytes:
		out.Range = drawRange(t, 0, 20)
	case idl.EnumOf:
		out.Enum = enum("north", "south_west", "Middle", "x").Enum
	case idl.List, idl.Map:
		out.Range = drawRange(t, 0, 4)
		out.Elem = drawType(t, depth-1)
	case idl.RecordOf:
		out.Record = &idl.Record{Name: "R"}
		for _, name := range rapid.Permutation(names).Draw(t, "fields")[:rapid.IntRange(1, 3).Draw(t, "n")] {
			out.Record.Fields = append(out.Record.Fields, &idl.Field{Name: name, Type: drawType(t, depth-1)})
		}
	}
	return out
}

// size draws a size that a range allows.
func size(t *rapid.T, r *idl.Range, most int) int {
	low, high := 0, most
	if r != nil && r.HasMin {
		low = int(r.Min)
		high = max(high, low)
	}
	if r != nil && r.HasMax {
		high = min(high, int(r.Max))
	}
	return rapid.IntRange(low, high).Draw(t, "size")
}

const wordRunes = "abcdefghijklmnopqrstuvwxyz0123456789"

// drawWords draws a string of exactly n bytes that cleaning leaves alone.
func drawWords(t *rapid.T, n int) string {
	if n == 4 && rapid.Bool().Draw(t, "special") {
		return rapid.SampledFrom([]string{"true", "null", "1234", "a b!", "日a"}).Draw(t, "word")
	}
	var b strings.Builder
	for b.Len() < n {
		if n-b.Len() >= 3 && rapid.IntRange(0, 9).Draw(t, "wide") == 0 {
			b.WriteString("語")
		} else {
			b.WriteByte(wordRunes[rapid.IntRange(0, len(wordRunes)-1).Draw(t, "letter")])
		}
	}
	return b.String()
}

func drawValue(t *rapid.T, typ *idl.Type) node {
	n := node{t: typ}
	if typ.Optional && rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		n.scalar = "null"
		return n
	}
	text := func(s string) { b, _ := json.Marshal(s); n.scalar = string(b) }
	switch typ.Kind {
	case idl.Bool:
		n.scalar = strconv.FormatBool(rapid.Bool().Draw(t, "bool"))
	case idl.Int, idl.Timestamp, idl.Duration:
		n.scalar = strconv.FormatInt(int64(number(t, typ.Range, true)), 10)
	case idl.Float:
		b, _ := json.Marshal(number(t, typ.Range, false) + 0)
		n.scalar = string(b)
	case idl.String:
		if typ.Pattern != nil {
			text(rapid.StringMatching(typ.PatternText).Draw(t, "string"))
		} else {
			text(drawWords(t, size(t, typ.Range, 20)))
		}
	case idl.UUID:
		text(rapid.StringMatching("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").Draw(t, "uuid"))
	case idl.Bytes:
		m := size(t, typ.Range, 10)
		text(base64.StdEncoding.EncodeToString(rapid.SliceOfN(rapid.Byte(), m, m).Draw(t, "bytes")))
	case idl.Entry:
		text(rapid.SampledFrom([]string{"/", "/grid", "/a/b", "/x y/é"}).Draw(t, "entry"))
	case idl.EnumOf:
		text(rapid.SampledFrom(typ.Enum.Labels).Draw(t, "label").Name)
	case idl.List:
		for range size(t, typ.Range, 3) {
			n.kids = append(n.kids, kid{node: drawValue(t, typ.Elem)})
		}
	case idl.Map:
		for i := range size(t, typ.Range, 3) {
			n.kids = append(n.kids, kid{fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"key", "Key", "a/b", "~", ""}).Draw(t, "key"), i), drawValue(t, typ.Elem)})
		}
	case idl.RecordOf:
		for _, f := range typ.Record.Fields {
			if !f.Type.Optional || rapid.Bool().Draw(t, "sent") {
				n.kids = append(n.kids, kid{f.Name, drawValue(t, f.Type)})
			}
		}
	}
	return n
}

func number(t *rapid.T, r *idl.Range, whole bool) float64 {
	low, high := -1e6, 1e6
	if r != nil && r.HasMin {
		low = r.Min
		high = max(high, low)
	}
	if r != nil && r.HasMax {
		high = r.Max
		low = min(low, high)
	}
	if whole {
		return float64(rapid.Int64Range(int64(low), int64(high)).Draw(t, "int"))
	}
	return rapid.Float64Range(low, high).Draw(t, "float")
}

// drawCall draws an operation and a valid record for it.
func drawCall(t *rapid.T, preferred ...idl.Kind) (*idl.Operation, node) {
	o := &idl.Operation{Name: "do_it"}
	record := node{t: &idl.Type{Kind: idl.RecordOf}}
	for _, name := range rapid.Permutation(names).Draw(t, "names")[:rapid.IntRange(0, 5).Draw(t, "params")] {
		p := &idl.Param{Name: name, Type: drawType(t, 2, preferred...)}
		if rapid.Bool().Draw(t, "has default") && p.Type.Kind < idl.List {
			p.Default = json.RawMessage(drawValue(t, p.Type).scalar)
		}
		o.Params = append(o.Params, p)
		if p.Required() || rapid.Bool().Draw(t, "sent") {
			record.kids = append(record.kids, kid{name, drawValue(t, p.Type)})
		}
	}
	return o, record
}

// write renders a value. With slips, it asks at each place whether to write
// it in another form that has the same one reading.
func (n node) write(slip func() bool) string {
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	if n.scalar == "null" {
		return n.scalar
	}
	switch n.t.Kind {
	case idl.Bool:
		if slip() {
			return quote(n.scalar)
		} else if slip() {
			return quote(strings.ToUpper(n.scalar))
		}
	case idl.Int, idl.Timestamp, idl.Duration:
		switch {
		case slip():
			return quote(n.scalar)
		case slip():
			return n.scalar + ".00"
		case n.scalar != "0" && slip():
			return n.scalar + "0E-1"
		case slip():
			return quote(n.scalar + "e+0")
		}
	case idl.Float:
		if slip() {
			return quote(n.scalar)
		}
	case idl.UUID:
		if slip() {
			return strings.ToUpper(n.scalar)
		}
	case idl.EnumOf:
		if slip() {
			return strings.ToUpper(n.scalar)
		} else if slip() {
			return strings.ToLower(n.scalar)
		}
	case idl.List, idl.Map, idl.RecordOf:
		var b strings.Builder
		seen := map[string]bool{}
		for i, k := range n.kids {
			if i > 0 {
				b.WriteString(", ")
			}
			if n.t.Kind != idl.List {
				key := k.key
				if n.t.Kind == idl.RecordOf && slip() {
					key = misspell(key)
				}
				if seen[key] {
					key = k.key
				}
				seen[key] = true
				b.WriteString(quote(key) + ": ")
			}
			b.WriteString(k.write(slip))
		}
		s := "{" + b.String() + "}"
		if n.t.Kind == idl.List {
			s = "[" + b.String() + "]"
		}
		if slip() {
			return quote(" " + s)
		}
		return s
	}
	return n.scalar
}

// misspell writes a snake_case name as other languages would.
func misspell(name string) string {
	words := strings.Split(name, "_")
	if len(name)%2 == 0 {
		return strings.Join(words, "-")
	}
	for i := range words {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

func never() bool { return false }

// TestValidRecordsPass: a valid record needs no repair, and its canonical form
// is a fixed point.
func TestValidRecordsPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, record := drawCall(t)
		raw := record.write(never)
		args, err := o.DecodeArgs([]byte(raw))
		if err != nil || len(args.Repairs) > 0 {
			t.Fatalf("%s: found %v, %v", raw, err, args)
		}
		again, err := o.DecodeArgs(args.Record)
		if err != nil || len(again.Repairs) > 0 || !bytes.Equal(again.Record, args.Record) {
			t.Fatalf("%s: found %v, %v on the second pass", args.Record, err, again)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(args.Record, &fields); err != nil || len(fields) != len(o.Params) {
			t.Fatalf("%s: found %v, %d fields, expected %d", args.Record, err, len(fields), len(o.Params))
		}
		for _, p := range o.Params {
			want := string(p.Default)
			if i := slices.IndexFunc(record.kids, func(k kid) bool { return k.key == p.Name }); i >= 0 {
				want = record.kids[i].write(never)
			} else if p.Default == nil {
				want = "null"
			}
			if !sameJSON(want, string(fields[p.Name])) {
				t.Fatalf("%s: found %s, expected %s", p.Name, fields[p.Name], want)
			}
		}
	})
}

// sameJSON compares values, taking a field of a record that is null for one
// that is absent.
func sameJSON(a, b string) bool {
	return cmp.Equal(plain(a), plain(b))
}

func plain(s string) any {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return s
	}
	return dropNulls(v)
}

func dropNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if v[k] = dropNulls(e); e == nil {
				delete(v, k)
			}
		}
	case []any:
		for i := range v {
			v[i] = dropNulls(v[i])
		}
	}
	return v
}

// TestRepairsKeepEveryValue: a record written with slips of form is read as
// the record without them, to the byte, and each slip is reported.
func TestRepairsKeepEveryValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, record := drawCall(t)
		want, err := o.DecodeArgs([]byte(record.write(never)))
		if err != nil {
			t.Fatal(err)
		}
		raw := record.write(func() bool { return rapid.IntRange(0, 3).Draw(t, "slip") == 0 })
		quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
		if rapid.Bool().Draw(t, "envelope") {
			raw = `{` + quote(rapid.SampledFrom([]string{"arguments", "input", "Params", "args", "parameters", "doIt"}).Draw(t, "word")) + `:` + raw + `}`
		}
		if raw[0] == '{' && rapid.Bool().Draw(t, "string") {
			raw = quote(raw)
		}
		got, err := o.DecodeArgs([]byte(raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if !bytes.Equal(got.Record, want.Record) {
			t.Fatalf("%s: found %s, expected %s", raw, got.Record, want.Record)
		}
		if len(got.Repairs) == 0 && !sameJSON(raw, record.write(never)) {
			t.Fatalf("%s: repaired without a word", raw)
		}
		checkAnswer(t, o, raw)
	})
}
