package dialect

import (
	"fmt"

	"github.com/tidwall/gjson"
)

// protocol reads MCP: calls are requests of the method tools/call. Source: the
// protocol's schema, CallToolRequest.
func (r *reader) protocol(v gjson.Result) (bool, error) {
	switch {
	case v.IsArray(): // a batch, as some versions of the protocol have them
		return r.array(v, func(e gjson.Result) (bool, error) {
			if !e.Get("jsonrpc").Exists() {
				return false, nil
			}
			return r.protocol(e)
		})
	case v.Get("jsonrpc").Exists():
		return true, r.request(v)
	case v.Get("method").Type == gjson.String && v.Get("params").Exists():
		if text(v, "method") != "tools/call" {
			return true, nil
		}
		return true, r.params(v.Get("params"), "")
	case v.Get("name").Type == gjson.String && !v.Get("type").Exists() && !v.Get("role").Exists() && !v.Get("input").Exists() && !v.Get("args").Exists():
		return true, r.params(v, "")
	}
	return false, nil
}

// request reads a message of JSON-RPC.
func (r *reader) request(v gjson.Result) error {
	if err := once(v, "id", "method", "params"); err != nil {
		return err
	}
	if text(v, "method") != "tools/call" {
		return nil // another request, a notification or a response
	}
	id := v.Get("id")
	if id.Type != gjson.String && id.Type != gjson.Number {
		return fmt.Errorf("id: found %s, expected a string or a number: a call without one cannot be answered", absent(id))
	}
	return r.params(v.Get("params"), id.Raw)
}

// params reads the parameters of a call.
func (r *reader) params(v gjson.Result, id string) error {
	if !v.IsObject() {
		return fmt.Errorf("params: found %s, expected an object", absent(v))
	}
	if err := once(v, "name", "arguments"); err != nil {
		return fmt.Errorf("params: %w", err)
	}
	arguments := inObject(v.Get("arguments"))
	if arguments == nil { // they may be left out
		arguments = []byte("{}")
	}
	return r.add(Call{ID: id, Name: text(v, "name"), Arguments: complete(arguments, true)}, false)
}

// once fails if an object, which a client wrote, has one of the members twice:
// who else reads it may take the other.
func once(v gjson.Result, names ...string) (err error) {
	seen := 0
	v.ForEach(func(key, _ gjson.Result) bool {
		for i, name := range names {
			if key.Str == name {
				if seen&(1<<i) != 0 {
					err = fmt.Errorf("found the member %q twice, expected it once", name)
				}
				seen |= 1 << i
			}
		}
		return err == nil
	})
	return err
}

// absent describes a value that may not be there.
func absent(v gjson.Result) string {
	if !v.Exists() {
		return "nothing"
	}
	return describe(v)
}
