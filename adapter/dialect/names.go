package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	// maxToolName is how long a name may be everywhere, in bytes. Some providers
	// take 128, but not in all places.
	maxToolName = 64
	// minName is what a prefix must leave of it: enough for a name that has
	// been shortened to tell what it is.
	minName = 20
	hashLen = 8 // hexadecimal digits in a shortened name
)

// allocate gives each tool a name of at most max bytes, no two of which differ
// only by case. A name that fits is kept; of one that is too long the end gives
// way to a hash of the whole. The same names give the same result, whatever
// their order.
func allocate(tools []Tool, max int) ([]string, error) {
	names := make([]string, len(tools))
	taken := map[string]string{} // folded, to the wanted name
	for i := range tools {
		name := tools[i].Name
		if !isName(name) {
			return nil, fmt.Errorf("found the name %q of a tool, expected a letter in lower case, then letters, digits and underscores", clean(name))
		}
		if other, ok := taken[fold(name)]; ok {
			return nil, fmt.Errorf("found the names %q and %q of tools, expected names that differ by more than case", other, name)
		}
		taken[fold(name)] = name
	}
	for i := range tools {
		names[i] = shorten(tools[i].Name, max, func(short string) bool {
			_, ok := taken[fold(short)]
			return !ok
		})
		taken[fold(names[i])] = tools[i].Name
	}
	return names, nil
}

// shorten returns a name of at most max bytes that is free.
func shorten(name string, max int, free func(string) bool) string {
	if len(name) <= max {
		return name
	}
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte(name + strings.Repeat("+", n)))
		short := strings.TrimRight(name[:max-hashLen-1], "_") + "_" + hex.EncodeToString(sum[:])[:hashLen]
		if free(short) {
			return short
		}
	}
}

// fold reduces a name to what is left of it where case does not count.
func fold(name string) string { return strings.ToLower(name) }

func isName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z':
		case i > 0 && ('A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'):
		default:
			return false
		}
	}
	return name != "" && len(name) <= maxWanted
}

// maxWanted bounds a wanted name, in bytes: an interface's name and an
// operation's have at most 64 each.
const maxWanted = 256

// separators are what gateways put between their prefix and a name. A single
// underscore is none: names are full of them, and a name that a model made up
// must not become that of another tool.
var separators = []string{"__", ".", ":", "/"}

// loosen reduces a name to its letters and digits, in lower case: region-nearby,
// regionNearby and Region Nearby are region_nearby. What begins or ends with a
// separator is no name and keeps them.
func loosen(name string) string {
	const between = "_- "
	if strings.Trim(name, between) != name {
		return name
	}
	return fold(loosener.Replace(name))
}

var loosener = strings.NewReplacer("_", "", "-", "", " ", "")

// Index returns which of the given tools a sent name means. A name in other
// capitals or with other separators between its words is recognised, and one with
// a gateway's prefix in front, such as "mcp__world__discover" or
// "functions.discover", if only one tool can be meant. It reports false for a name
// that means no exported tool.
func (e *Export) Index(name string) (int, bool) {
	if i, ok := e.byName[name]; ok {
		return i, true
	}
	if len(name) > 1024 {
		return 0, false
	}
	if i, ok := e.spelled(name); ok {
		return i, true
	}
	found := -1
	for pos := 1; pos < len(name); pos++ {
		for _, sep := range separators {
			if !strings.HasPrefix(name[pos:], sep) {
				continue
			}
			i, ok := e.spelled(name[pos+len(sep):])
			if ok && found >= 0 && found != i {
				return 0, false
			}
			if ok {
				found = i
			}
		}
	}
	return max(found, 0), found >= 0
}

// spelled returns the tool of a name in any spelling.
func (e *Export) spelled(name string) (int, bool) {
	if i, ok := e.byFold[fold(name)]; ok {
		return i, true
	}
	i, ok := e.byLetters[loosen(name)]
	return i, ok && i >= 0
}

// Name returns the name under which tool i of those given to Export is offered;
// empty if it was dropped.
func (e *Export) Name(i int) string { return e.tools[i].name }

// prefixRoom returns how long names may be beside a prefix.
func prefixRoom(prefix int) (int, error) {
	if prefix < 0 || prefix > maxToolName-minName {
		return 0, fmt.Errorf("found a prefix of %d bytes, expected 0 to %d", prefix, maxToolName-minName)
	}
	return maxToolName - prefix, nil
}
