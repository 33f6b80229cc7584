package dialecttest

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	openaiName    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	anthropicName = openaiName // 128 on the newest API alone
	anthropicKey  = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	geminiName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	geminiKey     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	portableName  = regexp.MustCompile(`^[a-z][a-zA-Z0-9_]{0,63}$`)
	codeName      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	codeExecution = regexp.MustCompile(`^code_execution_[0-9]{8}$`)
)

// responses checks a tool of OpenAI's Responses API.
func (c *checker) responses(at string, tool *value) string {
	c.members(at, tool, "type", "name", "description", "parameters", "strict", "allowed_callers", "output_schema")
	if tool.get("type").str() != "function" {
		c.fault(at, `found no "type": "function", expected it`)
	}
	if !tool.get("strict").is('b') {
		c.fault(at, "found no strict, expected it: without it the API makes a schema strict by itself")
	}
	if c.callers(at, tool, func(caller string) bool { return caller == "programmatic" }) {
		c.programmatic(at, tool)
	}
	return c.function(at, tool)
}

// chat checks a tool of OpenAI's Chat Completions API.
func (c *checker) chat(at string, tool *value) string {
	c.members(at, tool, "type", "function")
	if tool.get("type").str() != "function" {
		c.fault(at, `found no "type": "function", expected it`)
	}
	function := tool.get("function")
	if !function.is('{') {
		c.fault(at, "found no function, expected one")
		return at
	}
	at += "/function"
	c.members(at, function, "name", "description", "parameters", "strict")
	return c.function(at, function)
}

// function checks what both of OpenAI's APIs share.
func (c *checker) function(at string, tool *value) string {
	name := c.named(at, tool, openaiName)
	c.limit(at+"/description", "characters of description", len([]rune(tool.get("description").str())), 1024)
	c.typed(at, tool, 'b', "strict")
	if tool.get("strict").is('b') && tool.get("strict").text == "true" {
		c.schema(openaiStrict, at+"/parameters", tool.get("parameters"))
	} else {
		c.schema(openaiOpen, at+"/parameters", tool.get("parameters"))
	}
	if output := tool.get("output_schema"); output != nil {
		c.compiles(at+"/output_schema", output)
	}
	return name
}

// callers checks allowed_callers, and reports whether code may call the tool.
func (c *checker) callers(at string, tool *value, code func(string) bool) (programmatic bool) {
	callers := tool.get("allowed_callers")
	if callers == nil {
		return false
	}
	if !callers.is('[') || len(callers.items) == 0 {
		c.fault(at+"/allowed_callers", "found no callers, expected some")
	}
	for _, caller := range callers.strings() {
		switch {
		case code(caller):
			programmatic = true
		case caller != "direct":
			c.fault(at+"/allowed_callers", "found the caller %q, expected another", caller)
		}
	}
	return programmatic
}

// programmatic checks what code is to call.
func (c *checker) programmatic(at string, tool *value) {
	if name := tool.get("name").str(); !codeName.MatchString(name) {
		c.fault(at+"/name", "found %q, expected a name that code can call", name)
	}
}

// anthropic checks a tool of Anthropic's Messages API.
func (c *checker) anthropic(at string, tool *value) string {
	c.members(at, tool, "type", "name", "description", "input_schema", "strict", "input_examples", "allowed_callers",
		"cache_control", "defer_loading", "eager_input_streaming")
	name := c.named(at, tool, anthropicName)
	c.typed(at, tool, 'b', "strict", "defer_loading", "eager_input_streaming")
	if kind := tool.get("type"); kind != nil && kind.str() != "custom" {
		c.fault(at+"/type", `found another type, expected "custom" or none`)
	}
	strict := tool.get("strict").is('b') && tool.get("strict").text == "true"
	code := c.callers(at, tool, codeExecution.MatchString)
	input := tool.get("input_schema")
	switch {
	case code && strict:
		c.fault(at, "found strict on a tool that code may call, expected only one of them")
	case code:
		c.programmatic(at, tool)
		if recursive(input) {
			c.fault(at+"/input_schema", "found a circular $ref in a tool that code may call, expected none")
		}
	}
	if strict {
		c.claude.tools++
		c.schema(anthropicStrict, at+"/input_schema", input)
	} else {
		c.schema(anthropicOpen, at+"/input_schema", input)
	}
	if examples := tool.get("input_examples"); examples != nil {
		if !examples.is('[') || len(examples.items) == 0 {
			c.fault(at+"/input_examples", "found no array of examples, expected one")
		}
		for i, example := range examples.items {
			if err := c.schemas.accepts(input, example); err != nil {
				c.fault(fmt.Sprintf("%s/input_examples/%d", at, i), "found an example that the schema refuses: %v", err)
			}
		}
	}
	return name
}

// gemini checks a function declaration of Gemini's GenerateContent.
func (c *checker) gemini(dialect, at string, tool *value) string {
	c.members(at, tool, "name", "description", "parameters", "parametersJsonSchema", "response", "responseJsonSchema", "behavior")
	name := c.named(at, tool, geminiName)
	parameters, jsonSchema := tool.get("parameters"), tool.get("parametersJsonSchema")
	switch {
	case parameters != nil && jsonSchema != nil:
		c.fault(at, "found both parameters and parametersJsonSchema, expected one")
	case dialect == "gemini" && jsonSchema != nil:
		c.fault(at+"/parametersJsonSchema", "found parametersJsonSchema, which older models do not know, expected parameters")
	case parameters != nil:
		c.openapi(at+"/parameters", parameters, true)
	case jsonSchema != nil:
		c.schema(geminiJSON, at+"/parametersJsonSchema", jsonSchema)
	}
	if response := tool.get("response"); response != nil {
		c.openapi(at+"/response", response, false)
	}
	if response := tool.get("responseJsonSchema"); response != nil {
		c.schema(geminiJSON, at+"/responseJsonSchema", response)
	}
	return name
}

// mcp checks a tool of MCP's tools/list, whose clients pass it to providers;
// in the portable form there is nothing that any of them would refuse.
func (c *checker) mcp(dialect, at string, tool *value) string {
	known, input := []string{"name", "description", "parameters"}, "parameters"
	if dialect == "mcp" {
		known, input = []string{"name", "description", "inputSchema", "title", "outputSchema", "annotations", "_meta", "icons"}, "inputSchema"
	}
	c.members(at, tool, known...)
	name := c.named(at, tool, portableName)
	c.typed(at, tool, '"', "title")
	c.schema(portable, step(at, input), tool.get(input))
	if annotations := tool.get("annotations"); annotations != nil {
		if !annotations.is('{') {
			c.fault(at+"/annotations", "found no object, expected one")
			return name
		}
		c.members(at+"/annotations", annotations, "title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
		c.typed(at+"/annotations", annotations, '"', "title")
		c.typed(at+"/annotations", annotations, 'b', "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
	}
	if output := tool.get("outputSchema"); output != nil {
		if output.get("type").str() != "object" {
			c.fault(at+"/outputSchema", `found another root, expected "type": "object"`)
		}
		c.compiles(at+"/outputSchema", output)
		eachRef(output, func(ref string) {
			if !strings.HasPrefix(ref, "#") {
				c.fault(at+"/outputSchema", "found $ref %q, expected none over the network", ref)
			}
		})
	}
	return name
}
