package idl

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/wipagent/wipagent/idl/syntax"
)

// Document is one compiled IDL document. It is immutable and safe for
// concurrent use, as is all that hangs on it.
type Document struct {
	Name       string // the name it was compiled under, such as "region.wip"
	Package    string // dotted, such as "grid"
	Version    int    // as declared; 1 if not declared
	Interfaces []*Interface
	Records    []*Record
	Enums      []*Enum
	Imports    []*Document // in source order
}

// Interface returns the document's own interface of that name, or nil.
func (d *Document) Interface(name string) *Interface {
	for _, i := range d.Interfaces {
		if i.Name == name {
			return i
		}
	}
	return nil
}

// Interface is a set of operations that an Object can have.
type Interface struct {
	Name       string
	Document   *Document
	Doc        string
	Operations []*Operation
	Deprecated string // what to use instead: "use Other"; empty if not deprecated
	// Annotations is where each annotation on it stands, by name without "@".
	Annotations map[string]syntax.Span
	Span        syntax.Span
	NameSpan    syntax.Span
}

// QualifiedName returns the name with its package, such as "grid.Region".
func (i *Interface) QualifiedName() string { return i.Document.Package + "." + i.Name }

// Operation returns the operation of that name, or nil.
func (i *Interface) Operation(name string) *Operation {
	for _, o := range i.Operations {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// Operation is one thing that an Object can do. Annotations of the interface
// are already merged in.
type Operation struct {
	Name      string
	Interface *Interface
	Doc       string
	Params    []*Param
	Result    *Type
	Aliases   []Alias           // other words by which people ask for it
	Examples  []json.RawMessage // argument records that pass DecodeArgs without repair

	Informational bool // capability: it only tells
	Risk          Risk
	Idempotent    bool
	DryRun        bool
	Cost          int           // tool calls that it counts as; at least 1
	Timeout       time.Duration // enforced by the dispatcher; DefaultTimeout if not declared
	MaxOutput     int           // bytes of the JSON result; DefaultMaxOutput if not declared
	Audience      Audience      // the lowest audience it may be offered to
	Deprecated    string        // what to use instead: "use other"; empty if not deprecated
	// Annotations is where each annotation on the operation itself stands, by
	// name without "@"; the first of those that may stand several times.
	Annotations map[string]syntax.Span
	Span        syntax.Span
	NameSpan    syntax.Span

	shape atomic.Pointer[shapePlan] // Shape's; nil until the first result
}

// Alias is other words by which people ask for an operation.
type Alias struct {
	Text string
	// Language is the BCP 47 tag of the words, such as "de" or "pt-BR"; empty
	// if the document does not say.
	Language string
}

// What an operation gets that declares no limits of its own.
const (
	DefaultTimeout   = 3 * time.Second
	DefaultMaxOutput = 32 << 10 // bytes
)

// Risk is what an operation may do to the world.
type Risk uint8

// The risks, from unknown to worst. An operation that states none is treated
// as one that changes things.
const (
	RiskUnstated Risk = iota
	ReadOnly
	Mutating
	Destructive
)

var riskNames = [...]string{"unstated", "read_only", "mutating", "destructive"}

// String returns the annotation's name, or "unstated"; of a value that is none of
// the risks, its number.
func (r Risk) String() string {
	if int(r) >= len(riskNames) {
		return fmt.Sprintf("Risk(%d)", uint8(r))
	}
	return riskNames[r]
}

// Audience is a class of caller, in order of trust: an operation offered to
// one is offered to all above it. The zero value is nobody.
type Audience uint8

// The audiences (spec/client.md). SchedulerRun stands apart from the order: it
// needs an explicit grant for each operation. An operation without @audience
// is for LocalOperator only.
const (
	PublicChat Audience = iota + 1
	IM
	AuthorizedIM
	LocalOperator
	SchedulerRun
)

var audienceNames = [...]string{"nobody", "public_chat", "im", "authorized_im", "local_operator", "scheduler_run"}

// String returns the audience's name in the language; of a value that is none of
// the audiences, its number.
func (a Audience) String() string {
	if int(a) >= len(audienceNames) {
		return fmt.Sprintf("Audience(%d)", uint8(a))
	}
	return audienceNames[a]
}

// ParseAudience returns the audience of that name.
func ParseAudience(name string) (Audience, bool) {
	for i, n := range audienceNames {
		if i > 0 && n == name {
			return Audience(i), true
		}
	}
	return 0, false
}

// AudienceNames returns the names that ParseAudience accepts, least trusted
// first.
func AudienceNames() []string { return append([]string(nil), audienceNames[1:]...) }

// Param is one parameter of an operation.
type Param struct {
	Name    string
	Doc     string
	Type    *Type
	Default json.RawMessage // JSON form; nil if the parameter has no default
	// Deprecated says what to use instead, or is empty.
	Deprecated string
	Span       syntax.Span
	NameSpan   syntax.Span
}

// Required reports whether a call must send the parameter: it has neither a
// default nor an optional type.
func (p *Param) Required() bool { return p.Default == nil && !p.Type.Optional }

// Record is a declared set of named fields.
type Record struct {
	Name       string
	Document   *Document
	Doc        string
	Fields     []*Field
	Deprecated string // what to use instead; empty if not deprecated
	Span       syntax.Span
	NameSpan   syntax.Span
}

// HoldsText reports whether a value of the record can hold a stranger's words:
// such a record is marked as untrusted in a result.
func (r *Record) HoldsText() bool {
	return holdsKind(&Type{Kind: RecordOf, Record: r}, Text, nil)
}

// Field is one field of a record.
type Field struct {
	Name       string
	Doc        string
	Type       *Type
	Derived    bool   // computed by the Host, not observed (P6)
	Deprecated string // what to use instead; empty if not deprecated
	Span       syntax.Span
	NameSpan   syntax.Span
}

// Enum is a declared set of labels; no two differ only by case.
type Enum struct {
	Name       string
	Document   *Document
	Doc        string
	Labels     []Label
	Deprecated string // what to use instead; empty if not deprecated
	Span       syntax.Span
	NameSpan   syntax.Span
}

// Label is one label of an enum.
type Label struct {
	Name string
	Doc  string
	Span syntax.Span // of the name
}

// Kind says which type a Type is.
type Kind uint8

// The kinds. In the comments: the JSON form of a value.
const (
	Bool      Kind = iota + 1 // true or false
	Int                       // a JSON number without fraction, within ±(2^53-1)
	Float                     // a finite JSON number
	String                    // a string: the Host's own words
	Text                      // a string: a stranger's words, always cleaned and marked
	UUID                      // a string, lower case, 8-4-4-4-12
	Timestamp                 // an integer: Unix milliseconds
	Duration                  // an integer: milliseconds
	Bytes                     // a string: standard base64
	Entry                     // a string: an entry's path
	List                      // an array of Elem
	Map                       // an object of Elem by any key
	Fact                      // Elem, or {"status":"unknown","reason":...}
	Page                      // an object with items of Elem (spec/idl.md, Pages)
	Observed                  // Elem's fields and the observation envelope
	RecordOf                  // an object with Record's fields
	EnumOf                    // a string: one of Enum's labels
)

// Type is a use of a type in a document.
type Type struct {
	Kind      Kind
	Elem      *Type      // of List, Map, Fact, Page, Observed
	Record    *Record    // of RecordOf
	Enum      *Enum      // of EnumOf
	Interface *Interface // of Entry; nil if any interface will do
	Range     *Range     // nil if not refined by a range
	Pattern   *regexp.Regexp
	// PatternText is the pattern as written in the document; Pattern is
	// the same, anchored at both ends.
	PatternText string
	Optional    bool // null is allowed; in a record also absence
}

// Range bounds a number's value, a string's or bytes' length in UTF-8 bytes
// or bytes, or a list's or map's number of elements. Both ends are inclusive.
type Range struct {
	Min, Max       float64
	HasMin, HasMax bool
}
