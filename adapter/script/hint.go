package script

import (
	"regexp"
	"strings"
)

// What models and people write who know Python better than this language, and what
// to write here.
const (
	hintImport = "there is nothing to import: entries are variables, and help() lists them and the functions there are"
	hintTry    = "there are no exceptions: value, error = attempt(f, x=1) calls f(x=1), and error is None if that went well"
	hintRaise  = "fail(\"why\") ends the script"
	hintString = "there are no f-strings: \"{} m\".format(x) or \"%s m\" % x"
	hintDigits = "a conversion has no width or precision: \"%s m\" % round(x, 1)"
	hintTypes  = "names and parameters have no types here"
	hintFence  = "write the script alone, without ``` around it"
	hintAsync  = "calls wait for their answers by themselves"
	hintScope  = "a function gives back what it changes: x = f(x)"
)

// insteadOf are hints by the word at which the language gives up, or with which
// the line begins.
var insteadOf = map[string]string{
	"import": hintImport, "from": hintImport, "require": hintImport, "using": hintImport,
	"try": hintTry, "except": hintTry, "finally": hintTry, "catch": hintTry,
	"raise": hintRaise, "throw": hintRaise, "assert": "if not x: fail(\"why\") ends the script",
	"with": "there are no files and nothing to close", "class": "there are no classes: dict(a=1) holds values, def makes functions",
	"async": hintAsync, "await": hintAsync, "yield": "collect in a list and return that",
	"global": hintScope, "nonlocal": hintScope, "del": "d.pop(key) takes out of a dict, list.remove(x) out of a list",
	"is": "== compares; x == None, and known(x) for facts", "'**'": "there is no power operator: x * x",
	"let": "a name is made by x = 1", "const": "a name is made by x = 1", "var": "a name is made by x = 1",
	"function": "a function is made by def f(x):", "switch": "if, elif and else", "match": "if, elif and else",
	"'&'": "and, or and not combine conditions", "'|'": "and, or and not combine conditions",
}

// insteadOfName are hints for names that are not defined.
var insteadOfName = map[string]string{
	"math": hintImport, "re": hintImport, "os": hintImport, "sys": hintImport, "time": "there is no clock",
	"datetime": "there is no clock", "random": "there is no chance", "requests": "there is no network", "open": "there are no files",
	"map": "write [f(x) for x in list]", "filter": "write [x for x in list if f(x)]",
	"isinstance": "write type(x) == \"string\" compares types", "Exception": hintTry, "ValueError": hintTry, "null": "write None", "undefined": "write None", "nil": "write None", "format": "write \"{}\".format(x), and round(x, 1) for digits", "pow": "there is no power operator: x * x",
	"exec": "there is one script, and nothing to read another from", "eval": "there is one script, and nothing to read another from",
	"dict_keys": "write d.keys()", "iter": "write for x in list", "next": "write list[0]", "vars": "write dir(x)", "callable": "write type(x) == \"function\" or \"operation\"",
	"console": "write print(x)", "echo": "write print(x)", "printf": "write print(\"%s\" % x)",
}

// insteadOfName says what to write for a name that is not defined.
func (r *run) insteadOfName(name string) string {
	switch name {
	case "input", "raw_input":
		if r.env.globals["args"] != nil {
			return "nobody is there to ask: a script's arguments are in args"
		}
		return "nobody is there to ask: write the value into the script"
	case "argv", "sys":
		if r.env.globals["args"] != nil {
			return "a script's arguments are in args"
		}
	case "exit", "quit":
		if r.live {
			return "Ctrl-D ends the prompt"
		}
		return "a script ends at its end, and a function by return; " + hintRaise
	case "invoke", "call", "call_tool":
		for _, l := range r.env.cfg.Client.Catalog(r.env.cfg.Principal) {
			return "an operation is a method of its entry, such as " + methodName(l.Node.Path, l.Operation.Name) + "(...); help() lists what there is"
		}
	}
	return insteadOfName[name]
}

// insteadOfAttr says what to write for an attribute that other languages have.
func insteadOfAttr(kind, name string) string {
	if hint := insteadOfMethod[kind+"."+name]; hint != "" {
		return hint
	}
	switch kind {
	case "list", "dict", "string", "set", "tuple", "int", "float", "module", "bytes", "function", "NoneType", "bool":
		return ""
	}
	switch name { // of a record or page
	case "get":
		return "write x[\"name\"], or getattr(x, \"name\", None) where it may be missing"
	case "keys":
		return "write dir(x), or [name for name in x] of a record"
	case "values":
		return "write [x[name] for name in x]"
	}
	return ""
}

