package dialecttest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/dialect/dialecttest"
)

// envelopes hold one tool t with a schema in place of the %s.
var envelopes = map[string]string{
	"openai":             `[{"type":"function","name":"t","description":"d","parameters":%s,"strict":false}]`,
	"openai-strict":      `[{"type":"function","name":"t","description":"d","parameters":%s,"strict":true}]`,
	"openai-chat":        `[{"type":"function","function":{"name":"t","description":"d","parameters":%s}}]`,
	"openai-chat-strict": `[{"type":"function","function":{"name":"t","description":"d","parameters":%s,"strict":true}}]`,
	"anthropic":          `[{"name":"t","description":"d","input_schema":%s}]`,
	"anthropic-strict":   `[{"name":"t","description":"d","input_schema":%s,"strict":true}]`,
	"gemini":             `[{"functionDeclarations":[{"name":"t","description":"d","parameters":%s}]}]`,
	"gemini-json":        `[{"functionDeclarations":[{"name":"t","description":"d","parametersJsonSchema":%s}]}]`,
	"mcp":                `[{"name":"t","description":"d","inputSchema":%s}]`,
	"portable":           `[{"name":"t","description":"d","parameters":%s}]`,
}

// property is a schema of one required property a.
func property(schema string) string {
	return `{"type":"object","properties":{"a":` + schema + `},"required":["a"],"additionalProperties":false}`
}

// nested is a property in n lists.
func nested(n int) string {
	return property(strings.Repeat(`{"type":"array","items":`, n) + `{"type":"string"}` + strings.Repeat("}", n))
}

// many is a schema of n properties, of which the last is required.
func many(n int, schema string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"p%d":%s`, i, schema)
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":["p%d"],"additionalProperties":false}`, strings.Join(list, ","), n-1)
}

// all is a schema of n properties that are all required.
func all(n int, schema string) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"p%d"`, i)
	}
	return strings.Replace(many(n, schema), fmt.Sprintf(`"required":["p%d"]`, n-1), `"required":[`+strings.Join(names, ",")+`]`, 1)
}

// labels is an enum of n values of the length.
func labels(n, length int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"%0*d"`, length, i)
	}
	return `{"type":"string","enum":[` + strings.Join(list, ",") + `]}`
}

