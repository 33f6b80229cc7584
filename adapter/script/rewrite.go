package script

import (
	"fmt"

	"go.starlark.net/syntax"
)

// The interpreter counts instructions and nothing else: one of them may copy a
// gigabyte. So the tree of a script is rewritten before it is compiled. Whatever
// can make much out of little becomes a call of a builtin that counts first. The
// names of those start with "$", which no script can write.

// lastValue is the variable that holds the value of a last expression.
const lastValue = "$last"

// maxLevels is how deep a tree may be. The parser bounds what it nests itself, but
// not how long a chain of operators or calls is.
const maxLevels = 1000

// rewrite makes a script safe to run. A last statement that is an expression
// leaves its value in lastValue.
func (w *rewriter) rewrite(file *syntax.File) error {
	if n := len(file.Stmts); n > 0 {
		if last, ok := file.Stmts[n-1].(*syntax.ExprStmt); ok {
			pos := syntax.Start(last)
			file.Stmts[n-1] = &syntax.AssignStmt{OpPos: pos, Op: syntax.EQ, LHS: ident(lastValue, pos), RHS: last.X}
		}
	}
	file.Stmts = w.stmts(file.Stmts)
	if w.err != nil {
		return *w.err
	}
	return nil
}

type rewriter struct {
	depth int
	err   *syntax.Error // the first
	temps int
	live  map[place]bool // names that are looked up when they are used
}

// place is where something stands in a script.
type place struct{ line, column int32 }

func placeOf(pos syntax.Position) place { return place{pos.Line, pos.Col} }

// enter goes one level down and reports whether that is allowed; leave comes
// back.
func (w *rewriter) enter(n syntax.Node) bool {
	if w.depth++; w.depth > maxLevels {
		w.fail(n, "found an expression of more than %d levels, expected a shorter one", maxLevels)
		return false
	}
	return w.err == nil
}

func (w *rewriter) leave() { w.depth-- }

func (w *rewriter) fail(n syntax.Node, format string, args ...any) {
	if w.err == nil {
		w.err = &syntax.Error{Pos: firstPosition(n), Msg: fmt.Sprintf(format, args...)}
	}
}

// firstPosition returns where a node is, without going far into it.
func firstPosition(n syntax.Node) syntax.Position {
	switch n := n.(type) {
	case *syntax.BinaryExpr:
		return n.OpPos
	case *syntax.CallExpr:
		return n.Lparen
	case *syntax.IndexExpr:
		return n.Lbrack
	case *syntax.SliceExpr:
		return n.Lbrack
	case *syntax.DotExpr:
		return n.Dot
	}
	return syntax.Start(n)
}

func ident(name string, pos syntax.Position) *syntax.Ident {
	return &syntax.Ident{Name: name, NamePos: pos}
}

func number(n int, pos syntax.Position) syntax.Expr {
	return &syntax.Literal{Token: syntax.INT, TokenPos: pos, Raw: fmt.Sprint(n), Value: int64(n)}
}

func call(name string, pos syntax.Position, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: ident(name, pos), Lparen: pos, Args: args, Rparen: pos}
}

// made is an expression that makes a value of about n bytes.
func made(n int, pos syntax.Position, x syntax.Expr) syntax.Expr {
	return call("$made", pos, number(n, pos), x)
}

func (w *rewriter) stmts(list []syntax.Stmt) []syntax.Stmt {
	var out []syntax.Stmt
	for _, s := range list {
		if w.enter(s) {
			out = append(out, w.stmt(s)...)
		}
		w.leave()
	}
	return out
}

func (w *rewriter) stmt(s syntax.Stmt) []syntax.Stmt {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		return w.assign(s)
	case *syntax.DefStmt:
		s.Params = w.params(s.Params)
		s.Body = append(w.received(s.Params), w.stmts(s.Body)...)
		return []syntax.Stmt{&syntax.ExprStmt{X: made(functionBytes, s.Def, number(0, s.Def))}, s}
	case *syntax.ExprStmt:
		s.X = w.expr(s.X)
	case *syntax.ForStmt:
		s.Vars, s.X, s.Body = w.target(s.Vars), call("$loop", s.For, w.expr(s.X)), w.stmts(s.Body)
	case *syntax.WhileStmt:
		s.Cond, s.Body = w.expr(s.Cond), w.stmts(s.Body)
	case *syntax.IfStmt:
		s.Cond, s.True, s.False = w.expr(s.Cond), w.stmts(s.True), w.stmts(s.False)
	case *syntax.ReturnStmt:
		s.Result = w.expr(s.Result)
	case *syntax.LoadStmt:
		w.fail(s, "load is not available: a script has no files")
	}
	return []syntax.Stmt{s}
}

// What values cost, in bytes, roughly and rather too much.
const (
	elemBytes     = 40  // of a list that grows
	entryBytes    = 160 // of a dict or set
	dictBytes     = 600
	functionBytes = 200
)

