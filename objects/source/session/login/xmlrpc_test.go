package login

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/source/gridxml"
	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

var sameValue = cmp.AllowUnexported(value{}, member{})

// wrap makes a response of a value's XML.
func wrap(value string) string {
	return `<?xml version="1.0"?><methodResponse><params><param>` + value + `</param></params></methodResponse>`
}

func TestDecodeValue(t *testing.T) {
	str := stringValue
	for _, test := range []struct {
		name, xml string
		want      value
	}{
		{"string", "<value><string>a b</string></value>", str("a b")},
		{"untyped", "<value> a & b </value>", str(" a & b ")},
		{"untyped empty", "<value/>", str("")},
		{"untyped cdata", "<value><![CDATA[<a>]]>b</value>", str("<a>b")},
		{"empty string", "<value><string /></value>", str("")},
		{"spaces around the type", "<value>\n <int>5</int>\n</value>", value{kind: kindInt, text: "5"}},
		{"i4", "<value><i4>-5</i4></value>", intValue(-5)},
		{"i8", "<value><i8>5000000000</i8></value>", intValue(5000000000)},
		{"boolean", "<value><boolean>1</boolean></value>", value{kind: kindBoolean, text: "1"}},
		{"double", "<value><double>-1.5e3</double></value>", value{kind: kindDouble, text: "-1.5e3"}},
		{"float", "<value><float>2</float></value>", value{kind: kindDouble, text: "2"}},
		{"time", "<value><dateTime.iso8601>20261129T20:59:18</dateTime.iso8601></value>", value{kind: kindDateTime, text: "20261129T20:59:18"}},
		{"base64", "<value><base64>aGk=</base64></value>", value{kind: kindBase64, text: "aGk="}},
		{"nil", "<value><nil/></value>", value{kind: kindNil}},
		{"nil with a namespace", `<value><ex:nil xmlns:ex="x"/></value>`, value{kind: kindNil}},
		{"unknown type", "<value><llsd><map/></llsd></value>", value{kind: kindNil}},
		{"two types", "<value><int>1</int><int>2</int></value>", intValue(1)},
		{"markup in a string", "<value><string>a<b>c</b>d</string></value>", str("ad")},
		{"forbidden characters", "<value><string>&#x2;\x1b</string></value>", str("\x02\x1b")},
		{"array", "<value><array><data><value>a</value><value><array><data/></array></value></data></array></value>", arrayValue(str("a"), arrayValue())},
		{"array without data", "<value><array/></value>", arrayValue()},
		{"array with strangers", "<value><array><x/><data><x/><value/></data></array></value>", arrayValue(str(""))},
		{"struct", "<value><struct><member><name>a</name><value>b</value></member></struct></value>", structValue(member{"a", str("b")})},
		{"struct, value first", "<value><struct><member><value>b</value><name>a</name></member></struct></value>", structValue(member{"a", str("b")})},
		{"struct with strangers", "<value><struct><x/><member><x/><name>a</name></member></struct></value>", structValue()},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := decodeResponse(strings.NewReader(wrap(test.xml)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, sameValue); diff != "" {
				t.Errorf("found (+), expected (-):\n%s", diff)
			}
		})
	}
}

func TestCoercion(t *testing.T) {
	for _, test := range []struct {
		text    string
		integer int64
		isInt   bool
		boolean bool
		isBool  bool
	}{
		{"1", 1, true, true, true},
		{" 0 ", 0, true, false, true},
		{"True", 1, true, true, true},
		{"false", 0, true, false, true},
		{"+7", 7, true, false, false},
		{"256000.0", 256000, true, false, false},
		{"1e3", 1000, true, false, false},
		{"1.5", 0, false, false, false},
		{"1e300", 0, false, false, false},
		{"NaN", 0, false, false, false},
		{"Inf", 0, false, false, false},
		{"9223372036854775808", 0, false, false, false},
		{"Y", 0, false, true, true},
		{"", 0, false, false, false},
	} {
		v := stringValue(test.text)
		i, isInt := v.integer()
		b, isBool := v.boolean()
		if i != test.integer || isInt != test.isInt || b != test.boolean || isBool != test.isBool {
			t.Errorf("%q: found %d, %v, %v, %v", test.text, i, isInt, b, isBool)
		}
	}
}

