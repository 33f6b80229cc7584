package lsp

// What editors are told of the words of the language. Spec: spec/idl.md

// keywordWords explain keywords, and the words of refinements.
var keywordWords = map[string]string{
	"package":   "Names the package of the document, dotted; each document has exactly one.",
	"version":   "The document's version, a whole number from 1; 1 if it is not given.",
	"import":    "Brings the declarations of another document, named as the import search path finds it.",
	"interface": "Declares the operations that an Object can have.",
	"record":    "Declares a set of named fields.",
	"enum":      "Declares a set of labels.",
	"matching":  "The whole string must match a regular expression of RE2.",
	"bytes":     "Says that the bounds of a length are bytes of UTF-8.",
}

// builtinWords explain the built-in types.
var builtinWords = map[string]string{
	"bool":      "`true` or `false`.",
	"int":       "An integer within ±(2^53-1). Refinement: `[min..max]`, its value.",
	"float":     "A finite number. Refinement: `[min..max]`, its value.",
	"string":    "The Host's own words. Refinement: `[min..max bytes]`, or `[matching \"RE2\"]`.",
	"text":      "A stranger's words: always cleaned, cut to size and marked as untrusted. Only in results. Refinement: `[min..max bytes]`.",
	"uuid":      "A UUID, in lower case.",
	"timestamp": "A moment, in Unix milliseconds. Refinement: `[min..max]`.",
	"duration":  "A stretch of time, in milliseconds; written as `1500ms` or `3s`. Refinement: `[min..max]`, in milliseconds.",
	"bytes":     "Bytes, as standard base64. Refinement: `[min..max bytes]`, decoded.",
	"entry":     "The path of an entry; `entry<I>` of an Object with the interface I.",
	"list":      "`list<T>`: an array. Refinement: `[min..max]`, the number of elements.",
	"map":       "`map<T>`: an object with any keys. Refinement: `[min..max]`, the number of members.",
	"fact":      "`fact<T>`: T as it was observed, or unknown with a reason. Only in results.",
	"page":      "`page<T>`: a slice of an ordered selection. The operation has the parameters `page` and `page_size`. Only in results.",
	"observed":  "`observed<T>`: T with the envelope that says when, where and by whom it was observed. Only around a whole result.",
}

// takesArgument are the types that stand around another.
var takesArgument = map[string]bool{"list": true, "map": true, "fact": true, "page": true, "observed": true}

// onlyInResults are the types that no parameter holds.
var onlyInResults = map[string]bool{"text": true, "fact": true, "page": true, "observed": true}

// annotationWords explain the annotations.
var annotationWords = map[string]string{
	"informational": "The operation only tells.",
	"read_only":     "The operation changes nothing.",
	"mutating":      "The operation changes things.",
	"destructive":   "The operation destroys things, or does what cannot be undone.",
	"idempotent":    "The same call twice does what one does, so it may be retried.",
	"dry_run":       "The operation can be tried without effect.",
	"cost":          "`@cost(N)`: a call counts as N tool calls, 1 to 1000; 1 if not given.",
	"timeout":       "`@timeout(3s)`: how long a call may take, 1ms to 10m; 3s if not given.",
	"max_output":    "`@max_output(32KiB)`: the size of the JSON result at most, 1B to 16MiB; 32KiB if not given.",
	"audience":      "`@audience(A, …)`: whom the operation may be offered to: the least trusted named, and all above it.",
	"alias":         "`@alias(\"…\", …)`: other words by which people ask for the operation, each at most 100 bytes. `de: \"…\"` tags one with its language.",
	"example":       "`@example(name: value, …)`: arguments of a call, which must be valid.",
	"derived":       "The field is computed by the Host, not observed.",
	"deprecated":    "`@deprecated(\"use …\")`: what to use instead.",
}

// annotationArguments are snippets of the arguments that an annotation needs.
var annotationArguments = map[string]string{
	"cost": "($1)", "timeout": "($1)", "max_output": "($1)", "audience": "($1)",
	"alias": `("$1")`, "example": "($1)", "deprecated": `("$1")`,
}

// usualArguments are what annotations of one number are mostly given.
var usualArguments = map[string][]string{
	"timeout": {"1s", "3s", "10s", "30s"}, "max_output": {"8KiB", "32KiB", "128KiB", "1MiB"}, "cost": {"1", "2", "5", "10"},
}

// audienceWords explain the audiences that a document can name.
var audienceWords = map[string]string{
	"public_chat":    "Anybody within earshot in the world: the least trusted.",
	"im":             "Whoever sends an instant message.",
	"authorized_im":  "Those senders of instant messages whom the operator has authorized.",
	"local_operator": "Who runs the program; meant if no audience is given.",
}
