package grids

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxConfig bounds grids.toml in bytes: some thousand accounts.
const maxConfig = 256 << 10

// Error is something wrong in grids.toml. It repeats names, and nothing that
// stands where a password could.
type Error struct {
	Path    string
	Line    int // 1-based; 0 if it is about no line
	Message string
}

// Error returns path, line and message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Path, e.Message)
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Message)
}

// name is what a grid or an account may be called: it stands on command
// lines, beside files and login URIs.
var (
	name     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// setter reads one value of a table of type T. dir is the folder, for paths.
type setter[T any] func(t *T, dir string, value any) error

var gridKeys = map[string]setter[Grid]{
	"login_uri": text(func(g *Grid, _, s string) (err error) { g.LoginURI, err = parseURI(s); return err }),
	"ca_file":   text(func(g *Grid, dir, s string) (err error) { g.CAFile, err = Path(dir, s); return err }),
	"account":   text(func(g *Grid, _, s string) error { g.Account = s; return nil }),
}

var accountKeys = map[string]setter[Account]{
	"grid":          text(func(a *Account, _, s string) error { a.Grid = s; return nil }),
	"name":          text(func(a *Account, _, s string) (err error) { a.First, a.Last, err = ParseName(s); return err }),
	"password_env":  text(func(a *Account, _, s string) error { return environment(&a.PasswordEnv, s) }),
	"password_file": text(func(a *Account, dir, s string) (err error) { a.PasswordFile, err = Path(dir, s); return err }),
	"mfa_env":       text(func(a *Account, _, s string) error { return environment(&a.MFAEnv, s) }),
	"start":         text(func(a *Account, _, s string) error { a.Start = s; return CheckStart(s) }),
	"accept_terms":  flag(func(a *Account) *bool { return &a.AcceptTerms }),
	"read_critical": flag(func(a *Account) *bool { return &a.ReadCritical }),
	"object_names":  flag(func(a *Account) *bool { return &a.ObjectNames }),
	"display_names": flag(func(a *Account) *bool { return &a.DisplayNames }),
	"draw_distance": func(a *Account, _ string, value any) error {
		n, ok := value.(int64)
		if !ok || n < MinDrawDistance || n > MaxDrawDistance {
			return fmt.Errorf("expected a whole number of metres, %d to %d", MinDrawDistance, MaxDrawDistance)
		}
		a.DrawDistance = int(n)
		return nil
	},
}

func text[T any](set func(t *T, dir, s string) error) setter[T] {
	return func(t *T, dir string, value any) error {
		s, ok := value.(string)
		switch {
		case !ok:
			return errors.New("expected a string in quotes")
		case s == "":
			return errors.New("found an empty string; leave the key out instead")
		}
		return set(t, dir, s)
	}
}

func flag[T any](field func(*T) *bool) setter[T] {
	return func(t *T, _ string, value any) error {
		b, ok := value.(bool)
		if !ok {
			return errors.New("expected true or false")
		}
		*field(t) = b
		return nil
	}
}

// environment reads the name of an environment variable. What is none is not
// repeated: it may be the password itself.
func environment(to *string, s string) error {
	if !variable.MatchString(s) {
		return errors.New("expected the name of an environment variable, such as BOT_PASSWORD, and not what it holds")
	}
	*to = s
	return nil
}

// Path returns the absolute path of a file that is named as seen from a
// folder, or from the user's own by a leading ~/. The error is about a NUL in
// the name, or an own folder that is not known.
func Path(dir, s string) (string, error) {
	if strings.ContainsRune(s, 0) {
		return "", errors.New("found a NUL in a path")
	}
	if rest, ok := strings.CutPrefix(filepath.ToSlash(s), "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("found ~/, and no folder of the user's own is known: %w", err)
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(s) {
		return filepath.Clean(s), nil
	}
	return filepath.Join(dir, s), nil
}

// document is grids.toml as it is read, key by key in the order of the file,
// so that the first thing wrong is the one that is reported.
type document struct {
	path string
	meta toml.MetaData
	top  map[string]toml.Primitive
}

func (c *Config) parse(content string) error {
	d := &document{path: c.path()}
	var err error
	if d.meta, err = toml.Decode(content, &d.top); err != nil {
		return d.syntax(err)
	}
	var values map[string]any
	if _, err := toml.Decode(content, &values); err != nil {
		return d.syntax(err)
	}
	for _, key := range d.meta.Keys() {
		if err := c.set(d, key, values); err != nil {
			return err
		}
	}
	return c.check(d)
}

// set takes over one key of the document.
func (c *Config) set(d *document, key toml.Key, values map[string]any) error {
	value, isTable := lookup(values, key)
	if key[0] != "grids" && key[0] != "accounts" {
		return d.wrong(key, "no key %.64q is known here%s; expected [grids.NAME] and [accounts.NAME]", key[0], didYouMean(key[0], []string{"grids", "accounts"}))
	}
	switch {
	case len(key) <= 2 && !isTable:
		return d.wrong(key, "%.200s: expected a table: [%s.NAME] and its keys below", key, key[0])
	case len(key) == 1:
		return nil
	case !name.MatchString(key[1]):
		return d.wrong(key, "%.200s: a name is 1 to 64 letters, digits, _ and -, and starts with a letter or digit", key)
	}
	if key[0] == "grids" {
		g := c.grids[key[1]]
		g.Name = key[1]
		err := setKey(d, key, gridKeys, &g, c.dir, value)
		c.grids[key[1]] = g
		return err
	}
	a, ok := c.accounts[key[1]]
	if !ok {
		a = Account{Name: key[1], Start: "last", DrawDistance: MaxDrawDistance, DisplayNames: true}
	}
	err := setKey(d, key, accountKeys, &a, c.dir, value)
	c.accounts[key[1]] = a
	return err
}

func setKey[T any](d *document, key toml.Key, keys map[string]setter[T], t *T, dir string, value any) error {
	if len(key) == 2 {
		return nil
	}
	last := key[len(key)-1]
	set, ok := keys[last]
	switch {
	case ok && len(key) == 3:
		if err := set(t, dir, value); err != nil {
			return d.wrong(key, "%s: %w", key, err)
		}
		return nil
	case last == "password" || last == "passwd":
		return d.wrong(key, "%s: passwords do not stand here; use password_env or password_file, and change this one if others can read the file", key)
	}
	return d.wrong(key, "no key %.64q is known here%s; expected %s", last, didYouMean(last, slices.Collect(maps.Keys(keys))), strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
}

// lookup returns the value at a key, and whether it is a table.
func lookup(values map[string]any, key toml.Key) (value any, isTable bool) {
	value = values
	for _, k := range key {
		table, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		value = table[k]
	}
	_, isTable = value.(map[string]any)
	return value, isTable
}

// check looks at what no single key shows.
func (c *Config) check(d *document) error {
	for _, g := range c.Grids() {
		at := toml.Key{"grids", g.Name}
		if g.LoginURI == "" {
			return d.wrong(at, "grid %q has no login_uri", g.Name)
		}
		if g.Account == "" {
			continue
		}
		switch a, ok := c.accounts[g.Account]; {
		case !ok:
			return d.wrong(append(at, "account"), "grid %q: no account %q%s", g.Name, g.Account, didYouMean(g.Account, slices.Collect(maps.Keys(c.accounts))))
		case a.Grid != g.Name:
			return d.wrong(append(at, "account"), "grid %q: account %q is of grid %q", g.Name, g.Account, a.Grid)
		}
	}
	for _, a := range c.Accounts() {
		at := toml.Key{"accounts", a.Name}
		_, named := c.grids[a.Name]
		_, known := c.grids[a.Grid]
		switch {
		case named:
			return d.wrong(at, "%q names a grid already; an account needs a name of its own", a.Name)
		case a.Grid == "":
			return d.wrong(at, "account %q has no grid", a.Name)
		case !known:
			return d.wrong(append(at, "grid"), "account %q: no grid %q%s", a.Name, a.Grid, didYouMean(a.Grid, slices.Collect(maps.Keys(c.grids))))
		case a.First == "":
			return d.wrong(at, "account %q has no name", a.Name)
		case a.PasswordEnv != "" && a.PasswordFile != "":
			return d.wrong(append(at, "password_file"), "account %q: password_env and password_file are both set; expected one", a.Name)
		}
	}
	return nil
}

func (d *document) wrong(key toml.Key, format string, args ...any) error {
	return &Error{Path: d.path, Line: d.line(key), Message: fmt.Errorf(format, args...).Error()}
}

// syntax reports what is no TOML. The decoder's own words are left out, as
// they quote the text: a password without quotes would be shown.
func (d *document) syntax(err error) error {
	var p toml.ParseError
	if !errors.As(err, &p) {
		return &Error{Path: d.path, Message: "not TOML"}
	}
	message := "not TOML; expected key = value, strings in quotes, and tables like [grids.NAME]"
	if strings.Contains(p.Message, "already") {
		message = "a key or a table that is there already"
	}
	return &Error{Path: d.path, Line: p.Position.Line, Message: message}
}

// refuse is a target that no value can be decoded into.
type refuse struct{}

// UnmarshalTOML refuses.
func (refuse) UnmarshalTOML(any) error { return errors.New("refused") }

// line returns the line of a key, or 0. The decoder tells positions in errors
// alone, so this asks for one.
func (d *document) line(key toml.Key) int {
	table := d.top
	for i, k := range key {
		value, ok := table[k]
		if !ok {
			return 0
		}
		var inner map[string]toml.Primitive
		if i < len(key)-1 && d.meta.PrimitiveDecode(value, &inner) == nil {
			table = inner
			continue
		}
		var p toml.ParseError
		errors.As(d.meta.PrimitiveDecode(value, refuse{}), &p)
		return p.Position.Line
	}
	return 0
}
