// Package remote carries the core protocol over a wire, as JSON-RPC 2.0 over
// HTTP or over the stdin and stdout of a child process (spec/host.md): Dial and
// Spawn make a Host that is elsewhere a wip.Host here, NewHandler and
// ServeStdio serve any wip.Host to others.
//
// Neither end believes the other. Sizes, counts and depths are bounded before
// anything is allocated for them, what comes is checked by type, and the text of
// a defect stays at the end where it happened.
package remote
