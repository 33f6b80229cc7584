package dialect_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/adapter/dialect/dialecttest"
)

// TestRoundTrip writes records that the check accepts as a model would send
// them, and undoes that: the check sees the same record.
func TestRoundTrip(t *testing.T) {
	forms := formTools(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		tools := forms
		if rapid.Bool().Draw(t, "made up") {
			text := dialecttest.Document(r)
			tools = compiledTools(t, func(string) ([]byte, error) { return []byte(text), nil }, "made.wip")
			for i := range tools {
				tools[i].Name = fmt.Sprintf("t%d", i)
			}
		}
		opt := dialect.Options{Depth: rapid.IntRange(0, 4).Draw(t, "depth")}
		for _, d := range distinct() {
			e, err := d.Export(tools, opt)
			if err != nil {
				t.Fatal(err)
			}
			for i, tool := range tools {
				if tool.Result == nil {
					continue
				}
				record := dialecttest.JSON(dialecttest.Record(r, tool.Params))
				want, err := tool.Result.DecodeArgs(record)
				if err != nil || len(want.Repairs) > 0 {
					continue // not what this is about
				}
				sent := e.Express(i, record)
				got, err := tool.Result.DecodeArgs(e.Arguments(i, sent))
				if err != nil || len(got.Repairs) > 0 || string(got.Record) != string(want.Record) {
					t.Fatalf("%s, %s\nrecord %s\nsent %s\nread %s\nerror %v", d.Name, tool.Name, record, sent, e.Arguments(i, sent), err)
				}
			}
		}
	})
}
