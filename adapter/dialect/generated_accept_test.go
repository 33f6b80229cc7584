package dialect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/adapter/dialect/dialecttest"
	"github.com/wipagent/wipagent/idl"
)

// proof proves that a schema and the tool's own check accept the same, but for
// what an export says of itself.
type proof struct {
	testing.TB
	*rand.Rand
	schemas *dialecttest.Compiler
	tools   []dialect.Tool
	counts  struct{ tools, valid, accepted, refused int }
}

// madeTools are the operations of documents as tools, some of them with fewer
// words and some of strangers.
func madeTools(docs ...*idl.Document) (tools []dialect.Tool) {
	for _, doc := range docs {
		for _, i := range doc.Interfaces {
			for _, op := range i.Operations {
				tools = append(tools, dialect.Tool{
					Name:        strings.ToLower("t" + fmt.Sprint(len(tools)) + "_" + i.Name + "_" + op.Name),
					Description: op.Doc, Params: op.Params, Result: op, Examples: op.Examples,
					ReadOnly: op.Risk == idl.ReadOnly, Destructive: op.Risk == idl.Destructive, Idempotent: op.Idempotent,
					Brief: len(tools)%7 == 6, Untrusted: len(tools)%3 == 2, Deprecated: op.Deprecated != "", Timeout: op.Timeout, MaxOutput: op.MaxOutput,
				})
			}
		}
	}
	return tools
}

// dialects proves the dialects' exports of the tools.
func (p *proof) dialects(list []*dialect.Dialect, opt dialect.Options, rounds int) {
	p.Helper()
	seen := map[string]bool{}
	for _, d := range list {
		e, err := d.Export(p.tools, opt)
		if err != nil {
			p.Fatalf("%s: %v", d.Name, err)
		}
		for _, v := range p.schemas.Check(d.Name, e.Tools, opt.Depth) {
			p.Errorf("%s would refuse %s", d.Name, v)
		}
		for i := range p.tools {
			if e.Name(i) == "" {
				continue
			}
			// Most dialects share a form: one of them is proven at length, the
			// others now and then.
			if form := fmt.Sprint(i, string(e.Schema(i))); !seen[form] {
				seen[form] = true
				p.tool(d, e, i, rounds)
			} else if p.IntN(8) == 0 {
				p.tool(d, e, i, 1)
			}
		}
	}
}

// tool proves one tool, by records that it takes and by what its schema takes.
func (p *proof) tool(d *dialect.Dialect, e *dialect.Export, i, rounds int) {
	p.counts.tools++
	tool := &p.tools[i]
	schema := jsonSchema(p, d, e.Schema(i))
	compiled, err := p.schemas.Compile(schema)
	if err != nil {
		p.Fatalf("%s %s: %v", d.Name, tool.Name, err)
	}
	form, err := dialecttest.NewForm(schema, tool.Open)
	if err != nil {
		p.Fatalf("%s %s: %v", d.Name, tool.Name, err)
	}
	report := func(sent json.RawMessage, record any, format string, args ...any) {
		p.Helper()
		p.Errorf("%s\n sent %.300s\n record %.300s\n schema %.1000s\n tool %s(%v)", fmt.Sprintf("%.1500s", fmt.Sprintf(d.Name+": "+format, args...)), sent, dialecttest.JSON(record), schema, tool.Name, tool.Params)
	}
	// judged holds what the schema accepts against the tool's check.
	judged := func(sent json.RawMessage) {
		record := e.Arguments(i, sent)
		_, err := p.decode(tool, record)
		if dialecttest.Accepts(compiled, sent) != nil {
			p.counts.refused++
			return
		}
		p.counts.accepted++
		for _, fault := range faults(err) {
			if !told(e, e.Name(i), tool.Params, fault) {
				report(sent, json.RawMessage(record), "accepts what the check refuses, and no loss tells: %s: %s\n losses %+v", fault.Path, fault.Constraint, lossesOf(e, i, fault.Path))
			}
		}
	}
	for range rounds {
		record := p.record(tool)
		want, err := p.decode(tool, dialecttest.JSON(record))
		if err != nil || len(want.Repairs) > 0 {
			p.Fatalf("a made-up record is refused or repaired: %s: %v", dialecttest.JSON(record), err)
		}
		p.counts.valid++
		written, err := form.Write(tool.Params, record)
		if err != nil {
			report(nil, record, "has no form for what the check accepts: %v", err)
			continue
		}
		sent := dialecttest.JSON(written)
		if err := dialecttest.Accepts(compiled, sent); err != nil {
			report(sent, record, "refuses what the check accepts: %v", err)
		}
		got, err := p.decode(tool, e.Arguments(i, sent))
		if err != nil || len(got.Repairs) > 0 || !bytes.Equal(got.Record, want.Record) {
			report(sent, record, "reads it back as %s, which is not what was sent: %v", e.Arguments(i, sent), err)
		}
		judged(dialecttest.JSON(dialecttest.Mutate(p.Rand, written)))
		if wrong, ok := dialecttest.Mutate(p.Rand, record).(map[string]any); ok && inShape(tool.Params, wrong) {
			if written, err := form.Write(tool.Params, wrong); err == nil {
				judged(dialecttest.JSON(written))
			}
		}
		judged(dialecttest.JSON(form.Instance(p.Rand)))
	}
}