func TestDecodeBounds(t *testing.T) {
	many := decoder{xml: gridxml.NewDecoder(strings.NewReader("<value/><value/>"), maxText), values: maxValues - 1}
	if _, err := many.find("value"); err != nil {
		t.Error(err)
	}
	if _, err := many.find("value"); err == nil {
		t.Error("found no error for one value too many")
	}
	for name, document := range map[string]string{
		"text":  wrap("<value>" + strings.Repeat("x", maxText+1) + "</value>"),
		"depth": wrap(strings.Repeat("<value><array><data>", 30)),
		"skip":  wrap(strings.Repeat("<x>", 100)),
	} {
		if _, err := decodeResponse(strings.NewReader(document)); err == nil {
			t.Errorf("%s: found no error", name)
		}
	}
}

// TestCall: what goes over the wire, by names and types.
func TestCall(t *testing.T) {
	for _, test := range []struct {
		name string
		req  Request
		want map[string]string // besides those of every call
	}{
		{"least", Request{First: "test", Password: secret.New("secret"), Channel: "wipagent", Version: "0.1.0", Platform: "lnx"}, map[string]string{
			"first": "test", "last": "Resident", "passwd": "$1$5ebe2294ecd0e0f08eab7690d2a6ee69", "start": "last",
			"channel": "wipagent", "version": "0.1.0", "platform": "lnx", "platform_string": "", "platform_version": "", "mac": "", "id0": "",
			"agree_to_tos": "0", "read_critical": "0", "token": "", "mfa_hash": "",
		}},
		{"all", Request{
			First: "Test", Last: "Üser & <son>", Password: secret.New("0123456789abcdefg"), Start: "uri:Test Region&1&2&3", Channel: "c", Version: "v",
			Platform: "win", PlatformVersion: "11", MAC: strings.Repeat("a", 32), ID0: strings.Repeat("0", 32), AcceptTerms: true, ReadCritical: true,
			Token: secret.New(" 123 456\n"), MFAHash: secret.New("hash"),
		}, map[string]string{
			"first": "Test", "last": "Üser & <son>", "passwd": "$1$461f13e3e373ff0ab8a219283afe33db", "start": "uri:Test Region&1&2&3",
			"channel": "c", "version": "v", "platform": "win", "platform_string": "11", "platform_version": "11", "mac": strings.Repeat("a", 32),
			"id0": strings.Repeat("0", 32), "agree_to_tos": "1", "read_critical": "1", "token": "123456", "mfa_hash": "hash",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := string(test.req.appendCall(nil, "login_to_simulator"))
			head, parameters, _ := strings.Cut(body, "<params>")
			if head != `<?xml version="1.0" encoding="UTF-8"?><methodCall><methodName>login_to_simulator</methodName>` {
				t.Errorf("found %s", head)
			}
			v, err := decodeResponse(strings.NewReader("<methodResponse><params>" + strings.Replace(parameters, "methodCall", "methodResponse", 1)))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, m := range v.members {
				if m.value.kind == kindString || m.value.kind == kindInt {
					got[m.name] = m.value.text
				}
			}
			for name, every := range map[string]string{
				"address_size": "64", "extended_errors": "1", "host_id": "", "last_exec_event": "0", "last_exec_duration": "0",
			} {
				test.want[name] = every
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("found (+), expected (-):\n%s", diff)
			}
			if wanted := v.get("options"); wanted.kind != kindArray || wanted.items[0].text != "inventory-root" || len(wanted.items) != len(options) {
				t.Errorf("found options %+v", wanted)
			}
		})
	}
}

// TestTruncatePassword: the option cuts, and nothing else does.
func TestTruncatePassword(t *testing.T) {
	long, short := secret.New("0123456789abcdefg"), secret.New("0123456789abcdef")
	whole := Request{Password: long}
	cut := Request{Password: long, TruncatePassword: true}
	same := Request{Password: short, TruncatePassword: true}
	if whole.passwordHash() == cut.passwordHash() || cut.passwordHash() != same.passwordHash() {
		t.Error("found a password cut where it should not be, or not where it should")
	}
}

// endless is a body that never ends.
type endless struct{}

