package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/grids"
	"github.com/wipagent/wipagent/objects/source/session/login"

	live "github.com/wipagent/wipagent/objects/source/session"
)

type loginCmd struct {
	Where string `arg:"" optional:"" help:"A grid, an account, or a grid's login URI. Default: the only account that grids.toml has." placeholder:"GRID|ACCOUNT|URI"`
}

// Help shows examples and where settings are.
func (loginCmd) Help() string {
	return `Logs in once, says what the grid answered, and logs out again. The exit code is 1 if the grid refused, 3 if it
could not be reached.

The password comes from the environment (WIPAGENT_PASSWORD, or what the account's password_env names), a file that
only its owner can read, or a prompt; never from the command line. A code for multi-factor authentication comes from
WIPAGENT_MFA_CODE, what mfa_env names, or a prompt.

Grids and accounts are named in grids.toml in the folder wipagent of the user's settings, or in $WIPAGENT_CONFIG:

  [grids.home]
  login_uri = "http://127.0.0.1:9000/"
  ca_file = "home.pem"      # only if its hosts have certificates of an authority of their own

  [accounts.bot]
  grid = "home"
  name = "Test Robot"
  password_file = "bot.password"

Second Life is built in as agni, its beta grid as aditi, and a stand-alone OpenSimulator on this machine as local.

Examples:
  wipagent login bot
  wipagent login local --user "Test User" --password-file test.password
  wipagent login agni --user test.robot --start home --json`
}

// Run runs the command.
func (l *loginCmd) Run(ctx context.Context, c *cli) error {
	if given := c.worldFlags.given(); len(given) > 0 {
		return usageError("%s goes with the verbs: login takes a grid alone, as its argument", given[0])
	}
	cfg, config, err := c.settings(l.Where)
	if err != nil {
		return err
	}
	if err := c.sessionConfig(ctx, cfg, config); err != nil {
		return err
	}
	cfg.Notify = func(n live.Notice) { c.showLogin(cfg.who(), n.Err, n) }
	answer, err := live.Check(ctx, &cfg.Config)
	var refused *login.Error
	switch {
	case ctx.Err() != nil:
		return &exitError{exitUnavailable, errors.New("interrupted")}
	case errors.As(err, &refused):
		return c.refused(cfg, refused)
	case answer == nil && err != nil:
		return &exitError{exitUnavailable, err}
	case c.JSON:
		c.printJSON(newLoginResult(answer))
	default:
		c.page().login(cfg, answer)
	}
	if err != nil {
		return &exitError{exitUnavailable, fmt.Errorf("the login is good, but %s", c.whyEnded(cfg, err))}
	}
	return nil
}

// showLogin tells on stderr what takes time, for the given reason, or goes wrong
// meanwhile.
func (c *cli) showLogin(who string, why error, n live.Notice) {
	switch n.Kind {
	case live.Retrying:
		c.warn("%s: %s; trying again in %s", who, cmp.Or(reasonOf(why), "no session"), n.After.Round(time.Second))
	case live.Trouble:
		c.warn("%s: %v", who, n.Err)
	}
}

// reasonOf says in short why a login failed; "" if it did not.
func reasonOf(err error) string {
	var refused *login.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return describeRefusal(refused)
	}
	return printable(err.Error())
}

// gridFlags say who logs in at a grid, where grids.toml does not or should
// not.
type gridFlags struct {
	User         string `help:"On a grid: the avatar that logs in, as \"First Last\" or first.last." placeholder:"NAME"`
	PasswordFile string `help:"On a grid: the file that holds the password, readable by its owner alone." placeholder:"FILE"`
	Start        string `help:"On a grid: where to start: last, home, or uri:Region&x&y&z." placeholder:"PLACE"`
	AcceptTerms  bool   `help:"On a grid: say that you have read and accept its terms of service."`
	ReadCritical bool   `help:"On a grid: say that you have read its critical message."`
}

// given returns the flags that were given, as words of a command line.
func (f gridFlags) given() []string {
	var list []string
	for _, flag := range [][2]string{{"--user", f.User}, {"--password-file", f.PasswordFile}, {"--start", f.Start}} {
		if flag[1] != "" {
			list = append(list, flag[0], flag[1])
		}
	}
	if f.AcceptTerms {
		list = append(list, "--accept-terms")
	}
	if f.ReadCritical {
		list = append(list, "--read-critical")
	}
	return list
}

// gridConfig is a session's configuration, and where it comes from.
type gridConfig struct {
	live.Config
	grid    grids.Grid
	account grids.Account
	path    string // of grids.toml
	codes   *mfa   // nil until it is to log in
}

