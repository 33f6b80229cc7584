package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
)

// arguments builds the argument record from the words of the command line.
// The record is not checked here: the call does that.
func (s *session) arguments(ctx context.Context, i *invokeCmd) (json.RawMessage, error) {
	if len(i.Arguments) == 1 && strings.HasPrefix(strings.TrimSpace(i.Arguments[0]), "{") {
		return json.RawMessage(i.Arguments[0]), nil
	}
	types := map[string]*idl.Type{}
	if found, err := s.client.Inspect(ctx, s.principal, policy.Name(i.Target, i.Operation)); err == nil {
		for _, p := range found.Operations[0].Operation.Params {
			types[p.Name] = p.Type
		}
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for n, word := range i.Arguments {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, usageError("%q is no argument; expected name=value, or one JSON record in braces", word)
		}
		if n > 0 {
			b.WriteByte(',')
		}
		b.Write(quoteJSON(name))
		b.WriteByte(':')
		b.Write(readValue(value, types[name]))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// scalar reports whether a value of the type is written as one word.
func scalar(t *idl.Type) bool {
	switch t.Kind {
	case idl.List, idl.Map, idl.RecordOf, idl.Fact, idl.Page, idl.Observed:
		return false
	}
	return true
}

// readList reads a list that is written as its elements with commas between them.
func readList(word string, elem *idl.Type) []byte {
	b := []byte{'['}
	if word == "" {
		return append(b, ']')
	}
	for i, part := range strings.Split(word, ",") {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, readValue(part, elem)...)
	}
	return append(b, ']')
}

// readValue reads a word by the declared type. A string is taken as it stands;
// for anything else, and where no type is known, JSON is taken as JSON, and
// what is no JSON as a string, so that the check can say what is wrong with it.
func readValue(word string, t *idl.Type) []byte {
	if t != nil {
		switch t.Kind {
		case idl.String, idl.Text, idl.UUID, idl.Bytes, idl.Entry, idl.EnumOf:
			if !t.Optional || word != "null" {
				return quoteJSON(word)
			}
		case idl.List:
			if !json.Valid([]byte(word)) && scalar(t.Elem) {
				return readList(word, t.Elem)
			}
		}
	}
	if json.Valid([]byte(word)) {
		return []byte(word)
	}
	return quoteJSON(word)
}

func quoteJSON(s string) []byte {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("a string does not encode: " + err.Error())
	}
	return raw
}
