package dialect

import "encoding/json"

// Anthropic's limits of strict tools, summed over a request. Source: its guide
// to strict tool use.
const (
	anthropicStrictTools = 20
	anthropicOptional    = 24
	anthropicUnions      = 16
)

// anthropicStrictRules: no bounds of numbers, no lengths, and of lists only
// whether they may be empty. Open objects and records that hold themselves
// have no form.
var anthropicStrictRules = rules{
	strict: true, absent: omittedOnly, closed: true, empty: true, patterns: true, sizes: oneOrMore,
}

// anthropicCallers name the version of the provider's code execution; the
// request must carry the tool of the same name.
var anthropicCallers = []string{"direct", "code_execution_20260120"}

var (
	anthropic = Dialect{
		Name: "anthropic", Title: "Anthropic, Messages API", form: Messages, rules: portableRules,
		budgets: []budget{{name: "tools", of: func(*size) int { return 1 }}},
		callers: anthropicCallers, write: messagesTool, examples: true,
	}
	anthropicStrict = Dialect{
		Name: "anthropic-strict", Title: "Anthropic, Messages API, strict", form: Messages, rules: anthropicStrictRules,
		budgets: []budget{
			{"strict tools", anthropicStrictTools, true, func(*size) int { return 1 }},
			{"optional parameters", anthropicOptional, true, func(s *size) int { return s.optional }},
			{"union-typed parameters", anthropicUnions, true, func(s *size) int { return s.unions }},
			{name: "tools", of: func(*size) int { return 1 }},
		},
		callers: anthropicCallers, write: messagesTool, examples: true,
	}
)

// messagesTool tells code that calls the tool what it returns, in the
// description, for there is no field for it.
func messagesTool(t *written) any {
	tool := struct {
		Name           string            `json:"name"`
		Description    string            `json:"description,omitempty"`
		InputSchema    json.RawMessage   `json:"input_schema"`
		Strict         bool              `json:"strict,omitempty"`
		InputExamples  []json.RawMessage `json:"input_examples,omitempty"`
		AllowedCallers []string          `json:"allowed_callers,omitempty"`
	}{t.name, t.description, t.schema, t.strict, t.examples, t.callers}
	if t.callers != nil && t.Output != nil {
		tool.Description = sentences(tool.Description, "Returns JSON of this schema: "+string(t.Output))
	}
	return tool
}
