package login

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/objects/source/gridxml"
)

// Bounds of an XML-RPC document from outside. Elements within each other are
// bounded by gridxml.MaxDepth.
const (
	maxBody   = 64 << 20 // bytes; a large inventory's folders take several MB
	maxText   = 1 << 20  // bytes of a tag and the text after it
	maxValues = 1 << 20  // in one document
)

// errNotXMLRPC says that a document is no XML-RPC response at all.
var errNotXMLRPC = errors.New("found no XML-RPC response")

// kind is how a value was typed by its writer.
type kind string

// The kinds of value, by the name of their element.
const (
	kindNil      kind = "nil"
	kindString   kind = "string"
	kindInt      kind = "int"
	kindBoolean  kind = "boolean"
	kindDouble   kind = "double"
	kindDateTime kind = "dateTime.iso8601"
	kindBase64   kind = "base64"
	kindArray    kind = "array"
	kindStruct   kind = "struct"
)

// value is one XML-RPC value. Grids disagree with each other and with
// themselves on types (a port as int or string, a truth as string, int or
// boolean), so a scalar keeps its text and the getters read it as what is
// wanted. The zero value is nil of kind "", which the getters treat as absent.
type value struct {
	kind    kind
	text    string   // of a scalar, as written
	items   []value  // of an array
	members []member // of a struct, in the writer's order
}

// member is one named value of a struct.
type member struct {
	name  string
	value value
}

func stringValue(s string) value          { return value{kind: kindString, text: s} }
func intValue(i int64) value              { return value{kind: kindInt, text: strconv.FormatInt(i, 10)} }
func arrayValue(items ...value) value     { return value{kind: kindArray, items: items} }
func structValue(members ...member) value { return value{kind: kindStruct, members: members} }

// get returns the first member of that name; the zero value if there is none.
func (v value) get(name string) value {
	for _, m := range v.members {
		if m.name == name {
			return m.value
		}
	}
	return value{}
}

// absent reports whether there is no value, or a nil one.
func (v value) absent() bool { return v.kind == "" || v.kind == kindNil }

// str returns a scalar's text.
func (v value) str() string { return v.text }

// integer reads a number, however it was typed. A fraction is no integer.
func (v value) integer() (int64, bool) {
	text := strings.TrimSpace(v.text)
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, true
	}
	switch strings.ToLower(text) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// boolean reads a truth, however it was typed.
func (v value) boolean() (b, ok bool) {
	switch strings.ToLower(strings.TrimSpace(v.text)) {
	case "true", "1", "y", "yes":
		return true, true
	case "false", "0", "n", "no":
		return false, true
	}
	return false, false
}

// fault is an XML-RPC fault.
type fault struct {
	code   int64
	reason string
}

// Error implements error.
func (f *fault) Error() string { return fmt.Sprintf("XML-RPC fault %d: %s", f.code, f.reason) }

// decodeResponse reads a method response of one value. A fault is a *fault;
// what is no response is errNotXMLRPC.
func decodeResponse(r io.Reader) (value, error) {
	d := decoder{xml: gridxml.NewDecoder(r, maxText)}
	root, err := d.child()
	if err != nil || root != "methodResponse" {
		return value{}, errNotXMLRPC
	}
	for {
		name, err := d.child()
		switch {
		case err != nil:
			return value{}, err
		case name == "":
			return value{}, errors.New("found a response without a value")
		case name == "fault":
			v, err := d.find("value")
			if err != nil {
				return value{}, err
			}
			code, _ := v.get("faultCode").integer()
			return value{}, &fault{code, v.get("faultString").str()}
		case name == "params":
			return d.find("param", "value")
		}
		if err := d.xml.Skip(); err != nil {
			return value{}, err
		}
	}
}

// decoder reads values from XML.
type decoder struct {
	xml    *xml.Decoder
	values int
}

// child returns the name of the next element within the one that is open;
// empty at its end.
func (d *decoder) child() (string, error) {
	for {
		t, err := d.xml.Token()
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return "", err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t.Name.Local, nil
		case xml.EndElement:
			return "", nil
		}
	}
}

// find goes down a path of elements that ends at a value, and reads it.
func (d *decoder) find(path ...string) (value, error) {
	for _, want := range path {
		for {
			name, err := d.child()
			if err != nil {
				return value{}, err
			}
			if name == want {
				break
			}
			if name == "" {
				return value{}, fmt.Errorf("found no %s", want)
			}
			if err := d.xml.Skip(); err != nil {
				return value{}, err
			}
		}
	}
	return d.value()
}

// value reads what a <value> element, whose start was read, holds, and its
// end. Text without a type is a string.
func (d *decoder) value() (value, error) {
	if d.values++; d.values > maxValues {
		return value{}, fmt.Errorf("found over %d values", maxValues)
	}
	var v value
	var bare strings.Builder
	for {
		t, err := d.xml.Token()
		if err != nil {
			return value{}, err
		}
		switch t := t.(type) {
		case xml.CharData:
			if v.kind == "" {
				bare.Write(t)
			}
		case xml.StartElement:
			if v.kind != "" { // a second type in one value: the first one counts
				err = d.xml.Skip()
			} else {
				v, err = d.typed(t.Name.Local)
			}
			if err != nil {
				return value{}, err
			}
		case xml.EndElement:
			if v.kind == "" {
				v = stringValue(gridxml.Unescape(bare.String()))
			}
			return v, nil
		}
	}
}