// received checks what a function gets as *args and **kwargs.
func (w *rewriter) received(params []syntax.Expr) []syntax.Stmt {
	var out []syntax.Stmt
	for _, p := range params {
		if star, ok := p.(*syntax.UnaryExpr); ok && star.X != nil {
			name := star.X.(*syntax.Ident)
			out = append(out, &syntax.ExprStmt{X: made(dictBytes, name.NamePos, ident(name.Name, name.NamePos))})
		}
	}
	return out
}

func (w *rewriter) params(list []syntax.Expr) []syntax.Expr {
	for _, p := range list {
		if named, ok := p.(*syntax.BinaryExpr); ok {
			named.Y = w.expr(named.Y)
		}
	}
	return list
}

// assign rewrites an assignment. x[i] += y becomes its parts, so that x and i are
// evaluated once.
func (w *rewriter) assign(s *syntax.AssignStmt) []syntax.Stmt {
	if s.Op == syntax.EQ {
		if to, from := tupleIn(s.LHS), tupleIn(s.RHS); to != nil && from != nil { // taken apart at once
			w.list(from.List)
			s.LHS = w.target(s.LHS)
			return []syntax.Stmt{s}
		}
		s.RHS, s.LHS = w.expr(s.RHS), w.target(s.LHS)
		return []syntax.Stmt{s}
	}
	op := s.Op - syntax.PLUS_EQ + syntax.PLUS
	var out []syntax.Stmt
	keep := func(x syntax.Expr) func() syntax.Expr {
		w.temps++
		name := fmt.Sprintf("$t%d", w.temps)
		out = append(out, &syntax.AssignStmt{OpPos: s.OpPos, Op: syntax.EQ, LHS: ident(name, s.OpPos), RHS: w.expr(x)})
		return func() syntax.Expr { return ident(name, s.OpPos) }
	}
	var now syntax.Expr
	switch lhs := unparen(s.LHS).(type) {
	case *syntax.Ident:
		now = ident(lhs.Name, lhs.NamePos)
		s.LHS = lhs
	case *syntax.IndexExpr:
		x, i := keep(lhs.X), keep(lhs.Y)
		now = &syntax.IndexExpr{X: x(), Lbrack: lhs.Lbrack, Y: i(), Rbrack: lhs.Rbrack}
		s.LHS = &syntax.IndexExpr{X: call("$store", lhs.Lbrack, x()), Lbrack: lhs.Lbrack, Y: i(), Rbrack: lhs.Rbrack}
	case *syntax.DotExpr:
		x := keep(lhs.X)
		now = w.attr(x(), lhs)
		s.LHS = &syntax.DotExpr{X: x(), Dot: lhs.Dot, NamePos: lhs.NamePos, Name: lhs.Name}
	default:
		w.fail(s, "found an augmented assignment to more than one name, expected one")
		return nil
	}
	name := "$" + op.String()
	switch op {
	case syntax.PLUS, syntax.PIPE:
		name += "="
	}
	s.RHS, s.Op = call(name, s.OpPos, now, w.expr(s.RHS)), syntax.EQ
	return append(out, s)
}

func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

func tupleIn(e syntax.Expr) *syntax.TupleExpr {
	t, _ := unparen(e).(*syntax.TupleExpr)
	return t
}

// target rewrites what is assigned to: only what stands inside it is evaluated.
func (w *rewriter) target(e syntax.Expr) syntax.Expr {
	defer w.leave()
	if !w.enter(e) {
		return e
	}
	switch e := e.(type) {
	case *syntax.IndexExpr:
		e.X, e.Y = call("$store", e.Lbrack, w.expr(e.X)), w.expr(e.Y)
	case *syntax.DotExpr:
		e.X = w.expr(e.X)
	case *syntax.ParenExpr:
		e.X = w.target(e.X)
	case *syntax.TupleExpr:
		for i := range e.List {
			e.List[i] = w.target(e.List[i])
		}
	case *syntax.ListExpr:
		for i := range e.List {
			e.List[i] = w.target(e.List[i])
		}
	}
	return e
}

func (w *rewriter) list(list []syntax.Expr) {
	for i := range list {
		list[i] = w.expr(list[i])
	}
}

func (w *rewriter) attr(x syntax.Expr, e *syntax.DotExpr) syntax.Expr {
	name := &syntax.Literal{Token: syntax.STRING, TokenPos: e.NamePos, Raw: e.Name.Name, Value: e.Name.Name}
	return call("$attr", e.Dot, x, name)
}

// guarded are the operators that become calls.
var guarded = map[syntax.Token]bool{
	syntax.PLUS: true, syntax.MINUS: true, syntax.STAR: true, syntax.PERCENT: true, syntax.AMP: true, syntax.PIPE: true, syntax.CIRCUMFLEX: true,
	syntax.SLASH: true, syntax.SLASHSLASH: true, syntax.LTLT: true, syntax.GTGT: true, syntax.EQL: true, syntax.NEQ: true, syntax.LT: true, syntax.LE: true, syntax.GT: true, syntax.GE: true, syntax.IN: true,
}

