package project

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/syntax"
)

// Config is what a wip.toml says:
//
//	imports = ["interfaces", "vendor"]
//
//	[lint.rules]
//	alias-missing = "off"
//
//	[limits]
//	documents = 2000
type Config struct {
	// Imports are the folders in which imports are looked up, in that order,
	// relative to the root; the root alone if it is empty.
	Imports []string `toml:"imports"`
	// Lint says what is linted and how strictly.
	Lint lint.Config `toml:"lint"`
	// Limits bound what one check takes in.
	Limits Limits `toml:"limits"`
}

// Limits bound what one check takes in. Zero means the default.
type Limits struct {
	Documents int `toml:"documents"` // 1 to 100000, idl.MaxDocuments by default
	Bytes     int `toml:"bytes"`     // of all documents together, up to 1 GiB, idl.MaxBytes by default
}

const (
	maxConfigBytes = 64 << 10
	maxImports     = 64

	mostDocuments = 100_000
	mostBytes     = 1 << 30
)

// parse reads the text of a wip.toml and returns where its keys stand. The error
// begins with the line and the column, if they are known, to go behind the file's
// name, a colon and a blank or not.
func (c *Config) parse(text []byte) (keyPlaces, error) {
	var given map[string]any
	var bad toml.ParseError
	switch _, err := toml.Decode(string(text), &given); {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("%d:%d: %s", bad.Position.Line, bad.Position.Col, bad.Message)
	case err != nil:
		return nil, fmt.Errorf(" %w", err)
	}
	places := placesOf(string(text))
	faults := shapeOf(reflect.TypeFor[Config]()).compare(nil, given)
	if len(faults) == 0 {
		if _, err := toml.Decode(string(text), c); err != nil {
			return nil, fmt.Errorf(" %w", err)
		}
		faults = c.validate()
	}
	if len(faults) == 0 {
		return places, nil
	}
	more := ""
	if n := len(faults) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return nil, fmt.Errorf("%s%s%s", cmp.Or(places.of(faults[0].path), " "), faults[0].text, more)
}

// validate checks what the types do not.
func (c *Config) validate() (faults []keyFault) {
	fail := func(path, format string, args ...any) {
		faults = append(faults, keyFault{strings.Split(path, "."), fmt.Sprintf(format, args...)})
	}
	if len(c.Imports) > maxImports {
		fail("imports", "found %d folders in imports, expected at most %d", len(c.Imports), maxImports)
	}
	for _, dir := range c.Imports {
		if dir == "" || filepath.IsAbs(dir) || strings.Contains(dir, `\`) {
			fail("imports", "found %q in imports, expected a folder relative to this file, with slashes", dir)
		}
	}
	if n := c.Limits.Documents; n < 0 || n > mostDocuments {
		fail("limits.documents", "found limits.documents = %d, expected 1 to %d", n, mostDocuments)
	}
	if n := c.Limits.Bytes; n < 0 || n > mostBytes {
		fail("limits.bytes", "found limits.bytes = %d, expected 1 to %d", n, mostBytes)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Lint.Rules)) {
		if why := unruly(id); why != "" {
			faults = append(faults, keyFault{[]string{"lint", "rules", id}, why})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	var bad *lint.ConfigError
	if err := c.Lint.Validate(); errors.As(err, &bad) {
		fail("lint."+bad.Key, "%s", bad.Message)
	} else if err != nil {
		fail("lint", "%s", err)
	}
	return faults
}

// unruly says why a rule that is named has no level to be set: there is none of
// that name, or it always has the same.
func unruly(id string) string {
	is := func(r syntax.Rule) bool { return r.ID == id }
	switch {
	case slices.ContainsFunc(lint.Rules(), is):
		return ""
	case slices.ContainsFunc(idl.Rules(), is):
		return fmt.Sprintf("found rule %q in lint.rules, which is always an error", id)
	case slices.ContainsFunc(Rules(), is):
		return fmt.Sprintf("found rule %q in lint.rules, which is always a warning", id)
	}
	var known []string
	for _, r := range lint.Rules() {
		known = append(known, r.ID)
	}
	return fmt.Sprintf("found unknown rule %q in lint.rules%s", id, DidYouMean(id, known))
}
