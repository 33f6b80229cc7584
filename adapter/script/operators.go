package script

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// builtin is a function of this package for scripts, or a method of one of the
// library's types behind its check. Unlike the library's own it cannot be made
// to do without the check.
type builtin struct {
	name string
	recv starlark.Value // of a method
	doc  string         // its signature and what it is for; empty of what no script names
	fn   func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)
}

var _ starlark.Callable = (*builtin)(nil)

func (b *builtin) Name() string          { return b.name }
func (b *builtin) String() string        { return "<built-in function " + b.name + ">" }
func (b *builtin) Type() string          { return "builtin_function_or_method" }
func (b *builtin) Freeze()               {}
func (b *builtin) Truth() starlark.Bool  { return true }
func (b *builtin) Hash() (uint32, error) { return starlark.String(b.name).Hash() }

// maxCalls bounds calls within calls, so that builtins which call what they are
// given cannot be stacked up.
const maxCalls = 400

// CallInternal runs the builtin, unless the run has ended.
func (b *builtin) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	r := thread.Local(runKey).(*run)
	if thread.CallStackDepth() > maxCalls {
		return nil, fmt.Errorf("found more than %d calls within calls, expected fewer", maxCalls)
	}
	v, err := b.fn(r, args, kwargs)
	if r.stopped != nil {
		return nil, r.stopped
	}
	return v, err
}

// runKey finds the run in a thread.
const runKey = "run"

// operators are the builtins that rewrite puts in the place of operators.
func operators() map[string]*builtin {
	ops := map[string]*builtin{}
	add := func(name string, fn func(r *run, args starlark.Tuple) (starlark.Value, error)) {
		ops[name] = &builtin{name: name, fn: func(r *run, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) { return fn(r, args) }}
	}
	for op := syntax.PLUS; op <= syntax.GTGT; op++ {
		add("$"+op.String(), func(r *run, args starlark.Tuple) (starlark.Value, error) { return r.binary(op, args[0], args[1]) })
	}
	for _, op := range []syntax.Token{syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE} {
		add("$"+op.String(), func(r *run, args starlark.Tuple) (starlark.Value, error) {
			ok, err := r.compare(op, args[0], args[1])
			return starlark.Bool(ok), err
		})
	}
	add("$in", func(r *run, args starlark.Tuple) (starlark.Value, error) { return r.in(args[0], args[1]) })
	add("$+=", func(r *run, args starlark.Tuple) (starlark.Value, error) { return r.extend(args[0], args[1]) })
	add("$|=", func(r *run, args starlark.Tuple) (starlark.Value, error) { return r.merge(args[0], args[1]) })
	add("$made", func(r *run, args starlark.Tuple) (starlark.Value, error) {
		n, _ := args[0].(starlark.Int).Int64()
		switch v := args[1].(type) {
		case starlark.Tuple:
			n += 16 * int64(len(v))
			if err := r.tuple(v); err != nil {
				return nil, err
			}
		case starlark.Int:
			n += bits(v)/8 - 8
		}
		return args[1], r.alloc(n)
	})
	add("$sliced", func(_ *run, args starlark.Tuple) (starlark.Value, error) {
		if p, ok := args[0].(*page); ok {
			return pageSlices{p}, nil
		}
		return args[0], nil
	})
	add("$part", func(r *run, args starlark.Tuple) (starlark.Value, error) {
		if _, ok := args[0].(starlark.String); ok { // it shares the bytes of the whole
			return args[0], r.alloc(16)
		}
		return args[0], r.alloc(16*max(int64(starlark.Len(args[0])), 0) + 64)
	})
	add("$copy", func(r *run, args starlark.Tuple) (starlark.Value, error) {
		return args[0], r.alloc(16*max(int64(starlark.Len(args[0])), 0) + 64)
	})
	add("$attr", func(r *run, args starlark.Tuple) (starlark.Value, error) {
		return r.attr(args[0], string(args[1].(starlark.String)))
	})
	add("$global", func(r *run, args starlark.Tuple) (starlark.Value, error) {
		return r.env.globals[string(args[0].(starlark.String))], nil
	})
	add("$spread", func(r *run, args starlark.Tuple) (starlark.Value, error) { return r.spread(args[0]) })
	add("$store", func(r *run, args starlark.Tuple) (starlark.Value, error) {
		if _, ok := args[0].(*starlark.Dict); ok {
			return args[0], r.alloc(entryBytes)
		}
		return args[0], nil
	})
	add("$loop", func(r *run, args starlark.Tuple) (starlark.Value, error) {
		if u := anyUnknown(args[0]); u != nil {
			return nil, u.used("in a loop")
		}
		return args[0], nil
	})
	add("$each", func(r *run, args starlark.Tuple) (starlark.Value, error) {
		per, _ := args[0].(starlark.Int).Int64()
		if x, ok := args[1].(starlark.Iterable); ok {
			return metered{x, r, per}, nil
		}
		if u := anyUnknown(args[1]); u != nil {
			return nil, u.used("in a loop")
		}
		return args[1], nil
	})
	return ops
}

