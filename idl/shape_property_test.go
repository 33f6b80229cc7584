package idl_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl"
)

// TestShapeAnyType makes up a result type and a value of it in a Host's form,
// and checks what Shape promises of every such pair.
func TestShapeAnyType(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &resultMaker{T: t}
		result := r.resultType()
		op := r.compile(result)
		raw := r.value(op.Result)
		got, err := op.Shape([]byte(raw), idl.ShapeOptions{})
		if errors.Is(err, idl.ErrTooLarge) {
			return
		}
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, result, raw)
		}
		if !json.Valid(got.JSON) {
			t.Fatalf("not JSON: %s", got.JSON)
		}
		again, err := op.Shape(got.JSON, idl.ShapeOptions{})
		if err != nil || string(again.JSON) != string(got.JSON) {
			t.Fatalf("shaping again: %v\n%s\n%s", err, got.JSON, again.JSON)
		}
		shuffled, err := op.Shape([]byte(r.shuffle(raw)), idl.ShapeOptions{})
		if err != nil || string(shuffled.JSON) != string(got.JSON) {
			t.Fatalf("members in another order: %v\n%s\n%s", err, raw, got.JSON)
		}
	})
}

// TestShapeAnyIntruder puts a field that is not declared into some object of a
// value: it never leaves, and where the object is no map, it is a fault.
func TestShapeAnyIntruder(t *testing.T) {
	const canary = "intruder"
	rapid.Check(t, func(t *rapid.T) {
		r := &resultMaker{T: t, noMaps: true}
		result := r.resultType()
		op := r.compile(result)
		raw := r.value(op.Result)
		objects := strings.Count(raw, "{")
		if objects == 0 {
			return
		}
		at := 0
		for range rapid.IntRange(1, objects).Draw(t, "object") {
			at += strings.IndexByte(raw[at:], '{') + 1
		}
		member := fmt.Sprintf(`%q:%d`, canary, 424242)
		if raw[at] != '}' {
			member += ","
		}
		raw = raw[:at] + member + raw[at:]
		got, err := op.Shape([]byte(raw), idl.ShapeOptions{})
		var fault *idl.ResultError
		if !errors.As(err, &fault) || !strings.HasSuffix(fault.Path, "/?") || fault.Found != "an undeclared field" {
			t.Fatalf("got %v and error %v\n%s\n%s", got, err, result, raw)
		}
	})
}

// TestShapeAnyMutation changes bytes of a value: the result is a fault or a
// value that Shape itself takes back unchanged.
func TestShapeAnyMutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &resultMaker{T: t}
		op := r.compile(r.resultType())
		raw := []byte(r.value(op.Result))
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			at := rapid.IntRange(0, len(raw)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "edit") {
			case 0:
				raw[at] = rapid.SampledFrom([]byte("{}[]\",:\\0n-\xff\x00 ")).Draw(t, "byte")
			case 1:
				raw = append(raw[:at], raw[min(at+rapid.IntRange(1, 20).Draw(t, "cut"), len(raw)):]...)
			case 2:
				end := min(at+rapid.IntRange(1, 20).Draw(t, "copied"), len(raw))
				raw = append(raw[:end:end], raw[at:]...)
			}
			if len(raw) == 0 {
				break
			}
		}
		checkShaped(t, op, raw)
	})
}

// checkShaped checks what holds of any input.
func checkShaped(t interface{ Fatalf(string, ...any) }, op *idl.Operation, raw []byte) {
	got, err := op.Shape(raw, idl.ShapeOptions{})
	var fault *idl.ResultError
	var size *idl.SizeError
	switch {
	case errors.As(err, &fault):
		return
	case errors.As(err, &size):
		got = size.Whole
	case err != nil:
		t.Fatalf("got error %v, want a *ResultError or a *SizeError", err)
	}
	if !json.Valid(got.JSON) {
		t.Fatalf("not JSON: %q of %q", got.JSON, raw)
	}
	again, err := op.Shape(got.JSON, idl.ShapeOptions{})
	if size != nil {
		if !errors.Is(err, idl.ErrTooLarge) {
			t.Fatalf("shaping again: got error %v, want a *SizeError", err)
		}
		return
	}
	if err != nil || string(again.JSON) != string(got.JSON) {
		t.Fatalf("shaping again: %v\n%q\n%q", err, raw, got.JSON)
	}
}

// resultMaker draws result types and values of them.
type resultMaker struct {
	*rapid.T
	noMaps  bool
	records []string // declarations
}

