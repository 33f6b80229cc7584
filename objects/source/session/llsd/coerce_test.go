package llsd_test

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/world"
)

// TestCoercion says for each value what each getter makes of it; one that is
// not listed must say that there is nothing.
func TestCoercion(t *testing.T) {
	type want map[string]any
	moment := time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC)
	for _, test := range []struct {
		name  string
		value llsd.Value
		want  want
	}{
		{"undef", llsd.Undef(), want{}},
		{"true", llsd.Boolean(true), want{"Int": int64(1), "U32": uint32(1), "U64": uint64(1), "Bool": true}},
		{"false", llsd.Boolean(false), want{"Int": int64(0), "U32": uint32(0), "U64": uint64(0), "Bool": false}},
		{"integer", llsd.Integer(7), want{"Str": "7", "Int": int64(7), "U32": uint32(7), "U64": uint64(7), "Real": 7.0, "Bool": true}},
		{"negative integer", llsd.Integer(-1), want{"Str": "-1", "Int": int64(-1), "U32": uint32(math.MaxUint32), "Real": -1.0, "Bool": true}},
		{"large integer", llsd.Integer(1 << 32), want{"Str": "4294967296", "Int": int64(1 << 32), "U64": uint64(1 << 32), "Real": 4294967296.0, "Bool": true}},
		{"real", llsd.Real(2.5), want{"Real": 2.5}},
		{"whole real", llsd.Real(2), want{"Int": int64(2), "U32": uint32(2), "U64": uint64(2), "Real": 2.0}},
		{"endless real", llsd.Real(math.Inf(1)), want{"Real": math.Inf(1)}},
		{"identifier", llsd.UUID(id), want{"Str": id.String(), "UUID": id}},
		{"string", llsd.String("hello"), want{"Str": "hello"}},
		{"empty string", llsd.String(""), want{"Str": "", "Bool": false, "UUID": world.UUID{}}},
		{"identifier in a string", llsd.String(id.String()), want{"Str": id.String(), "UUID": id}},
		{"number in a string", llsd.String("12"), want{"Str": "12", "Int": int64(12), "U32": uint32(12), "U64": uint64(12), "Real": 12.0}},
		{"large number in a string", llsd.String("18446744073709551615"), want{"Str": "18446744073709551615", "U64": uint64(math.MaxUint64), "Real": float64(math.MaxUint64)}},
		{"boolean in a string", llsd.String("True"), want{"Str": "True", "Bool": true}},
		{"address in a string", llsd.String("192.0.2.1"), want{"Str": "192.0.2.1", "Addr": netip.MustParseAddr("192.0.2.1")}},
		{"long address in a string", llsd.String("2001:db8::1"), want{"Str": "2001:db8::1"}},
		{"date in a string", llsd.String("2026-11-30T01:02:03Z"), want{"Str": "2026-11-30T01:02:03Z", "Date": moment}},
		{"uri", llsd.URI("x:y"), want{"Str": "x:y"}},
		{"date", llsd.Date(moment), want{"Date": moment}},
		{"no bytes", llsd.Binary(nil), want{"Int": int64(0), "U32": uint32(0), "U64": uint64(0), "Bytes": []byte{}}},
		{"four bytes", llsd.Binary([]byte{192, 0, 2, 1}), want{"Int": int64(-1073741311), "U32": uint32(3221225985), "U64": uint64(3221225985),
			"Bytes": []byte{192, 0, 2, 1}, "Addr": netip.MustParseAddr("192.0.2.1")}},
		{"eight bytes", llsd.Binary([]byte{0, 3, 232, 0, 0, 3, 232, 0}), want{"Int": int64(1099511628032000), "U64": uint64(1099511628032000), "Bytes": []byte{0, 3, 232, 0, 0, 3, 232, 0}}},
		{"16 bytes", llsd.Binary(id[:]), want{"UUID": id, "Bytes": id[:]}},
		{"array", llsd.Array(llsd.Integer(1)), want{}},
		{"vector", llsd.Array(llsd.Real(1.5), llsd.Integer(2), llsd.String("3")), want{"Vec3": world.Vec3{X: 1.5, Y: 2, Z: 3}}},
		{"endless vector", llsd.Array(llsd.Real(math.NaN()), llsd.Real(0), llsd.Real(0)), want{}},
		{"vector with a gap", llsd.Array(llsd.Real(1), llsd.Undef(), llsd.Real(0)), want{}},
		{"map", llsd.Map(member("a", llsd.Integer(1))), want{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := want{}
			collect := func(name string, v any, ok bool) {
				if ok {
					got[name] = v
				}
			}
			v := test.value
			str, ok := v.Str()
			collect("Str", str, ok)
			i, ok := v.Int()
			collect("Int", i, ok)
			u32, ok := v.U32()
			collect("U32", u32, ok)
			u64, ok := v.U64()
			collect("U64", u64, ok)
			f, ok := v.Real()
			collect("Real", f, ok)
			b, ok := v.Bool()
			collect("Bool", b, ok)
			u, ok := v.UUID()
			collect("UUID", u, ok)
			raw, ok := v.Bytes()
			collect("Bytes", raw, ok)
			addr, ok := v.Addr()
			collect("Addr", addr, ok)
			vec, ok := v.Vec3()
			collect("Vec3", vec, ok)
			date, ok := v.Date()
			collect("Date", date, ok)
			if diff := cmp.Diff(test.want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Error(diff)
			}
		})
	}
}
