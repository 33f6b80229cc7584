// Package dialect says tools in the forms that model providers accept, reads
// the calls that come back, and writes their results.
//
// A tool is declared by the parameters of an operation of the language. What a
// provider's schemas cannot say of them is listed (B2), said in words where
// words help, and checked by the tool itself: a dialect never decides whether
// a call is right. Some forms need a convention that is undone on the way back:
// null for a parameter that is left out, pairs for a map, JSON in a string for
// what may not be an object there.
//
// What a provider sums over a request has its budget, and when a list of tools
// exceeds one, this is done, in this order, until it does not:
//
//  1. Records that hold themselves are written out less deep, in all tools.
//  2. Tools are written without strictness, where strictness is what costs.
//  3. Tools are left out.
//
// The tools that keep their place are chosen one after the other: those that
// are not deprecated before those that are, those that only read before those
// that change something, and then as they were given. A tool that does not fit
// what is left gives way, and a smaller one after it may still fit. Export
// tells of each (Demoted, Dropped) and what the list comes to (Usage).
//
// Everything here is a pure function of its input; an Export is immutable and
// safe for concurrent use.
package dialect

import (
	"encoding/json"
	"time"

	"github.com/wipagent/wipagent/idl"
)

// Tool is one tool before any provider's form.
type Tool struct {
	// Name is the wanted name: [a-z][a-zA-Z0-9_]*, unique among the tools. A
	// provider may get a shorter one; see Export.Name.
	Name        string
	Description string
	// Params declare the argument record.
	Params []*idl.Param
	// Open, if not empty, names one more required member of the record: an
	// object that the tool checks by other rules, like invoke's arguments.
	Open, OpenDoc string
	// Result is what a call returns; nil if only Output tells.
	Result *idl.Operation
	// Output is the JSON Schema of an answer, errors included; nil if not stated.
	Output json.RawMessage
	// Examples are argument records that the tool accepts as they are.
	Examples []json.RawMessage

	// Brief leaves the parameters' limits to the check, in the schema and in
	// words: for a tool whose limits a call hardly meets, since a model pays for
	// each byte of the list at each turn.
	Brief bool

	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	Deprecated  bool          // such tools are the first to be dropped
	Untrusted   bool          // the words are a stranger's: they are cleaned (B4)
	Timeout     time.Duration // of one call
	MaxOutput   int           // bytes of an answer's JSON
}

// Options vary an export. The zero value is right for most.
type Options struct {
	// Prefix is how many bytes of a name are kept free for what a gateway
	// puts in front, such as "mcp__server__"; 0 keeps none.
	Prefix int
	// Programmatic marks the tools as callable from the provider's code
	// execution, where the dialect knows such a thing; else it is an error.
	Programmatic bool
	// Depth, if not 0, replaces the nesting that the provider allows.
	Depth int
}

// Export is a list of tools in one provider's form.
type Export struct {
	Dialect *Dialect
	// Tools is the value of the request's field for tools, a JSON array. The
	// bytes are the same for the same tools and options.
	Tools json.RawMessage
	// Losses tells what the form cannot say (B2), in the order of the tools.
	Losses []Loss
	// Demoted and Dropped tell which tools the provider's budgets left no
	// room for: as strict tools, or at all. In the order of the tools.
	Demoted, Dropped []Drop
	// Usage is what the list comes to, beside what the provider allows.
	Usage []Usage

	tools          []exported // beside those given
	byName, byFold map[string]int
	byLetters      map[string]int // by loosened name; -1 of more than one tool
}

// Loss is one constraint that a provider's form cannot say.
type Loss struct {
	Tool       string `json:"tool"`       // as exported
	Path       string `json:"path"`       // JSON Pointer into the argument record; "*" is any element or key
	Constraint string `json:"constraint"` // "at most 500 bytes"
	Said       Said   `json:"said"`
	MaySend    string `json:"may_send"` // what a model may therefore still send
}

// Said tells where a lost constraint is to be found instead.
type Said string

const (
	// InDescription: the description's words tell it, and the check holds it.
	InDescription Said = "description"
	// InCheck: only the check of a call holds it.
	InCheck Said = "check"
)

// Drop is one tool that lost its place, and why.
type Drop struct {
	Tool string `json:"tool"` // Tool.Name
	// Reason is the budget that it did not fit ("strict tools", ...), or, of a tool
	// that is not strict, that code may call it.
	Reason string `json:"reason"`
}

// Usage is one budget that a provider sums over a request.
type Usage struct {
	Budget string `json:"budget"` // "strict tools", "optional parameters", ...
	Used   int    `json:"used"`
	Limit  int    `json:"limit"` // 0 if the provider states none
}

// Call is one call as a provider sent it.
type Call struct {
	// ID is the provider's identifier, to be sent back with the result; empty
	// if the provider sends none.
	ID string
	// Name is the tool's name as it was sent.
	Name string
	// Arguments is the record as it was sent, with the dialect's conventions
	// not yet undone (Export.Arguments does that). It need not be JSON: a
	// model's output may have been cut off. A string that holds the record,
	// where the provider sends one, has been read.
	Arguments json.RawMessage
	// Form is how the calls arrived, so that results go back alike.
	Form Form
	// Caller is the provider's word on who called, a JSON object, if that was
	// a program of the provider's code execution; nil for the model itself.
	Caller json.RawMessage
}

// Form is one of a provider's envelopes.
type Form string

// The envelopes.
const (
	Responses Form = "responses" // OpenAI's Responses API: function_call items
	Chat      Form = "chat"      // OpenAI's Chat Completions: tool_calls
	Messages  Form = "messages"  // Anthropic's Messages API: tool_use blocks
	Generate  Form = "generate"  // Gemini's GenerateContent: functionCall parts
	Protocol  Form = "protocol"  // MCP: tools/call
)

// Result is the answer to one call.
type Result struct {
	Call   Call
	JSON   json.RawMessage // one object; {"error":{...}} if Failed
	Failed bool
	// Untrusted says that JSON holds a stranger's words.
	Untrusted bool
}
