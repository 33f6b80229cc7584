package script

import (
	"strings"

	"go.starlark.net/syntax"
)

// replaceCall returns the script with another call in the place of the one whose
// opening parenthesis is at the line and column; "" if there is none, or if its
// arguments say anything but themselves: what a loop's variable holds must not
// become what it held once.
func replaceCall(src string, line, column int, call string) string {
	file, err := options.Parse("code", src, 0)
	if err != nil {
		return ""
	}
	var found *syntax.CallExpr
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && int(c.Lparen.Line) == line && int(c.Lparen.Col) == column {
			found = c
		}
		return found == nil
	})
	if found == nil {
		return ""
	}
	for _, arg := range found.Args {
		if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
			arg = named.Y
		}
		if !literally(arg, 0) {
			return ""
		}
	}
	start, end := found.Span()
	from, to := offset(src, start), offset(src, end)
	if from < 0 || to < from || to > len(src) {
		return ""
	}
	return src[:from] + call + src[to:]
}

// replaceAttr returns the script with another name behind the dot at the line and
// column; "" if there is none, or if the name is no identifier.
func replaceAttr(src string, line, column int, name string) string {
	file, err := options.Parse("code", src, 0)
	if err != nil || !identifier(name) {
		return ""
	}
	var found *syntax.DotExpr
	syntax.Walk(file, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.DotExpr); ok && int(d.Dot.Line) == line && int(d.Dot.Col) == column {
			found = d
		}
		return found == nil
	})
	if found == nil {
		return ""
	}
	at := offset(src, found.Name.NamePos)
	if at < 0 || !strings.HasPrefix(src[at:], found.Name.Name) {
		return ""
	}
	rest := src[at+len(found.Name.Name):]
	if !strings.HasPrefix(rest, "(") && !strings.HasPrefix(rest, ".") { // which calls nothing
		return ""
	}
	return src[:at] + name + rest
}

// literally reports whether an expression says its own value.
func literally(e syntax.Expr, depth int) bool {
	if depth > maxDepth {
		return false
	}
	all := func(list []syntax.Expr) bool {
		for _, elem := range list {
			if !literally(elem, depth+1) {
				return false
			}
		}
		return true
	}
	switch e := e.(type) {
	case *syntax.Literal:
		return true
	case *syntax.Ident:
		return e.Name == "True" || e.Name == "False" || e.Name == "None"
	case *syntax.UnaryExpr:
		return e.Op == syntax.MINUS && e.X != nil && literally(e.X, depth+1)
	case *syntax.ParenExpr:
		return literally(e.X, depth+1)
	case *syntax.ListExpr:
		return all(e.List)
	case *syntax.DictExpr:
		return all(e.List)
	case *syntax.DictEntry:
		return literally(e.Key, depth+1) && literally(e.Value, depth+1)
	}
	return false
}

// offset returns the byte offset of a position, -1 if it is not in the text.
func offset(src string, pos syntax.Position) int {
	at := 0
	for n := int32(1); n < pos.Line; n++ {
		i := strings.IndexByte(src[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	column := int32(1)
	for i := range src[at:] {
		if column == pos.Col {
			return at + i
		}
		column++
	}
	return len(src)
}
