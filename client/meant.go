package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
)

// This file says what a call can have meant that named something that does not
// exist. It looks at nothing that the principal may not know, so that the
// answer is the same whether a name is hidden or was never there (T9).

// noEntry answers that there is nothing at the call's target, and offers the one
// path that can have been meant, if there is exactly one.
func (c *Client) noEntry(p *policy.Principal, call Call) *Error {
	path := call.Target
	if e := c.expired(p, path); e != nil {
		return e
	}
	e := &Error{
		Class:   NotFound,
		Message: "there is no entry at this path",
		Hint:    "paths come from discover, from inspect (children) and from results; inspect / lists the mounts",
	}
	nodes := slices.DeleteFunc(c.visibleNodes(p), func(n *space.Node) bool { return n.Path == path }) // it has just turned out to be gone
	paths := make([]string, len(nodes))
	for i, n := range nodes {
		paths[i] = n.Path
	}
	near := nearest(path, paths)
	if before, _, ok := strings.Cut(path, "#"); near == "" && ok { // the form that inspect takes
		near = nearest(before, paths)
	}
	if near == "" {
		near = one(paths, func(known string) bool { return sameName(known[strings.LastIndexByte(known, '/'):], path) })
	}
	if near == "" {
		near = c.holder(p, nodes, call)
	}
	if near == "" {
		if near, e.near.Operation = c.behindPath(p, nodes, call); near != "" {
			e.near.Target = near
			e.Hint = "did you mean " + policy.Name(near, e.near.Operation) + "?"
			return e
		}
	}
	if near != "" {
		e.Hint = "did you mean " + near + "?"
		e.near.Target = near
	}
	return e
}

// noOperation answers that the node has no operation of that name for the
// principal, and offers one of another name or at another path, or the names
// that it has.
func (c *Client) noOperation(p *policy.Principal, n *space.Node, call Call) *Error {
	const most = 20
	e := &Error{Class: NotFound, Message: "the entry has no operation of this name"}
	names := c.operationNames(p, n, call)
	if substituted(n) {
		defer func() { e.Hint += "; some of what this entry can do is not available now" }()
	}
	if near := c.meantOperation(p, n, call); near != "" {
		e.Hint = "did you mean " + near + "?"
		e.near.Operation = near
		return e
	}
	if near := c.holder(p, c.visibleNodes(p), call); near != "" {
		e.Hint = near + " has it"
		e.near.Target = near
		return e
	}
	switch {
	case len(names) == 0:
		e.Hint = "it has none; inspect it to see the entries below it"
	case len(names) > most:
		e.Hint = "some of its operations: " + strings.Join(names[:most], ", ") + "; inspect it for all"
	default:
		e.Hint = "its operations: " + strings.Join(names, ", ")
	}
	return e
}

// completedInspect adds the whole target that was meant to a not-found answer.
func (c *Client) completedInspect(p *policy.Principal, err error, path, operation string, only bool) error {
	var e *Error
	if !errors.As(err, &e) || !e.clear() {
		return err
	}
	meant, _ := c.meant(p, e, Call{Target: path, Operation: operation})
	switch {
	case !only && e.near.Operation == "":
		e.Corrected = corrected(Call{Target: meant.Target})
	case meant.Operation != "":
		e.Corrected = corrected(Call{Target: policy.Name(meant.Target, meant.Operation)})
	}
	return e
}

// completedInvoke adds the whole call that was meant to a not-found answer: a
// path and an operation that exist for the principal, and arguments that fit.
// Where one of them is unclear the hint has to do.
func (c *Client) completedInvoke(ctx context.Context, p *policy.Principal, err error, call Call) error {
	var e *Error
	if !errors.As(err, &e) || !e.clear() || ctx.Err() != nil {
		return err
	}
	meant, op := c.meant(p, e, call)
	if op == nil {
		return e
	}
	n := c.visibleNode(p, meant.Target)
	if policy.NeedsApproval(op, n.Mount.Trusted) && !inForm(call, meant) {
		return e // the hint has to do: who approves the call would take it for what was asked for
	}
	if meant, _ = liftDryRun(op, meant); meant.DryRun && !op.DryRun {
		return e
	}
	args, err := op.DecodeArgs(meant.Arguments)
	var bad *idl.ArgumentError
	switch {
	case errors.As(err, &bad):
		meant.Arguments = bad.Corrected
	case len(args.Repairs) > 0:
		meant.Arguments = args.Record
	}
	if meant.Arguments = c.knownEntries(ctx, p, n, op, meant.Arguments); meant.Arguments != nil {
		e.Corrected = corrected(meant)
	}
	return e
}