// who names the account for people: several may be on one grid.
func (g *gridConfig) who() string {
	return cmp.Or(g.account.Name, g.account.First+" "+g.account.Last) + " on " + g.where()
}

// where names the grid for people.
func (g *gridConfig) where() string { return cmp.Or(g.grid.Name, g.grid.LoginURI) }

// settings returns which grid and who a name means: a grid's, an account's or a
// login URI; empty means the only account.
func (c *cli) settings(name string) (*gridConfig, *grids.Config, error) {
	dir, err := grids.Dir(os.Getenv)
	if err != nil {
		return nil, nil, &exitError{exitUnavailable, err}
	}
	config, err := grids.Load(dir)
	if err != nil {
		return nil, nil, &exitError{exitUnavailable, err}
	}
	g := &gridConfig{path: filepath.Join(config.Dir(), grids.FileName)}
	return g, config, c.choose(g, config, name)
}

// gridOf is settings for a world's name; a mistake is told with its flag.
func (c *cli) gridOf(world string) (*gridConfig, *grids.Config, error) {
	g, config, err := c.settings(strings.TrimPrefix(world, gridPrefix))
	var e *exitError
	if errors.As(err, &e) && e.code == exitUsage {
		err = usageError("%s: %w", c.named(world), e.err)
	}
	return g, config, err
}

// sessionConfig completes what a session on a grid needs. It may ask for the
// password if somebody is there to answer.
func (c *cli) sessionConfig(ctx context.Context, g *gridConfig, config *grids.Config) error {
	g.codes = &mfa{c: c, config: config, grid: g.grid, account: &g.account}
	if g.grid.Exposed() {
		fmt.Fprintf(c.io.err, "wipagent: %s is plain http: on the way others can read the password's hash, and log in with it\n", g.grid.LoginURI)
	}
	a := &g.account
	g.Config = live.Config{
		LoginURI: g.grid.LoginURI, First: a.First, Last: a.Last, Start: a.Start, Version: version(),
		AcceptTerms: a.AcceptTerms, ReadCritical: a.ReadCritical,
		DrawDistance: float64(a.DrawDistance), ObjectNames: a.ObjectNames, NoDisplayNames: !a.DisplayNames,
		MFA: g.codes,
	}
	var err error
	if g.Password, err = c.password(ctx, g); err != nil {
		return err
	}
	var mac error
	g.MAC, g.ID0, mac = config.MachineIDs()
	g.RootCAs, err = g.grid.Roots()
	if err := cmp.Or(mac, err); err != nil {
		return &exitError{exitUnavailable, err}
	}
	return nil
}

// choose finds out which grid, and who.
func (c *cli) choose(g *gridConfig, config *grids.Config, name string) error {
	if name == "" {
		accounts := config.Accounts()
		if len(accounts) != 1 {
			return usageError("%s has %d accounts; say which grid, account or login URI is meant", g.path, len(accounts))
		}
		name = accounts[0].Name
	}
	grid, account, err := config.Find(name)
	if err != nil {
		return usageError("%w", err)
	}
	g.grid = grid
	if c.User != "" {
		if account != nil && account.Name == name {
			return usageError("--user goes with a grid or a login URI, and %s is an account", name)
		}
		if account, err = userOf(config, grid, c.User); err != nil {
			return usageError("--user: %w", err)
		}
	}
	if account == nil {
		return usageError(`who logs in on %s? Add --user "First Last", or an account to %s`, g.where(), g.path)
	}
	if c.PasswordFile != "" {
		here, err := os.Getwd()
		if err != nil {
			return err
		}
		path, err := grids.Path(here, c.PasswordFile) // a shell leaves the ~ of --password-file=~/pw alone
		if err != nil {
			return usageError("--password-file: %w", err)
		}
		account.PasswordEnv, account.PasswordFile = "", path
	}
	if c.Start != "" {
		if err := grids.CheckStart(c.Start); err != nil {
			return usageError("--start: %w", err)
		}
		account.Start = c.Start
	}
	account.AcceptTerms = account.AcceptTerms || c.AcceptTerms
	account.ReadCritical = account.ReadCritical || c.ReadCritical
	g.account = *account
	return nil
}

// userOf returns the account that an avatar has on the grid, or a new one.
func userOf(config *grids.Config, grid grids.Grid, user string) (*grids.Account, error) {
	fresh, err := grids.NewAccount(user)
	if err != nil {
		return nil, err
	}
	for _, a := range config.Accounts() {
		if grid.Name != "" && a.Grid == grid.Name && strings.EqualFold(a.First, fresh.First) && strings.EqualFold(a.Last, fresh.Last) {
			return &a, nil
		}
	}
	return fresh, nil
}
