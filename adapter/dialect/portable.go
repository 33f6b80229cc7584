package dialect

import (
	"encoding/json"

	"github.com/invopop/jsonschema"

	"github.com/wipagent/wipagent/idl"
)

// portable is the common core in no provider's wrapping, for programs that do
// the wrapping themselves.
var portable = Dialect{
	Name: "portable", Title: "portable core", form: Protocol, rules: portableRules,
	budgets: []budget{{name: "tools", of: func(*size) int { return 1 }}}, write: portableTool,
}

func portableTool(t *written) any {
	return struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
		Output      json.RawMessage `json:"output,omitempty"`
	}{t.name, t.description, t.schema, t.Output}
}

// InputSchema returns the JSON Schema of an argument record in the portable
// core: an object root that is closed, local types inlined, limits said in the
// descriptions too, no convention that would have to be undone. untrusted says
// that the words are a stranger's: they are cleaned (B4). The schema is the
// caller's, and equal for equal parameters.
func InputSchema(params []*idl.Param, untrusted bool) *jsonschema.Schema {
	return lowerTool(&Tool{Params: params, Untrusted: untrusted}, &portableRules, maxAgain).schema
}
