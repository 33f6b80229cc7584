package message_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/source/session/message"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		number message.Number
		name   string
		wire   string
	}{
		{message.High(12), "ObjectUpdate", "\x0C"},
		{message.High(200), "H200", "\xC8"},
		{message.Medium(6), "CoarseLocationUpdate", "\xFF\x06"},
		{message.Medium(200), "M200", "\xFF\xC8"},
		{message.Low(148), "RegionHandshake", "\xFF\xFF\x00\x94"},
		{message.Low(255), "RetrieveInstantMessages", "\xFF\xFF\x00\xFF"},
		{message.Low(999), "L999", "\xFF\xFF\x03\xE7"},
		{message.Fixed(0xFB), "PacketAck", "\xFF\xFF\xFF\xFB"},
		{message.Fixed(0xFA), "F250", "\xFF\xFF\xFF\xFA"},
	} {
		if got := c.number.String(); got != c.name {
			t.Errorf("found %s, expected %s", got, c.name)
		}
		if got := string(c.number.Append(nil)); got != c.wire {
			t.Errorf("%v: found % x, expected % x", c.number, got, c.wire)
		}
		n, rest, err := message.Split([]byte(c.wire + "rest"))
		if n != c.number || string(rest) != "rest" || err != nil {
			t.Errorf("found %v, %q, %v; expected %v", n, rest, err, c.number)
		}
	}
	for _, short := range []string{"", "\xFF", "\xFF\xFF", "\xFF\xFF\x00"} {
		if n, _, err := message.Split([]byte(short)); err == nil {
			t.Errorf("% x: found %v, expected an error", short, n)
		}
	}
}

func TestNumberRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.Just[byte](0xFF)), 4, 8).Draw(t, "body")
		n, rest, err := message.Split(body)
		if err != nil {
			t.Fatal(err)
		}
		if got := append(n.Append(nil), rest...); string(got) != string(body) {
			t.Fatalf("found % x, expected % x", got, body)
		}
		_ = n.String()
	})
}

// TestDecodersHaveNames checks the table against the constants: a decoder's
// number must have a name.
func TestDecodersHaveNames(t *testing.T) {
	for n := range decoders {
		if name := n.String(); len(name) < 8 {
			t.Errorf("found %s, expected a name", name)
		}
	}
}
