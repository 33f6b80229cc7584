package script

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/wipagent/wipagent/idl"
)

// Completion is one way to go on writing.
type Completion struct {
	// Text stands in the place of what is written from start to the cursor.
	Text string
	// Description is a signature, a type or what it is for; may be empty.
	Description string
}

// maxCompletions bounds a list.
const maxCompletions = 200

// Complete returns how the line can go on at the byte offset pos, arguments first, else
// sorted by text, and where the text begins that each completion replaces: attributes after a
// dot, paths in the string of entry("/..."), argument names and an enum's labels
// in a call, before the names that a value can begin with, and names elsewhere. It runs nothing of the line: it only asks what
// can be done at entries that the line names.
func (e *Env) Complete(line string, pos int) (start int, list []Completion) {
	pos = min(max(pos, 0), len(line))
	const longest = 4096
	if pos > longest {
		return pos, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r, done := e.begin(ctx)
	defer done()
	e.mounts(r)
	c := &completer{run: r, line: line[:pos]}
	c.tokens = tokenize(c.line)
	start = c.complete()
	slices.SortFunc(c.list, func(a, b Completion) int {
		if first, second := strings.HasSuffix(a.Text, "="), strings.HasSuffix(b.Text, "="); first != second { // an argument's name
			if first {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Text, b.Text)
	})
	c.list = slices.CompactFunc(c.list, func(a, b Completion) bool { return a.Text == b.Text })
	return start, c.list[:min(len(c.list), maxCompletions)]
}

// token is a piece of a line.
type token struct {
	kind       byte // 'a' a name, '0' a number, '"' a string, or the character itself
	start, end int
	open       bool // a string or comment that does not end
}

// tokenize splits a line as far as completion needs.
func tokenize(line string) []token {
	var list []token
	for i := 0; i < len(line); {
		c := line[i]
		t := token{kind: c, start: i}
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			i++
			continue
		case c == '#':
			for i < len(line) && line[i] != '\n' {
				i++
			}
			t.open = i == len(line)
		case letter(c):
			t.kind = 'a'
			for i < len(line) && (letter(line[i]) || line[i] >= '0' && line[i] <= '9') {
				i++
			}
		case c >= '0' && c <= '9':
			t.kind = '0'
			for i < len(line) && (letter(line[i]) || line[i] >= '0' && line[i] <= '9' || line[i] == '.') {
				i++
			}
		case c == '"' || c == '\'':
			t.kind, t.open = '"', true
			quote := line[i : i+1]
			if strings.HasPrefix(line[i:], strings.Repeat(quote, 3)) {
				quote = strings.Repeat(quote, 3)
			}
			for i += len(quote); i < len(line); i++ {
				if line[i] == '\\' {
					i++
				} else if strings.HasPrefix(line[i:], quote) {
					i += len(quote)
					t.open = false
					break
				}
			}
			i = min(i, len(line))
		default:
			i++
		}
		t.end = i
		list = append(list, t)
	}
	return list
}

func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

type completer struct {
	run    *run
	line   string
	tokens []token
	list   []Completion
}

func (c *completer) text(t token) string { return c.line[t.start:t.end] }

func (c *completer) add(prefix, text, description string) {
	if strings.HasPrefix(text, prefix) {
		c.list = append(c.list, Completion{text, printable(description)})
	}
}

// complete fills the list and returns where it starts.
func (c *completer) complete() int {
	n := len(c.tokens)
	if n > 0 && c.tokens[n-1].open && c.tokens[n-1].kind == '#' {
		return len(c.line)
	}
	if n > 0 && c.tokens[n-1].open {
		return c.inString(c.tokens[n-1], c.tokens[:n-1])
	}
	start, prefix, before := len(c.line), "", c.tokens
	if n > 0 && c.tokens[n-1].end == len(c.line) {
		switch last := c.tokens[n-1]; last.kind {
		case 'a':
			start, prefix, before = last.start, c.text(last), c.tokens[:n-1]
		case '0':
			return start
		}
	}
	if k := len(before); k > 0 && before[k-1].kind == '.' {
		c.attributes(c.value(before[:k-1]), prefix)
		return start
	}
	c.arguments(before, prefix)
	argument := len(c.list) > 0
	if argument && prefix == "" {
		return start
	}
	for name, v := range c.run.env.globals {
		if !strings.HasPrefix(name, "$") {
			c.add(prefix, name, described(v))
		}
	}
	for _, word := range keywords[:slices.Index(keywords, "as")] {
		if !argument {
			c.add(prefix, word, "")
		}
	}
	return start
}

// described says in a few words what a value is.
func described(v starlark.Value) string {
	switch v := v.(type) {
	case *builtin:
		return v.doc
	case *method:
		return v.op.Operation.Signature()
	case *object:
		return v.path
	}
	return v.Type()
}

// inString completes a path, or the name of an entry in x["...].
func (c *completer) inString(t token, before []token) int {
	content := strings.TrimLeft(c.text(t), `"'`)
	start := t.end - len(content)
	k := len(before)
	if k == 0 {
		return start
	}
	base, prefix := "/", ""
	switch before[k-1].kind {
	case '[':
		o, ok := c.value(before[:k-1]).(*object)
		if !ok {
			return start
		}
		base = strings.TrimSuffix(o.path, "/") + "/"
		prefix = base
	default:
		slash := strings.LastIndexByte(content, '/')
		if slash < 0 {
			return start
		}
		base = content[:slash+1]
	}
	path := strings.TrimSuffix(base, "/")
	if path == "" {
		path = "/"
	}
	found, err := c.run.inspect(path)
	if err != nil {
		return start
	}
	for _, n := range found.Children {
		c.add(content, strings.TrimPrefix(n.Path, prefix), n.Title)
	}
	return start
}

// attributes completes what follows a dot.
func (c *completer) attributes(v starlark.Value, prefix string) {
	if o, ok := v.(*object); ok {
		found, err := o.found()
		if err != nil {
			return
		}
		for _, op := range found.Operations {
			if identifier(op.Name) {
				text := op.Name + "()"
				if len(op.Operation.Params) > 0 {
					text = op.Name + "("
				}
				c.add(prefix, text, op.Operation.Signature())
			}
		}
		for _, n := range found.Children {
			if name := n.Path[strings.LastIndexByte(n.Path, '/')+1:]; identifier(name) {
				c.add(prefix, name, n.Title)
			}
		}
		for _, name := range facts {
			c.add(prefix, name, "")
		}
		return
	}
	attrs, ok := v.(starlark.HasAttrs)
	if !ok {
		return
	}
	for _, name := range attrs.AttrNames() {
		description := ""
		switch v.(type) {
		case *record, *page, *unknown, *module:
			if field, err := attrs.Attr(name); err == nil && field != nil {
				description = described(field)
			}
		}
		c.add(prefix, name, description)
	}
}

// arguments completes the names of arguments of the operation whose call the
// cursor is in, or the labels of the one whose value comes next.
func (c *completer) arguments(before []token, prefix string) {
	depth, used := 0, map[string]bool{}
	for i := len(before) - 1; i >= 0; i-- {
		switch t := before[i]; t.kind {
		case ')', ']', '}':
			depth++
		case '[', '{':
			depth--
		case '=':
			if depth == 0 && i > 0 && before[i-1].kind == 'a' {
				used[c.text(before[i-1])] = true
			}
		case '(':
			if depth--; depth >= 0 {
				continue
			}
			m, ok := c.value(before[:i]).(*method)
			if !ok {
				return
			}
			if k := len(before); k > 1 && before[k-1].kind == '=' {
				c.labels(m, c.text(before[k-2]), prefix)
				return
			}
			if last := before[len(before)-1].kind; last != '(' && last != ',' {
				return
			}
			for _, p := range m.op.Operation.Params {
				if !used[p.Name] && identifier(p.Name) {
					c.add(prefix, p.Name+"=", p.String())
				}
			}
			return
		}
		if depth < 0 {
			return
		}
	}
}

func (c *completer) labels(m *method, name, prefix string) {
	for _, p := range m.op.Operation.Params {
		if p.Name != name {
			continue
		}
		switch p.Type.Kind {
		case idl.EnumOf:
			for _, l := range p.Type.Enum.Labels {
				c.add(prefix, `"`+l.Name+`"`, l.Doc)
			}
		case idl.Bool:
			c.add(prefix, "True", "")
			c.add(prefix, "False", "")
		}
	}
}

// value returns what the expression at the end of the tokens stands for, nil if
// that would need running something.
func (c *completer) value(tokens []token) starlark.Value {
	i := len(tokens) - 1
	for i >= 0 {
		for i >= 0 && (tokens[i].kind == ')' || tokens[i].kind == ']') { // back to before the brackets
			depth := 0
			for ; i >= 0; i-- {
				switch tokens[i].kind {
				case ')', ']', '}':
					depth++
				case '(', '[', '{':
					depth--
				}
				if depth == 0 {
					i--
					break
				}
			}
		}
		if i < 0 || tokens[i].kind != 'a' {
			return nil
		}
		if i == 0 || tokens[i-1].kind != '.' {
			break
		}
		i -= 2
	}
	if i < 0 {
		return nil
	}
	expr, err := options.ParseExpr("line", c.line[tokens[i].start:tokens[len(tokens)-1].end], 0)
	if err != nil {
		return nil
	}
	return c.static(expr, 0)
}

// static follows names, dots and names in brackets, as far as nothing runs.
func (c *completer) static(e syntax.Expr, depth int) starlark.Value {
	if depth > maxDepth {
		return nil
	}
	attr := func(x starlark.Value, name string) starlark.Value {
		switch x := x.(type) {
		case *object, *record, *page, *unknown, *module:
			v, err := x.(starlark.HasAttrs).Attr(name)
			if err != nil {
				return nil
			}
			return v
		}
		return nil
	}
	text := func(e syntax.Expr) (string, bool) {
		l, ok := e.(*syntax.Literal)
		if !ok {
			return "", false
		}
		s, ok := l.Value.(string)
		return s, ok
	}
	switch e := e.(type) {
	case *syntax.Ident:
		return c.run.env.globals[e.Name]
	case *syntax.DotExpr:
		return attr(c.static(e.X, depth+1), e.Name.Name)
	case *syntax.IndexExpr:
		x := c.static(e.X, depth+1)
		if name, ok := text(e.Y); ok {
			if o, ok := x.(*object); ok {
				return o.child(name)
			}
			return attr(x, name)
		}
	case *syntax.CallExpr:
		if fn, ok := e.Fn.(*syntax.Ident); ok && fn.Name == "entry" && len(e.Args) == 1 {
			if path, ok := text(e.Args[0]); ok {
				return &object{c.run.env, path}
			}
		}
	}
	return nil
}
