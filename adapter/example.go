package adapter

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
)

// exampleOf returns an argument record that the operation takes as it is: the
// first that its document shows, or one with placeholders, but that only of an
// operation that changes nothing. It is nil if there is none that may be shown.
func exampleOf(op *idl.Operation, untrusted bool) json.RawMessage {
	var record json.RawMessage
	switch {
	case len(op.Examples) > 0:
		record = op.Examples[0]
	case op.Risk == idl.ReadOnly || len(op.Params) == 0:
		record = placeholders(op)
	}
	if args, err := op.DecodeArgs(record); err != nil || len(args.Repairs) > 0 {
		return nil
	}
	if untrusted && cleanLines(string(record)) != string(record) {
		return nil
	}
	return record
}

// placeholders returns a record with the smallest thing that does for each
// parameter that must be sent.
func placeholders(op *idl.Operation) json.RawMessage {
	var members []string
	for _, p := range op.Params {
		if p.Required() {
			members = append(members, strconv.Quote(p.Name)+":"+placeholder(p.Type, 0))
		}
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// placeholder returns a value of the type, or what is none and fails the check.
func placeholder(t *idl.Type, depth int) string {
	if t.Optional || depth > maxUnroll {
		return "null"
	}
	low, high := 0.0, math.Inf(1)
	if t.Range != nil && t.Range.HasMin {
		low = t.Range.Min
	}
	if t.Range != nil && t.Range.HasMax {
		high = t.Range.Max
	}
	count := int(min(max(low, 0), 64)) // more makes no readable example
	switch t.Kind {
	case idl.Bool:
		return "false"
	case idl.Int, idl.Float, idl.Timestamp, idl.Duration:
		return string(number(min(max(1, math.Ceil(low)), high)))
	case idl.String, idl.Text:
		word := strings.Repeat("example ", count/8+1)
		return strconv.Quote(word[:int(min(float64(max(count, 7)), high, float64(len(word))))])
	case idl.UUID:
		return `"00000000-0000-0000-0000-000000000000"`
	case idl.Bytes:
		return strconv.Quote(base64.StdEncoding.EncodeToString(make([]byte, count)))
	case idl.EnumOf:
		return strconv.Quote(t.Enum.Labels[0].Name)
	case idl.List:
		element := placeholder(t.Elem, depth+1)
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", count), ",") + "]"
	case idl.Map:
		members := make([]string, count)
		for i := range members {
			members[i] = `"key` + strconv.Itoa(i+1) + `":` + placeholder(t.Elem, depth+1)
		}
		return "{" + strings.Join(members, ",") + "}"
	case idl.RecordOf:
		var members []string
		for _, f := range t.Record.Fields {
			if !f.Type.Optional {
				members = append(members, strconv.Quote(f.Name)+":"+placeholder(f.Type, depth+1))
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return "null"
}

// example returns a record of the verb: of the operation that was called if it
// could be told, and else of the first one that the caller may discover.
func (t verbTool) example(c *toolCall, e *client.Error) json.RawMessage {
	if e.Operation != nil && e.Operation != t.op {
		record := exampleOf(e.Operation, e.Untrusted)
		if record == nil {
			return nil
		}
		return marshal(client.Call{Target: c.meant.Target, Operation: c.meant.Operation, Arguments: record})
	}
	if t.op.Name == "discover" {
		return json.RawMessage(`{"query":"what is here"}`)
	}
	for _, l := range c.client.Catalog(c.principal) {
		if t.op.Name == "inspect" {
			return marshal(client.Call{Target: l.Node.Path})
		}
		if record := exampleOf(l.Operation.Operation, !l.Node.Mount.Trusted); record != nil {
			return marshal(client.Call{Target: l.Node.Path, Operation: l.Operation.Name, Arguments: record})
		}
	}
	return nil
}
