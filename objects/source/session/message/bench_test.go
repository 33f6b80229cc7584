package message_test

import (
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/message"
)

// bodies returns the bodies of a number in the first capture.
func bodies(tb testing.TB, number message.Number) (all [][]byte) {
	packets, _ := load(tb, "login-session")
	for _, p := range packets {
		if !p.sent && p.number == number {
			all = append(all, p.body)
		}
	}
	if len(all) == 0 {
		tb.Fatalf("the capture has no %v", number)
	}
	return all
}

// loop decodes a capture's bodies of a number over and over into one value.
func loop(number message.Number, decode func([]byte) error) func(*testing.B) {
	return func(b *testing.B) {
		all := bodies(b, number)
		i := 0
		b.ReportAllocs()
		for b.Loop() {
			if err := decode(all[i]); err != nil {
				b.Fatal(err)
			}
			if i++; i == len(all) {
				i = 0
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	var full message.ObjectUpdate
	b.Run("ObjectUpdate", loop(message.NumberObjectUpdate, full.Decode))
	b.Run("ObjectUpdateCompressed", loop(message.NumberObjectUpdateCompressed, full.DecodeCompressed))
	var terse message.ImprovedTerseObjectUpdate
	b.Run("ImprovedTerseObjectUpdate", loop(message.NumberImprovedTerseObjectUpdate, terse.Decode))
	var coarse message.CoarseLocationUpdate
	b.Run("CoarseLocationUpdate", loop(message.NumberCoarseLocationUpdate, coarse.Decode))
	var chat message.ChatFromSimulator
	b.Run("ChatFromSimulator", loop(message.NumberChatFromSimulator, chat.Decode))
	var im message.ImprovedInstantMessage
	b.Run("ImprovedInstantMessage", loop(message.NumberImprovedInstantMessage, im.Decode))
	var layer message.LayerData
	b.Run("LayerData", loop(message.NumberLayerData, layer.Decode))
}

func BenchmarkPatch(b *testing.B) {
	all := bodies(b, message.NumberLayerData)
	var m message.LayerData
	patches := 0
	b.ReportAllocs()
	for b.Loop() {
		for _, body := range all {
			if err := m.Decode(body); err != nil {
				b.Fatal(err)
			}
			patches += len(m.Patches)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(patches), "ns/patch")
}

// BenchmarkCapture decodes all messages of a capture that a decoder exists
// for, as a session does: each into a value that held others before.
func BenchmarkCapture(b *testing.B) {
	packets, _ := load(b, "login-session")
	reusing := table(true)
	type job struct {
		decode decoder
		body   []byte
	}
	var jobs []job
	for _, p := range packets {
		if decode, ok := reusing[p.number]; ok && !p.sent {
			jobs = append(jobs, job{decode, p.body})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, j := range jobs {
			if _, err := j.decode(j.body); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(jobs))/b.Elapsed().Seconds(), "packets/s")
}
