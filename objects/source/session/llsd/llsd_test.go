package llsd_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/world"
)

var id = world.MustUUID("0a0a0a0a-0000-4000-8000-000000000001")

func member(key string, v llsd.Value) llsd.Member { return llsd.Member{Key: key, Value: v} }

// describe writes a value without its types' secrecy, for messages of tests.
func describe(v llsd.Value) string { return string(v.AppendXML(nil)) }

func TestParse(t *testing.T) {
	moment := time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC)
	for _, test := range []struct {
		name, document string
		want           llsd.Value
	}{
		{"undef", "<llsd><undef /></llsd>", llsd.Undef()},
		{"nothing in it", "<llsd/>", llsd.Undef()},
		{"booleans", "<llsd><array><boolean>1</boolean><boolean>0</boolean><boolean>true</boolean><boolean>False</boolean></array></llsd>",
			llsd.Array(llsd.Boolean(true), llsd.Boolean(false), llsd.Boolean(true), llsd.Boolean(false))},
		{"integers", "<llsd><array><integer>-7</integer><integer> 4294967295\n</integer></array></llsd>",
			llsd.Array(llsd.Integer(-7), llsd.Integer(4294967295))},
		{"reals", "<llsd><array><real>1.5</real><real>nan</real><real>NaN</real><real>-inf</real><real>Infinity</real><real>1e-3</real></array></llsd>",
			llsd.Array(llsd.Real(1.5), llsd.Real(math.NaN()), llsd.Real(math.NaN()), llsd.Real(math.Inf(-1)), llsd.Real(math.Inf(1)), llsd.Real(0.001))},
		{"identifiers", "<llsd><array><uuid>0A0A0A0A-0000-4000-8000-000000000001</uuid></array></llsd>", llsd.Array(llsd.UUID(id))},
		{"strings", "<llsd><array><string> a &amp; &lt;b&gt; 広場 </string><uri>http://example.invalid/?a=1&amp;b=2</uri></array></llsd>",
			llsd.Array(llsd.String(" a & <b> 広場 "), llsd.URI("http://example.invalid/?a=1&b=2"))},
		{"dates", "<llsd><array><date>2026-11-30T01:02:03Z</date><date>2026-11-30T01:02:03.000000Z</date><date>2026-11-30T02:02:03+01:00</date><date>2026-11-30T01:02:03</date><date>2026-11-30</date></array></llsd>",
			llsd.Array(llsd.Date(moment), llsd.Date(moment), llsd.Date(moment), llsd.Date(moment), llsd.Date(moment.Truncate(24*time.Hour)))},
		{"binaries", "<llsd><array><binary>AQIDBA==</binary><binary encoding=\"base64\"> AQID\n BA </binary><binary encoding=\"base16\">0102fF</binary></array></llsd>",
			llsd.Array(llsd.Binary([]byte{1, 2, 3, 4}), llsd.Binary([]byte{1, 2, 3, 4}), llsd.Binary([]byte{1, 2, 255}))},
		{"empty elements", "<llsd><array><boolean/><integer /><real/><uuid></uuid><string/><uri/><date/><binary/><array/><map/></array></llsd>",
			llsd.Array(llsd.Boolean(false), llsd.Integer(0), llsd.Real(0), llsd.UUID(world.UUID{}), llsd.String(""), llsd.URI(""),
				llsd.Date(time.Unix(0, 0)), llsd.Binary(nil), llsd.Array(), llsd.Map())},
		{"unreadable scalars", "<llsd><array><boolean>maybe</boolean><integer>1.5</integer><real>much</real><uuid>1234</uuid><date>today</date><binary>!</binary><binary encoding='base85'>00</binary></array></llsd>",
			llsd.Array(llsd.Undef(), llsd.Undef(), llsd.Undef(), llsd.Undef(), llsd.Undef(), llsd.Undef(), llsd.Undef())},
		{"map", "<llsd><map><key>b</key><integer>1</integer><key>a</key><string>x</string></map></llsd>",
			llsd.Map(member("a", llsd.String("x")), member("b", llsd.Integer(1)))},
		{"equal keys", "<llsd><map><key>a</key><integer>1</integer><key>b</key><undef/><key>a</key><integer>2</integer></map></llsd>",
			llsd.Map(member("a", llsd.Integer(2)), member("b", llsd.Undef()))},
		{"keys without values and values without keys", "<llsd><map><integer>1</integer><key>a</key><key>b</key><integer>2</integer><integer>3</integer><key>c</key></map></llsd>",
			llsd.Map(member("b", llsd.Integer(2)))},
		{"two maps", "<llsd><map><key>folders</key><array/><key>n</key><integer>1</integer></map>\n<map><key>bad_folders</key><array/><key>n</key><integer>2</integer></map></llsd>",
			llsd.Map(member("bad_folders", llsd.Array()), member("folders", llsd.Array()), member("n", llsd.Integer(2)))},
		{"two arrays", "<llsd><array/><array><undef/></array></llsd>", llsd.Array()},
		{"unknown elements", "<llsd><header><string>x</string></header><map><key>a</key><vector><string>y</string></vector><integer>1</integer></map></llsd>",
			llsd.Map(member("a", llsd.Integer(1)))},
		{"elements within a scalar", "<llsd><string>a<string>b</string>c<!-- d --></string></llsd>", llsd.String("ac")},
		{"cdata", "<llsd><string><![CDATA[<a> & b]]></string></llsd>", llsd.String("<a> & b")},
		{"forbidden characters", "<llsd><map><key>\x02</key><string>a\x1b&#x1b;&#x0;\x01</string></map></llsd>",
			llsd.Map(member("\x02", llsd.String("a\x1b\x1b\x00\x01")))},
		{"bare ampersand", "<llsd><string>Tom & Jerry &co; &amp; &</string></llsd>", llsd.String("Tom & Jerry &co; & &")},
		{"defined entity", "<!DOCTYPE llsd [<!ENTITY e \"boom\">]><llsd><string>&e;</string></llsd>", llsd.String("&e;")},
		{"xml prolog", "<?xml version=\"1.0\" encoding=\"utf-16\"?>\n<llsd><integer>1</integer></llsd>", llsd.Integer(1)},
		{"llsd prolog", " \r\n<? LLSD/XML ?>\n<llsd><integer>1</integer></llsd>", llsd.Integer(1)},
		{"byte order mark and prologs", "\ufeff<?xml version='1.0'?><?llsd/xml?><llsd><integer>1</integer></llsd>", llsd.Integer(1)},
		{"something after it", "<llsd><integer>1</integer></llsd></html> & more <", llsd.Integer(1)},
		{"no llsd around it", "<integer>1</integer>", llsd.Integer(1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := llsd.Parse([]byte(test.document))
			if err != nil || !got.Equal(test.want) {
				t.Errorf("found %s, %v, expected %s", describe(got), err, describe(test.want))
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	nested := func(n int) string {
		return "<llsd>" + strings.Repeat("<array>", n) + strings.Repeat("</array>", n) + "</llsd>"
	}
	if _, err := llsd.Parse([]byte(nested(llsd.MaxDepth - 1))); err != nil {
		t.Errorf("found %v, expected as many levels as are allowed to be read", err)
	}
	for _, test := range []struct {
		name, document string
		want           error // nil: any
	}{
		{"nothing", "", llsd.ErrNotLLSD},
		{"text", "Not Found", llsd.ErrNotLLSD},
		{"prolog only", "<?xml version='1.0'?>", llsd.ErrNotLLSD},
		{"page", "<html><body><integer>1</integer></body></html>", llsd.ErrNotLLSD},
		{"prolog without an end", "<?xml <llsd/>", nil},
		{"cut off in an array", "<llsd><array><integer>1</integer>", nil},
		{"cut off in a text", "<llsd><string>x", nil},
		{"cut off in a tag", "<llsd><str", nil},
		{"mismatched", "<llsd><array></map></llsd>", nil},
		{"deep", nested(llsd.MaxDepth), llsd.ErrDepth},
		{"deep and unknown", "<llsd>" + strings.Repeat("<x>", llsd.MaxDepth) + strings.Repeat("</x>", llsd.MaxDepth) + "</llsd>", llsd.ErrDepth},
		{"long text", "<llsd><string>" + strings.Repeat("x", llsd.MaxText) + "</string></llsd>", nil},
		{"long tag", "<llsd><string a='" + strings.Repeat("x", llsd.MaxText) + "'/></llsd>", nil},
		{"large", "<llsd>" + strings.Repeat(" ", llsd.MaxSize) + "</llsd>", llsd.ErrSize},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := llsd.Parse([]byte(test.document))
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("found %v, expected an error (%v)", err, test.want)
			}
		})
	}
}