func (r *resultMaker) n(max int, label string) int { return rapid.IntRange(0, max).Draw(r.T, label) }

func (r *resultMaker) compile(result string) *idl.Operation {
	return operationOf(r.T, result, strings.Join(r.records, "\n")+"\nenum Color { red, green, LSL }")
}

func (r *resultMaker) resultType() string {
	switch r.n(5, "result") {
	case 0:
		return "observed<" + r.record(0) + ">"
	case 1:
		return "observed<fact<" + r.record(0) + ">>"
	case 2:
		return "observed<fact<page<" + r.record(0) + ">>>"
	case 3:
		return "page<" + r.record(0) + ">"
	case 4:
		return r.record(0)
	}
	return r.typ(0, true)
}

// typ draws a type; optional says whether it may be null.
func (r *resultMaker) typ(depth int, optional bool) string {
	if depth >= 3 {
		return r.scalar()
	}
	wrapped := 0
	if !r.noMaps {
		wrapped = 1
	}
	t := ""
	switch r.n(7+wrapped, "type") {
	case 0:
		t = "list<" + r.typ(depth+1, true) + ">"
	case 1:
		return "fact<" + r.scalar() + ">"
	case 2:
		return "fact<" + r.record(depth+1) + ">"
	case 3:
		return "fact<list<" + r.typ(depth+1, true) + ">>"
	case 4:
		t = r.record(depth + 1)
	case 8:
		t = "map<" + r.typ(depth+1, true) + ">"
	default:
		t = r.scalar()
	}
	if optional && r.n(3, "optional") == 0 {
		t += "?"
	}
	return t
}

func (r *resultMaker) scalar() string {
	return rapid.SampledFrom([]string{"bool", "int", "int [-5..5]", "float", "float [0..1]", "string", "string [1..9 bytes]",
		"text", "text [..40 bytes]", "uuid", "timestamp", "duration", "bytes", "entry", "Color"}).Draw(r.T, "scalar")
}

// record declares a record and returns its name.
func (r *resultMaker) record(depth int) string {
	var fields strings.Builder
	for i := range r.n(5, "fields") {
		derived := ""
		if r.n(4, "derived") == 0 {
			derived = "@derived "
		}
		fmt.Fprintf(&fields, "%sf%d: %s; ", derived, i, r.typ(depth+1, true))
	}
	name := fmt.Sprintf("R%d", len(r.records))
	r.records = append(r.records, fmt.Sprintf("record %s { %s}", name, fields.String()))
	return name
}

// value draws a value as a Host sends it.
func (r *resultMaker) value(t *idl.Type) string {
	if t.Optional && r.n(2, "null") == 0 {
		return "null"
	}
	if t.Kind == idl.Fact && r.n(2, "unknown") == 0 {
		return `{"status":"unknown","reason":"manager_cache_unavailable"}`
	}
	number := func(v float64) string { b, _ := json.Marshal(v); return string(b) }
	switch t.Kind {
	case idl.Bool:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(r.T, "bool")
	case idl.Int, idl.Timestamp, idl.Duration:
		low, high := -1<<53+1, 1<<53-1
		if t.Range != nil {
			low, high = int(t.Range.Min), int(t.Range.Max)
		}
		return fmt.Sprint(rapid.IntRange(low, high).Draw(r.T, "int"))
	case idl.Float:
		low, high := -math.MaxFloat64, math.MaxFloat64
		if t.Range != nil {
			low, high = t.Range.Min, t.Range.Max
		}
		return number(rapid.Float64Range(low, high).Draw(r.T, "float"))
	case idl.String, idl.Text:
		s := rapid.OneOf(rapid.String(), rapid.SampledFrom(strangers)).Draw(r.T, "string")
		s = strings.ReplaceAll(s, "{", "(") // so that every brace opens an object
		if t.Kind == idl.String && t.Range != nil {
			s = "abc"
		}
		return quote(s)
	case idl.UUID:
		return `"ABCDEF01-2222-4333-8444-555555555555"`
	case idl.Bytes:
		return quote(base64.StdEncoding.EncodeToString(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(r.T, "bytes")))
	case idl.Entry:
		return rapid.SampledFrom([]string{`"/"`, `"/issues/1"`, `"/a b"`}).Draw(r.T, "entry")
	case idl.EnumOf:
		return quote(rapid.SampledFrom(t.Enum.Labels).Draw(r.T, "label").Name)
	case idl.List:
		var elems []string
		for range r.n(3, "elements") {
			elems = append(elems, r.value(t.Elem))
		}
		return "[" + strings.Join(elems, ",") + "]"
	case idl.Map:
		members := map[string]string{}
		for range r.n(3, "members") {
			members[rapid.SampledFrom(strangers).Draw(r.T, "key")] = r.value(t.Elem)
		}
		var list []string
		for k, v := range members {
			list = append(list, quote(k)+":"+v)
		}
		return "{" + strings.Join(list, ",") + "}"
	case idl.Fact:
		return r.value(t.Elem)
	}
	return "{" + strings.Join(r.members(t), ",") + "}"
}

