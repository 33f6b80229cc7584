package syntax_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"

	"github.com/wipagent/wipagent/idl/syntax"
)

// benchOperations is the number of operations in a benchmark's document.
const benchOperations = 200

// wipOperations returns a document of benchOperations operations.
func wipOperations() []byte {
	var b strings.Builder
	b.WriteString("package bench;\nversion 1;\n")
	for i := range benchOperations {
		if i%10 == 0 {
			fmt.Fprintf(&b, "\n/// A set of operations.\n@read_only @cost(1)\ninterface Set%d {\n", i/10)
		}
		fmt.Fprintf(&b, `
  /// Avatars near the agent, nearest first.
  @alias("who is here", "people around")
  nearby_%d(
    /// Search radius around the agent, in metres.
    radius_meters: float [0..256] = 96,
    page: int [1..1000] = 1,
    page_size: int [1..20] = 20,
  ) -> observed<fact<page<Avatar%d>>>;
`, i, i)
		if i%10 == 9 {
			b.WriteString("}\n")
		}
	}
	for i := range benchOperations {
		fmt.Fprintf(&b, "\n/// One avatar.\nrecord Avatar%d {\n  avatar_id: uuid;\n  name: fact<text>;\n  @derived distance_meters: fact<float>;\n}\n", i)
	}
	return []byte(b.String())
}

// protoOperations returns the same in the language of protocol buffers:
// a method and its two messages for each operation.
func protoOperations() []byte {
	var b strings.Builder
	b.WriteString("syntax = \"proto3\";\npackage bench;\n")
	for i := range benchOperations {
		if i%10 == 0 {
			fmt.Fprintf(&b, "\n// A set of operations.\nservice Set%d {\n  option (read_only) = true;\n  option (cost) = 1;\n", i/10)
		}
		fmt.Fprintf(&b, `
  // Avatars near the agent, nearest first.
  rpc Nearby%d(NearbyRequest%d) returns (stream Avatar%d) {
    option (alias) = "who is here";
    option (alias) = "people around";
  }
`, i, i, i)
		if i%10 == 9 {
			b.WriteString("}\n")
		}
	}
	for i := range benchOperations {
		fmt.Fprintf(&b, `
message NearbyRequest%d {
  // Search radius around the agent, in metres.
  double radius_meters = 1 [(min) = 0, (max) = 256, (init) = 96];
  int32 page = 2 [(min) = 1, (max) = 1000, (init) = 1];
  int32 page_size = 3 [(min) = 1, (max) = 20, (init) = 20];
}

// One avatar.
message Avatar%d {
  string avatar_id = 1;
  optional string name = 2;
  optional double distance_meters = 3 [(derived) = true];
}
`, i, i)
	}
	return []byte(b.String())
}

// BenchmarkParse parses the same operations in our language and, for
// comparison, with protocompile in that of protocol buffers.
func BenchmarkParse(b *testing.B) {
	b.Run("wip", func(b *testing.B) {
		src := wipOperations()
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			if _, faults := syntax.Parse("bench.wip", src); len(faults) > 0 {
				b.Fatal(faults[0])
			}
		}
		perOperation(b)
	})
	b.Run("protocompile", func(b *testing.B) {
		src := protoOperations()
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := parser.Parse("bench.proto", bytes.NewReader(src), reporter.NewHandler(nil)); err != nil {
				b.Fatal(err)
			}
		}
		perOperation(b)
	})
}

// BenchmarkRecover parses a document with a mistake at its end.
func BenchmarkRecover(b *testing.B) {
	src := append(wipOperations(), "interface"...)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, faults := syntax.Parse("bench.wip", src); len(faults) != 1 {
			b.Fatalf("got %d faults, want 1", len(faults))
		}
	}
	perOperation(b)
}

func perOperation(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchOperations, "ns/operation")
}
