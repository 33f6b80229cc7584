package project

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
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

// parse reads the text of a wip.toml. The error begins with the line, if it is
// known, and a colon, to go behind the file's name.
func (c *Config) parse(text []byte) error {
	meta, err := toml.Decode(string(text), c)
	var bad toml.ParseError
	switch {
	case errors.As(err, &bad):
		return fmt.Errorf("%d: %s", bad.Position.Line, bad.Message)
	case err != nil:
		return fmt.Errorf(" %w", err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return fmt.Errorf(" found unknown key %q", unknown[0])
	}
	if err := refuseZeros(string(text), meta); err != nil {
		return err
	}
	return c.validate()
}

// refuseZeros refuses a number that is written as 0, which the types cannot
// tell from one that is not set: each number of a wip.toml is 1 or more.
func refuseZeros(text string, meta toml.MetaData) error {
	var given map[string]any
	if _, err := toml.Decode(text, &given); err != nil {
		return fmt.Errorf(" %w", err)
	}
	for _, key := range meta.Keys() {
		var value any = given
		for _, part := range key {
			table, _ := value.(map[string]any)
			value = table[part]
		}
		if value == int64(0) {
			return fmt.Errorf(" found %s = 0, expected 1 or more", key)
		}
	}
	return nil
}

// validate checks what the types do not.
func (c *Config) validate() error {
	if len(c.Imports) > maxImports {
		return fmt.Errorf(" found %d folders in imports, expected at most %d", len(c.Imports), maxImports)
	}
	for _, dir := range c.Imports {
		if dir == "" || filepath.IsAbs(dir) || strings.Contains(dir, `\`) {
			return fmt.Errorf(" found %q in imports, expected a folder relative to this file, with slashes", dir)
		}
	}
	if n := c.Limits.Documents; n < 0 || n > mostDocuments {
		return fmt.Errorf(" found limits.documents = %d, expected 1 to %d", n, mostDocuments)
	}
	if n := c.Limits.Bytes; n < 0 || n > mostBytes {
		return fmt.Errorf(" found limits.bytes = %d, expected 1 to %d", n, mostBytes)
	}
	if err := c.knownRules(); err != nil {
		return err
	}
	if err := c.Lint.Validate(); err != nil {
		return fmt.Errorf(" %w", err)
	}
	return nil
}

// knownRules refuses the level of a rule that there is not, or that has none.
func (c *Config) knownRules() error {
	for _, id := range slices.Sorted(maps.Keys(c.Lint.Rules)) {
		is := func(r syntax.Rule) bool { return r.ID == id }
		switch {
		case slices.ContainsFunc(lint.Rules(), is):
		case slices.ContainsFunc(idl.Rules(), is):
			return fmt.Errorf(" found rule %q in lint.rules, which is always an error", id)
		case slices.ContainsFunc(Rules(), is):
			return fmt.Errorf(" found rule %q in lint.rules, which is always a warning", id)
		default:
			var known []string
			for _, r := range lint.Rules() {
				known = append(known, r.ID)
			}
			return fmt.Errorf(" found unknown rule %q in lint.rules%s", id, DidYouMean(id, known))
		}
	}
	return nil
}
