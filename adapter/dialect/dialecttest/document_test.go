package dialecttest_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/dialect/dialecttest"
	"github.com/wipagent/wipagent/idl"
)

// compile makes a document up and compiles it.
func compile(t testing.TB, r *rand.Rand) *idl.Document {
	t.Helper()
	text := dialecttest.Document(r)
	docs, err := idl.Compile(func(string) ([]byte, error) { return []byte(text), nil }, "made.wip")
	if err != nil {
		t.Fatalf("a document that was made up does not compile: %v\n%s", err, text)
	}
	return docs[0]
}

// TestDocument makes documents up that compile and that between them hold what
// they promise.
func TestDocument(t *testing.T) {
	var all strings.Builder
	kinds, params, examples := map[idl.Kind]int{}, 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		all.WriteString(dialecttest.Document(r))
		doc := compile(t, rand.New(rand.NewPCG(seed, 1)))
		for _, i := range doc.Interfaces {
			for _, op := range i.Operations {
				params = max(params, len(op.Params))
				examples += len(op.Examples)
				for _, p := range op.Params {
					for t := p.Type; t != nil; t = t.Elem {
						kinds[t.Kind]++
					}
				}
			}
		}
	}
	for _, k := range []idl.Kind{idl.Bool, idl.Int, idl.Float, idl.String, idl.UUID, idl.Timestamp, idl.Duration, idl.Bytes, idl.Entry, idl.List, idl.Map, idl.RecordOf, idl.EnumOf} {
		if kinds[k] < 60 {
			t.Errorf("found %d parameters of the kind %d, expected 60", kinds[k], k)
		}
	}
	if params < 50 || examples < 25 {
		t.Errorf("found %d parameters at most and %d examples, expected 50 and 25", params, examples)
	}
	for _, part := range append(patternsOf(), "言葉", "@example", "bytes]", "= true", "ms,", "map<", "label_399", "matching", "fact<page<", "_that_is_as_long_as_a_name_can_be") {
		if !strings.Contains(all.String(), part) {
			t.Errorf("found no %q in any document, expected it", part)
		}
	}
}

func patternsOf() []string { return []string{`(?i)abc`, `\\p{L}+`, `[[:alpha:]]*`} }
