// Package explain has a page for every rule of the language's tools: what the
// rule means, a document that breaks it, and the same document put right.
package explain

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed pages/*.md
var pages embed.FS

// Page returns the page of a rule in Markdown, and whether there is one.
func Page(rule string) (string, bool) {
	if strings.ContainsAny(rule, `/\`) {
		return "", false
	}
	text, err := pages.ReadFile("pages/" + rule + ".md")
	return string(text), err == nil
}

// Rules returns the rules that have a page, sorted. The caller owns the slice.
func Rules() []string {
	entries, err := fs.ReadDir(pages, "pages")
	if err != nil {
		panic(err) // they are part of the program
	}
	rules := make([]string, len(entries))
	for i, e := range entries {
		rules[i] = strings.TrimSuffix(e.Name(), ".md")
	}
	slices.Sort(rules)
	return rules
}
