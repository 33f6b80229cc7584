package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/wipagent/wipagent/client/policy/ownfile"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/objects/source/session/grids"
)

// The bounds of a file of mounts.
const (
	maxMountsFile = 256 << 10 // bytes
	maxMounts     = 256
	maxLevels     = 4 // of brackets
	maxRules      = 1024
	maxFaults     = 20 // that are told at once
)

// mountsFileName is the name of the file of mounts in the settings folder.
const mountsFileName = "mounts.toml"

// mountKeys are those of a [[mount]], with what reads each. The folder is the
// file's, from which files are named.
var mountKeys = map[string]func(m *mount, dir string, value any) error{
	"path": words(func(m *mount, _, s string) error { m.path = s; return nil }),
	"world": words(func(m *mount, dir, s string) (err error) {
		if m.world = s; isArchive(s) || isRecording(s) {
			m.world, err = grids.Path(dir, s)
		}
		return err
	}),
	"host": words(func(m *mount, _, s string) error { m.source().url = s; return nil }),
	"command": func(m *mount, dir string, value any) (err error) {
		m.source().dir = dir
		m.host.command, err = texts(value, maxRules)
		if err == nil && len(m.host.command) == 0 {
			err = errors.New("found no word, expected a program and its arguments")
		}
		return err
	},
	"title":       words(func(m *mount, _, s string) error { m.title = s; return nil }),
	"summary":     words(func(m *mount, _, s string) error { m.summary = s; return nil }),
	"trusted":     truth(func(m *mount) *bool { m.trust = new(bool); return m.trust }),
	"token_file":  words(func(m *mount, dir, s string) (err error) { m.source().tokenFile, err = grids.Path(dir, s); return err }),
	"ca_file":     words(func(m *mount, dir, s string) (err error) { m.source().caFile, err = grids.Path(dir, s); return err }),
	"plain_token": truth(func(m *mount) *bool { return &m.source().plainToken }),
	"audience": words(func(m *mount, _, s string) error {
		audience, ok := idl.ParseAudience(s)
		if !ok {
			return fmt.Errorf("expected one of %s", strings.Join(idl.AudienceNames(), ", "))
		}
		m.policy.Audience = audience
		return nil
	}),
	"allow": func(m *mount, _ string, value any) (err error) { m.policy.Allow, err = rules(value); return err },
	"deny":  func(m *mount, _ string, value any) (err error) { m.policy.Deny, err = rules(value); return err },
	"timeout": words(func(m *mount, _, s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d < time.Millisecond || d > time.Hour {
			return errors.New(`expected a time such as "10s" or "500ms", from 1ms to 1h`)
		}
		m.limits.timeout = d
		return nil
	}),
	"calls_at_once": whole(1, 10_000, func(m *mount) *int { return &m.limits.atOnce }),
	"calls_per_second": func(m *mount, _ string, value any) error {
		rate, ok := value.(float64)
		if n, isWhole := value.(int64); isWhole {
			rate, ok = float64(n), true
		}
		if !ok || !(rate > 0 && rate <= 1e6) {
			return errors.New("expected a number above 0 and at most 1000000")
		}
		m.limits.perSecond = rate
		return nil
	},
	"entries": whole(1, 1_000_000, func(m *mount) *int { return &m.limits.entries }),
	"idempotency_keys": func(m *mount, _ string, value any) error {
		if m.limits.keys = value == true; !m.limits.keys {
			return errors.New("expected true: the Host never does twice what it is asked for with one key; leave the key out if nobody knows")
		}
		return nil
	},
	"response_bytes": words(func(m *mount, _, s string) error {
		var size byteSize
		if err := size.UnmarshalText([]byte(s)); err != nil {
			return errors.New(`expected a size such as "500KiB" or "64MiB", of at most 1GiB`)
		}
		m.limits.responseBytes = int(size)
		return nil
	}),
}

type mountSetter = func(m *mount, dir string, value any) error

func words(set func(m *mount, dir, s string) error) mountSetter {
	return func(m *mount, dir string, value any) error {
		s, ok := value.(string)
		switch {
		case !ok:
			return errors.New("expected a string in quotes")
		case s == "":
			return errors.New("found an empty string; leave the key out instead")
		}
		return set(m, dir, s)
	}
}

func truth(field func(*mount) *bool) mountSetter {
	return func(m *mount, _ string, value any) error {
		b, ok := value.(bool)
		if !ok {
			return errors.New("expected true or false")
		}
		*field(m) = b
		return nil
	}
}

func whole(least, most int64, field func(*mount) *int) mountSetter {
	return func(m *mount, _ string, value any) error {
		n, ok := value.(int64)
		if !ok || n < least || n > most {
			return fmt.Errorf("expected a whole number, %d to %d", least, most)
		}
		*field(m) = int(n)
		return nil
	}
}

