package idl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl"
)

func between(low, high float64) *idl.Range {
	return &idl.Range{Min: low, Max: high, HasMin: true, HasMax: true}
}

func of(k idl.Kind) *idl.Type                   { return &idl.Type{Kind: k} }
func ranged(k idl.Kind, r *idl.Range) *idl.Type { return &idl.Type{Kind: k, Range: r} }
func optional(t idl.Type) *idl.Type             { t.Optional = true; return &t }
func op(name string, p ...*idl.Param) *idl.Operation {
	return &idl.Operation{Name: name, Params: p}
}

func param(name string, t *idl.Type, fallback string) *idl.Param {
	p := &idl.Param{Name: name, Type: t}
	if fallback != "" {
		p.Default = json.RawMessage(fallback)
	}
	return p
}

func matching(pattern string) *idl.Type {
	return &idl.Type{Kind: idl.String, PatternText: pattern, Pattern: regexp.MustCompile(`\A(?:` + pattern + `)\z`)}
}

func enum(labels ...string) *idl.Type {
	e := &idl.Enum{Name: "E"}
	for _, l := range labels {
		e.Labels = append(e.Labels, idl.Label{Name: l})
	}
	return &idl.Type{Kind: idl.EnumOf, Enum: e}
}

var (
	stateOp  = op("agent_state")
	nearbyOp = op("nearby_avatars",
		param("radius_meters", ranged(idl.Float, between(0, 256)), "96"),
		param("page", ranged(idl.Int, between(1, 1000)), "1"),
		param("page_size", ranged(idl.Int, between(1, 20)), "20"))
	searchOp = op("inventory_search",
		param("query", ranged(idl.String, between(1, 128)), ""),
		param("page", ranged(idl.Int, between(1, 1000)), "1"),
		param("page_size", ranged(idl.Int, between(1, 20)), "20"))
	pointType = &idl.Type{Kind: idl.RecordOf, Record: &idl.Record{Name: "Point", Fields: []*idl.Field{
		{Name: "x", Type: of(idl.Float)},
		{Name: "y", Type: of(idl.Float)},
		{Name: "height_meters", Type: optional(idl.Type{Kind: idl.Float, Range: between(0, 4096)})},
	}}}
	everyOp = op("every_kind",
		param("flag", of(idl.Bool), "false"),
		param("count", ranged(idl.Int, between(-5, 500)), "0"),
		param("ratio", of(idl.Float), "1"),
		param("title", optional(idl.Type{Kind: idl.String, Range: between(1, 12)}), ""),
		param("code", matching("[a-z]{3}"), `"abc"`),
		param("id", optional(idl.Type{Kind: idl.UUID}), ""),
		param("at", optional(idl.Type{Kind: idl.Timestamp}), ""),
		param("wait", ranged(idl.Duration, between(0, 60000)), "1000"),
		param("blob", optional(idl.Type{Kind: idl.Bytes, Range: between(0, 8)}), ""),
		param("target", optional(idl.Type{Kind: idl.Entry}), ""),
		param("heading", enum("north", "east", "south_west"), `"north"`),
		param("tags", &idl.Type{Kind: idl.List, Elem: ranged(idl.String, between(1, 8)), Range: between(0, 3)}, "[]"),
		param("limits", optional(idl.Type{Kind: idl.Map, Elem: ranged(idl.Int, between(0, 9)), Range: between(0, 3)}), ""),
		param("point", optional(*pointType), ""))
)

// decode runs DecodeArgs and fails the test if its error is of another type.
func decode(t testing.TB, o *idl.Operation, raw string) (*idl.Args, *idl.ArgumentError) {
	t.Helper()
	args, err := o.DecodeArgs([]byte(raw))
	if err == nil {
		return args, nil
	}
	var bad *idl.ArgumentError
	if !errors.As(err, &bad) || args != nil {
		t.Fatalf("%s: found %v and %T, expected nil and *ArgumentError", raw, args, err)
	}
	return nil, bad
}

// outcome renders what DecodeArgs made of a record, a line each.
func outcome(t testing.TB, o *idl.Operation, raw string) string {
	args, bad := decode(t, o, raw)
	var b strings.Builder
	if bad == nil {
		fmt.Fprintf(&b, "record %s\n", args.Record)
		for _, r := range args.Repairs {
			fmt.Fprintf(&b, "repair %q %s\n", r.Path, r.Note)
		}
		return b.String()
	}
	for _, f := range bad.Faults {
		fmt.Fprintf(&b, "fault %q %s\n", f.Path, f.Constraint)
	}
	if bad.Corrected != nil {
		fmt.Fprintf(&b, "corrected %s\n", bad.Corrected)
	}
	return b.String()
}

