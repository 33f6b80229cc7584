package principals

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/wipagent/wipagent/idl"
)

// The bounds of a file.
const (
	maxFile       = 1 << 20 // bytes
	maxLine       = 8 << 10 // bytes
	maxLevels     = 8       // of brackets
	maxTokens     = 4096
	maxTokensEach = 16
	maxNames      = 256 // of grants and of intent
	maxName       = 1024
	maxRate       = 1e6
	maxFaults     = 20 // that are reported of one file
)

// Error is one thing wrong in a file. It repeats names of principals and keys,
// and no value, which may be a token that stands where none belongs.
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

// Errors is everything wrong in a file, up to 20, in the order of its lines.
type Errors []*Error

// Error joins them by semicolons.
func (list Errors) Error() string {
	words := make([]string, len(list))
	for i, e := range list {
		words[i] = e.Error()
	}
	return strings.Join(words, "; ")
}

// entry is one principal's table.
type entry struct {
	Access
	digests [][sha256.Size]byte
	revoked bool
}

// keys are those of a principal's table, with what reads each.
var keys = map[string]func(e *entry, value any) error{
	"audience": func(e *entry, value any) error {
		name, _ := value.(string)
		audience, ok := idl.ParseAudience(name)
		if !ok {
			return fmt.Errorf("expected one of %s", strings.Join(idl.AudienceNames(), ", "))
		}
		e.Principal.Audience = audience
		return nil
	},
	"token_sha256": func(e *entry, value any) error {
		list, ok := value.([]any)
		if !ok || len(list) == 0 || len(list) > maxTokensEach {
			return fmt.Errorf("expected a list of 1 to %d digests", maxTokensEach)
		}
		for i, v := range list {
			text, _ := v.(string)
			digest, err := hex.DecodeString(text)
			if err != nil || len(digest) != sha256.Size {
				return fmt.Errorf("number %d is no digest; expected the 64 hexadecimal digits of a token's SHA-256, as wipagent token prints them", i+1)
			}
			e.digests = append(e.digests, [sha256.Size]byte(digest))
		}
		return nil
	},
	"expires": func(e *entry, value any) error {
		at, ok := value.(time.Time)
		if !ok || strings.HasSuffix(at.Location().String(), "-local") {
			return errors.New("expected a time with its offset and without quotes, such as 2031-01-31T00:00:00Z")
		}
		e.Expires = at.UTC()
		return nil
	},
	"grants": func(e *entry, value any) (err error) { e.Principal.Grants, err = names(value); return err },
	"intent": func(e *entry, value any) (err error) { e.Principal.Intent, err = names(value); return err },
	"rate": func(e *entry, value any) error {
		rate, ok := value.(float64)
		if n, whole := value.(int64); whole {
			rate, ok = float64(n), true
		}
		if !ok || !(rate > 0 && rate <= maxRate) {
			return fmt.Errorf("expected requests a second, above 0 and at most %g", maxRate)
		}
		e.Rate = rate
		return nil
	},
	"burst": func(e *entry, value any) error {
		n, ok := value.(int64)
		if !ok || n < 1 || n > maxRate {
			return fmt.Errorf("expected a whole number of requests, 1 to %g", maxRate)
		}
		e.Burst = int(n)
		return nil
	},
	"revoked":  truth(func(e *entry) *bool { return &e.revoked }),
	"embedder": truth(func(e *entry) *bool { return &e.Embedder }),
}

func truth(field func(*entry) *bool) func(*entry, any) error {
	return func(e *entry, value any) error {
		b, ok := value.(bool)
		if !ok {
			return errors.New("expected true or false")
		}
		*field(e) = b
		return nil
	}
}

// names reads a list of operations' names, as policy.Identify gives them.
func names(value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok || len(list) > maxNames {
		return nil, fmt.Errorf("expected a list of at most %d operations", maxNames)
	}
	out := make([]string, 0, len(list)) // an empty list is not none: it leaves nothing
	for i, v := range list {
		name, _ := v.(string)
		if path, operation, ok := strings.Cut(name, "#"); !ok || !strings.HasPrefix(path, "/") || operation == "" || len(name) > maxName {
			return nil, fmt.Errorf("number %d is no operation; expected PATH#OPERATION in quotes, such as \"/grid/region#world_location\"", i+1)
		}
		out = append(out, name)
	}
	return out, nil
}

// document is a file as it is read, key by key in its own order.
type document struct {
	path   string
	meta   toml.MetaData
	top    map[string]toml.Primitive
	faults Errors
}

