package idl_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl"
)

func TestParseID(t *testing.T) {
	id, err := idl.ParseID("ABCDEF01-2222-4333-8444-55555555555a")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := id.String(), "abcdef01-2222-4333-8444-55555555555a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if b, err := json.Marshal(id); err != nil || string(b) != `"`+id.String()+`"` {
		t.Errorf("got JSON %s, %v", b, err)
	}
	var back idl.ID
	if err := json.Unmarshal([]byte(`"`+id.String()+`"`), &back); err != nil || back != id || back.IsZero() {
		t.Errorf("got %v, %v back", back, err)
	}
	for _, s := range []string{"", "abcdef01222243338444555555555555", "abcdef01-2222-4333-8444-55555555555g", "abcdef01-2222-4333-8444-555555555555 ",
		"{abcdef01-2222-4333-8444-5555555555}", "abcdef01+2222-4333-8444-555555555555"} {
		if id, err := idl.ParseID(s); err == nil || !id.IsZero() {
			t.Errorf("%q was read as %v", s, id)
		}
	}
}

func TestFactOf(t *testing.T) {
	var forgotten idl.FactOf[int]
	if v, ok := forgotten.Get(); ok || forgotten.Reason() != "manager_cache_unavailable" {
		t.Errorf("a forgotten fact is %v, known %v, for %q", v, ok, forgotten.Reason())
	}
	if got := idl.Unknown[int]("gone").Reason(); got != "gone" {
		t.Errorf("got reason %q", got)
	}
	if v, ok := idl.Known(0).Get(); v != 0 || !ok || idl.Known(0).Reason() != "" {
		t.Errorf("a known zero is %v, known %v", v, ok)
	}
}

func TestEncoderKeepsTextsReadable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		e := idl.NewEncoder()
		e.String(s)
		raw, err := e.Result()
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(raw, &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Fatalf("got %q as %s, %v", back, raw, err)
		}
		if !utf8.Valid(raw) {
			t.Fatalf("not UTF-8: %q", raw)
		}
	})
}

func TestEncoderBoundsTexts(t *testing.T) {
	for _, c := range []struct{ declared, want int }{{0, 8190}, {256, 8190}, {4096, 16383}} {
		e := idl.NewEncoder()
		e.Text(strings.Repeat("語", 100000), c.declared)
		raw, err := e.Result()
		if err != nil || len(raw)-2 != c.want || !utf8.Valid(raw) {
			t.Errorf("declared %d: got %d bytes, %v, want %d", c.declared, len(raw)-2, err, c.want)
		}
	}
}

func TestEncoderRefusesWhatJSONCannotSay(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		e := idl.NewEncoder()
		e.Float(v)
		if raw, err := e.Result(); err == nil {
			t.Errorf("%v was written as %s", v, raw)
		}
	}
}