func texts(value any, most int) ([]string, error) {
	list, ok := value.([]any)
	if !ok || len(list) > most {
		return nil, fmt.Errorf("expected a list of at most %d strings", most)
	}
	out := make([]string, 0, len(list)) // an empty list is not none: it allows nothing
	for i, v := range list {
		s, ok := v.(string)
		if !ok || s == "" && i == 0 || strings.ContainsRune(s, 0) {
			return nil, fmt.Errorf("number %d: expected a string in quotes", i+1)
		}
		out = append(out, s)
	}
	return out, nil
}

// rule is how a mount names operations.
var rule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\.([A-Za-z_][A-Za-z0-9_]*|\*)$`)

func rules(value any) ([]string, error) {
	list, err := texts(value, maxRules)
	for i, name := range list {
		if !rule.MatchString(name) {
			return nil, fmt.Errorf("number %d: expected Interface.operation, or Interface.* for all of an interface", i+1)
		}
	}
	return list, err
}

// mountsFile is a file of mounts as it is read.
type mountsFile struct {
	path string // as it is told
	text string
}

// readMounts reads a file of mounts. Its errors repeat names and keys, and no
// value where a credential could stand by mistake.
func readMounts(path string) ([]mount, error) {
	text, err := ownfile.Read(path, maxMountsFile, ownfile.Write)
	if err != nil {
		return nil, usageError("--mounts %s: %w", path, reason(err))
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	f := &mountsFile{path, string(text)}
	list, err := f.parse(dir)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return list, nil
}

func (f *mountsFile) parse(dir string) ([]mount, error) {
	if idl.Levels(f.text) > maxLevels {
		return nil, fmt.Errorf("%s: found brackets more than %d levels deep", f.path, maxLevels)
	}
	var values map[string]any
	meta, err := toml.Decode(f.text, &values)
	if err != nil {
		return nil, f.syntax(err)
	}
	for _, key := range meta.Keys() {
		if key[0] != "mount" {
			return nil, f.stray(-1, key[0], "no key %.64q is known here%s; expected [[mount]]", key[0], project.DidYouMean(key[0], []string{"mount"}))
		}
	}
	tables, ok := values["mount"].([]map[string]any)
	switch {
	case values["mount"] == nil:
		return nil, nil
	case !ok || len(tables) != len(f.headers()):
		return nil, f.stray(-1, "mount", "mount: expected a table in double brackets, [[mount]], and its keys below")
	case len(tables) > maxMounts:
		return nil, f.stray(-1, "mount", "found %d mounts, expected at most %d", len(tables), maxMounts)
	}
	list := make([]mount, len(tables))
	var faults []string
	for i, table := range tables {
		for _, err := range f.read(&list[i], i, dir, table) {
			faults = append(faults, err.Error())
		}
		if len(faults) >= maxFaults {
			faults = append(faults[:maxFaults], "and maybe more")
			break
		}
	}
	if len(faults) > 0 {
		return nil, errors.New(strings.Join(faults, "; "))
	}
	return list, nil
}

// read takes over one table, and returns what is wrong with its keys, in the
// order of the file, or else with the table.
func (f *mountsFile) read(m *mount, i int, dir string, table map[string]any) []error {
	type fault struct {
		at  int
		err error
	}
	var faults []fault
	for _, key := range slices.Sorted(maps.Keys(table)) {
		err := error(nil)
		switch set, ok := mountKeys[key]; {
		case ok:
			if err = set(m, dir, table[key]); err != nil {
				err = f.wrong(i, key, "%s: %w", key, err)
			}
		case strings.Contains(key, "token") || strings.Contains(key, "password"):
			err = f.stray(i, key, "%s: tokens do not stand here; use token_file, and replace one that others could read", key)
		default:
			known := slices.Sorted(maps.Keys(mountKeys))
			err = f.stray(i, key, "no key %.64q is known here%s; expected %s", key, project.DidYouMean(key, known), strings.Join(known, ", "))
		}
		if err != nil {
			faults = append(faults, fault{f.at(i, key), err})
		}
		if len(faults) >= maxFaults {
			break
		}
	}
	if len(faults) > 0 {
		slices.SortStableFunc(faults, func(a, b fault) int { return a.at - b.at })
		list := make([]error, len(faults))
		for n, fault := range faults {
			list[n] = fault.err
		}
		return list
	}
	if err := f.complete(m, i, table); err != nil {
		return []error{err}
	}
	return nil
}

// complete tells whether the keys of a table make a mount.
func (f *mountsFile) complete(m *mount, i int, table map[string]any) error {
	m.said, m.trusted = f.position(f.at(i, "path"))+": mount "+m.path, m.host == nil
	if m.trust != nil {
		m.trusted = *m.trust
	}
	has := func(key string) int {
		if _, ok := table[key]; ok {
			return 1
		}
		return 0
	}
	var sources []string
	for _, key := range []string{"world", "host", "command"} {
		if has(key) == 1 {
			sources = append(sources, key)
		}
	}
	switch {
	case has("path") == 0:
		return f.wrong(i, "", "the mount has no path")
	case len(sources) == 0:
		return f.wrong(i, "", "found nothing to mount, expected one of world, host and command")
	case len(sources) > 1:
		return f.wrong(i, "", "found %s, expected one of them", strings.Join(sources, " and "))
	case has("world") == 1:
		for _, key := range []string{"token_file", "ca_file", "plain_token", "timeout", "calls_at_once", "calls_per_second", "response_bytes", "idempotency_keys"} {
			if has(key) == 1 {
				return f.stray(i, key, "%s goes with a host, and a world is in this process", key)
			}
		}
	case has("command") == 1:
		for _, key := range []string{"token_file", "ca_file", "plain_token"} {
			if has(key) == 1 {
				return f.stray(i, key, "%s goes with host: a command's stdin and stdout are its client's alone", key)
			}
		}
	}
	if m.host != nil {
		m.world = m.host.shown()
	}
	return nil
}

// header finds where a mount begins.
var header = regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t]*(?:mount|"mount"|'mount')[ \t]*\]\]`)

