package dialect

import "encoding/json"

// OpenAI's limits. Source: the guides to function calling and to structured
// outputs; the length of a description is an older limit that some endpoints
// keep.
const (
	openAITools       = 128
	openAIDescription = 1024
)

// openAIStrictRules is what structured outputs allow. Lengths of strings are
// refused by some endpoints and so never said.
var openAIStrictRules = rules{
	strict: true, absent: asNull, closed: true, empty: true,
	bounds: true, patterns: true, depth: 10,
	enumValues: 250, enumChars: 15_000,
}

var openAIBudgets = []budget{{name: "tools", limit: openAITools, of: func(*size) int { return 1 }}}

var openAIStrictBudgets = append([]budget{
	{"properties", 5_000, true, func(s *size) int { return s.properties }},
	{"characters of names and enum values", 120_000, true, func(s *size) int { return s.chars }},
	{"enum values", 1_000, true, func(s *size) int { return s.enumValues }},
}, openAIBudgets...)

var openAICallers = []string{"direct", "programmatic"}

var (
	openAI = Dialect{
		Name: "openai", Title: "OpenAI, Responses API", form: Responses, rules: portableRules,
		budgets: openAIBudgets, maxDescription: openAIDescription, callers: openAICallers, write: responsesTool,
	}
	openAIStrict = Dialect{
		Name: "openai-strict", Title: "OpenAI, Responses API, strict", form: Responses, rules: openAIStrictRules,
		budgets: openAIStrictBudgets, maxDescription: openAIDescription, callers: openAICallers, strictCallers: true, write: responsesTool,
	}
	openAIChat = Dialect{
		Name: "openai-chat", Title: "OpenAI, Chat Completions", form: Chat, rules: portableRules,
		budgets: openAIBudgets, maxDescription: openAIDescription, write: chatTool,
	}
	openAIChatStrict = Dialect{
		Name: "openai-chat-strict", Title: "OpenAI, Chat Completions, strict", form: Chat, rules: openAIStrictRules,
		budgets: openAIStrictBudgets, maxDescription: openAIDescription, write: chatTool,
	}
)

// responsesTool always says strict: what is not said counts as true there.
func responsesTool(t *written) any {
	tool := struct {
		Type           string          `json:"type"`
		Name           string          `json:"name"`
		Description    string          `json:"description,omitempty"`
		Parameters     json.RawMessage `json:"parameters"`
		Strict         bool            `json:"strict"`
		AllowedCallers []string        `json:"allowed_callers,omitempty"`
		OutputSchema   json.RawMessage `json:"output_schema,omitempty"`
	}{"function", t.name, t.description, t.schema, t.strict, t.callers, nil}
	if t.callers != nil {
		tool.OutputSchema = t.Output
	}
	return tool
}

func chatTool(t *written) any {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	}
	return struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{t.name, t.description, t.schema, t.strict}}
}
