package lludp_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/source/session/lludp"
)

// unhex reads hexadecimal digits, blanks between them ignored.
func unhex(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, datagram string
		want           lludp.Packet
		body, err      string
	}{
		{name: "plain", datagram: "00 00000001 00 0207", want: lludp.Packet{Sequence: 1}, body: "0207"},
		{name: "sequence number is big-endian", datagram: "40 01020304 00 02", want: lludp.Packet{Flags: 0x40, Sequence: 0x01020304}, body: "02"},
		{name: "unknown flags are kept", datagram: "0f ffffffff 00 02", want: lludp.Packet{Flags: 0x0f, Sequence: 1<<32 - 1}, body: "02"},
		{name: "extra header", datagram: "00 00000001 03 aabbcc 0207", want: lludp.Packet{Sequence: 1}, body: "0207"},
		{name: "extra header in the coded part", datagram: "80 00000001 03 0003 0207", want: lludp.Packet{Flags: 0x80, Sequence: 1}, body: "0207"},
		{name: "extra header and nothing", datagram: "00 00000001 01 aa", want: lludp.Packet{Sequence: 1}},
		{name: "extra header too long", datagram: "00 00000001 03 aabb", err: "found 2 bytes, expected an extra header of 3"},
		{name: "extra header into the acks", datagram: "10 00000001 02 aa 00000005 01", err: "found 1 bytes, expected an extra header of 2"},
		{name: "message number inside the coding", datagram: "c0 00000000 00 ffff 0001 94 0003", want: lludp.Packet{Flags: 0xc0}, body: "ffff0094000000"},
		{name: "acks are never coded", datagram: "90 00000009 00 01 0002 00000000 00000102 02",
			want: lludp.Packet{Flags: 0x90, Sequence: 9, Acks: []uint32{0, 0x102}}, body: "010000"},
		{name: "acks only", datagram: "10 00000009 00 00000007 01", want: lludp.Packet{Flags: 0x10, Sequence: 9, Acks: []uint32{7}}},
		{name: "no acks", datagram: "10 00000009 00 00", want: lludp.Packet{Flags: 0x10, Sequence: 9}},
		{name: "too many acks", datagram: "10 00000009 00 00000007 02", err: "found 4 bytes before an acknowledgement count of 2, expected 8"},
		{name: "acks a byte short", datagram: "10 00000009 00 aabbcc 01", err: "found 3 bytes before an acknowledgement count of 1, expected 4"},
		{name: "acks over the header", datagram: "10 00000009 00 01", err: "found 0 bytes before an acknowledgement count of 1, expected 4"},
		{name: "a final zero without a count", datagram: "80 00000009 00 0700", want: lludp.Packet{Flags: 0x80, Sequence: 9}, body: "0700"},
		{name: "nothing", datagram: "", err: "found a datagram of 0 bytes, expected 7 to 8192"},
		{name: "header only", datagram: "00 00000001 00", err: "found a datagram of 6 bytes, expected 7 to 8192"},
		{name: "too long", datagram: strings.Repeat("01", 8193), err: "found a datagram of 8193 bytes, expected 7 to 8192"},
		{name: "longest", datagram: "00 00000001 00" + strings.Repeat("01", 8186), want: lludp.Packet{Sequence: 1}, body: strings.Repeat("01", 8186)},
		{name: "bomb", datagram: "80 00000001 00" + strings.Repeat("00", 40) + "ff", err: "found a zero-coded packet of more than 8192 bytes when expanded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := lludp.Parse(unhex(t, tt.datagram), nil)
			if text := errorText(err); text != tt.err {
				t.Fatalf("found error %q, expected %q", text, tt.err)
			}
			tt.want.Body = unhex(t, tt.body)
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAppendPacketFaults(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    lludp.Packet
		err  string
	}{
		{"empty", lludp.Packet{}, "found a datagram of 6 bytes, expected 7 to 8192"},
		{"body over the datagram", lludp.Packet{Body: make([]byte, 8187)}, "found a datagram of 8193 bytes, expected 7 to 8192"},
		{"body over the expansion", lludp.Packet{Flags: lludp.FlagZeroCoded, Body: make([]byte, 8193)}, "found a body of 8193 bytes, expected at most 8192"},
		{"coded body over the datagram", lludp.Packet{Flags: lludp.FlagZeroCoded, Body: bytes.Repeat([]byte{0, 1}, 3000)}, "found a datagram of 9006 bytes, expected 7 to 8192"},
		{"acks", lludp.Packet{Acks: make([]uint32, 256), Body: []byte{1}}, "found 256 acknowledgements, expected at most 255"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := lludp.AppendPacket([]byte("before"), &tt.p)
			if errorText(err) != tt.err || string(got) != "before" {
				t.Errorf("found error %q and %q, expected %q and the bytes from before", errorText(err), got, tt.err)
			}
		})
	}
}