// inForm reports whether a call names the entry and the operation of the one that
// is meant, in another form: no typing slip is put right.
func inForm(sent, meant Call) bool {
	operation := sent.Operation == "" || sameName(bareName(sent.Operation), bareName(meant.Operation))
	path, _, _ := strings.Cut(sent.Target, "#")
	if sameName(path, meant.Target) {
		return operation
	}
	at := strings.LastIndexAny(sent.Target, "./:") // what behindPath reads
	return operation && at >= 0 && sent.Target[:at] == meant.Target && sameName(sent.Target[at+1:], meant.Operation)
}

// clear reports whether the error knows what was meant.
func (e *Error) clear() bool { return e.near.Target != "" || e.near.Operation != "" }

// meant returns the call with what the error found clear about it, and its
// operation; both are empty if there is none.
func (c *Client) meant(p *policy.Principal, e *Error, call Call) (Call, *idl.Operation) {
	if e.near.Target != "" {
		call.Target = e.near.Target
	}
	if e.near.Operation != "" {
		call.Operation = e.near.Operation
	}
	n := c.visibleNode(p, call.Target)
	if n == nil {
		call.Operation = ""
		return call, nil
	}
	op := n.Operation(call.Operation, c.choices(p, n, call))
	if op == nil {
		call.Operation = c.meantOperation(p, n, call)
		op = n.Operation(call.Operation, c.choices(p, n, call))
	}
	return call, op
}

// visibleNode returns the entry at path if the principal may know it, or nil. No
// Host is asked.
func (c *Client) visibleNode(p *policy.Principal, path string) *space.Node {
	nodes := c.visibleNodes(p)
	if i := slices.IndexFunc(nodes, func(n *space.Node) bool { return n.Path == path }); i >= 0 {
		return nodes[i]
	}
	return nil
}

// operationNames lists the node's operations that the call can mean.
func (c *Client) operationNames(p *policy.Principal, n *space.Node, call Call) []string {
	var names []string
	for _, op := range n.Operations(c.choices(p, n, call)) {
		names = append(names, op.Name)
	}
	return names
}

// maxCandidates bounds the entries that are compared with a wrong name.
const maxCandidates = 4096

// visibleNodes lists the entries that the principal may know, shallow ones
// first.
func (c *Client) visibleNodes(p *policy.Principal) []*space.Node {
	var nodes []*space.Node
	level := c.space.Children(p.Caller(), "/")
	for len(level) > 0 && len(nodes) < maxCandidates {
		var next []*space.Node
		for _, n := range level {
			if c.visible(p, n) {
				nodes = append(nodes, n)
			}
			next = append(next, c.space.Children(p.Caller(), n.Path)...)
		}
		level = next
	}
	return nodes
}

// holder returns the path of the one node that has the operation of the call, or
// "". One that has numbers, and others than were sent, is not it: which of many
// alike is known says nothing of which is meant.
func (c *Client) holder(p *policy.Principal, nodes []*space.Node, call Call) string {
	if call.Operation == "" {
		return ""
	}
	var paths []string
	for _, n := range nodes {
		for _, name := range c.operationNames(p, n, call) {
			if sameName(name, call.Operation) && (sameNumbers(n.Path, "") || sameNumbers(n.Path, call.Target)) {
				paths = append(paths, n.Path)
			}
		}
	}
	return one(paths, func(string) bool { return true })
}

// one returns the only string that fits, or "".
func one(list []string, fits func(string) bool) string {
	found := ""
	for _, s := range list {
		if !fits(s) {
			continue
		}
		if found != "" {
			return ""
		}
		found = s
	}
	return found
}

// nearest returns the candidate that a slip of form or a small typing mistake
// turned into name, or "" if there is none or more than one. A number is no slip of
// another one.
func nearest(name string, candidates []string) string {
	const longest = 256 // bytes; the comparison costs the product of the lengths
	if len(name) > longest {
		return ""
	}
	plain := normal(name)
	best, bestDistance, unique := "", 3, false
	for _, candidate := range candidates {
		other := normal(candidate)
		if len(other) > longest || len(other)-len(plain) > 2 || len(plain)-len(other) > 2 || !sameNumbers(name, candidate) {
			continue
		}
		d := levenshtein.ComputeDistance(plain, other)
		if d > 0 && len(other) <= 4 {
			continue // in a short name any slip makes another name
		}
		switch {
		case d < bestDistance:
			best, bestDistance, unique = candidate, d, true
		case d == bestDistance:
			unique = false
		}
	}
	if !unique {
		return ""
	}
	return best
}

// sameName reports whether two names differ in form alone.
func sameName(a, b string) bool { return normal(a) == normal(b) && sameNumbers(a, b) }

// sameNumbers reports whether two names have the same numbers in the same order:
// runs of digits, which tell one thing from another as no letters do.
func sameNumbers(a, b string) bool {
	numbers := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsNumber(r) })
	}
	return slices.Equal(numbers(a), numbers(b))
}

// normal folds what people vary when they write the same name: capitals,
// separators, and slashes at the ends.
func normal(name string) string {
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), "/"))
	return separators.Replace(name)
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")