// insteadOfMethod are hints for methods of the language's types.
var insteadOfMethod = map[string]string{
	"list.sort": "sorted(list, key=f) gives a new list in order", "list.reverse": "reversed(list) gives a new list in the other direction",
	"list.copy": "list(x) copies", "dict.copy": "dict(x) copies", "list.count": "len([y for y in x if y == z]) counts", "list.length": "write len(list)",
	"list.push": "write list.append(x)", "list.add": "write list.append(x)", "list.map": "write [f(x) for x in list]", "list.filter": "write [x for x in list if f(x)]",
	"list.get": "write list[0]", "list.join": "write \", \".join(list)", "dict.has_key": "write key in dict", "dict.iteritems": "write dict.items()",
	"string.length": "write len(text)", "string.contains": "write \"part\" in text", "string.includes": "write \"part\" in text", "string.trim": "write text.strip()",
	"string.encode": "write bytes(text)", "string.zfill": hintDigits, "string.rjust": hintDigits, "string.ljust": hintDigits, "string.center": hintDigits,
	"module.dumps": "write json.encode(x)", "module.loads": "write json.decode(text)", "module.stringify": "write json.encode(x)", "module.parse": "write json.decode(text)",
	"module.dump": "write json.encode(x)", "module.load": "write json.decode(text)",
}

var (
	printed   = regexp.MustCompile(`^\s*print\s+[^\s(=]`)
	joined    = regexp.MustCompile(`["']\s*[rRbB]?["']`)
	gotToken  = regexp.MustCompile(`^got ('[^']*'|[a-z_]+),? `)
	fString   = regexp.MustCompile(`(^|[^\w"'\\])[fF]["']`)
	typed     = regexp.MustCompile(`\w\s*:\s*\w`)
	firstWord = regexp.MustCompile(`^\s*([A-Za-z_]\w*)`)
)

// syntaxHint says what to write in the place of what the language does not have;
// nothing if that cannot be told. line is the one that is wrong.
func syntaxHint(message, line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "```") {
		return hintFence
	}
	if printed.MatchString(line) {
		return "print is a function: print(x)"
	}
	if m := gotToken.FindStringSubmatch(message); m != nil {
		if m[1] == "for" && strings.Contains(line, "(") {
			return "there are no generator expressions: any([x for x in list])"
		}
		if hint := insteadOf[m[1]]; hint != "" {
			return hint
		}
		switch {
		case m[1] == "string" && fString.MatchString(line):
			return hintString
		case m[1] == "string" && joined.MatchString(line):
			return "\"a\" + \"b\" joins two strings; side by side they are not joined"
		case m[1] == "':'" && typed.MatchString(line):
			return hintTypes
		case m[1] == "','" && strings.Contains(line, "{"):
			return "a set is set([1, 2])"
		}
	}
	if m := firstWord.FindStringSubmatch(line); m != nil {
		return insteadOf[m[1]]
	}
	return ""
}

// callHint says more of what the language's own functions refuse.
func callHint(message string) string {
	switch {
	case strings.HasPrefix(message, "unknown conversion %"), strings.HasPrefix(message, "format spec features not supported"):
		return hintDigits
	case strings.HasPrefix(message, "invalid call of non-function"):
		return "it is a value and no function: write it without parentheses behind it"
	case strings.Contains(message, "frozen"):
		return "what a call answered is read-only: list(x) and dict(x) make copies that can be changed"
	case strings.HasPrefix(message, "print: unexpected keyword argument"):
		return "print writes its arguments and a line's end, no more"
	}
	return ""
}

// unfenced returns a script without the fence around it, as models write it in
// their answers, and reports whether there was one.
func unfenced(src string) (string, bool) {
	text := strings.TrimSpace(src)
	head, body, ok := strings.Cut(text, "\n")
	body, closed := strings.CutSuffix(body, "```")
	language, fence := strings.CutPrefix(head, "```")
	if !ok || !closed || !fence || strings.ContainsAny(language, "` ") || strings.Contains(body, "```") {
		return "", false
	}
	return body, true
}
