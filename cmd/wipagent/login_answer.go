package main

import (
	"fmt"
	"strings"

	"github.com/wipagent/wipagent/objects/source/session/login"

	live "github.com/wipagent/wipagent/objects/source/session"
)

// loginResult is the JSON form of what a grid answered. What it did not say
// is null.
type loginResult struct {
	Login            string  `json:"login"` // accepted or refused
	AgentID          string  `json:"agent_id"`
	FirstName        string  `json:"first_name"`
	LastName         string  `json:"last_name"`
	RegionName       *string `json:"region_name"`
	RegionID         *string `json:"region_id"`
	RegionX          uint32  `json:"region_x"` // metres of the grid, south-west corner
	RegionY          uint32  `json:"region_y"`
	SizeX            int     `json:"size_x"` // metres
	SizeY            int     `json:"size_y"`
	StartLocation    *string `json:"start_location"`
	Simulator        *string `json:"simulator"`
	InventoryFolders int     `json:"inventory_folders"`
	Message          *string `json:"message"`
}

func newLoginResult(a *live.Answer) *loginResult {
	r := &loginResult{
		Login: "accepted", AgentID: a.Agent.String(), FirstName: a.FirstName, LastName: a.LastName,
		RegionName: told(a.RegionName), RegionX: a.RegionX, RegionY: a.RegionY, SizeX: a.SizeX, SizeY: a.SizeY,
		StartLocation: told(a.StartLocation), Simulator: told(a.Simulator), InventoryFolders: a.Folders, Message: told(a.Message),
	}
	if !a.RegionID.IsZero() {
		r.RegionID = told(a.RegionID.String())
	}
	return r
}

// told returns nil for what was not said.
func told(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// login prints what a grid answered.
func (p *page) login(g *gridConfig, a *live.Answer) {
	or := func(s string) string {
		if s == "" {
			return "unknown"
		}
		return s
	}
	p.line("%s lets %s %s in", g.where(), g.account.First, g.account.Last)
	p.line("")
	p.table([][]string{
		{"name", or(strings.TrimSpace(a.FirstName + " " + a.LastName))},
		{"agent", a.Agent.String()},
		{"region", or(a.RegionName)},
		{"corner", fmt.Sprintf("%d, %d m on the grid", a.RegionX, a.RegionY)},
		{"size", fmt.Sprintf("%d by %d m", a.SizeX, a.SizeY)},
		{"start", or(startOf(a.StartLocation))},
		{"simulator", or(a.Simulator)},
		{"inventory", fmt.Sprintf("%d folders", a.Folders)},
	})
	p.words(a.Message)
}

// startOf explains a grid's word for where the agent was put.
func startOf(word string) string {
	if word == "safe" {
		return "safe: a place of the grid's choice, not the one asked for"
	}
	return word
}

// words prints what the grid has to say to people.
func (p *page) words(message string) {
	if message == "" {
		return
	}
	p.line("")
	p.line("The grid says:")
	p.paragraph("  ", message)
}

// loginRefusal is the JSON form of a refusal.
type loginRefusal struct {
	Login   string  `json:"login"`
	Reason  string  `json:"reason"`
	Message *string `json:"message"` // the grid's words
	Hint    string  `json:"hint,omitempty"`
}

// refused prints why a login failed and what to do.
func (c *cli) refused(g *gridConfig, e *login.Error) error {
	switch e.Reason {
	case login.ReasonTransport, login.ReasonNotGrid, login.ReasonFault, login.ReasonMalformed, login.ReasonConnect, login.ReasonRedirect:
		return &exitError{exitUnavailable, e}
	case login.ReasonRequest:
		return usageError("%w", e)
	}
	hint := g.hint(e.Reason)
	if c.JSON {
		c.printJSON(&loginRefusal{"refused", string(e.Reason), told(e.Message), hint})
		return &exitError{code: exitFailed}
	}
	p := c.page()
	p.line("%s refuses %s %s (%s): %s", g.where(), g.account.First, g.account.Last, e.Reason, describeRefusal(e))
	if g.codes == nil || e.Message != g.codes.shown {
		p.words(e.Message)
	}
	if hint != "" {
		p.line("")
		p.line("hint: %s", hint)
	}
	return &exitError{code: exitFailed}
}

// describeRefusal says what a refusal means.
func describeRefusal(e *login.Error) string {
	switch e.Reason {
	case login.ReasonKey:
		return "the name or the password is wrong, or the account is blocked"
	case login.ReasonPresence:
		return "the grid still has a session of this account"
	case login.ReasonTerms:
		return "its terms of service have not been accepted"
	case login.ReasonCritical:
		return "its critical message has not been read"
	case login.ReasonMFA:
		return "it wants a code for multi-factor authentication"
	case login.ReasonUpdate, login.ReasonOptional:
		return "it wants another version of the program"
	case login.ReasonUnknown:
		if e.Given != "" {
			return fmt.Sprintf("it gives %q as the reason", e.Given)
		}
		return "it gives no reason"
	}
	return e.Error()
}

// hint says what to do about a refusal.
func (g *gridConfig) hint(reason login.Reason) string {
	setting := func(key string) string {
		if g.account.Name == "" {
			return ""
		}
		return fmt.Sprintf(", or set %s = true for account %s in %s", key, g.account.Name, g.path)
	}
	switch reason {
	case login.ReasonKey:
		return "check both before another try: a grid may lock an account after several"
	case login.ReasonPresence:
		return "if nobody else uses the account, try again in a minute"
	case login.ReasonTerms:
		return "read them; if you accept them, log in again with --accept-terms" + setting("accept_terms")
	case login.ReasonCritical:
		return "read it; then log in again with --read-critical" + setting("read_critical")
	case login.ReasonMFA:
		variable := g.account.MFAEnv
		if variable == "" {
			variable = "WIPAGENT_MFA_CODE"
		}
		return fmt.Sprintf("set %s to a fresh code, or run wipagent login on a terminal and type it; the grid then asks no more for a while", variable)
	case login.ReasonUpdate, login.ReasonOptional:
		return "the grid refuses this version by its name; its operator says which are let in"
	}
	return ""
}
