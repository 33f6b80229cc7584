// Package dialecttest helps tests of what is sent to model providers: a
// checker of each provider's published rules for tools, generators of
// interfaces and of argument records, and a writer of records in the form that
// an exported schema asks for. It knows nothing of the exporter but its types.
package dialecttest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Violation is one thing for which a provider would refuse a request, or that
// it would not heed.
type Violation struct {
	Tool string // its name; empty if the array is at fault, or has none
	Path string // JSON Pointer into the array
	Rule string // what was found, what is allowed
}

func (v Violation) String() string { return fmt.Sprintf("%s at %s: %s", v.Tool, v.Path, v.Rule) }

// Check returns what a provider would refuse of a request's array of tools: as
// strict as the strictest of its endpoints that is known. The dialects are
// those of dialect.All. Budgets are summed over the array.
func Check(dialect string, tools json.RawMessage) []Violation { return CheckDepth(dialect, tools, 0) }

// CheckDepth is Check for an endpoint that takes schemas of another depth than
// the provider's usual one; 0 is the usual one.
func CheckDepth(dialect string, tools json.RawMessage, depth int) []Violation {
	return new(Compiler).Check(dialect, tools, depth)
}

// Check is CheckDepth, and reads no schema again that it has read.
func (schemas *Compiler) Check(dialect string, tools json.RawMessage, depth int) []Violation {
	c := &checker{depth: depth, schemas: schemas}
	list, err := parse(tools)
	switch {
	case err != nil:
		c.fault("", "not JSON: %v", err)
		return c.found
	case list.kind != '[':
		c.fault("", "found no array, expected one")
		return c.found
	}
	names := map[string]string{}
	each := func(at string, tool *value, read func(string, *value) string) {
		c.tool = ""
		if !tool.is('{') {
			c.fault(at, "found no object, expected a tool")
			return
		}
		name := read(at, tool)
		if other, twice := names[folded(name)]; twice {
			c.fault(at, "found the name of the tool at %s again, expected no two alike", other)
		}
		names[folded(name)] = at
	}
	for i, tool := range list.items {
		at := fmt.Sprintf("/%d", i)
		switch dialect {
		case "openai", "openai-strict":
			each(at, tool, c.responses)
		case "openai-chat", "openai-chat-strict":
			each(at, tool, c.chat)
		case "anthropic", "anthropic-strict":
			each(at, tool, c.anthropic)
		case "gemini", "gemini-json":
			declarations := tool.get("functionDeclarations")
			c.members(at, tool, "functionDeclarations")
			if !declarations.is('[') || len(declarations.items) == 0 {
				c.fault(at, "found no functionDeclarations, expected at least one")
				continue
			}
			for j, declaration := range declarations.items {
				each(fmt.Sprintf("%s/functionDeclarations/%d", at, j), declaration, func(at string, v *value) string { return c.gemini(dialect, at, v) })
			}
		case "mcp", "portable":
			each(at, tool, func(at string, v *value) string { return c.mcp(dialect, at, v) })
		default:
			c.fault("", "found the dialect %q, expected a known one", dialect)
			return c.found
		}
	}
	c.tool = ""
	if strings.HasPrefix(dialect, "openai") {
		c.limit("", "tools", len(list.items), 128)
	}
	c.budgets()
	return c.found
}

// checker gathers what is wrong with an array of tools.
type checker struct {
	schemas *Compiler
	tool    string // at hand
	depth   int    // as the caller wants it; 0 for the usual
	found   []Violation
	openai  struct{ properties, chars, labels int } // of strict schemas
	claude  struct{ tools, optional, unions int }   // of strict schemas
}

func (c *checker) fault(path, format string, args ...any) {
	c.found = append(c.found, Violation{c.tool, path, fmt.Sprintf(format, args...)})
}

func (c *checker) limit(path, what string, n, most int) {
	if n > most {
		c.fault(path, "found %d %s, expected at most %d", n, what, most)
	}
}

// members faults what is not among the known members of an object.
func (c *checker) members(at string, v *value, known ...string) {
	for _, key := range v.keys {
		if !slices.Contains(known, key) {
			c.fault(step(at, key), "found the unknown field %q, expected one of %s", key, strings.Join(known, ", "))
		}
	}
}

// named reads the name and description that every tool has.
func (c *checker) named(at string, tool *value, pattern *regexp.Regexp) string {
	name := tool.get("name")
	if !name.is('"') {
		c.fault(at, "found no name, expected one")
		return at
	}
	c.tool = name.text
	if !pattern.MatchString(name.text) {
		c.fault(at+"/name", "found the name %q, expected %s", name.text, pattern)
	}
	c.typed(at, tool, '"', "description")
	return name.text
}

// typed faults members that are there and of another kind.
func (c *checker) typed(at string, v *value, kind byte, keys ...string) {
	for _, key := range keys {
		if m := v.get(key); m != nil && m.kind != kind {
			c.fault(step(at, key), "found %s of another JSON type, expected %q", key, kind)
		}
	}
}

// budgets checks what is summed over a request.
func (c *checker) budgets() {
	c.limit("", "properties of strict tools", c.openai.properties, 5000)
	c.limit("", "characters of names and values in strict tools", c.openai.chars, 120000)
	c.limit("", "enum values in strict tools", c.openai.labels, 1000)
	c.limit("", "strict tools", c.claude.tools, 20)
	c.limit("", "optional parameters of strict tools", c.claude.optional, 24)
	c.limit("", "union-typed parameters of strict tools", c.claude.unions, 16)
}

// folded is a name without what some readers do not tell apart.
func folded(name string) string { return strings.ToLower(name) }
