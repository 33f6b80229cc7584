package adapter

import (
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// The words of a document are its Host's, and a Host that nobody vouches for is
// a stranger: what is shown of its document is cleaned like any other text of
// strangers (B4). Names need no cleaning, the language allows letters only.

// clean cleans all words of the summary. An example that does not survive it is
// left out, since a changed one would be another call.
func (s *InterfaceSummary) clean() {
	s.Doc = cleanLines(s.Doc)
	for i, t := range s.Types {
		s.Types[i] = cleanLines(t)
	}
	for i := range s.Operations {
		o := &s.Operations[i]
		o.Signature, o.Doc, o.Deprecated = cleanLines(o.Signature), cleanLines(o.Doc), cleanLines(o.Deprecated)
		for name, doc := range o.Parameters {
			o.Parameters[name] = cleanLines(doc)
		}
		if example := string(o.Example); cleanLines(example) != example {
			o.Example = nil
		}
	}
}

// cleanSchema cleans a schema that nobody else holds and returns it. A pattern
// that does not survive it is left out: the check knows it.
func cleanSchema(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil || s == jsonschema.FalseSchema {
		return s
	}
	s.Description = cleanLines(s.Description)
	if cleanLines(s.Pattern) != s.Pattern {
		s.Pattern = ""
	}
	cleanSchema(s.Items)
	cleanSchema(s.AdditionalProperties)
	for _, form := range s.AnyOf {
		cleanSchema(form)
	}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			cleanSchema(p.Value)
		}
	}
	return s
}

// cleanLines cleans a text and keeps its lines.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		clean, _ := cleantext.Clean(line[len(indent):], 0)
		lines[i] = indent + clean
	}
	return strings.Join(lines, "\n")
}