// TestCaptured reads every body that a real grid sent, and writes it again.
func TestCaptured(t *testing.T) {
	var read int
	for _, document := range captured(t) {
		v, err := llsd.Parse(document)
		if err != nil {
			t.Errorf("found %v in a body of %d bytes", err, len(document))
			continue
		}
		read++
		again, err := llsd.Parse(v.AppendXML(nil))
		if err != nil || !again.Equal(v) {
			t.Errorf("found %v, expected what was written to be read back equal", err)
		}
	}
	if read < 20 {
		t.Errorf("found %d bodies, expected all requests and answers of the captures", read)
	}
}

// captured returns the LLSD bodies of the captures, those to the grid and
// those from it.
func captured(t testing.TB) (documents [][]byte) {
	for _, name := range []string{"login-session", "login-session-cached"} {
		for _, e := range capture.Fixture(t, name).Exchanges {
			if e.Path == "/" { // the login, which is XML-RPC
				continue
			}
			for _, body := range [][]byte{e.RequestBody, e.ResponseBody} {
				if len(body) > 0 {
					documents = append(documents, body)
				}
			}
		}
	}
	return documents
}

// values generates any value at most depth levels deep.
func values(depth int) *rapid.Generator[llsd.Value] {
	text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("&<>;\"'#x \t\r\n\x00\x01\x1b\ufeff\ufffe\uffff\U0010FFFD\U0010F001]"))))
	kinds := []*rapid.Generator[llsd.Value]{
		rapid.Just(llsd.Undef()),
		rapid.Map(rapid.Bool(), llsd.Boolean),
		rapid.Map(rapid.Int64(), llsd.Integer),
		rapid.Map(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)})), llsd.Real),
		rapid.Map(rapid.Custom(func(t *rapid.T) (u world.UUID) {
			copy(u[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid"))
			return u
		}), llsd.UUID),
		rapid.Map(text, llsd.String),
		rapid.Map(text, llsd.URI),
		rapid.Map(rapid.Int64(), func(n int64) llsd.Value { return llsd.Date(time.Unix(0, n)) }),
		rapid.Map(rapid.SliceOf(rapid.Byte()), llsd.Binary),
	}
	if depth > 0 {
		inner := values(depth - 1)
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(vs []llsd.Value) llsd.Value { return llsd.Array(vs...) }),
			rapid.Map(rapid.MapOfN(text, inner, 0, 4), func(m map[string]llsd.Value) llsd.Value {
				var members []llsd.Member
				for k, v := range m {
					members = append(members, member(k, v))
				}
				return llsd.Map(members...)
			}))
	}
	return rapid.OneOf(kinds...)
}

