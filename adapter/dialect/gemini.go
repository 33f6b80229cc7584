package dialect

import "encoding/json"

// geminiRules is the subset of OpenAPI 3.0 that function declarations take in
// `parameters`: one type each, no additionalProperties, no object without
// properties. Source: the types of the provider's Go SDK.
var geminiRules = rules{
	openAPI: true, ordered: true, bounds: true, lengths: true, patterns: true,
}

// geminiJSONRules is the subset of JSON Schema that `parametersJsonSchema`
// takes: neither patterns nor lengths.
var geminiJSONRules = rules{
	ordered: true, closed: true, maps: true, open: true, empty: true, bounds: true,
}

var geminiBudgets = []budget{{name: "tools", of: func(*size) int { return 1 }}}

var (
	gemini = Dialect{
		Name: "gemini", Title: "Gemini, parameters", form: Generate, rules: geminiRules,
		budgets: geminiBudgets, write: declaration, wrap: declarations,
	}
	geminiJSON = Dialect{
		Name: "gemini-json", Title: "Gemini, parametersJsonSchema", form: Generate, rules: geminiJSONRules,
		budgets: geminiBudgets, write: jsonDeclaration, wrap: declarations,
	}
)

// declaration leaves the parameters out where there are none.
func declaration(t *written) any {
	return struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}{t.name, t.description, t.schema}
}

func jsonDeclaration(t *written) any {
	return struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parametersJsonSchema"`
	}{t.name, t.description, t.schema}
}

// declarations puts all functions into one of the request's tools.
func declarations(list []any) []any {
	if len(list) == 0 {
		return list
	}
	return []any{struct {
		Functions []any `json:"functionDeclarations"`
	}{list}}
}
