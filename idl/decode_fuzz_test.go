package idl_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/wipagent/wipagent/idl"
)

var fuzzOps = []*idl.Operation{nearbyOp, searchOp, everyOp, stateOp}

// seeds returns the records of the golden archives.
func seeds(t testing.TB) []string {
	files, err := filepath.Glob("testdata/decode/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d archives, %v", len(files), err)
	}
	var out []string
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(archive.Files[0].Data)) {
			_, raw, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			out = append(out, raw)
		}
	}
	return out
}

func FuzzDecodeArgs(f *testing.F) {
	for i, raw := range seeds(f) {
		f.Add(byte(i), raw)
	}
	f.Fuzz(func(t *testing.T, which byte, raw string) {
		checkAnswer(t, fuzzOps[int(which)%len(fuzzOps)], raw)
	})
}

// mutations returns how many mutated records to try: WIPAGENT_MUTATIONS, or
// a few.
func mutations(t testing.TB) int {
	s := os.Getenv("WIPAGENT_MUTATIONS")
	if s == "" {
		return 2000
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("found WIPAGENT_MUTATIONS %q, expected a positive number", s)
	}
	return n
}

// tokens are what mutated records are made of, besides pieces of others.
var tokens = []string{
	"{", "}", "[", "]", ":", ",", `"`, "'", `\`, "\x00", "\xff", "\u202e", `\u`, `\ud83d`, `\ude00`, "null", "true", "False", "None",
	"NaN", "-Infinity", "1e400", "-1e400", "1e-400", "-0", "007", "9007199254740993", "5.0", ".5", "1e999999999999", "/", "~1",
	`"query"`, `"page"`, `"Page-Size"`, `"radius_meters"`, `"arguments"`, `"args":{`, `"tags":[`, `"limits":{`, `"point":{"x":1,"y":2}`,
	`"{\"page\":1}"`, `"[1]"`, `{"a":{"a":`, "http://evil.example.com/", "日本", "é",
}

// mutate changes a record at a few places.
func mutate(r *rand.Rand, seeds []string) string {
	s := seeds[r.IntN(len(seeds))]
	for range 1 + r.IntN(4) {
		i := r.IntN(len(s) + 1)
		j := min(len(s), i+r.IntN(12))
		switch r.IntN(6) {
		case 0: // take out
			s = s[:i] + s[j:]
		case 1: // repeat
			s = s[:j] + strings.Repeat(s[i:j], 1+r.IntN(40)) + s[j:]
		case 2: // put in
			s = s[:i] + tokens[r.IntN(len(tokens))] + s[i:]
		case 3: // replace
			s = s[:i] + tokens[r.IntN(len(tokens))] + s[j:]
		case 4: // change a byte
			if i < len(s) {
				s = s[:i] + string([]byte{byte(r.IntN(256))}) + s[i+1:]
			}
		case 5: // join with another
			other := seeds[r.IntN(len(seeds))]
			s = s[:i] + other[r.IntN(len(other)+1):]
		}
	}
	return s
}

// TestDecodeArgsMutated sends mutated records to every operation.
func TestDecodeArgsMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	from := seeds(t)
	var slowest time.Duration
	corrected, refused := 0, 0
	for range mutations(t) {
		raw := mutate(r, from)
		for _, o := range fuzzOps {
			start := time.Now()
			_, err := o.DecodeArgs([]byte(raw))
			slowest = max(slowest, time.Since(start))
			if bad, ok := err.(*idl.ArgumentError); ok {
				refused++
				if bad.Corrected != nil {
					corrected++
				}
			}
			checkAnswer(t, o, raw)
		}
	}
	t.Logf("%d refused, %d of them with a correction; the slowest took %v", refused, corrected, slowest)
	if slowest > 10*time.Second { // a hang, not a busy machine
		t.Errorf("found a record that took %v", slowest)
	}
	if corrected == 0 || corrected == refused {
		t.Errorf("found %d corrections for %d refused records, expected some", corrected, refused)
	}
}

// TestDecodeArgsCost gives the largest records of the most costly kinds, and
// bounds what they may cost.
func TestDecodeArgsCost(t *testing.T) {
	fill := func(start, piece, end string) string {
		return start + strings.Repeat(piece, (idl.MaxArgumentBytes-len(start)-len(end))/len(piece)) + end
	}
	for _, raw := range []string{
		fill(`{"tags":[`, `1,`, `1]}`),
		fill(`{"tags":[`, `"abcdefghi",`, `1]}`),
		fill(`{"limits":{`, `"a":"5",`, `"b":5}}`),
		fill(`{"tags":[`, `[],`, `1]}`),
		fill(`{`, `"radius":1,`, `"page":0}`),
		fill(`{`, `"page_siez":1,`, `"page":0}`),
		fill(`{`, `"":1,`, `"page":0}`),
		fill(`{`, `a:'',`, `"page":0}`),
		fill(`{"query":"`, `語`, `"}`),
		fill(`{"query":"`, `\ud83d\ude00`, `"}`),
		fill(`{"query":"`, `evil.example.com `, `","page":0}`),
		fill(`{"title":"`, "e\u0301", `"}`),
		fill(`{"heading":"`, `x`, `"}`),
		fill(`{"target":"/`, `a/`, `"}`),
		fill(`{"page":`, `1`, `}`),
		fill(`{"page":1e`, `9`, `}`),
		fill(`{"page":0.`, `0`, `1}`),
		fill(`"`, `{\"a\":`, `"`),
		fill(`{"args":"`, `[\"`, `"}`),
	} {
		for _, o := range fuzzOps {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := o.DecodeArgs([]byte(raw))
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if bytes := after.TotalAlloc - before.TotalAlloc; took > 5*time.Second || bytes > 32<<20 {
				t.Errorf("%.40s… for %s took %v and %d bytes", raw, o.Name, took, bytes)
			}
			if err != nil && len(err.Error()) > 32<<10 {
				t.Errorf("%.40s… for %s: found %d bytes of error", raw, o.Name, len(err.Error()))
			}
		}
	}
}

func BenchmarkDecodeArgs(b *testing.B) {
	for _, bench := range []struct {
		name, raw string
		o         *idl.Operation
	}{
		{"valid", `{"radius_meters":20,"page_size":5}`, nearbyOp},
		{"repaired", `{"arguments":{"radiusMeters":"20","page_size":5.0}}`, nearbyOp},
		{"corrected", `{"radius_meters":1000,"page_size":5}`, nearbyOp},
		{"renamed", `{"radius":20,"limit":5}`, nearbyOp},
		{"nested", `{"title":"a title","tags":["a","b"],"limits":{"x":1},"point":{"x":1,"y":2},"heading":"east"}`, everyOp},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			raw := []byte(bench.raw)
			for b.Loop() {
				bench.o.DecodeArgs(raw)
			}
		})
	}
}
