package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Config says what is linted and how strictly. Its zero value stands for the
// defaults. In a wip.toml it is the table lint:
//
//	[lint]
//	max_sentence = 100
//	languages = ["go", "python"]
//
//	[lint.rules]
//	doc-missing = "error"
//	alias-missing = "off"
type Config struct {
	// Rules has the level of each rule that does not keep its own, which is
	// warning.
	Rules map[string]Level `toml:"rules"`
	// Documented are the kinds of thing that need documentation: interface,
	// operation, parameter, record, field, enum, label. All but fields and
	// labels, if it is nil; nothing, if it is empty.
	Documented []string `toml:"documented"`
	// Languages are those into which bindings are generated: go, python,
	// typescript. All, if it is nil.
	Languages []string `toml:"languages"`
	// MaxSentence and MaxDoc bound the first sentence of a documentation and
	// the whole of it, in characters; 120 and 400 if 0.
	MaxSentence int `toml:"max_sentence"`
	MaxDoc      int `toml:"max_doc"`
	// MaxPageSize bounds the largest page that can be asked for; 100 if 0.
	MaxPageSize int `toml:"max_page_size"`
	// MaxToolName bounds interface_operation, the name that an operation has
	// as a provider's tool, in bytes; 64 if 0.
	MaxToolName int `toml:"max_tool_name"`
	// MinAliases is how many aliases an operation should have; 1 if 0.
	MinAliases int `toml:"min_aliases"`
}

// Level is how serious the findings of a rule are.
type Level uint8

// The levels. The zero value leaves a rule at its own level.
const (
	LevelDefault Level = iota
	LevelOff           // not looked for
	LevelWarning
	LevelError
)

// levelNames are the levels as a configuration writes them.
var levelNames = [...]string{LevelDefault: "default", LevelOff: "off", LevelWarning: "warning", LevelError: "error"}

// String returns the level as a configuration writes it.
func (l Level) String() string {
	if int(l) >= len(levelNames) {
		return fmt.Sprintf("Level(%d)", uint8(l))
	}
	return levelNames[l]
}

// UnmarshalText reads "off", "warning" or "error".
func (l *Level) UnmarshalText(text []byte) error {
	at := slices.Index(levelNames[:], string(text))
	if at < int(LevelOff) {
		return fmt.Errorf("found level %q, expected off, warning or error", text)
	}
	*l = Level(at)
	return nil
}

// The kinds and languages that a Config can name.
var (
	allKinds     = []string{"interface", "operation", "parameter", "record", "field", "enum", "label"}
	documented   = []string{"interface", "operation", "parameter", "record", "enum"}
	allLanguages = []string{"go", "python", "typescript"}
)

// ConfigError is what is wrong with a Config.
type ConfigError struct {
	Key     string // as a wip.toml writes it, below lint
	Message string
}

func (e *ConfigError) Error() string { return e.Message }

// Validate says what is wrong with the config: a rule, kind or language that
// there is not, or a limit out of range. The error is a ConfigError.
func (c *Config) Validate() error {
	fail := func(key, format string, args ...any) error {
		return &ConfigError{key, fmt.Sprintf(format, args...)}
	}
	for _, id := range slices.Sorted(maps.Keys(c.Rules)) {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.ID == id }) {
			return fail("rules."+id, "found unknown rule %q in lint.rules", id)
		}
		if level := c.Rules[id]; level > LevelError {
			return fail("rules."+id, "found %s of rule %q, expected off, warning or error", level, id)
		}
	}
	for _, list := range []struct {
		name       string
		got, known []string
	}{{"documented", c.Documented, allKinds}, {"languages", c.Languages, allLanguages}} {
		for _, name := range list.got {
			if !slices.Contains(list.known, name) {
				return fail(list.name, "found %q in lint.%s, expected some of %s", name, list.name, strings.Join(list.known, ", "))
			}
		}
	}
	for _, limit := range []struct {
		name      string
		got, most int
	}{
		{"max_sentence", c.MaxSentence, 4096}, {"max_doc", c.MaxDoc, 4096}, {"max_page_size", c.MaxPageSize, 100_000},
		{"max_tool_name", c.MaxToolName, 256}, {"min_aliases", c.MinAliases, 64},
	} {
		if limit.got < 0 || limit.got > limit.most {
			return fail(limit.name, "found lint.%s = %d, expected 1 to %d", limit.name, limit.got, limit.most)
		}
	}
	return nil
}

// level returns the level of a rule; never LevelDefault.
func (c *Config) level(id string) Level {
	if level := c.Rules[id]; level != LevelDefault {
		return level
	}
	return LevelWarning
}

// needsDoc reports whether a kind of thing needs documentation.
func (c *Config) needsDoc(kind string) bool {
	if c.Documented == nil {
		return slices.Contains(documented, kind)
	}
	return slices.Contains(c.Documented, kind)
}

// bindsTo reports whether bindings are generated into a language.
func (c *Config) bindsTo(language string) bool {
	return c.Languages == nil || slices.Contains(c.Languages, language)
}

// or returns the configured limit, or the default.
func or(configured, usual int) int {
	if configured <= 0 {
		return usual
	}
	return configured
}