// TestSchemas holds for each rule a schema that breaks it and one that nearly
// does.
func TestSchemas(t *testing.T) {
	const str = `{"type":"string"}`
	const closed = `,"additionalProperties":false`
	for _, test := range []struct{ name, dialects, bad, rule, good string }{
		{"root type", "openai openai-chat openai-strict anthropic anthropic-strict gemini gemini-json mcp portable",
			`{"type":"string"}`, "another root", property(str)},
		{"root without a type", "openai anthropic mcp", `{"properties":{}}`, "another root", `{"type":"object","properties":{},"additionalProperties":false}`},
		{"root anyOf", "openai openai-strict anthropic anthropic-strict gemini-json mcp",
			`{"type":"object","properties":{},"required":[],"additionalProperties":false,"anyOf":[{"type":"object"}]}`, "anyOf at the root", property(`{"anyOf":[{"type":"string"},{"type":"null"}]}`)},
		{"root oneOf", "openai anthropic", `{"type":"object","properties":{},"oneOf":[{"type":"object"}]}`, "oneOf at the root", property(str)},
		{"root not", "anthropic", `{"type":"object","properties":{},"not":{"type":"string"}}`, "not at the root", property(str)},
		{"root $ref", "openai-strict", `{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{},"additionalProperties":false}}}`, "$ref at the root", property(str)},
		{"root without properties", "openai openai-chat openai-strict", `{"type":"object","additionalProperties":false}`, "without properties",
			`{"type":"object","properties":{},"required":[],"additionalProperties":false}`},
		{"root open", "mcp portable", `{"type":"object","properties":{}}`, "an open root", property(`{"type":"object"}`)},
		{"not a schema", "openai anthropic anthropic-strict gemini-json mcp portable", property(`{"type":"string","minLength":-1}`), "not JSON Schema", property(str)},
		{"required twice", "openai-strict", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a","a"],"additionalProperties":false}`, "not JSON Schema", property(str)},
		{"required of nothing", "openai anthropic gemini portable", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"],"additionalProperties":false}`, `"b", expected`,
			property(str)},
		{"unknown keyword", "openai openai-strict anthropic anthropic-strict gemini gemini-json mcp portable", property(`{"type":"string","nulable":true}`), "nulable", property(str)},
		{"$schema", "openai anthropic mcp portable gemini gemini-json", `{"$schema":"https://json-schema.org/draft/2020-12/schema",` + property(str)[1:], "$schema", property(str)},
		{"default", "openai openai-strict gemini-json mcp portable", property(`{"type":"string","default":"x"}`), "default", property(str)},
		{"oneOf", "openai-strict anthropic-strict mcp portable gemini", property(`{"oneOf":[{"type":"string"},{"type":"null"}]}`), "oneOf", property(str)},
		{"not", "openai-strict anthropic-strict portable gemini-json", property(`{"type":"string","not":{"type":"null"}}`), "keyword not", property(str)},
		{"allOf", "openai-strict portable gemini-json", property(`{"allOf":[{"type":"string"}]}`), "keyword allOf", property(str)},
		{"allOf of a reference", "anthropic-strict", `{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/s"}]}},"required":["a"],"additionalProperties":false,"$defs":{"s":{"type":"string"}}}`, "$ref in allOf",
			property(`{"allOf":[{"type":"string"}]}`)},
		{"$ref", "openai anthropic mcp portable", `{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}},"required":["a"],"additionalProperties":false,"$defs":{"s":{"type":"string"}}}`, "$ref", property(str)},
		{"$ref with siblings", "openai-strict anthropic-strict gemini-json", `{"type":"object","properties":{"a":{"$ref":"#/$defs/s","description":"d"}},"required":["a"],"additionalProperties":false,"$defs":{"s":{"type":"string"}}}`, "beside $ref",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}},"required":["a"],"additionalProperties":false,"$defs":{"s":{"type":"string"}}}`},
		{"recursion", "anthropic-strict",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"],"additionalProperties":false,"$defs":{"n":{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"additionalProperties":false}}}`, "leads to where it stands",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"],"additionalProperties":false,"$defs":{"n":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}}`},
		{"open object", "openai-strict openai-chat-strict anthropic-strict", property(`{"type":"object","properties":{}}`), "open object", property(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)},
		{"map", "openai-strict anthropic-strict", property(`{"type":"object","properties":{},"required":[],"additionalProperties":{"type":"string"}}`), "open object",
			property(`{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"}},"required":["key"],"additionalProperties":false}}`)},
		{"map in the subset", "gemini", property(`{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":{"type":"string"}}`), "additionalProperties", `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"optional property", "openai-strict openai-chat-strict", many(2, str), "optional property", all(2, str)},
		{"untyped", "openai-strict anthropic-strict portable gemini-json", property(`{"description":"d"}`), "without a type", property(`{"type":"string","description":"d"}`)},
		{"untyped in the subset", "gemini", `{"type":"object","properties":{"a":{"description":"d"}}}`, "no single known type", `{"type":"object","properties":{"a":{"type":"STRING","description":"d"}}}`},
		{"true for a schema", "openai anthropic portable", property(`true`), "found true for a schema", property(str)},
		{"list of types", "portable mcp", property(`{"type":["string","null"]}`), "list of types", property(`{"anyOf":[{"type":"string"},{"type":"null"}]}`)},
		{"list of types in the subset", "gemini", `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, "no single known type", `{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`},
		{"several types", "openai-strict anthropic-strict gemini-json", property(`{"type":["string","integer"]}`), "several types", property(`{"type":["string","null"]}`)},
		{"null type in the subset", "gemini", `{"type":"object","properties":{"a":{"type":"null"}}}`, "no single known type", `{"type":"object","properties":{"a":{"type":"integer","format":"int64"}}}`},
		{"array without items", "openai openai-strict anthropic portable gemini-json", property(`{"type":"array"}`), "array without items", property(`{"type":"array","items":{"type":"string"}}`)},
		{"array without items in the subset", "gemini", `{"type":"object","properties":{"a":{"type":"ARRAY"}}}`, "ARRAY without items", `{"type":"object","properties":{"a":{"type":"ARRAY","items":{"type":"STRING"}}}}`},
		{"empty object in the subset", "gemini", `{"type":"object","properties":{}}`, "OBJECT without properties", `{"type":"object","properties":{"a":{"type":"boolean"}}}`},
		{"anyOf with siblings in the subset", "gemini", `{"type":"object","properties":{"a":{"description":"d","anyOf":[{"type":"string"}]}}}`, "beside anyOf", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}}}`},
		{"depth", "openai-strict openai-chat-strict", nested(10), "levels", nested(9)},
		{"min length", "openai-strict anthropic-strict gemini-json", property(`{"type":"string","minLength":1}`), "minLength", property(str)},
		{"number bounds", "anthropic-strict", property(`{"type":"integer","minimum":1}`), "minimum", property(`{"type":"integer"}`)},
		{"exclusive bounds", "gemini gemini-json portable", property(`{"type":"integer","exclusiveMinimum":1}`), "exclusiveMinimum", property(`{"type":"integer","minimum":1}`)},
		{"min items", "anthropic-strict", property(`{"type":"array","items":{"type":"string"},"minItems":2}`), "expected 0 or 1", property(`{"type":"array","items":{"type":"string"},"minItems":1}`)},
		{"max items", "anthropic-strict", property(`{"type":"array","items":{"type":"string"},"maxItems":2}`), "maxItems", property(`{"type":"array","items":{"type":"string"}}`)},
		{"format", "openai-strict openai-chat openai", property(`{"type":"string","format":"uri"}`), "format", property(`{"type":"string","format":"uuid"}`)},
		{"format of Anthropic", "anthropic-strict", property(`{"type":"string","format":"byte"}`), "format", property(`{"type":"string","format":"uri"}`)},
		{"format of the subset", "gemini gemini-json", property(`{"type":"string","format":"uuid"}`), "format", property(`{"type":"string","format":"date-time"}`)},
		{"any format", "portable mcp", property(`{"type":"string","format":"uuid"}`), "format", property(str)},
		{"pattern", "openai openai-strict anthropic anthropic-strict mcp portable gemini", property(`{"type":"string","pattern":"(?i)a"}`), "every engine", property(`{"type":"string","pattern":"^(?:[aA])$"}`)},
		{"pattern in Gemini's JSON Schema", "gemini-json", property(`{"type":"string","pattern":"a"}`), "pattern", property(str)},
		{"enum of numbers", "portable gemini", property(`{"type":"integer","enum":[1,2]}`), "expected strings", property(`{"type":"string","enum":["1","2"]}`)},
		{"enum of several types", "openai-strict anthropic-strict", property(`{"enum":["a",1],"type":"string"}`), "several types", property(`{"type":"string","enum":["a","b"]}`)},
		{"enum against its type", "openai anthropic-strict", property(`{"type":"integer","enum":["a"]}`), "another type", property(`{"type":"string","enum":["a"]}`)},
		{"enum of records", "anthropic-strict", property(`{"type":"object","properties":{},"additionalProperties":false,"enum":[{}]}`), "takes not", property(`{"type":"string","enum":["a"]}`)},
		{"enum by capitals", "anthropic anthropic-strict openai-strict portable", property(`{"type":"string","enum":["a","A"]}`), "capitals", property(`{"type":"string","enum":["a","b"]}`)},
		{"enum by capitals in the subset", "gemini", `{"type":"object","properties":{"a":{"type":"string","enum":["a","A"]}}}`, "no two alike", `{"type":"object","properties":{"a":{"type":"string","format":"enum","enum":["a","b"]}}}`},
		{"const record", "anthropic-strict", property(`{"type":"array","items":{"type":"string"},"const":[]}`), "no scalar", property(`{"type":"string","const":"a"}`)},
		{"misplaced keyword", "openai anthropic portable gemini", property(`{"type":"string","minimum":1}`), "says nothing", property(`{"type":"number","minimum":1}`)},
		{"empty range", "openai portable gemini", property(`{"type":"number","minimum":2,"maximum":1}`), "holds something", property(`{"type":"number","minimum":2,"maximum":2}`)},
		{"count in the subset", "gemini", `{"type":"object","properties":{"a":{"type":"string","minLength":1.5}}}`, "no count", `{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`},
		{"same first key", "openai-strict", property(`{"anyOf":[` + property(str) + `,` + all(1, property(str)) + `,` + property(str) + `]}`), `begins with "a"`, property(`{"anyOf":[` + property(str) + `,` + all(1, property(str)) + `]}`)},
		{"property name", "anthropic anthropic-strict", strings.ReplaceAll(property(str), `"a"`, `"a b"`), "the property", strings.ReplaceAll(property(str), `"a"`, `"a.b"`)},
		{"property name of Gemini", "gemini gemini-json portable", strings.ReplaceAll(property(str), `"a"`, `"a-b"`), "the property", strings.ReplaceAll(property(str), `"a"`, `"_b"`)},
		{"long property name", "anthropic gemini-json", strings.ReplaceAll(property(str), `"a"`, `"`+strings.Repeat("a", 65)+`"`), "the property", strings.ReplaceAll(property(str), `"a"`, `"`+strings.Repeat("a", 64)+`"`)},
		{"ordering", "gemini gemini-json", strings.Replace(property(str), closed, `,"propertyOrdering":["b"]`, 1), "each property once", strings.Replace(property(str), closed, `,"propertyOrdering":["a"]`, 1)},
		{"properties", "openai-strict", all(5001, str), "5001 properties", all(5000, str)},
		{"enum values", "openai-strict", all(3, labels(334, 3)), "1002 enum values", all(4, labels(250, 3))},
		{"characters of an enum", "openai-strict", property(labels(251, 60)), "15060 characters", property(labels(250, 61))},
		{"characters", "openai-strict", all(8, labels(125, 120)), "120016 characters", all(8, labels(125, 119))},
		{"optional parameters", "anthropic-strict", many(26, str), "25 optional", many(25, str)},
		{"optional parameters inside", "anthropic-strict", property(`{"type":"array","items":` + many(26, str) + `}`), "25 optional", property(`{"type":"array","items":` + many(25, str) + `}`)},
		{"union parameters", "anthropic-strict", all(17, `{"anyOf":[{"type":"string"},{"type":"null"}]}`), "17 union", all(16, `{"type":["string","null"]}`)},
	} {
		for d := range strings.SplitSeq(test.dialects, " ") {
			t.Run(test.name+"/"+d, func(t *testing.T) {
				hit(t, d, fmt.Sprintf(envelopes[d], test.bad), test.rule)
				good := test.good
				// The subset has no word for a closed object, and portable needs it.
				if d == "gemini" {
					good = strings.ReplaceAll(good, closed, "")
				} else if !strings.Contains(good, closed) && (d == "portable" || d == "mcp") {
					good = strings.Replace(good, `"type":"object"`, `"type":"object"`+closed, 1)
				}
				hit(t, d, fmt.Sprintf(envelopes[d], good), "")
			})
		}
	}
}

// hit fails unless the check finds the rule, or nothing if it is empty.
func hit(t *testing.T, dialect, tools, rule string) {
	t.Helper()
	found := dialecttest.Check(dialect, json.RawMessage(tools))
	if rule == "" {
		for _, v := range found {
			t.Errorf("%s refuses\n%.600s\n%s, expected nothing", dialect, tools, v)
		}
		return
	}
	for _, v := range found {
		if strings.Contains(v.Rule, rule) {
			return
		}
	}
	t.Errorf("%s refuses of\n%.600s\n%v\nexpected %q", dialect, tools, found, rule)
}

// TestTools holds for each rule about the tools themselves an array that
// breaks it and one that nearly does.
func TestTools(t *testing.T) {
	const empty = `{"type":"object","properties":{},"required":[],"additionalProperties":false}`
	tools := func(d string, n int) string {
		one := strings.Trim(fmt.Sprintf(envelopes[d], empty), "[]")
		if strings.HasPrefix(d, "gemini") {
			t.Fatal("not for envelopes of envelopes")
		}
		list := make([]string, n)
		for i := range list {
			list[i] = strings.Replace(one, `"t"`, fmt.Sprintf(`"t%d"`, i), 1)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	with := func(d, old, new string) string {
		s := strings.Replace(fmt.Sprintf(envelopes[d], empty), old, new, 1)
		if d == "gemini" {
			s = strings.Replace(s, empty, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, 1)
		}
		return s
	}
	long := strings.Repeat("a", 64)
	for _, test := range []struct{ name, dialects, bad, rule, good string }{
		{"JSON", "openai anthropic gemini mcp portable", `[{]`, "not JSON", `[]`},
		{"a key twice", "openai gemini", `[{"type":"function","type":"function"}]`, "twice", `[]`},
		{"an array", "openai anthropic gemini", `{}`, "no array", `[]`},
		{"an object", "openai openai-chat anthropic mcp", `["t"]`, "expected a tool", `[]`},
		{"declarations", "gemini gemini-json", `[{"functionDeclarations":[]}]`, "no functionDeclarations", with("gemini", "", "")},
		{"unknown field", "openai", with("openai", `"name"`, `"input":1,"name"`), "unknown field", tools("openai", 1)},
		{"unknown field", "openai-chat", with("openai-chat", `"name"`, `"input":1,"name"`), "unknown field", tools("openai-chat", 1)},
		{"unknown field", "anthropic", with("anthropic", `"name"`, `"parameters":{},"name"`), "unknown field", tools("anthropic", 1)},
		{"unknown field", "gemini", with("gemini", `"name"`, `"strict":true,"name"`), "unknown field", with("gemini", `"name"`, `"behavior":"BLOCKING","name"`)},
		{"unknown field", "mcp", with("mcp", `"name"`, `"strict":true,"name"`), "unknown field", with("mcp", `"name"`, `"title":"T","name"`)},
		{"unknown field", "portable", with("portable", `"name"`, `"title":"T","name"`), "unknown field", tools("portable", 1)},
		{"type", "openai", with("openai", `"function"`, `"custom"`), `no "type": "function"`, tools("openai", 1)},
		{"type", "anthropic", with("anthropic", `"name"`, `"type":"function","name"`), "another type", with("anthropic", `"name"`, `"type":"custom","name"`)},
		{"function", "openai-chat", `[{"type":"function"}]`, "no function", tools("openai-chat", 1)},
		{"strict unsaid", "openai", with("openai", `,"strict":false`, ``), "no strict", tools("openai", 1)},
		{"no schema", "openai", with("openai", `"parameters":`+empty, `"parameters":null`), "no schema", tools("openai", 1)},
		{"no schema", "anthropic", with("anthropic", `"input_schema":`+empty, `"cache_control":{"type":"ephemeral"}`), "no schema", tools("anthropic", 1)},
		{"no parameters", "gemini", `[{"functionDeclarations":[{"name":"t","parameters":null}]}]`, "no schema", `[{"functionDeclarations":[{"name":"t"}]}]`},
		{"both parameters", "gemini-json", `[{"functionDeclarations":[{"name":"t","parameters":{"type":"OBJECT"},"parametersJsonSchema":{"type":"object"}}]}]`, "both", `[{"functionDeclarations":[{"name":"t","parametersJsonSchema":{"type":"object"}}]}]`},
		{"parametersJsonSchema", "gemini", `[{"functionDeclarations":[{"name":"t","parametersJsonSchema":{"type":"object"}}]}]`, "older models", `[{"functionDeclarations":[{"name":"t"}]}]`},
		{"name", "openai", with("openai", `"t"`, `"a.b"`), "the name", with("openai", `"t"`, `"a-b"`)},
		{"name", "anthropic", with("anthropic", `"t"`, `"`+long+`a"`), "the name", with("anthropic", `"t"`, `"`+long+`"`)},
		{"name", "gemini", with("gemini", `"t"`, `"1a"`), "the name", with("gemini", `"t"`, `"_a-1"`)},
		{"name", "mcp", with("mcp", `"t"`, `"a.b"`), "the name", with("mcp", `"t"`, `"a_b"`)},
		{"name", "portable", with("portable", `"t"`, `"A"`), "the name", with("portable", `"t"`, `"aA"`)},
		{"no name", "openai", with("openai", `"name":"t",`, ``), "no name", tools("openai", 1)},
		{"names alike", "openai", strings.Replace(tools("openai", 2), `"t1"`, `"T0"`, 1), "no two alike", tools("openai", 2)},
		{"names alike", "gemini", `[{"functionDeclarations":[{"name":"t"},{"name":"t"}]}]`, "no two alike", `[{"functionDeclarations":[{"name":"t"},{"name":"u"}]}]`},
		{"description", "openai openai-strict", with("openai", `"d"`, `"`+strings.Repeat("é", 1025)+`"`), "characters of description", with("openai", `"d"`, `"`+strings.Repeat("é", 1024)+`"`)},
		{"description", "mcp", with("mcp", `"d"`, `1`), "another JSON type", tools("mcp", 1)},
		{"tools", "openai openai-strict", tools("openai", 129), "129 tools", tools("openai", 128)},
		{"strict tools", "anthropic-strict", tools("anthropic-strict", 21), "21 strict tools", tools("anthropic-strict", 20)},
		{"demoted tools", "anthropic-strict", tools("anthropic-strict", 21), "21 strict tools", tools("anthropic", 21)},
		{"programmatic and strict", "anthropic-strict", with("anthropic-strict", `"name"`, `"allowed_callers":["code_execution_20260120"],"name"`), "only one of them", with("anthropic", `"name"`, `"allowed_callers":["direct","code_execution_20260120"],"name"`)},
		{"programmatic name", "anthropic", with("anthropic", `"name":"t"`, `"allowed_callers":["code_execution_20260120"],"name":"a-b"`), "code can call", with("anthropic", `"name":"t"`, `"allowed_callers":["direct"],"name":"a-b"`)},
		{"programmatic recursion", "anthropic", with("anthropic", empty, `{"type":"object","properties":{"a":{"$ref":"#"}}},"allowed_callers":["code_execution_20260120"]`), "circular", with("anthropic", empty, empty+`,"allowed_callers":["code_execution_20260120"]`)},
		{"caller", "openai", with("openai", `"name"`, `"allowed_callers":["code"],"name"`), `caller "code"`, with("openai", `"name"`, `"allowed_callers":["programmatic"],"output_schema":{"type":"object"},"name"`)},
		{"caller in chat", "openai-chat", with("openai-chat", `"name"`, `"allowed_callers":["direct"],"name"`), "unknown field", tools("openai-chat", 1)},
		{"output schema", "openai", with("openai", `"name"`, `"output_schema":{"type":"objekt"},"name"`), "not JSON Schema", with("openai", `"name"`, `"output_schema":{"type":"object"},"name"`)},
		{"no callers", "anthropic", with("anthropic", `"name"`, `"allowed_callers":[],"name"`), "no callers", with("anthropic", `"name"`, `"allowed_callers":["direct"],"name"`)},
		{"examples", "anthropic", with("anthropic", `"name"`, `"input_examples":[{"a":1}],"name"`), "schema refuses", with("anthropic", `"name"`, `"input_examples":[{}],"name"`)},
		{"no examples", "anthropic", with("anthropic", `"name"`, `"input_examples":[],"name"`), "no array of examples", with("anthropic", `"name"`, `"input_examples":[{}],"name"`)},
		{"annotations", "mcp", with("mcp", `"name"`, `"annotations":{"readOnly":true},"name"`), "unknown field", with("mcp", `"name"`, `"annotations":{"readOnlyHint":true},"name"`)},
		{"hints", "mcp", with("mcp", `"name"`, `"annotations":{"readOnlyHint":"true"},"name"`), "another JSON type", with("mcp", `"name"`, `"annotations":{"readOnlyHint":true},"name"`)},
		{"output root", "mcp", with("mcp", `"name"`, `"outputSchema":{"type":"array"},"name"`), "another root", with("mcp", `"name"`, `"outputSchema":{"type":"object","anyOf":[{},{}]},"name"`)},
		{"output over the network", "mcp", with("mcp", `"name"`, `"outputSchema":{"type":"object","properties":{"a":{"$ref":"https://example.com/a"}}},"name"`), "over the network",
			with("mcp", `"name"`, `"outputSchema":{"type":"object","properties":{"a":{"$ref":"#"}}},"name"`)},
		{"dialect", "cobol", `[{}]`, "dialect", `[]`},
	} {
		for d := range strings.SplitSeq(test.dialects, " ") {
			t.Run(test.name+"/"+d, func(t *testing.T) {
				hit(t, d, test.bad, test.rule)
				hit(t, d, test.good, "")
			})
		}
	}
}

// TestDepth looks through references, and takes another limit.
func TestDepth(t *testing.T) {
	chain := `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"required":["a"],"additionalProperties":false,"$defs":{`
	for i := range 9 {
		chain += fmt.Sprintf(`"d%d":{"type":"array","items":{"$ref":"#/$defs/d%d"}},`, i, i+1)
	}
	good := fmt.Sprintf(envelopes["openai-strict"], chain+`"d9":{"type":"string"}}}`)
	hit(t, "openai-strict", good, "")
	hit(t, "openai-strict", fmt.Sprintf(envelopes["openai-strict"], chain+`"d9":{"type":"array","items":{"type":"string"}}}}`), "11 levels")
	if found := dialecttest.CheckDepth("openai-strict", json.RawMessage(good), 5); len(found) == 0 {
		t.Error("found no fault at 10 levels where 5 are allowed")
	}
	self := property(`{"$ref":"#/$defs/n"}`)
	self = strings.TrimSuffix(self, "}") + `,"$defs":{"n":{"type":"object","properties":{"n":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["n"],"additionalProperties":false}}}`
	hit(t, "openai-strict", fmt.Sprintf(envelopes["openai-strict"], self), "")
}
