package dialecttest

import (
	"regexp"
	"slices"
	"strings"
)

// rules are what one form of schemas allows.
type rules struct {
	name     string
	keywords string         // that are known, beside those of common
	key      *regexp.Regexp // of property names; nil allows all
	closed   bool           // every object says that it is closed
	root     bool           // the root says that it is closed
	required bool           // every property is required
	typed    bool           // every schema says its type
	lists    bool           // a type may be a list with "null"
	refs     bool           // $ref and $defs are known
	cycles   bool           // and may lead to where they stand
	depth    int            // of objects and lists; 0 is any
	formats  string         // that are known
	items01  bool           // minItems is 0 or 1
	count    func(c *checker, at, name string, property *value, required bool)
}

const (
	common       = "type description properties required items additionalProperties enum anyOf "
	bounds       = "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf "
	plainFormats = "date-time time date duration email hostname ipv4 ipv6 uuid "
)

// openaiOpen is a function of OpenAI's that is not strict.
var openaiOpen = &rules{
	name: "openai", lists: true,
	keywords: bounds + "title const pattern format minLength maxLength minItems maxItems uniqueItems minProperties maxProperties",
	formats:  plainFormats,
}

// openaiStrict is OpenAI's subset for strict functions. minLength and
// maxLength are known to some endpoints only, as is default.
var openaiStrict = &rules{
	name: "openai-strict", closed: true, required: true, typed: true, lists: true, refs: true, cycles: true, depth: 10,
	keywords: bounds + "const pattern format minItems maxItems $ref $defs",
	formats:  plainFormats,
	count: func(c *checker, at, name string, property *value, _ bool) {
		c.openai.properties++
	},
}

// anthropicOpen is a tool of Anthropic's that is not strict.
var anthropicOpen = &rules{
	name: "anthropic", key: anthropicKey, lists: true,
	keywords: bounds + "title const default pattern format minLength maxLength minItems maxItems uniqueItems minProperties maxProperties",
	formats:  plainFormats + "uri",
}

// anthropicStrict is Anthropic's subset for strict tools.
var anthropicStrict = &rules{
	name: "anthropic-strict", key: anthropicKey, closed: true, typed: true, lists: true, refs: true, items01: true,
	keywords: "title const default pattern format allOf minItems $ref $defs",
	formats:  plainFormats + "uri",
	count: func(c *checker, _, _ string, _ *value, required bool) {
		if !required {
			c.claude.optional++
		}
	},
}

// geminiJSON is Gemini's subset of JSON Schema, by the list that is documented
// for results; parametersJsonSchema has none of its own.
var geminiJSON = &rules{
	name: "gemini-json", key: geminiKey, typed: true, lists: true, refs: true, cycles: true,
	keywords: "$id $defs $ref $anchor format title prefixItems minItems maxItems minimum maximum oneOf propertyOrdering",
	formats:  "date-time",
}

// portable is what no provider refuses.
var portable = &rules{
	name: "portable", key: geminiKey, root: true, typed: true,
	keywords: "pattern minimum maximum minLength maxLength minItems maxItems minProperties maxProperties",
}

func (r *rules) knows(keyword string) bool {
	return slices.Contains(strings.Fields(common), keyword) || slices.Contains(strings.Fields(r.keywords), keyword)
}