// scalar reports whether a value holds no others and is quickly compared.
func scalar(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType, starlark.String, starlark.Bytes, *object:
		return true
	}
	return false
}

// binary computes x op y after a look at how large that becomes.
func (r *run) binary(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	if err := r.beforehand(op, x, y); err != nil {
		return nil, err
	}
	z, err := starlark.Binary(op, x, y)
	if err != nil {
		return nil, unknownIn(err, x, y)
	}
	switch z := z.(type) {
	case starlark.Int:
		if n := bits(z); n > 64 {
			if n > maxBits {
				return nil, fmt.Errorf("found an integer of %d bits, expected at most %d", n, maxBits)
			}
			return z, r.alloc(n / 8)
		}
	case starlark.Tuple:
		return z, r.tuple(z)
	}
	return z, nil
}

func (r *run) beforehand(op syntax.Token, x, y starlark.Value) error {
	switch op {
	case syntax.PLUS:
		switch x := x.(type) {
		case starlark.String, starlark.Bytes:
			if x.Type() == y.Type() {
				return r.text(int64(starlark.Len(x)) + int64(starlark.Len(y)))
			}
		case *starlark.List, starlark.Tuple:
			if x.Type() == y.Type() {
				return r.items(int64(starlark.Len(x)) + int64(starlark.Len(y)))
			}
		}
	case syntax.STAR:
		if n, ok := y.(starlark.Int); ok {
			return r.repeated(x, n)
		}
		if n, ok := x.(starlark.Int); ok {
			return r.repeated(y, n)
		}
	case syntax.PERCENT:
		if format, ok := x.(starlark.String); ok {
			return r.interpolated(string(format), y)
		}
	case syntax.MINUS, syntax.PIPE, syntax.AMP, syntax.CIRCUMFLEX:
		switch x.(type) {
		case *starlark.Dict, *starlark.Set:
			n := int64(max(starlark.Len(x), 0)) + int64(max(starlark.Len(y), 0))
			if err := r.spend(n); err != nil {
				return err
			}
			return r.alloc(dictBytes + n*entryBytes)
		}
	}
	return nil
}

// items counts a list of n elements before it is made.
func (r *run) items(n int64) error {
	if err := r.alloc(n*16 + 64); err != nil {
		return err
	}
	return r.spend(n / 16)
}

func (r *run) repeated(x starlark.Value, count starlark.Int) error {
	var each int64
	switch x.(type) {
	case starlark.String, starlark.Bytes:
		each = 1
	case *starlark.List, starlark.Tuple:
		each = 16
	default:
		return nil
	}
	n, ok := count.Int64()
	length := int64(starlark.Len(x))
	if n <= 0 || length == 0 {
		return nil
	}
	const most = 1 << 40
	if !ok || n > most || length*min(n, most/length+1) > most {
		return r.stop("memory", "the script wanted to repeat a value more often than any limit allows")
	}
	if each == 1 {
		return r.text(n * length)
	}
	return r.items(n * length)
}

// interpolated counts what format % x comes to.
func (r *run) interpolated(format string, x starlark.Value) error {
	size := int64(len(format))
	if m, ok := x.(starlark.Mapping); ok && strings.Contains(format, "%(") {
		for rest := format; ; {
			_, after, found := strings.Cut(rest, "%(")
			if !found {
				break
			}
			key, after, _ := strings.Cut(after, ")")
			rest = after
			v, ok, err := m.Get(starlark.String(key))
			if err != nil || !ok {
				continue // which is an error that the operator reports
			}
			n, err := r.weigh(v)
			if err != nil {
				return err
			}
			if size += n; size > 4*maxText {
				return errTooLong(size)
			}
		}
		return r.alloc(size)
	}
	n, err := r.weigh(x)
	if err != nil {
		return err
	}
	return r.alloc(size + n)
}

