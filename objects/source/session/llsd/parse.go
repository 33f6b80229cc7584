package llsd

import (
	stdbytes "bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/source/gridxml"
	"github.com/wipagent/wipagent/objects/world"
)

// Limits of what Parse accepts. The largest answer a grid gives, a page of
// inventory, stays far below them.
const (
	// MaxSize is the most bytes of a document.
	MaxSize = 64 << 20
	// MaxDepth is how many elements may lie within each other.
	MaxDepth = gridxml.MaxDepth
	// MaxNodes is how many values and keys a document may hold; one that
	// has them all takes a few hundred megabytes.
	MaxNodes = 4 << 20
	// MaxText is the most bytes of a tag and the text after it.
	MaxText = 1 << 20
)

// Errors of Parse, besides those of malformed XML.
var (
	ErrSize  = fmt.Errorf("found a document of over %d bytes", MaxSize)
	ErrNodes = fmt.Errorf("found a document of over %d values", MaxNodes)
	ErrDepth = gridxml.ErrDepth
	// ErrNotLLSD says that the document is XML of some other sort, such as
	// an HTML page, or no XML at all.
	ErrNotLLSD = errors.New("found no LLSD")
)

// Parse reads a document of LLSD in XML. It takes what grids send and strict
// XML does not allow: any prolog, a byte order mark, forbidden characters and
// ampersands that begin no reference. Empty elements are zero values, unknown
// elements are skipped, and a scalar that cannot be read is undef. Several
// maps in one document, as OpenSimulator writes when folders are missing, are
// merged; the last of equal keys counts. What follows the document is ignored.
// No entity but XML's own five is expanded.
func Parse(document []byte) (Value, error) {
	if len(document) > MaxSize {
		return Value{}, ErrSize
	}
	v, err := parse(document, MaxNodes)
	if err != nil {
		return Value{}, fmt.Errorf("llsd: %w", err)
	}
	return v, nil
}