// TestRoundTrip: whatever is written is read back equal.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		document := v.AppendXML([]byte("before"))
		got, err := llsd.Parse(document[len("before"):])
		if err != nil || !got.Equal(v) || !v.Equal(got) {
			t.Fatalf("found %s, %v, expected %s", describe(got), err, document)
		}
	})
}

func TestConstructors(t *testing.T) {
	if got := llsd.String("a\xffb"); !got.Equal(llsd.String("a\ufffdb")) {
		t.Errorf("found %s, expected invalid UTF-8 to be replaced", describe(got))
	}
	for _, year := range []int{-1, 10000} {
		if got := llsd.Date(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); got.Kind() != llsd.KindUndef {
			t.Errorf("found %s for the year %d, expected undef", describe(got), year)
		}
	}
	b := []byte{1}
	elements := []llsd.Value{llsd.Binary(b)}
	members := []llsd.Member{member("b", llsd.Array(elements...)), member("a", llsd.Undef()), member("b", llsd.Integer(2))}
	v := llsd.Array(llsd.Map(members[:1]...), llsd.Array(elements...))
	before := describe(v)
	b[0], elements[0], members[0].Key = 2, llsd.Undef(), "z"
	if after := describe(v); after != before {
		t.Errorf("found %s, expected a value to keep %s", after, before)
	}
	if got, _ := llsd.BinaryU32(0xFFFFFFFE).U32(); got != 0xFFFFFFFE {
		t.Errorf("found %#x, expected the number back", got)
	}
	if got, _ := llsd.BinaryU64(1 << 63).U64(); got != 1<<63 {
		t.Errorf("found %#x, expected the number back", got)
	}
}

