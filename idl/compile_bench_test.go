package idl_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

const benchOperations = 100

// benchDocument declares benchOperations operations like those of a grid.
func benchDocument() string {
	var b strings.Builder
	b.WriteString("package bench;\nversion 1;\n\n")
	for i := range benchOperations {
		fmt.Fprintf(&b, `/// The region the agent is in, as its session has observed it.
interface Region%[1]d {
  /// Avatars near the agent, nearest first.
  @alias("who is here", "people around") @read_only @timeout(3s) @max_output(32KiB)
  nearby_avatars_%[1]d(
    /// Search radius around the agent, in metres.
    radius_meters: float [0..256] = 96,
    page: int [1..1000] = 1,
    page_size: int [1..20] = 20,
  ) -> observed<fact<page<Avatar%[1]d>>>;
}

/// One avatar near the agent.
record Avatar%[1]d {
  avatar_id: uuid;
  name: fact<text>;
  @derived distance_meters: fact<float>;
  direction: fact<Direction%[1]d>;
}

enum Direction%[1]d { north, east, south, west }

`, i)
	}
	return b.String()
}

// benchProto says the same as benchDocument, as far as it can.
func benchProto() string {
	var b strings.Builder
	b.WriteString("syntax = \"proto3\";\npackage bench;\n\n")
	for i := range benchOperations {
		fmt.Fprintf(&b, `// The region the agent is in, as its session has observed it.
service Region%[1]d {
  // Avatars near the agent, nearest first.
  rpc NearbyAvatars%[1]d(NearbyAvatarsRequest%[1]d) returns (NearbyAvatarsResponse%[1]d) {
    option (alias) = "who is here";
    option (alias) = "people around";
    option idempotency_level = NO_SIDE_EFFECTS;
    option (timeout) = "3s";
    option (max_output) = 32768;
  }
}

message NearbyAvatarsRequest%[1]d {
  // Search radius around the agent, in metres.
  float radius_meters = 1 [(range) = {min: 0, max: 256}, (fallback) = 96];
  int32 page = 2 [(range) = {min: 1, max: 1000}, (fallback) = 1];
  int32 page_size = 3 [(range) = {min: 1, max: 20}, (fallback) = 20];
}

message NearbyAvatarsResponse%[1]d {
  repeated Avatar%[1]d items = 1;
}

// One avatar near the agent.
message Avatar%[1]d {
  string avatar_id = 1;
  string name = 2;
  float distance_meters = 3 [(derived) = true];
  Direction%[1]d direction = 4;
}

enum Direction%[1]d {
  NORTH%[1]d = 0;
  EAST%[1]d = 1;
  SOUTH%[1]d = 2;
  WEST%[1]d = 3;
}

`, i)
	}
	return b.String()
}

// BenchmarkCompile measures parsing and checking one operation with its types,
// beside protocompile's parser on the same declarations, which checks nothing.
func BenchmarkCompile(b *testing.B) {
	text := []byte(benchDocument())
	proto := []byte(benchProto())
	perOperation := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchOperations, "ns/operation")
	}
	b.Run("compile", func(b *testing.B) {
		load := func(string) ([]byte, error) { return text, nil }
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := idl.Compile(load, "bench.wip"); err != nil {
				b.Fatal(err)
			}
		}
		perOperation(b)
	})
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, faults := syntax.Parse("bench.wip", text); len(faults) > 0 {
				b.Fatal(faults)
			}
		}
		perOperation(b)
	})
	b.Run("protocompile", func(b *testing.B) {
		b.SetBytes(int64(len(proto)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := parser.Parse("bench.proto", bytes.NewReader(proto), reporter.NewHandler(nil)); err != nil {
				b.Fatal(err)
			}
		}
		perOperation(b)
	})
}

// longDocument returns a document of about so many lines.
func longDocument(lines int) string {
	var b strings.Builder
	b.WriteString("package long;\nversion 1;\n\n")
	for i := range lines / 100 {
		fmt.Fprintf(&b, "/// What one part of a house can do.\n@read_only @cost(1)\ninterface Part%d {\n", i)
		for j := range 8 {
			fmt.Fprintf(&b, `  /// Things in the part, nearest first.
  @alias("what is in here", "things around")
  things_%[2]d(
    /// How far around, in metres.
    radius_meters: float [0..256] = 96,
    page: int [1..1000] = 1,
    page_size: int [1..20] = 20,
  ) -> observed<fact<page<Thing%[1]d>>>;

`, i, j)
		}
		fmt.Fprintf(&b, "}\n\n/// One thing.\nrecord Thing%d {\n", i)
		for j := range 18 {
			fmt.Fprintf(&b, "  field_%d: fact<text>;\n", j)
		}
		b.WriteString("}\n\n")
	}
	return b.String()
}

// BenchmarkCompileLines measures long documents; the time of a line is the
// same in all of them. peak-MB is the most that the heap held at one time,
// garbage that was not yet collected included.
func BenchmarkCompileLines(b *testing.B) {
	for _, bench := range []struct {
		name  string
		lines int
		fault string // behind the last line
	}{
		{"1000", 1_000, ""},
		{"3000", 3_000, ""},
		{"10000", 10_000, ""},
		{"10000-faulty", 10_000, "interface"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			text := []byte(longDocument(bench.lines) + bench.fault)
			load := func(string) ([]byte, error) { return text, nil }
			compile := func() {
				if _, err := idl.Compile(load, "long.wip"); (err != nil) != (bench.fault != "") {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				compile()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(bytes.Count(text, []byte("\n"))), "ns/line")
			b.ReportMetric(float64(peakHeap(compile))/1e6, "peak-MB")
		})
	}
}

// peakHeap returns the most bytes that the heap held while f ran, beyond what
// it held before.
func peakHeap(f func()) uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before := read()
	most := before
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most = max(most, read())
			select {
			case <-done:
				return
			case <-time.After(100 * time.Microsecond):
			}
		}
	}()
	f()
	close(done)
	<-stopped
	return most - before
}

func BenchmarkRender(b *testing.B) {
	text := "package p;\n" + numbered("record R%d { a: Nothing%[1]d; }\n", 100)
	load := oneDocument("p.wip", text)
	_, err := idl.Compile(load, "p.wip")
	list := err.(idl.ErrorList)
	b.ReportAllocs()
	for b.Loop() {
		if err := idl.Render(io.Discard, list, load); err != nil {
			b.Fatal(err)
		}
	}
}