func parse(document []byte, most int) (Value, error) {
	p := &parser{
		most: most,
		d:    gridxml.NewDecoder(stdbytes.NewReader(skipProlog(document)), MaxText),
		keys: map[string]string{},
	}
	for {
		t, err := p.d.Token()
		if errors.Is(err, io.EOF) {
			return Value{}, ErrNotLLSD
		}
		if err != nil {
			return Value{}, err
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local == "llsd" {
			return p.document()
		}
		// A bare value is taken too.
		v, known, err := p.value(start)
		if err == nil && !known {
			err = ErrNotLLSD
		}
		return v, err
	}
}

// skipProlog cuts off processing instructions: encoding/xml refuses the form
// "<? LLSD/XML ?>".
func skipProlog(b []byte) []byte {
	for {
		b = stdbytes.TrimLeft(stdbytes.TrimPrefix(b, []byte("\ufeff")), " \t\r\n")
		if !stdbytes.HasPrefix(b, []byte("<?")) {
			return b
		}
		_, rest, ok := stdbytes.Cut(b, []byte("?>"))
		if !ok {
			return b
		}
		b = rest
	}
}

// parser holds the state of one Parse.
type parser struct {
	d     *xml.Decoder
	nodes int
	most  int               // of nodes
	text  []byte            // of the scalar at hand
	keys  map[string]string // keys seen before: few, and repeated for each row
}

// document reads what lies within <llsd>.
func (p *parser) document() (Value, error) {
	var first Value
	var merged []Member // of all maps
	err := p.children(func(start xml.StartElement) error {
		v, _, err := p.value(start)
		if err != nil {
			return err
		}
		if first.v == nil {
			first = v
		}
		d, _ := v.v.(dict)
		merged = append(merged, d...)
		return nil
	})
	if first.Kind() == KindMap {
		first = Value{newDict(merged)}
	}
	return first, err
}

// children calls child for each element up to the end of the one at hand;
// child reads the element to its end.
func (p *parser) children(child func(xml.StartElement) error) error {
	for {
		t, err := p.d.Token()
		if err != nil {
			return unexpected(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := child(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (p *parser) count() error {
	if p.nodes++; p.nodes > p.most {
		return ErrNodes
	}
	return nil
}

// value reads the element that begins with start to its end; known is false
// for an element that is no value.
func (p *parser) value(start xml.StartElement) (v Value, known bool, err error) {
	kind := Kind(slices.Index(kinds[:], start.Name.Local))
	if int(kind) >= len(kinds) {
		return Value{}, false, p.skip()
	}
	if err := p.count(); err != nil {
		return Value{}, true, err
	}
	switch kind {
	case KindArray:
		v, err = p.array()
	case KindMap:
		v, err = p.dict()
	default:
		if err = p.scalar(); err == nil {
			v = parseScalar(kind, p.text, start.Attr)
		}
	}
	return v, true, err
}

func (p *parser) skip() error {
	return p.children(func(xml.StartElement) error { return p.skip() })
}

func (p *parser) array() (Value, error) {
	var a array
	err := p.children(func(start xml.StartElement) error {
		v, known, err := p.value(start)
		if known {
			a = append(a, v)
		}
		return err
	})
	return Value{a}, err
}

func (p *parser) dict() (Value, error) {
	var d []Member
	var key string
	waiting := false // for the value of key
	err := p.children(func(start xml.StartElement) error {
		if start.Name.Local == "key" {
			if err := p.count(); err != nil {
				return err
			}
			if err := p.scalar(); err != nil {
				return err
			}
			key, waiting = p.intern(), true
			return nil
		}
		v, known, err := p.value(start)
		if known && waiting {
			d = append(d, Member{key, v})
			waiting = false
		}
		return err
	})
	return Value{newDict(d)}, err
}

// intern returns the key at hand, the same string for the same key.
func (p *parser) intern() string {
	const most = 1024
	if k, ok := p.keys[string(p.text)]; ok {
		return k
	}
	k := gridxml.Unescape(string(p.text))
	if len(p.keys) < most {
		p.keys[string(p.text)] = k
	}
	return k
}

// scalar reads text up to the end of the element at hand, without the
// elements in it.
func (p *parser) scalar() error {
	p.text = p.text[:0]
	for {
		t, err := p.d.Token()
		if err != nil {
			return unexpected(err)
		}
		switch t := t.(type) {
		case xml.CharData:
			p.text = append(p.text, t...)
		case xml.StartElement:
			if err := p.skip(); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// parseScalar returns undef for a text that is none of the kind.
func parseScalar(kind Kind, text []byte, attributes []xml.Attr) Value {
	switch kind {
	case KindString:
		return Value{gridxml.Unescape(string(text))}
	case KindURI:
		return Value{uri(gridxml.Unescape(string(text)))}
	case KindBinary:
		if b, ok := parseBinary(text, attributes); ok {
			return Value{b}
		}
		return Value{}
	}
	s := string(stdbytes.TrimSpace(text))
	switch kind {
	case KindBoolean:
		if b, ok := parseBool(s); ok {
			return Value{b}
		}
	case KindInteger:
		if s == "" {
			return Value{int64(0)}
		}
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return Value{i}
		}
	case KindReal:
		if s == "" {
			return Value{0.0}
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return Value{f}
		}
	case KindUUID:
		if u, ok := parseUUID(s); ok {
			return Value{u}
		}
	case KindDate:
		if s == "" {
			return Value{time.Unix(0, 0).UTC()}
		}
		if t, ok := parseDate(s); ok {
			return Date(t)
		}
	}
	return Value{}
}

// parseBool reads the forms of a boolean; empty is false.
func parseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "1", "true":
		return true, true
	case "0", "false", "":
		return false, true
	}
	return false, false
}

// parseUUID reads an identifier; empty is the zero one.
func parseUUID(s string) (world.UUID, bool) {
	if s == "" {
		return world.UUID{}, true
	}
	u, err := world.ParseUUID(s)
	return u, err == nil
}

// parseDate reads a date of ISO 8601, with or without a time, a fraction and
// a zone; without one it is UTC.
func parseDate(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

func parseBinary(text []byte, attributes []xml.Attr) (bytes, bool) {
	encoding := "base64"
	for _, a := range attributes {
		if a.Name.Local == "encoding" {
			encoding = a.Value
		}
	}
	text = stdbytes.Join(stdbytes.Fields(text), nil)
	var b []byte
	var err error
	switch encoding {
	case "base64":
		b, err = base64.RawStdEncoding.AppendDecode(nil, stdbytes.TrimRight(text, "="))
	case "base16":
		b, err = hex.AppendDecode(nil, text)
	default:
		return "", false // base85 is defined and used by nobody
	}
	return bytes(b), err == nil
}
