package dialecttest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compile reads a JSON Schema of the draft 2020-12 with a validator that is
// not ours. It loads nothing over the network. Formats are asserted: the
// providers that know them do.
func Compile(schema json.RawMessage) (*jsonschema.Schema, error) {
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
func accepts(schema, v *value) error {
	if schema == nil {
		return fmt.Errorf("there is no schema")
	}
	compiled, err := Compile(schema.json())
	if err != nil {
		return err
	}
	return Accepts(compiled, v.json())
}
