package llsd_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
)

// FuzzParse: no document does harm, and what was read is written so that it
// is read back equal.
func FuzzParse(f *testing.F) {
	for _, document := range captured(f) {
		// The fuzzer mutates small inputs best, and the bodies repeat themselves.
		if len(document) < 8<<10 {
			f.Add(document)
		}
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		v, err := llsd.Parse(document)
		if err != nil {
			if v.Kind() != llsd.KindUndef {
				t.Errorf("found a value beside the error %v", err)
			}
			return
		}
		written := v.AppendXML(nil)
		again, err := llsd.Parse(written)
		if err != nil {
			// A value that stood alone may be one level too deep within <llsd>.
			if strings.Contains(err.Error(), llsd.ErrDepth.Error()) {
				return
			}
			t.Fatalf("found %v in %s", err, written)
		}
		if !again.Equal(v) {
			t.Errorf("found %s, expected %s", describe(again), written)
		}
	})
}

// TestMemory: what costs most for its size stays within a few times of it.
func TestMemory(t *testing.T) {
	const size = 256 << 10
	for _, test := range []struct{ name, before, repeated, after string }{
		{"unknown elements", "<llsd>", "<i/>", "</llsd>"},
		{"maps", "<llsd><array>", "<map><key/><undef/></map>", "</array></llsd>"},
		{"merged maps", "<llsd>", "<map><key/><undef/></map>", "</llsd>"},
		{"identifiers", "<llsd><array>", "<uuid/>", "</array></llsd>"},
		{"keys", "<llsd><map>", "<key>&#x1;</key>", "</map></llsd>"},
		{"forbidden characters", "<llsd><array>", "<string>" + strings.Repeat("\x01", 10000) + "</string>", "</array></llsd>"},
		{"ampersands", "<llsd><array>", "<string>" + strings.Repeat("&", 10000) + "</string>", "</array></llsd>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := (size - len(test.before) - len(test.after)) / len(test.repeated)
			document := []byte(test.before + strings.Repeat(test.repeated, n) + test.after)
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			v, err := llsd.Parse(document)
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			if kept > 6*size {
				t.Errorf("found %d bytes kept of a document of %d", kept, len(document))
			}
			runtime.KeepAlive(v)
			runtime.KeepAlive(document)
		})
	}
}

// TestNodes: a document may hold as many values and keys as are allowed.
func TestNodes(t *testing.T) {
	const document = "<llsd><array><map><key>a</key><integer/></map><x/><undef/></array></llsd>"
	if _, err := llsd.ParseAtMost([]byte(document), 5); err != nil {
		t.Errorf("found %v, expected four values and a key to be read", err)
	}
	if _, err := llsd.ParseAtMost([]byte(document), 4); !errors.Is(err, llsd.ErrNodes) {
		t.Errorf("found %v, expected %v", err, llsd.ErrNodes)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, document := range captured(b) {
		name := ""
		switch {
		case len(document) > 80<<10:
			name = "inventory"
		case len(document) > 3900 && strings.Contains(string(document), "ParcelProperties"):
			name = "parcel"
		default:
			continue
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(document)))
			for b.Loop() {
				if _, err := llsd.Parse(document); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendXML(b *testing.B) {
	v := llsd.Map(member("ack", llsd.Integer(25021516)), member("done", llsd.Boolean(false)))
	b.ReportAllocs()
	var document []byte
	for b.Loop() {
		document = v.AppendXML(document[:0])
	}
}
