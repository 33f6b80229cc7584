package adapter

import (
	"strconv"
	"strings"
)

// nameTools gives the tools their names, no two alike nor like a reserved one,
// not even when capitals and separators are taken away, as some providers'
// bindings do. A name is an operation's with its interface's in front,
// region_nearby_avatars, unless it begins so by itself; where that is taken,
// with the package's too, and then the path's. What the caller may not see
// takes no name from what it may.
func nameTools(tools []*operationTool, reserved []string) {
	taken := map[string]bool{}
	for _, name := range reserved {
		taken[foldName(name)] = true
	}
	left := tools
	for _, form := range []func(*operationTool) string{byInterface, byPackage, byPath} {
		wanted := map[string]int{}
		for _, t := range left {
			wanted[foldName(form(t))]++
		}
		var rest []*operationTool
		for _, t := range left {
			name := form(t)
			if f := foldName(name); wanted[f] == 1 && !taken[f] {
				t.name, taken[f] = name, true
				continue
			}
			rest = append(rest, t)
		}
		left = rest
	}
	for _, t := range left {
		name := byInterface(t)
		for n := 2; taken[foldName(name)]; n++ {
			name = byInterface(t) + "_" + strconv.Itoa(n)
		}
		t.name, taken[foldName(name)] = name, true
	}
}

func byInterface(t *operationTool) string {
	iface, op := snake(t.op.Interface.Name), snake(t.op.Name)
	if op == iface || strings.HasPrefix(op, iface+"_") {
		return word(op)
	}
	return word(iface + "_" + op)
}

func byPackage(t *operationTool) string {
	return word(snake(t.op.Interface.Document.Package) + "_" + byInterface(t))
}

func byPath(t *operationTool) string { return word(snake(t.paths[0]) + "_" + snake(t.op.Name)) }

// word makes a name begin with a letter.
func word(name string) string {
	if name = strings.Trim(name, "_"); name == "" || name[0] < 'a' {
		name = "op_" + name
	}
	return name
}

// snake returns a name in lower case, its words joined by underscores:
// IssueTracker, issue.tracker and /issue-tracker are issue_tracker. What is no
// ASCII letter or digit is left out.
func snake(name string) string {
	var b strings.Builder
	gap := false // an underscore is due
	upper := func(i int) bool { return i < len(name) && 'A' <= name[i] && name[i] <= 'Z' }
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case upper(i):
			// A new word, unless it goes on with capitals as in LSL.
			gap = gap || i > 0 && (!upper(i-1) || i+1 < len(name) && 'a' <= name[i+1] && name[i+1] <= 'z')
			c += 'a' - 'A'
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		default:
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('_')
		}
		gap = false
		b.WriteByte(c)
	}
	return b.String()
}