// Read implements io.Reader.
func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReadBody(t *testing.T) {
	for _, test := range []struct {
		name string
		body io.Reader
		want error
	}{
		{"endless", endless{}, errLong},
		{"as long as may be", io.LimitReader(endless{}, 1000), nil},
		{"a byte more", io.LimitReader(endless{}, 1001), errLong},
	} {
		body, err := readBody(&http.Response{ContentLength: -1, Body: io.NopCloser(test.body)}, 1000)
		if !errors.Is(err, test.want) || err == nil && len(body) != 1000 {
			t.Errorf("%s: found %d bytes, %v", test.name, len(body), err)
		}
	}
}

// anyValue draws a value as it can be written.
func anyValue() *rapid.Generator[value] {
	return rapid.Custom(func(t *rapid.T) value { return drawValue(t, 4) })
}

func drawValue(t *rapid.T, depth int) value {
	kinds := []kind{kindNil, kindString, kindInt, kindBoolean, kindDouble, kindDateTime, kindBase64, kindArray, kindStruct}
	if depth == 0 {
		kinds = kinds[:len(kinds)-2]
	}
	v := value{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("\x00\x02\x1b\t\r\n <>&;\"'#]\ufeff\ufffe\uffff\U0010FFFD"))))
	switch v.kind {
	case kindNil:
	case kindArray:
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			v.items = append(v.items, drawValue(t, depth-1))
		}
	case kindStruct:
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			v.members = append(v.members, member{text.Draw(t, "name"), drawValue(t, depth-1)})
		}
	default:
		v.text = text.Draw(t, "text")
	}
	return v
}

// TestRoundTrip: what is written is read as the same, and written as the same
// bytes again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyValue().Draw(t, "value")
		written := appendValue(nil, want)
		got, err := decodeResponse(strings.NewReader(wrap(string(written))))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameValue); diff != "" {
			t.Fatalf("found (+), expected (-):\n%s", diff)
		}
		if again := appendValue(nil, got); string(again) != string(written) {
			t.Fatalf("found %s, expected %s", again, written)
		}
	})
}

// loginReply is the body of a real simulator's reply.
func loginReply(t testing.TB) []byte {
	exchanges := capture.Fixture(t, "login-session").Exchanges
	at := slices.IndexFunc(exchanges, func(e capture.Exchange) bool {
		return strings.Contains(string(e.RequestBody), "login_to_simulator")
	})
	return exchanges[at].ResponseBody
}

// FuzzXMLRPC: no bytes break the codec, and what it reads it writes such that
// it reads the same.
func FuzzXMLRPC(f *testing.F) {
	f.Fuzz(func(t *testing.T, document string) {
		v, err := decodeResponse(strings.NewReader(document))
		if err != nil {
			return
		}
		written := appendValue(nil, v)
		again, err := decodeResponse(strings.NewReader(wrap(string(written))))
		if err != nil {
			t.Fatalf("found %v in %q", err, written)
		}
		if !reflect.DeepEqual(v, again) {
			t.Fatalf("found %+v, expected %+v", again, v)
		}
	})
}

// FuzzReply: no answer makes reading it panic, and what succeeds is complete.
func FuzzReply(f *testing.F) {
	req := &Request{}
	f.Fuzz(func(t *testing.T, status int, body string) {
		reply, next, err := readReply(status, []byte(body), newScrubber(req))
		var e *Error
		switch {
		case err != nil:
			if !errors.As(err, &e) || reply != nil || next != nil || e.Reason == "" || e.Error() == "" {
				t.Fatalf("found %v, %v, %#v", reply, next, err)
			}
		case next != nil:
			if next.url.Host == "" || next.method == "" || next.wait < 0 || next.wait > maxWait {
				t.Fatalf("found %+v", next)
			}
		case reply.AgentID.IsZero() || reply.SessionID.Reveal().IsZero() || !reply.Simulator.IsValid() || reply.Simulator.Port() == 0 ||
			reply.Seed.Reveal() == "" || reply.SizeX < 1 || reply.SizeY < 1 || len(reply.Folders) > MaxFolders:
			t.Fatalf("found %+v", reply)
		}
	})
}

func BenchmarkReply(b *testing.B) {
	body := loginReply(b)
	scrub := newScrubber(&Request{})
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := readReply(200, body, scrub); err != nil {
			b.Fatal(err)
		}
	}
}
