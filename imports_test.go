// Package wipagent_test holds the checks that concern the whole tree.
package wipagent_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/wipagent/wipagent"

// arrows says for each package which of our packages its code may import.
// Tests and examples may import anything. A package that is not listed here
// has no room yet: give it one, with its arrows, before writing it.
var arrows = map[string][]string{
	"idl/syntax":             {},
	"idl/cleantext":          {},
	"idl":                    {"idl/syntax", "idl/cleantext"},
	"idl/gen":                {"idl", "idl/syntax"},
	"idl/lint":               {"idl", "idl/syntax"},
	"idl/breaking":           {"idl", "idl/syntax"},
	"idl/explain":            {"idl", "idl/syntax", "idl/lint", "idl/breaking"},
	"idl/project":            {"idl", "idl/syntax", "idl/lint"},
	"idl/lsp":                {"idl", "idl/syntax", "idl/lint", "idl/project", "idl/explain"},
	"interfaces":             {"idl"},
	"space/wip":              {"idl"},
	"space":                  {"idl", "idl/cleantext", "space/wip"},
	"space/store":            {"space", "space/wip"},
	"objects/world":          {},
	"objects/source/demo":    {"objects/world"},
	"objects/source/gridxml": {},
	"objects/source/archive": {"objects/world", "objects/source/gridxml"},
	"objects/source/replay":  {"objects/world"},

	"objects/source/session/secret":  {},
	"objects/source/session/message": {"objects/world"},
	"objects/source/session/lludp":   {"objects/source/session/message"},
	"objects/source/session/llsd":    {"objects/world", "objects/source/gridxml"},
	"objects/source/session/login":   {"objects/world", "objects/source/gridxml", "objects/source/session/secret"},
	"objects/source/session/caps":    {"objects/world", "objects/source/session/secret", "objects/source/session/llsd"},
	"objects/source/session/grids":   {"objects/source/session/secret"},
	"objects/source/session": {
		"objects/world", "objects/source/session/secret", "objects/source/session/message", "objects/source/session/lludp",
		"objects/source/session/llsd", "objects/source/session/login", "objects/source/session/caps",
	},
	"objects":                   {"objects/world", "interfaces", "space/wip", "idl"},
	"client/policy":             {"idl", "space/wip"},
	"client/policy/ownfile":     {},
	"client/policy/principals":  {"client/policy", "client/policy/ownfile", "idl"},
	"client/audit":              {"idl", "space/wip"},
	"client/resilience":         {"client/audit", "space/wip"},
	"client/artifact":           {"space/wip", "idl", "idl/cleantext"},
	"client":                    {"client/artifact", "client/policy", "client/audit", "client/resilience", "space", "space/wip", "idl", "idl/cleantext"},
	"client/audit/metrics":      {"client", "client/audit", "client/resilience", "idl"},
	"client/audit/trace":        {"client/audit"},
	"client/hostiletest":        {"space/wip"},
	"client/remote":             {"client/policy", "client/audit", "space/wip", "idl"},
	"client/remote/conformance": {"client/remote", "space/wip", "idl"},

	"adapter/dialect": {"idl", "idl/cleantext"},
	"adapter":         {"adapter/dialect", "client", "idl", "idl/cleantext"},
	"adapter/mcp":     {"adapter", "adapter/dialect", "client", "client/audit", "client/policy/principals", "idl", "idl/cleantext"},
	"adapter/script":  {"adapter", "adapter/dialect", "client", "idl", "idl/cleantext"},

	"cmd/wipagent": {
		"adapter", "adapter/dialect", "adapter/mcp", "adapter/script",
		"client", "client/artifact", "client/audit", "client/audit/metrics", "client/audit/trace", "client/policy", "client/policy/ownfile", "client/policy/principals",
		"client/remote", "client/remote/conformance", "client/resilience", "space", "space/store", "space/wip",
		"idl", "idl/syntax", "idl/cleantext",
		"idl/breaking", "idl/explain", "idl/gen", "idl/lint", "idl/lsp", "idl/project",
		"objects", "objects/world", "objects/source/demo", "objects/source/archive", "objects/source/replay",
		"objects/source/session", "objects/source/session/login", "objects/source/session/secret", "objects/source/session/grids",
	},
}

// sockets lists the packages that may open a network connection or listen for
// one: none of those that answer a perception call is among them (P1).
var sockets = []string{
	"objects/source/session", "objects/source/session/login", "objects/source/session/caps",
	"client/remote", "client/audit/metrics", "client/audit/trace", "adapter/mcp", "cmd/wipagent",
}

// TestArrows fails on an import that the map above does not allow.
func TestArrows(t *testing.T) {
	for dir, imports := range packages(t) {
		allowed, ok := arrows[dir]
		if !ok {
			t.Errorf("%s has no room: add it to the map of arrows", dir)
			continue
		}
		for file, list := range imports {
			for _, imp := range list {
				if own, ok := strings.CutPrefix(imp, module+"/"); ok && !slices.Contains(allowed, own) {
					t.Errorf("%s imports %s, which is no arrow of %s", file, own, dir)
				}
				if (imp == "net" || imp == "net/http") && !slices.Contains(sockets, dir) {
					t.Errorf("%s imports %s, but %s opens no sockets", file, imp, dir)
				}
			}
		}
	}
}

// packages returns, by folder and file, what the code outside tests, examples
// and ignored generators imports.
func packages(t *testing.T) map[string]map[string][]string {
	t.Helper()
	found := map[string]map[string][]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || base == "examples" || (len(base) > 1 && base[0] == '.') || strings.HasSuffix(base, "test") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			if group.Pos() < file.Package && strings.Contains(group.Text(), "go:build ignore") {
				return nil
			}
			for _, c := range group.List {
				if c.Text == "//go:build ignore" {
					return nil
				}
			}
		}
		name = filepath.ToSlash(name)
		dir := path.Dir(name)
		if found[dir] == nil {
			found[dir] = map[string][]string{}
		}
		list := []string{}
		for _, imp := range file.Imports {
			p, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			list = append(list, p)
		}
		found[dir][name] = list
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("found only %d packages: the walk is broken", len(found))
	}
	return found
}
