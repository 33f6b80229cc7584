package client

import (
	"slices"
	"strings"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
)

// meantOperation returns the name of the one operation of the node that a call
// can mean which names none of them, or "": one that is spelt nearly so, that
// stands at the end of what was sent with its path, interface or signature, or
// that has the words of the name. Words alone never lead to an operation that
// may change things.
func (c *Client) meantOperation(p *policy.Principal, n *space.Node, call Call) string {
	names := c.operationNames(p, n, call)
	if near := nearest(call.Operation, names); near != "" {
		return near
	}
	bare := bareName(call.Operation)
	if near := nearest(bare, names); near != "" && bare != call.Operation {
		return near
	}
	if len(bare) > longestName {
		return ""
	}
	asked := idl.NameWords(bare)
	var fitting []string
	for _, op := range n.Operations(c.choices(p, n, call)) {
		around := append(idl.NameWords(op.Operation.Interface.Name), idl.NameWords(strings.ReplaceAll(n.Path, "/", " "))...)
		if !policy.NeedsApproval(op.Operation, n.Mount.Trusted) && hasWords(idl.NameWords(op.Operation.Name), asked, around) {
			fitting = append(fitting, op.Operation.Name)
		}
	}
	return one(fitting, func(string) bool { return true })
}

// bareName returns an operation's name without what may stand around it: a path or
// an interface, and parentheses.
func bareName(operation string) string {
	bare, _, _ := strings.Cut(operation, "(")
	return bare[strings.LastIndexAny(bare, "#./:")+1:]
}

// longestName bounds a name whose words are looked at, in bytes.
const longestName = 256

// fillers are words that a name may begin with and that ask for nothing more
// than a look.
var fillers = []string{"get", "list", "show", "find", "fetch", "read", "view", "lookup"}

// hasWords reports whether a name's own words are all that is asked for, but for
// fillers and for words that say where it stands, and one of them is.
func hasWords(own, asked, around []string) bool {
	said := false
	for _, word := range asked {
		switch {
		case slices.Contains(own, word):
			said = said || !slices.Contains(around, word)
		case !slices.Contains(fillers, word) && !slices.Contains(around, word):
			return false
		}
	}
	return said
}

// behindPath returns the entry and the operation that are meant by a path with an
// operation at its end, as in "/a/b.search" and "/a/b/search", or nothing.
func (c *Client) behindPath(p *policy.Principal, nodes []*space.Node, call Call) (path, operation string) {
	at := strings.LastIndexAny(call.Target, "./:")
	if at < 0 {
		return "", ""
	}
	name := call.Target[at+1:]
	if call.Operation != "" && normal(call.Operation) != normal(name) {
		return "", ""
	}
	for _, n := range nodes {
		if n.Path != call.Target[:at] {
			continue
		}
		for _, known := range c.operationNames(p, n, call) {
			if normal(known) == normal(name) {
				return n.Path, known
			}
		}
	}
	return "", ""
}
