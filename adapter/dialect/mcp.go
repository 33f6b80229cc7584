package dialect

import "encoding/json"

// mcp is the protocol's own list. It allows all of JSON Schema, but its
// clients pass schemas on to providers, so that the portable core is what all
// of them can use.
var mcp = Dialect{
	Name: "mcp", Title: "Model Context Protocol, tools/list", form: Protocol, rules: portableRules,
	budgets: []budget{{name: "tools", of: func(*size) int { return 1 }}}, write: protocolTool,
}

// protocolTool says the bounds of a call in _meta, for which the protocol has
// no field, and that no tool reaches beyond what is mounted.
func protocolTool(t *written) any {
	type annotations struct {
		ReadOnly    bool `json:"readOnlyHint"`
		Destructive bool `json:"destructiveHint"`
		Idempotent  bool `json:"idempotentHint"`
		OpenWorld   bool `json:"openWorldHint"`
	}
	type meta struct {
		Timeout   int64 `json:"timeoutMs,omitempty"`
		MaxOutput int   `json:"maxOutputBytes,omitempty"`
	}
	return struct {
		Name         string          `json:"name"`
		Description  string          `json:"description,omitempty"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
		Annotations  annotations     `json:"annotations"`
		Meta         meta            `json:"_meta"`
	}{
		t.name, t.description, t.schema, t.Output,
		annotations{t.ReadOnly, t.Destructive, t.Idempotent, false},
		meta{t.Timeout.Milliseconds(), t.MaxOutput},
	}
}
