package grids

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// ErrUnknown is wrapped by what Find answers for a name that nothing has.
var ErrUnknown = errors.New("no such grid or account")

// Find returns the grid, and the account if one is known, that a name means:
// an account's name, a grid's, or a login URI. A grid alone brings its
// default account, or the only one that it has. A URI that the folder knows
// is the grid of that URI. The account is the caller's own copy.
func (c *Config) Find(name string) (Grid, *Account, error) {
	if a, ok := c.accounts[name]; ok {
		return c.grids[a.Grid], &a, nil
	}
	if g, ok := c.grids[name]; ok {
		return g, c.defaultAccount(g), nil
	}
	if strings.Contains(name, "://") {
		uri, err := parseURI(name)
		if err != nil {
			return Grid{}, nil, fmt.Errorf("login URI: %w", err)
		}
		for _, g := range c.Grids() {
			if g.LoginURI == uri {
				return g, c.defaultAccount(g), nil
			}
		}
		return Grid{LoginURI: uri}, nil, nil
	}
	names := slices.Concat(slices.Collect(maps.Keys(c.grids)), slices.Collect(maps.Keys(c.accounts)))
	return Grid{}, nil, fmt.Errorf("%w: %q%s; expected one of %s, or a login URI", ErrUnknown, name, didYouMean(name, names), strings.Join(slices.Sorted(slices.Values(names)), ", "))
}

func (c *Config) defaultAccount(g Grid) *Account {
	if a, ok := c.accounts[g.Account]; ok {
		return &a
	}
	var list []Account
	for _, a := range c.accounts {
		if a.Grid == g.Name {
			list = append(list, a)
		}
	}
	if len(list) != 1 {
		return nil
	}
	return &list[0]
}

// Exposed reports whether what is sent to the grid's login can be read on the
// way: the scheme is http, which is usual on OpenSimulator, and the host is
// not this machine.
func (g Grid) Exposed() bool {
	u, err := url.Parse(g.LoginURI)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() != "localhost" && !(err == nil && ip.IsLoopback())
}

// maxURI bounds a login URI in bytes.
const maxURI = 2048

// parseURI checks a login URI and returns it in its usual form. Its errors
// never repeat the URI, which could hold a password.
func parseURI(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case len(s) > maxURI:
		return "", fmt.Errorf("found %d bytes, expected at most %d", len(s), maxURI)
	case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", errors.New("found a space, a control character or a letter outside ASCII")
	case err != nil:
		return "", errors.New("found no URI, expected http:// or https:// and a host")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("found scheme %q, expected http or https", u.Scheme)
	case u.User != nil:
		return "", errors.New("found a user in the URI: name and password do not go there")
	case u.Hostname() == "" || u.Opaque != "":
		return "", errors.New("found no host")
	case u.Fragment != "":
		return "", errors.New("found a fragment (#), expected none")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", fmt.Errorf("found port %q, expected 1 to 65535", port)
		}
	}
	u.Host = strings.ToLower(u.Host)
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// NewAccount returns an account with the defaults, for a name as ParseName
// reads it.
func NewAccount(name string) (*Account, error) {
	a := &Account{Start: "last", DrawDistance: MaxDrawDistance, DisplayNames: true}
	var err error
	a.First, a.Last, err = ParseName(name)
	return a, err
}

// maxName bounds each part of an avatar's name in bytes, as OpenSimulator's
// tables of users do.
const maxName = 64

// ParseName reads an avatar's name: "First Last", "first.last", or "First"
// for an account of one name, whose last name is Resident.
func ParseName(s string) (first, last string, err error) {
	words := strings.Fields(s)
	if len(words) == 1 {
		words = strings.Split(words[0], ".")
	}
	switch len(words) {
	case 1:
		words = append(words, "Resident")
	case 2:
	default:
		return "", "", fmt.Errorf("found %q, expected an avatar's name: First Last, or first.last, or First", s)
	}
	for _, word := range words {
		if word == "" || len(word) > maxName || !utf8.ValidString(word) || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return "", "", fmt.Errorf("found %q, expected two parts of 1 to %d printable bytes", s, maxName)
		}
	}
	return words[0], words[1], nil
}

// CheckStart reports what is wrong with a place to start at: expected is
// "last", "home" or "uri:Region&x&y&z", x, y and z being whole metres from
// the region's south-west corner and from sea level.
func CheckStart(s string) error {
	if s == "last" || s == "home" {
		return nil
	}
	rest, ok := strings.CutPrefix(s, "uri:")
	parts := strings.Split(rest, "&")
	wrong := !ok || len(s) > 256 || len(parts) != 4 || strings.TrimSpace(parts[0]) == "" || !utf8.ValidString(s) ||
		strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
	for _, part := range parts[1:] {
		_, err := strconv.ParseUint(part, 10, 16)
		wrong = wrong || err != nil
	}
	if wrong {
		return fmt.Errorf(`found %q, expected last, home, or uri:Region&x&y&z such as "uri:Ahern&128&128&25"`, s)
	}
	return nil
}

// didYouMean returns words that name the nearest of names, or nothing if none
// is near.
func didYouMean(name string, names []string) string {
	best, least := "", max(2, len(name)/3)+1
	if len(name) > maxName {
		return ""
	}
	for _, other := range slices.Sorted(slices.Values(names)) {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), other); d < least && d < len(name) {
			best, least = other, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}