func (w *rewriter) expr(e syntax.Expr) syntax.Expr {
	if e == nil {
		return nil
	}
	defer w.leave()
	if !w.enter(e) {
		return e
	}
	switch e := e.(type) {
	case *syntax.Ident:
		if w.live[placeOf(e.NamePos)] {
			return call("$global", e.NamePos, &syntax.Literal{Token: syntax.STRING, TokenPos: e.NamePos, Raw: e.Name, Value: e.Name})
		}
	case *syntax.BinaryExpr:
		e.X, e.Y = w.expr(e.X), w.expr(e.Y)
		if e.Op == syntax.NOT_IN {
			return &syntax.UnaryExpr{OpPos: e.OpPos, Op: syntax.NOT, X: call("$in", e.OpPos, e.X, e.Y)}
		}
		if guarded[e.Op] {
			return call("$"+e.Op.String(), e.OpPos, e.X, e.Y)
		}
	case *syntax.UnaryExpr:
		e.X = w.expr(e.X)
		if _, ok := e.X.(*syntax.Literal); !ok && e.Op != syntax.NOT {
			return made(0, e.OpPos, e)
		}
	case *syntax.ParenExpr:
		e.X = w.expr(e.X)
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = w.expr(e.Cond), w.expr(e.True), w.expr(e.False)
	case *syntax.IndexExpr:
		e.X, e.Y = w.expr(e.X), w.expr(e.Y)
	case *syntax.SliceExpr:
		name := "$part"
		if e.Step != nil {
			name = "$copy"
		}
		e.X, e.Lo, e.Hi, e.Step = call("$sliced", e.Lbrack, w.expr(e.X)), w.expr(e.Lo), w.expr(e.Hi), w.expr(e.Step)
		return call(name, e.Lbrack, e)
	case *syntax.DotExpr:
		return w.attr(w.expr(e.X), e)
	case *syntax.CallExpr:
		w.call(e)
	case *syntax.ListExpr:
		w.list(e.List)
		return made(64+16*len(e.List), e.Lbrack, e)
	case *syntax.TupleExpr:
		w.list(e.List)
		return made(32+16*len(e.List), syntax.Start(e), e)
	case *syntax.DictExpr:
		for _, entry := range e.List {
			entry := entry.(*syntax.DictEntry)
			entry.Key, entry.Value = w.expr(entry.Key), w.expr(entry.Value)
		}
		return made(dictBytes+entryBytes*len(e.List), e.Lbrace, e)
	case *syntax.Comprehension:
		return w.comprehension(e)
	case *syntax.LambdaExpr:
		return w.lambda(e)
	}
	return e
}

func (w *rewriter) call(e *syntax.CallExpr) {
	e.Fn = w.expr(e.Fn)
	for i, arg := range e.Args {
		switch arg := arg.(type) {
		case *syntax.BinaryExpr:
			if arg.Op == syntax.EQ {
				arg.Y = w.expr(arg.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if arg.Op == syntax.STAR || arg.Op == syntax.STARSTAR {
				arg.X = call("$spread", arg.OpPos, w.expr(arg.X))
				continue
			}
		}
		e.Args[i] = w.expr(arg)
	}
}

// comprehension lets the innermost loop count what the comprehension collects.
func (w *rewriter) comprehension(e *syntax.Comprehension) syntax.Expr {
	per := elemBytes
	if entry, ok := e.Body.(*syntax.DictEntry); ok {
		entry.Key, entry.Value = w.expr(entry.Key), w.expr(entry.Value)
	} else {
		e.Body = w.expr(e.Body)
	}
	if e.Curly {
		per = entryBytes
	}
	var last *syntax.ForClause
	for _, clause := range e.Clauses {
		switch clause := clause.(type) {
		case *syntax.ForClause:
			clause.Vars, clause.X = w.target(clause.Vars), w.expr(clause.X)
			last = clause
		case *syntax.IfClause:
			clause.Cond = w.expr(clause.Cond)
		}
	}
	last.X = call("$each", last.For, number(per, last.For), last.X)
	return made(dictBytes, e.Lbrack, e)
}

// lambda checks what the function gets as *args and **kwargs before its body.
func (w *rewriter) lambda(e *syntax.LambdaExpr) syntax.Expr {
	e.Params = w.params(e.Params)
	e.Body = w.expr(e.Body)
	if checks := w.received(e.Params); checks != nil {
		t := &syntax.TupleExpr{Lparen: e.Lambda, Rparen: e.Lambda}
		for _, s := range checks {
			t.List = append(t.List, s.(*syntax.ExprStmt).X)
		}
		t.List = append(t.List, e.Body)
		e.Body = &syntax.IndexExpr{X: t, Lbrack: e.Lambda, Y: number(len(checks), e.Lambda), Rbrack: e.Lambda}
	}
	return made(functionBytes, e.Lambda, e)
}
