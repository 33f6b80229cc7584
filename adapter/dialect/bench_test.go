package dialect_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// BenchmarkExport measures the export of one operation, alone and as one of
// 200; the time is for the whole list.
func BenchmarkExport(b *testing.B) {
	grid := gridTools(b)
	var many []dialect.Tool
	for i := range 200 {
		tool := grid[i%len(grid)]
		tool.Name = fmt.Sprintf("%s_%d", tool.Name, i)
		many = append(many, tool)
	}
	for _, name := range []string{"portable", "openai-strict", "anthropic-strict", "gemini"} {
		for _, tools := range [][]dialect.Tool{grid[3:4], many} {
			b.Run(fmt.Sprintf("%s/%d", name, len(tools)), func(b *testing.B) {
				b.ReportAllocs()
				d := dialect.Lookup(name)
				for b.Loop() {
					if e, err := d.Export(tools, dialect.Options{}); err != nil || len(e.Tools) < 300 {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("bush", func(b *testing.B) {
		b.ReportAllocs()
		d, forms := dialect.Lookup("openai-strict"), formTools(b)
		for b.Loop() {
			if _, err := d.Export(forms[6:7], dialect.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkArguments measures the undoing of a call's conventions.
func BenchmarkArguments(b *testing.B) {
	for _, test := range []struct{ dialect, tool, sent string }{
		{"openai", "optional", `{"size":3,"note":"x"}`},
		{"openai-strict", "optional", `{"size":null,"side":"left","tag":null,"note":"x","range":null,"remark":null}`},
		{"openai-strict", "nested", `{"spans":[{"from":1,"to":null,"unit":null}],"by_name":[{"key":"a","value":{"from":1,"to":2,"unit":"m"}}],"gaps":[1],"tables":null,"at":"x"}`},
		{"openai-strict", "call", `{"arguments":"{\"radius_meters\":20,\"page_size\":5}"}`},
	} {
		b.Run(test.dialect+"/"+test.tool, func(b *testing.B) {
			e := form(b, test.dialect, test.tool)
			b.ReportAllocs()
			for b.Loop() {
				if len(e.Arguments(0, json.RawMessage(test.sent))) == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
}
