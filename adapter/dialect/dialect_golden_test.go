package dialect_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// fataler is what testing.TB and rapid.T have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// compiledTools returns a tool for each operation of the documents.
func compiledTools(t fataler, load idl.Loader, names ...string) []dialect.Tool {
	t.Helper()
	docs, err := idl.Compile(load, names...)
	if err != nil {
		t.Fatal(err)
	}
	var tools []dialect.Tool
	for _, doc := range docs {
		for _, i := range doc.Interfaces {
			for _, op := range i.Operations {
				tools = append(tools, dialect.Tool{
					Name: op.Name, Description: op.Doc, Params: op.Params, Result: op, Examples: op.Examples,
					ReadOnly: op.Risk == idl.ReadOnly, Destructive: op.Risk > idl.ReadOnly, Idempotent: op.Idempotent,
					Deprecated: op.Deprecated != "", Timeout: op.Timeout, MaxOutput: op.MaxOutput,
				})
			}
		}
	}
	return tools
}

func formTools(t testing.TB) []dialect.Tool {
	tools := compiledTools(t, idl.FSLoader(os.DirFS("testdata")), "forms.wip")
	return append(tools, dialect.Tool{
		Name: "call", Description: "Calls an operation.", Open: "arguments", OpenDoc: "What the operation takes.",
		Output: json.RawMessage(`{"type":"object"}`), Destructive: true,
	})
}

func gridTools(t testing.TB) []dialect.Tool {
	return compiledTools(t, idl.FSLoader(interfaces.FS()), "agent.wip", "region.wip", "parcel.wip", "inventory.wip")
}

func export(t testing.TB, name string, tools []dialect.Tool, opt dialect.Options) *dialect.Export {
	t.Helper()
	e, err := dialect.Lookup(name).Export(tools, opt)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// golden compares an archive with the one in testdata, or rewrites that.
func golden(t *testing.T, name string, got *txtar.Archive) {
	t.Helper()
	file := filepath.Join("testdata", name)
	text := txtar.Format(got)
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// indented returns JSON for a reader: what fits a line is one, and a long list
// of strings is cut.
func indented(raw json.RawMessage) []byte {
	return append(appendIndented(nil, gjson.ParseBytes(raw), ""), '\n')
}

func appendIndented(b []byte, v gjson.Result, indent string) []byte {
	const width = 120
	list := v.Array()
	long := v.IsArray() && len(list) > 16
	if !v.IsObject() && !v.IsArray() || len(indent)+len(v.Raw) < width && !long {
		return append(b, v.Raw...)
	}
	open, end := byte('{'), byte('}')
	if v.IsArray() {
		open, end = '[', ']'
	}
	b = append(b, open)
	n := 0
	v.ForEach(func(key, value gjson.Result) bool {
		if n++; n > 1 {
			b = append(b, ',')
		}
		if long && value.Type == gjson.String && n > 3 {
			b = fmt.Appendf(b, " ... %d in all", len(list))
			return false
		}
		b = append(append(b, "\n "...), indent...)
		if v.IsObject() {
			b = append(append(b, key.Raw...), ": "...)
		}
		b = appendIndented(b, value, indent+" ")
		return true
	})
	return append(append(append(b, '\n'), indent...), end)
}

// TestGoldenForms shows each form of an argument in all dialects side by side,
// those together that write it alike.
func TestGoldenForms(t *testing.T) {
	for _, tool := range formTools(t) {
		got := &txtar.Archive{Comment: fmt.Appendf(nil, "%s in each dialect, and what it loses there.\n", tool.Name)}
		for _, d := range dialect.All() {
			e := export(t, d.Name, []dialect.Tool{tool}, dialect.Options{})
			schema := e.Schema(0)
			if schema == nil {
				schema = json.RawMessage("null")
			}
			data := append(indented(schema), report(e)...)
			i := slices.IndexFunc(got.Files, func(f txtar.File) bool { return bytes.Equal(f.Data, data) })
			if i < 0 {
				got.Files = append(got.Files, txtar.File{Name: d.Name, Data: data})
			} else {
				got.Files[i].Name += ", " + d.Name
			}
		}
		golden(t, "form_"+tool.Name+".txtar", got)
	}
}

// TestGoldenGrid shows the grid's operations in each dialect, as one request.
func TestGoldenGrid(t *testing.T) {
	for _, d := range dialect.All() {
		e := export(t, d.Name, gridTools(t), dialect.Options{})
		golden(t, "grid_"+d.Name+".txtar", &txtar.Archive{Files: []txtar.File{
			{Name: "tools", Data: indented(e.Tools)}, {Name: "losses", Data: report(e)}}})
	}
}

// report writes all that an export tells of itself.
func report(e *dialect.Export) []byte {
	var b []byte
	for _, l := range e.Losses {
		b = fmt.Appendf(b, "%s%s: %s [%s]; may send: %s\n", l.Tool, l.Path, l.Constraint, l.Said, l.MaySend)
	}
	for _, d := range e.Demoted {
		b = fmt.Appendf(b, "not strict: %s: %s\n", d.Tool, d.Reason)
	}
	for _, d := range e.Dropped {
		b = fmt.Appendf(b, "dropped: %s: %s\n", d.Tool, d.Reason)
	}
	for _, u := range e.Usage {
		if u.Budget != "tools" {
			b = fmt.Appendf(b, "%s: %d of %d\n", u.Budget, u.Used, u.Limit)
		}
	}
	return b
}