// parse reads a file's text. The error is an Errors.
func parse(path string, text []byte) ([]*entry, error) {
	d := &document{path: path}
	if !d.bounded(string(text)) {
		return nil, d.faults
	}
	var values map[string]any
	var err error
	if d.meta, err = toml.Decode(string(text), &d.top); err == nil {
		_, err = toml.Decode(string(text), &values)
	}
	if err != nil {
		d.syntax(err)
		return nil, d.faults
	}
	entries := map[string]*entry{}
	var order []*entry
	for _, key := range d.meta.Keys() {
		name, ok := d.named(key, values)
		if !ok {
			continue
		}
		e := entries[name]
		if e == nil {
			e = &entry{}
			e.Principal.ID = name
			entries[name], order = e, append(order, e)
		}
		if len(key) > 2 {
			d.set(e, key, values)
		}
	}
	d.check(order)
	if len(d.faults) > 0 {
		slices.SortStableFunc(d.faults, func(a, b *Error) int { return a.Line - b.Line })
		return nil, d.faults[:min(len(d.faults), maxFaults)]
	}
	return order, nil
}

// bounded looks at what could cost too much to parse.
func (d *document) bounded(text string) bool {
	if idl.Levels(text) > maxLevels {
		d.fault(0, "found brackets more than %d levels deep", maxLevels)
		return false
	}
	n := 0
	for line := range strings.Lines(text) {
		if n++; len(line) > maxLine {
			d.fault(n, "found a line of more than %d bytes", maxLine)
			return false
		}
	}
	return true
}

// named returns the principal that a key is about.
func (d *document) named(key toml.Key, values map[string]any) (name string, ok bool) {
	_, isTable := lookup(values, key)
	switch {
	case key[0] != "principals":
		if len(key) == 1 || !isTable {
			d.wrong(key, "no key %.64q is known here; expected [principals.NAME]", key[0])
		}
	case len(key) <= 2 && !isTable:
		d.wrong(key, "%.200s: expected a table: [principals.NAME] and its keys below", key)
	case len(key) == 1:
	case !ValidID(key[1]):
		if len(key) == 2 {
			d.wrong(key, "%.200s: a name is 1 to 64 letters, digits and _.:@-, and starts with a letter or digit", key)
		}
	default:
		return key[1], true
	}
	return "", false
}

// set takes over one key of a principal's table.
func (d *document) set(e *entry, key toml.Key, values map[string]any) {
	last := key[len(key)-1]
	read, ok := keys[last]
	switch {
	case ok && len(key) == 3:
		value, _ := lookup(values, key)
		if err := read(e, value); err != nil {
			d.wrong(key, "%s: %w", key, err)
		}
	case len(key) == 3 && (strings.Contains(last, "token") || strings.HasPrefix(last, tokenPrefix)):
		d.wrong(key, "principals.%s: tokens do not stand here; token_sha256 has their digests, and a token that others could read here is to be replaced", e.Principal.ID)
	default:
		d.wrong(key, "no key %.64q is known here; expected %s", last, strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
	}
}

// check looks at what no single key shows.
func (d *document) check(entries []*entry) {
	holder := map[[sha256.Size]byte]string{}
	for _, e := range entries {
		at := toml.Key{"principals", e.Principal.ID}
		has := func(key string) bool { return d.meta.IsDefined(append(slices.Clone(at), key)...) }
		if !has("audience") {
			d.wrong(at, "%s has no audience; expected one of %s", at, strings.Join(idl.AudienceNames(), ", "))
		}
		if !has("token_sha256") && !e.revoked {
			d.wrong(at, "%s has no token_sha256, and so nobody can call as it", at)
		}
		if len(e.Principal.Grants) > 0 && e.Principal.Audience != idl.SchedulerRun {
			d.wrong(append(slices.Clone(at), "grants"), "%s: grants go with the audience %s; the others need none", at, idl.SchedulerRun)
		}
		for _, digest := range e.digests {
			if other, ok := holder[digest]; ok {
				d.wrong(append(slices.Clone(at), "token_sha256"), "%s: the digest of a token of %q; a token stands for one principal, once", at, other)
			}
			holder[digest] = e.Principal.ID
		}
	}
	if len(holder) > maxTokens {
		d.fault(0, "found %d tokens, expected at most %d", len(holder), maxTokens)
	}
	if len(entries) == 0 && len(d.faults) == 0 {
		d.fault(0, "found no principal, expected [principals.NAME]")
	}
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

func (d *document) fault(line int, format string, args ...any) {
	d.faults = append(d.faults, &Error{Path: d.path, Line: line, Message: fmt.Errorf(format, args...).Error()})
}

func (d *document) wrong(key toml.Key, format string, args ...any) {
	d.fault(d.line(key), format, args...)
}

// syntax reports what is no TOML. The decoder's own words are left out, as they
// quote the text.
func (d *document) syntax(err error) {
	var p toml.ParseError
	line := 0
	message := "not TOML; expected key = value, strings in quotes, and tables like [principals.NAME]"
	if errors.As(err, &p) {
		line = p.Position.Line
		if strings.Contains(p.Message, "already") {
			message = "a key or a table that is there already"
		}
	}
	d.fault(line, "%s", message)
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