// members draws the members of an object.
func (r *resultMaker) members(t *idl.Type) (list []string) {
	switch t.Kind {
	case idl.RecordOf:
		for _, f := range t.Record.Fields {
			if f.Type.Optional && r.n(3, "absent") == 0 {
				continue
			}
			list = append(list, quote(f.Name)+":"+r.value(f.Type))
		}
	case idl.Page:
		total, size := r.n(5, "total"), 1+r.n(3, "size")
		page := 1 + r.n(3, "page")
		var items []string
		for range max(0, min(size, total-(page-1)*size)) {
			items = append(items, r.value(t.Elem))
		}
		list = append(list, `"items":[`+strings.Join(items, ",")+"]", fmt.Sprintf(`"page":%d`, page), fmt.Sprintf(`"page_size":%d`, size),
			fmt.Sprintf(`"total_matching":%d`, total), `"source_truncated":false`)
	case idl.Fact:
		if r.n(2, "unknown") == 0 {
			return []string{`"status":"unknown"`, `"reason":"gone"`}
		}
		return r.members(t.Elem)
	case idl.Observed:
		return append([]string{envelope}, r.members(t.Elem)...)
	}
	return list
}

// shuffle puts the members of the outermost object into another order.
func (r *resultMaker) shuffle(raw string) string {
	if raw[0] != '{' {
		return raw
	}
	var members []string
	dec := json.NewDecoder(strings.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		r.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			r.Fatal(err)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			r.Fatal(err)
		}
		members = append(members, quote(key.(string))+":"+string(v))
	}
	return "{" + strings.Join(rapid.Permutation(members).Draw(r.T, "order"), ",") + "}"
}

// strangers are keys and texts that cleaning changes, some to the same.
var strangers = []string{"", "a", "a\u200b", "\u2060a", "a\n", "http://evil.example/", "evil.example", "\x00", "\U000e0041", strings.Repeat("é", 150),
	strings.Repeat("é", 151), "a (2)", "[link removed]", `"\`}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// TestShapeAnyPage checks the common length to which the texts of a page that
// is too large are cut: the result fits, and a longer one would not have.
func TestShapeAnyPage(t *testing.T) {
	op := operationOf(t, "page<text>", "")
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 256), 1, 60).Draw(t, "lengths")
		var items, plain []string
		for _, n := range lengths {
			plain = append(plain, strings.Repeat("a", n))
			items = append(items, quote(plain[len(plain)-1]))
		}
		raw := fmt.Sprintf(`{"items":[%s],"page":1,"page_size":60,"total_matching":%d,"source_truncated":false}`, strings.Join(items, ","), len(items))
		got, err := op.Shape([]byte(raw), idl.ShapeOptions{})
		if errors.Is(err, idl.ErrTooLarge) {
			t.Fatalf("60 texts of 16 bytes fit: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Items     []string `json:"items"`
			Truncated bool     `json:"truncated"`
		}
		if err := json.Unmarshal(got.JSON, &page); err != nil {
			t.Fatal(err)
		}
		if got.Shortened == 0 {
			if page.Truncated || strings.Join(page.Items, ",") != strings.Join(plain, ",") {
				t.Fatalf("changed without need: %s", got.JSON)
			}
			return
		}
		// One byte more of each cut text would be too much.
		if size := len(got.JSON); size > op.MaxOutput || size+got.Shortened <= op.MaxOutput || !page.Truncated {
			t.Fatalf("%d bytes with %d texts cut, expected at most %d and nearly so, truncated %v", size, got.Shortened, op.MaxOutput, page.Truncated)
		}
		common := 0
		for i, item := range page.Items {
			if len(item) < lengths[i] {
				common = len(item)
			}
		}
		for i, item := range page.Items {
			if want := min(lengths[i], common); len(item) != want {
				t.Fatalf("item %d of %d bytes has %d left, expected %d", i, lengths[i], len(item), want)
			}
		}
	})
}
