package lsp

import (
	"encoding/json"
	"fmt"
)

// envelope is what is kept of a message that is too large to be read: to whom
// it matters. Written the message's content, it finds its members, and keeps
// nothing else, whatever the size. Its zero value is ready for a message.
type envelope struct {
	size           int             // bytes of the content
	id             json.RawMessage // nil of a notification
	method, uri    string          // the document's URI; each empty if there is none
	depth          int             // of brackets
	quoted, escape bool            // within a string, behind a backslash
	value          []byte          // the scalar that is read
	keys           [maxEnvelopeDepth + 1]string
}

// How much of a message is looked at: params.textDocument.uri stands deepest.
const (
	maxEnvelopeDepth  = 3
	maxEnvelopeScalar = 4096 // bytes; what is longer is not kept
)

// Write reads on.
func (e *envelope) Write(content []byte) (int, error) {
	for _, c := range content {
		switch {
		case e.quoted:
			e.keep(c)
			e.quoted = e.escape || c != '"'
			e.escape = !e.escape && c == '\\'
		case c == '"':
			e.quoted = true
			e.keep(c)
		case c == '{' || c == '[':
			e.depth++
			e.value = e.value[:0]
			if e.depth > 0 && e.depth <= maxEnvelopeDepth {
				e.keys[e.depth] = ""
			}
		case c == '}' || c == ']':
			e.member()
			e.depth--
		case c == ',':
			e.member()
		case c == ':':
			if e.depth > 0 && e.depth <= maxEnvelopeDepth {
				e.keys[e.depth] = unquoted(e.value)
			}
			e.value = e.value[:0]
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			e.keep(c)
		}
	}
	return len(content), nil
}

// keep adds a byte to the scalar that is read.
func (e *envelope) keep(c byte) {
	if e.depth <= maxEnvelopeDepth && len(e.value) <= maxEnvelopeScalar {
		e.value = append(e.value, c)
	}
}

// member ends a member, whose value may be one that is looked for.
func (e *envelope) member() {
	if len(e.value) > 0 && len(e.value) <= maxEnvelopeScalar {
		switch {
		case e.depth == 1 && e.keys[1] == "id" && json.Valid(e.value):
			e.id = append(json.RawMessage(nil), e.value...)
		case e.depth == 1 && e.keys[1] == "method":
			e.method = unquoted(e.value)
		case e.depth == 3 && e.keys[1] == "params" && e.keys[2] == "textDocument" && e.keys[3] == "uri":
			e.uri = unquoted(e.value)
		}
	}
	e.value = e.value[:0]
}

// unquoted returns the string that a JSON string stands for; empty if it is none.
func unquoted(raw []byte) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Error says that the message was passed over.
func (e *envelope) Error() string {
	return fmt.Sprintf("found a message of %d bytes, expected at most %d", e.size, maxMessage)
}
