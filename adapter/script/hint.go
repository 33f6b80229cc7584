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
	"input": "nobody is there to ask: a script's arguments are in args", "map": "write [f(x) for x in list]", "filter": "write [x for x in list if f(x)]",
	"isinstance": "write type(x) == \"string\" compares types", "Exception": hintTry, "ValueError": hintTry, "null": "write None", "undefined": "write None", "nil": "write None", "format": "write \"{}\".format(x), and round(x, 1) for digits", "pow": "there is no power operator: x * x",
	"console": "write print(x)", "echo": "write print(x)", "printf": "write print(\"%s\" % x)",
}

var (
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
	if m := gotToken.FindStringSubmatch(message); m != nil {
		if hint := insteadOf[m[1]]; hint != "" {
			return hint
		}
		switch {
		case m[1] == "string" && fString.MatchString(line):
			return hintString
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