func TestZeroCode(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("00", n) }
	for _, tt := range []struct {
		name, coded, plain string
		lax                bool // never written like that
	}{
		{name: "empty"},
		{name: "no zeros", coded: "0102ff", plain: "0102ff"},
		{name: "one", coded: "01000102", plain: "010002"},
		{name: "255", coded: "00ff", plain: zeros(255)},
		{name: "256", coded: "00ff0001", plain: zeros(256)},
		{name: "256 and a count", coded: "000007", plain: zeros(256 + 7), lax: true},
		{name: "512 and a count", coded: "0000000109", plain: zeros(512+1) + "09", lax: true},
		{name: "final zero", coded: "0500", plain: "0500", lax: true},
		{name: "two final zeros", coded: "050000", plain: "05" + zeros(257), lax: true},
		{name: "runs in a row", coded: "00020003", plain: zeros(5), lax: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			coded, plain := unhex(t, tt.coded), unhex(t, tt.plain)
			got, err := lludp.Expand([]byte("before"), coded)
			if want := "before" + string(plain); err != nil || string(got) != want {
				t.Errorf("found %x, %v, expected %x", got, err, want)
			}
			if got := lludp.AppendCoded(nil, plain); !tt.lax && !bytes.Equal(got, coded) {
				t.Errorf("found %x, expected %x", got, coded)
			}
		})
	}
}

// TestExpandBound steps over the bound by each of the ways in which bytes are
// appended.
func TestExpandBound(t *testing.T) {
	full := bytes.Repeat([]byte{1}, lludp.MaxExpanded)
	run := append(bytes.Repeat([]byte{0}, lludp.MaxExpanded/256), 255) // 31×256 and 255 zeros
	for _, tt := range []struct {
		name  string
		coded []byte
		fits  bool
	}{
		{"plain", full, true},
		{"plain and one", append(full[:len(full):len(full)], 1), false},
		{"plain and a zero", append(full[:len(full):len(full)], 0), false},
		{"run", run, true},
		{"run and one", append(run[:len(run):len(run)], 1), true},
		{"run and two", append(run[:len(run):len(run)], 1, 1), false},
		{"run and two zeros", append(run[:len(run):len(run)], 0, 2), false},
		{"zeros without end", make([]byte, 10_000), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := []byte("before")
			got, err := lludp.Expand(before, tt.coded)
			if (err == nil) != tt.fits || len(got) > len(before)+lludp.MaxExpanded {
				t.Errorf("found %d bytes, %v, expected to fit: %v", len(got), err, tt.fits)
			}
		})
	}
}

// bodies draws messages with the runs of zeros that are typical of them.
func bodies(most int) *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		body := []byte{rapid.ByteRange(1, 254).Draw(t, "number")}
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			body = append(body, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "plain")...)
			body = append(body, make([]byte, rapid.SampledFrom([]int{0, 1, 2, 254, 255, 256, 257, 511, 600}).Draw(t, "zeros"))...)
		}
		return body[:min(len(body), most)]
	})
}

func TestPacketRoundTrip(t *testing.T) {
	scratch := make([]byte, 0, lludp.MaxExpanded)
	rapid.Check(t, func(t *rapid.T) {
		p := lludp.Packet{
			Flags:    rapid.Byte().Draw(t, "flags"),
			Sequence: rapid.Uint32().Draw(t, "sequence"),
			Acks:     rapid.SliceOfN(rapid.Uint32(), 0, 255).Draw(t, "acks"),
			Body:     bodies(6000).Draw(t, "body"),
		}
		datagram, err := lludp.AppendPacket(nil, &p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := lludp.Parse(datagram, scratch)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Acks) > 0 {
			p.Flags |= lludp.FlagAcks
		}
		if diff := cmp.Diff(p, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		again, err := lludp.AppendPacket(nil, &got)
		if err != nil || !bytes.Equal(again, datagram) {
			t.Fatalf("found %x, %v, expected %x", again, err, datagram)
		}
	})
}