// compare compares two values that may hold others.
func (r *run) compare(op syntax.Token, x, y starlark.Value) (bool, error) {
	if !scalar(x) && !scalar(y) {
		n, err := r.weigh(x)
		if err != nil {
			return false, err
		}
		if err := r.spend(n / 64); err != nil {
			return false, err
		}
	} else if s, ok := x.(starlark.String); ok {
		if err := r.scan(s); err != nil {
			return false, err
		}
	}
	if u := anyUnknown(x, y); u != nil {
		switch op {
		case syntax.EQL, syntax.NEQ:
			return op == syntax.NEQ, nil
		}
		return false, u.used("in a comparison")
	}
	ok, err := starlark.Compare(op, x, y)
	return ok, err
}

func (r *run) in(x, y starlark.Value) (starlark.Value, error) {
	switch list := y.(type) {
	case starlark.String:
		if err := r.scan(list); err != nil {
			return nil, err
		}
	case *unknown:
		return nil, list.used("after in")
	case *starlark.List, starlark.Tuple:
		if err := r.search(x, starlark.Len(list)); err != nil {
			return nil, err
		}
	case *page:
		iter := list.Iterate()
		defer iter.Done()
		var elem starlark.Value
		for iter.Next(&elem) {
			if same, err := r.compare(syntax.EQL, elem, x); same || err != nil {
				return starlark.Bool(same), err
			}
		}
		return starlark.False, r.raised
	}
	z, err := starlark.Binary(syntax.IN, x, y)
	if err != nil {
		return nil, unknownIn(err, y)
	}
	return z, nil
}

// scan counts a look through a string.
func (r *run) scan(s starlark.String) error {
	const perStep = 256 // bytes that take about as long as a step
	if len(s) < perStep {
		return nil
	}
	return r.spend(int64(len(s) / perStep))
}

// search counts the comparison of a value with n others.
func (r *run) search(x starlark.Value, n int) error {
	cost := int64(n)/16 + 1
	if !scalar(x) {
		weight, err := r.weigh(x)
		if err != nil {
			return err
		}
		cost = int64(n) * (1 + weight/64)
	}
	return r.spend(cost)
}

// extend is x += y.
func (r *run) extend(x, y starlark.Value) (starlark.Value, error) {
	list, ok := x.(*starlark.List)
	iterable, ok2 := y.(starlark.Iterable)
	if !ok || !ok2 {
		return r.binary(syntax.PLUS, x, y)
	}
	if n := starlark.Len(y); n >= 0 {
		if err := r.alloc(int64(n) * elemBytes); err != nil {
			return nil, err
		}
	}
	if other, ok := y.(*starlark.List); ok { // perhaps the same
		if err := r.spend(int64(other.Len()) / 16); err != nil {
			return nil, err
		}
		for i := range other.Len() {
			if err := list.Append(other.Index(i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	iter := metered{iterable, r, elemBytes}.Iterate()
	defer iter.Done()
	var elem starlark.Value
	for iter.Next(&elem) {
		if err := list.Append(elem); err != nil {
			return nil, err
		}
	}
	return list, r.raised
}

// merge is x |= y.
func (r *run) merge(x, y starlark.Value) (starlark.Value, error) {
	into, ok := x.(*starlark.Dict)
	from, ok2 := y.(*starlark.Dict)
	if !ok || !ok2 {
		return r.binary(syntax.PIPE, x, y)
	}
	if err := r.beforehand(syntax.PIPE, starlark.NewSet(0), from); err != nil {
		return nil, err
	}
	if into == from {
		return into, nil
	}
	for k, v := range from.Entries() {
		if err := into.SetKey(k, v); err != nil {
			return nil, err
		}
	}
	return into, nil
}

// spread is what stands after * or ** in a call.
func (r *run) spread(x starlark.Value) (starlark.Value, error) {
	const most = 10_000 // arguments
	if n := starlark.Len(x); n > most {
		return nil, fmt.Errorf("found %d arguments, expected at most %d", n, most)
	}
	x, err := r.counted(x, 64)
	if err != nil {
		return nil, err
	}
	if m, ok := x.(metered); ok {
		var list []starlark.Value
		iter := m.Iterate()
		defer iter.Done()
		var elem starlark.Value
		for iter.Next(&elem) {
			if list = append(list, elem); len(list) > most {
				return nil, fmt.Errorf("found more than %d arguments, expected fewer", most)
			}
		}
		return starlark.Tuple(list), errors.Join(r.raised)
	}
	return x, nil
}
