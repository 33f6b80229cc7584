package dialect

// Dialect is one provider's form of tools: what its schemas can say, what it
// sums over a request, and how it wraps a tool. It is immutable and safe for
// concurrent use.
type Dialect struct {
	Name  string // as Lookup takes it, such as "openai-strict"
	Title string // for people

	form    Form
	rules   rules // of a tool's schema, strict if the dialect is
	budgets []budget
	// maxDescription is how many characters of a tool's description the
	// provider takes; 0 if it states no limit.
	maxDescription int
	// callers are what a tool's allowed_callers says for programmatic calls;
	// nil if the provider knows none. strictCallers: also of a strict tool.
	callers       []string
	strictCallers bool
	write         func(*written) any     // one tool
	wrap          func(list []any) []any // the list of them; nil leaves it
	examples      bool                   // a tool may carry examples
}

// Form returns the envelope in which the provider sends its calls.
func (d *Dialect) Form() Form { return d.form }

// Strict reports whether the provider is asked to hold a model to the schemas.
func (d *Dialect) Strict() bool { return d.rules.strict }

// All returns every dialect, in a fixed order. The caller owns the slice.
func All() []*Dialect {
	return []*Dialect{
		&openAI, &openAIStrict, &openAIChat, &openAIChatStrict,
		&anthropic, &anthropicStrict, &gemini, &geminiJSON, &mcp, &portable,
	}
}

// Lookup returns the dialect of that name, or nil.
func Lookup(name string) *Dialect {
	for _, d := range All() {
		if d.Name == name {
			return d
		}
	}
	return nil
}
