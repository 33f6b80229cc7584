// Package grids holds an operator's folder of settings: which grids there
// are, which accounts log in there, where their passwords lie, and the little
// that has to be remembered between runs. It opens no connection.
//
// The folder is os.UserConfigDir()/wipagent unless $WIPAGENT_CONFIG names
// another. Everything in it is optional. grids.toml names grids and accounts:
//
//	[grids.home]
//	login_uri = "http://127.0.0.1:9000/"
//	ca_file = "home.pem"         # extra root certificates, for this grid alone
//	account = "bot"              # who logs in if only the grid is named
//
//	[accounts.bot]
//	grid = "home"
//	name = "Test Robot"          # or "test.robot"; one word: last name Resident
//	password_env = "BOT_PASSWORD"  # or password_file = "bot.password"
//	mfa_env = "BOT_MFA"          # where a code stands, if the grid asks for one
//	start = "last"               # or "home", or "uri:Region&128&128&25"
//	accept_terms = false         # true only once the operator has read them
//	read_critical = false        # likewise for the grid's critical messages
//	draw_distance = 256          # metres, 32 to 256
//	object_names = false         # ask for the names of the nearest objects
//	display_names = true         # ask for the names of those present
//
// The grids agni, aditi and local are built in; a file may override them.
// Passwords themselves never stand in grids.toml.
package grids

import (
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// FileName is the name of the file of grids and accounts in the folder.
const FileName = "grids.toml"

// DirVariable is the environment variable that names another folder.
const DirVariable = "WIPAGENT_CONFIG"

// Config is what a folder says. It is not changed once loaded, and safe for
// concurrent use, also by several processes on one folder.
type Config struct {
	dir      string
	grids    map[string]Grid
	accounts map[string]Account
}

// Grid is a place to log in to.
type Grid struct {
	Name     string // as the file has it; empty for a bare login URI
	LoginURI string // http or https, host in lower case, path never empty
	CAFile   string // absolute path of a PEM file; empty for none
	Account  string // the account that logs in by default; empty for none
}

// Account is who logs in, and how. NewAccount has the defaults.
type Account struct {
	Name string // as the file has it; empty for one that is in no file
	Grid string // the grid's name; empty for one that is in no file

	First, Last  string
	PasswordEnv  string // the environment variable that holds the password
	PasswordFile string // absolute path
	MFAEnv       string // the environment variable that holds an MFA code
	Start        string // see CheckStart

	AcceptTerms  bool // whether the operator has read and accepted the grid's terms of service
	ReadCritical bool // whether the operator has read the grid's critical message

	DrawDistance int  // metres, MinDrawDistance to MaxDrawDistance
	ObjectNames  bool // whether to ask for the names of the nearest objects
	DisplayNames bool // whether to ask for the display names of those present
}

// Bounds of Account.DrawDistance in metres; the upper one is the default, as
// it is how far an observer may ask to see.
const (
	MinDrawDistance = 32
	MaxDrawDistance = 256
)

// builtin are the grids that need no file: Second Life's main and beta grid,
// and an OpenSimulator on this machine in its stand-alone default.
func builtin() map[string]Grid {
	return map[string]Grid{
		"agni":  {Name: "agni", LoginURI: "https://login.agni.lindenlab.com/cgi-bin/login.cgi"},
		"aditi": {Name: "aditi", LoginURI: "https://login.aditi.lindenlab.com/cgi-bin/login.cgi"},
		"local": {Name: "local", LoginURI: "http://127.0.0.1:9000/"},
	}
}

// Dir returns the folder's path; env is os.Getenv outside tests. The folder
// need not exist.
func Dir(env func(string) string) (string, error) {
	if dir := env(DirVariable); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no folder for settings is known (%w): set %s", err, DirVariable)
	}
	return filepath.Join(base, "wipagent"), nil
}

// Load reads grids.toml in the folder, if there is one. What is wrong in it
// is an *Error.
func Load(dir string) (*Config, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c := &Config{dir: dir, grids: builtin(), accounts: map[string]Account{}}
	text, err := readFile(c.path(), maxConfig)
	if os.IsNotExist(err) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	if err := c.parse(string(text)); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) path() string { return filepath.Join(c.dir, FileName) }

// Dir returns the folder's absolute path.
func (c *Config) Dir() string { return c.dir }

// Grids lists the grids by name, the built-in ones included.
func (c *Config) Grids() []Grid { return sorted(c.grids) }

// Accounts lists the accounts by name.
func (c *Config) Accounts() []Account { return sorted(c.accounts) }

func sorted[T any](m map[string]T) []T {
	list := make([]T, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[name])
	}
	return list
}

// Roots returns the certificates that vouch for the grid's hosts: the
// system's and those of the grid's own file; nil, which means the system's
// alone, if it has none. They are for this grid's connections only: Second
// Life's simulators use their operator's own authority, which nobody else
// should be believed on.
func (g Grid) Roots() (*x509.CertPool, error) {
	if g.CAFile == "" {
		return nil, nil
	}
	pem, err := readFile(g.CAFile, maxCertificates)
	if err != nil {
		return nil, fmt.Errorf("ca_file of grid %s: %w", g.Name, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("the system's certificates: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file of grid %s: %s holds no certificate; expected PEM", g.Name, g.CAFile)
	}
	return pool, nil
}