func TestAccess(t *testing.T) {
	v := llsd.Map(member("b", llsd.Array(llsd.Integer(1), llsd.Integer(2))), member("a", llsd.String("x")))
	if diff := cmp.Diff([]string{"a", "b"}, slices.Collect(v.Keys())); diff != "" {
		t.Error(diff)
	}
	var seen []string
	for k, m := range v.All() {
		seen = append(seen, k+" "+m.Kind().String())
	}
	if diff := cmp.Diff([]string{"a string", "b array"}, seen); diff != "" {
		t.Error(diff)
	}
	var sum int64
	for e := range v.Get("b").Values() {
		i, _ := e.Int()
		sum += i
	}
	if i, _ := v.Get("b").Index(1).Int(); sum != 3 || i != 2 || v.Len() != 2 || v.Get("b").Len() != 2 {
		t.Errorf("found a sum of %d, %d second and %d members", sum, i, v.Len())
	}
	for range v.All() {
		break
	}
	for _, none := range []llsd.Value{v.Get("c"), v.Get("a").Get("b"), v.Index(0), v.Get("b").Index(-1), v.Get("b").Index(2), v.Get("b").Get("0")} {
		if none.Kind() != llsd.KindUndef || none.Len() != 0 {
			t.Errorf("found %s, expected undef", describe(none))
		}
	}
	if llsd.Kind(200).String() == "" {
		t.Error("found no text for a kind that does not exist")
	}
}

func TestEqual(t *testing.T) {
	all := []llsd.Value{
		llsd.Undef(), llsd.Boolean(false), llsd.Integer(0), llsd.Real(0), llsd.Real(math.NaN()), llsd.UUID(world.UUID{}), llsd.String(""), llsd.URI(""),
		llsd.Date(time.Unix(0, 0)), llsd.Binary(nil), llsd.Array(), llsd.Array(llsd.Undef()), llsd.Map(), llsd.Map(member("a", llsd.Undef())), llsd.Map(member("b", llsd.Undef())),
	}
	for i, a := range all {
		for j, b := range all {
			if a.Equal(b) != (i == j) {
				t.Errorf("found Equal(%s, %s) %t, expected %t", describe(a), describe(b), a.Equal(b), i == j)
			}
		}
	}
}

// TestNothingPrinted: a value that holds a secret can be logged by accident.
func TestNothingPrinted(t *testing.T) {
	v := llsd.Map(member("EventQueueGet", llsd.String("http://grid.invalid/cap")), member("b", llsd.Binary([]byte("http"))))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, x := range []any{v, &v, []llsd.Value{v}, struct{ V llsd.Value }{v}, v.Get("EventQueueGet")} {
			if got := fmt.Sprintf(verb, x); strings.Contains(got, "grid.invalid") || strings.Contains(got, "677269642e") {
				t.Errorf("found %s printed by %s", got, verb)
			}
		}
	}
	if got := fmt.Sprint(v, v.Get("EventQueueGet")); got != "llsd map of 2 llsd string" {
		t.Errorf("found %q", got)
	}
}
