package dialecttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compiler reads JSON Schemas of the draft 2020-12 with a validator that is
// not ours, each once. It loads nothing over the network. Formats are
// asserted: the providers that know them do. The zero value is ready; it is
// safe for concurrent use.
type Compiler struct {
	compiled sync.Map // of compiled, by the schema's text
}

type compiled struct {
	schema *jsonschema.Schema
	err    error
}

// Compile reads a schema.
func (c *Compiler) Compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	if found, ok := c.compiled.Load(string(schema)); ok {
		return found.(compiled).schema, found.(compiled).err
	}
	s, err := compileSchema(schema)
	c.compiled.Store(string(schema), compiled{s, err})
	return s, err
}

func compileSchema(schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("schema.json")
}

// Accepts returns why a schema refuses a value; nil if it does not.
func Accepts(schema *jsonschema.Schema, value json.RawMessage) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// accepts is for what has been parsed.
func (c *Compiler) accepts(schema, v *value) error {
	if schema == nil {
		return fmt.Errorf("there is no schema")
	}
	s, err := c.Compile(schema.json())
	if err != nil {
		return err
	}
	return Accepts(s, v.json())
}
