package client

import (
	"context"
	"errors"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// Keep asks Hosts for what has changed in their trees in the background, each
// about every Config.Space.MaxAge and soon after it was mounted from what an
// earlier run had kept, until ctx ends; it returns when the last request has
// ended. Searches then wait for no tree but one that was never had. A Host in
// this process that cannot tell changes is left to the searches. Trouble goes to
// the operator's log.
func (c *Client) Keep(ctx context.Context) {
	c.space.Keep(ctx, wip.Caller{}, func(err error) {
		tool := "refresh"
		var of *space.Error // all that is told at once is one mount's
		if errors.As(err, &of) {
			tool = of.Mount
		}
		c.audit.Fault(newID(), tool, err)
	})
}

// quiet reports whether a Host is not to be looked at in the background: it is in
// this process and answers at once, so that nothing is won by asking early.
func quiet(host wip.Host) bool {
	_, prompt := host.(wip.Prompt)
	_, source := host.(wip.TreeSource)
	return prompt && !source
}