// typed reads a value's content of a type, up to the type element's end.
func (d *decoder) typed(name string) (value, error) {
	switch name {
	case "array":
		return d.array()
	case "struct":
		return d.structure()
	case "string", "boolean", "double", "base64":
		text, err := d.text()
		return value{kind: kind(name), text: text}, err
	case "int", "i1", "i2", "i4", "i8":
		text, err := d.text()
		return value{kind: kindInt, text: text}, err
	case "float":
		text, err := d.text()
		return value{kind: kindDouble, text: text}, err
	case "dateTime.iso8601", "dateTime":
		text, err := d.text()
		return value{kind: kindDateTime, text: text}, err
	}
	// <nil/>, and types that we do not know: no value that we can read.
	return value{kind: kindNil}, d.xml.Skip()
}

// text returns the text up to the open element's end.
func (d *decoder) text() (string, error) {
	var b strings.Builder
	for {
		t, err := d.xml.Token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.StartElement:
			if err := d.xml.Skip(); err != nil {
				return "", err
			}
		case xml.EndElement:
			return gridxml.Unescape(b.String()), nil
		}
	}
}

// array reads the values of all <data> up to the array's end.
func (d *decoder) array() (value, error) {
	v := value{kind: kindArray}
	for {
		name, err := d.child()
		if err != nil {
			return value{}, err
		}
		if name == "" {
			return v, nil
		}
		if name != "data" {
			if err := d.xml.Skip(); err != nil {
				return value{}, err
			}
			continue
		}
		for {
			name, err := d.child()
			if err != nil {
				return value{}, err
			}
			if name == "" {
				break
			}
			if name != "value" {
				if err := d.xml.Skip(); err != nil {
					return value{}, err
				}
				continue
			}
			item, err := d.value()
			if err != nil {
				return value{}, err
			}
			v.items = append(v.items, item)
		}
	}
}

// structure reads all members up to the struct's end. A member without a
// value is left out.
func (d *decoder) structure() (value, error) {
	v := value{kind: kindStruct}
	for {
		name, err := d.child()
		if err != nil {
			return value{}, err
		}
		if name == "" {
			return v, nil
		}
		if name != "member" {
			if err := d.xml.Skip(); err != nil {
				return value{}, err
			}
			continue
		}
		m, err := d.member()
		if err != nil {
			return value{}, err
		}
		if m.value.kind != "" {
			v.members = append(v.members, m)
		}
	}
}

// member reads a name and a value, in either order, up to the member's end.
func (d *decoder) member() (m member, err error) {
	for {
		name, err := d.child()
		if err != nil {
			return member{}, err
		}
		switch name {
		case "":
			return m, nil
		case "name":
			m.name, err = d.text()
		case "value":
			m.value, err = d.value()
		default:
			err = d.xml.Skip()
		}
		if err != nil {
			return member{}, err
		}
	}
}

// appendCall appends a call of a method with one parameter.
func appendCall(b []byte, method string, parameter value) []byte {
	b = append(b, `<?xml version="1.0" encoding="UTF-8"?><methodCall><methodName>`...)
	b = appendText(b, method)
	b = append(b, `</methodName><params><param>`...)
	b = appendValue(b, parameter)
	return append(b, `</param></params></methodCall>`...)
}

// appendValue appends a value; what decodes it gets an equal one.
func appendValue(b []byte, v value) []byte {
	if v.absent() {
		return append(b, "<value><nil/></value>"...)
	}
	b = append(b, "<value><"...)
	b = append(b, v.kind...)
	b = append(b, '>')
	switch v.kind {
	case kindArray:
		b = append(b, "<data>"...)
		for _, item := range v.items {
			b = appendValue(b, item)
		}
		b = append(b, "</data>"...)
	case kindStruct:
		for _, m := range v.members {
			b = append(b, "<member><name>"...)
			b = appendText(b, m.name)
			b = append(b, "</name>"...)
			b = appendValue(b, m.value)
			b = append(b, "</member>"...)
		}
	default:
		b = appendText(b, v.text)
	}
	b = append(b, "</"...)
	b = append(b, v.kind...)
	return append(b, "></value>"...)
}

// appendText appends escaped text. Characters that XML forbids are written as
// references, as OpenSimulator does; invalid UTF-8 becomes U+FFFD.
func appendText(b []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r < 0x20 && r != '\t' && r != '\n', r == 0xFFFE, r == 0xFFFF:
			b = fmt.Appendf(b, "&#x%X;", r)
		default:
			b = append(b, string(r)...)
		}
	}
	return b
}
