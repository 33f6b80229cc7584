package main

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/wipagent/wipagent/client/policy/principals"
)

type tokenCmd struct {
	Principal string        `arg:"" help:"Whom the token is for: 1 to 64 letters, digits and _.:@-." placeholder:"NAME"`
	Audience  string        `default:"im" enum:"${audiences}" help:"What class of caller that is: ${enum}." placeholder:"AUDIENCE"`
	Expires   time.Duration `help:"How long the token is good, as 720h. Default: until it is taken out of the file." placeholder:"DURATION"`
}

// Help shows examples.
func (tokenCmd) Help() string {
	return `The token is shown this once. What goes into the file of serve --principals is its digest.

Examples:
  wipagent token robot
  wipagent token --audience local_operator --expires 720h ada
  wipagent token --json robot`
}

// Run runs the command.
func (f *tokenCmd) Run(c *cli) error {
	switch {
	case !principals.ValidID(f.Principal):
		return usageError("%.80q is no principal's name; expected 1 to 64 letters, digits and _.:@- with a letter or digit first", f.Principal)
	case f.Expires < 0:
		return usageError("--expires %s: expected a time to come", f.Expires)
	}
	token, digest := principals.NewToken()
	sum := hex.EncodeToString(digest[:])
	stanza := fmt.Sprintf("[principals.%q]\naudience = %q\ntoken_sha256 = [%q]\n", f.Principal, f.Audience, sum)
	if f.Expires > 0 {
		stanza += fmt.Sprintf("expires = %s\n", time.Now().Add(f.Expires).UTC().Format(time.RFC3339))
	}
	if c.JSON {
		c.printJSON(map[string]string{"token": token, "token_sha256": sum, "stanza": stanza})
		return nil
	}
	fmt.Fprintf(c.io.out, "The token, shown this once, for whoever is to call as %s:\n\n%s\n\nTo be added to the file of principals:\n\n%s", f.Principal, token, stanza)
	return nil
}