func (f *mountsFile) headers() [][]int { return header.FindAllStringIndex(f.text, -1) }

// at returns the offset of the value of a key of a mount, or that of the mount if
// it has no such key; of mount -1 that of a key at the top. The decoder tells positions in
// errors alone, and of a list those of its last element: so the text is read as
// far as the mount goes, and something is asked for that fails.
func (f *mountsFile) at(i int, key string) int {
	headers, text := f.headers(), f.text
	if i >= 0 && i+1 < len(headers) {
		text = text[:headers[i+1][0]]
	}
	var top map[string]toml.Primitive
	meta, err := toml.Decode(text, &top)
	if err != nil {
		return 0
	}
	value, ok := top[key]
	if i >= 0 {
		var list []map[string]toml.Primitive
		if meta.PrimitiveDecode(top["mount"], &list) == nil && len(list) > 0 {
			value, ok = list[len(list)-1][key]
		}
	}
	var p toml.ParseError
	switch {
	case ok && errors.As(meta.PrimitiveDecode(value, refuse{}), &p):
		start := p.Position.Start // of a string or a list behind what opens it
		for start > 0 && strings.IndexByte(`"'[`, f.text[start-1]) >= 0 {
			start--
		}
		return start
	case i >= 0 && i < len(headers):
		return headers[i][0] + strings.Index(f.text[headers[i][0]:], "[")
	}
	return 0
}

// refuse is a target that no value can be decoded into.
type refuse struct{}

// UnmarshalTOML refuses.
func (refuse) UnmarshalTOML(any) error { return errors.New("refused") }

// keyAt is at for the key itself, which stands before its value.
func (f *mountsFile) keyAt(i int, key string) int {
	value := f.at(i, key)
	return max(strings.LastIndex(f.text[:min(value+len(key)+1, len(f.text))], key), 0)
}

func (f *mountsFile) position(offset int) string {
	before := f.text[:min(offset, len(f.text))]
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	return fmt.Sprintf("%s:%d:%d", f.path, line, column)
}

// wrong says what is wrong with the value of a key of a mount, and where.
func (f *mountsFile) wrong(i int, key, format string, args ...any) error {
	return f.fault(f.at(i, key), format, args...)
}

// stray is wrong for a key that does not belong there.
func (f *mountsFile) stray(i int, key, format string, args ...any) error {
	return f.fault(f.keyAt(i, key), format, args...)
}

func (f *mountsFile) fault(offset int, format string, args ...any) error {
	return fmt.Errorf("%s: %w", f.position(offset), fmt.Errorf(format, args...))
}

// syntax reports what is no TOML. The decoder's own words are left out, as they
// quote the text.
func (f *mountsFile) syntax(err error) error {
	var p toml.ParseError
	if !errors.As(err, &p) {
		return fmt.Errorf("%s: not TOML", f.path)
	}
	message := "not TOML; expected key = value, strings in quotes, and [[mount]]"
	if strings.Contains(p.Message, "already") {
		message = "a key or a table that is there already"
	}
	return fmt.Errorf("%s: %s", f.position(p.Position.Start), message)
}

// defaultMounts returns the path of the user's own file of mounts; empty if
// there is none.
func (c *cli) defaultMounts() (string, error) {
	dir, err := grids.Dir(os.Getenv)
	if err != nil {
		return "", nil // which matters to who has such a file
	}
	path := filepath.Join(dir, mountsFileName)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return "", nil
		}
		return "", usageError("%s: %w", path, cmp.Or(errors.Unwrap(err), err))
	}
	return path, nil
}