// jsonSchema returns an exported schema as JSON Schema.
func jsonSchema(t testing.TB, d *dialect.Dialect, schema json.RawMessage) json.RawMessage {
	t.Helper()
	switch {
	case len(schema) == 0: // a function of Gemini's without parameters
		return json.RawMessage(`{"type":"object","additionalProperties":false}`)
	case d.Name != "gemini":
		return schema
	}
	translated, err := dialecttest.JSONSchema(schema)
	if err != nil {
		t.Fatalf("%s: %v\n%s", d.Name, err, schema)
	}
	return translated
}

// record makes up a record that the tool takes.
func (p *proof) record(tool *dialect.Tool) map[string]any {
	record := dialecttest.Record(p.Rand, tool.Params)
	if tool.Open != "" {
		record[tool.Open] = map[string]any{"a": "b", "c": []any{json.Number("1"), nil}, "": map[string]any{}}
	}
	return record
}

// decode is the tool's own check, with its open member seen to be an object.
func (p *proof) decode(tool *dialect.Tool, record json.RawMessage) (*idl.Args, error) {
	op := &idl.Operation{Name: tool.Name, Params: tool.Params}
	if tool.Open == "" {
		return op.DecodeArgs(record)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(record, &members); err != nil {
		return op.DecodeArgs(record)
	}
	open, ok := members[tool.Open]
	delete(members, tool.Open)
	rest, err := json.Marshal(members)
	if err != nil {
		p.Fatal(err)
	}
	args, err := op.DecodeArgs(rest)
	if !ok || !bytes.HasPrefix(bytes.TrimSpace(open), []byte("{")) || !json.Valid(open) {
		fault := idl.Fault{Path: "/" + tool.Open, Constraint: "expected an object"}
		if !ok {
			fault.Constraint = "missing field"
		}
		return nil, &idl.ArgumentError{Operation: op, Faults: append(faults(err), fault)}
	}
	if args != nil {
		var b bytes.Buffer
		if err := json.Compact(&b, open); err != nil {
			p.Fatal(err)
		}
		args.Record = append(args.Record, b.Bytes()...) // to be compared
	}
	return args, err
}

func faults(err error) []idl.Fault {
	var refused *idl.ArgumentError
	if errors.As(err, &refused) {
		return refused.Faults
	}
	return nil
}

// inShape reports whether a record that was made wrong can still be written by
// its types.
func inShape(params []*idl.Param, record map[string]any) bool {
	for _, p := range params {
		if v, ok := record[p.Name]; ok && !shaped(p.Type, v) {
			return false
		}
	}
	return true
}

func shaped(t *idl.Type, v any) bool {
	ok := true
	switch t.Kind {
	case idl.List:
		list, isList := v.([]any)
		for _, item := range list {
			ok = ok && shaped(t.Elem, item)
		}
		return ok && (isList || v == nil)
	case idl.Map:
		of, isMap := v.(map[string]any)
		for _, item := range of {
			ok = ok && shaped(t.Elem, item)
		}
		return ok && (isMap || v == nil)
	case idl.RecordOf:
		of, isMap := v.(map[string]any)
		for _, f := range t.Record.Fields {
			if item, sent := of[f.Name]; sent {
				ok = ok && shaped(f.Type, item)
			}
		}
		return ok && (isMap || v == nil)
	}
	return true
}

// lossesOf are the losses of one tool that may be meant for a place.
func lossesOf(e *dialect.Export, i int, path string) (list []dialect.Loss) {
	for _, l := range e.Losses {
		if l.Tool == e.Name(i) && (matches(l.Path, path, true) || above(l.Path, path)) {
			list = append(list, l)
		}
	}
	return list
}
