package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wipagent/wipagent/client/artifact"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
)

// This file keeps results that are too large for an answer (T11). An artifact is
// for whoever made the call that it is the result of, as long as he may make it:
// what is kept shows nothing that policy has come to hide.

// ArtifactsPath is where a Client with Config.Artifacts mounts them.
const ArtifactsPath = "/artifacts"

// Artifact is what an answer has instead of a result that is too large for it.
// But for Path, which is new each time, it is the same for the same result.
type Artifact struct {
	// Path is that of the entry which keeps the result as JSON text, with the
	// operations read, lines, search and select.
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
	Lines int    `json:"lines"`
	// Head and Tail are whole lines from both ends of the text, at most 2,048
	// and 1,024 bytes. Tail is empty if Head is all there is.
	Head string `json:"head"`
	Tail string `json:"tail"`
	// ExpiresMillis is how long it is kept, unless others need the room.
	ExpiresMillis int64 `json:"expires_in_millis"`
	// Calls read on behind Head, as bytes and as lines.
	Calls []Call `json:"calls"`
	Hint  string `json:"hint"`
}

// KeepsArtifacts reports whether a result that is too large for an answer becomes
// an Artifact, which is read by calls of its entry.
func (c *Client) KeepsArtifacts() bool { return c.artifacts != nil }

// mountArtifacts makes the entries of a Store reachable.
func (c *Client) mountArtifacts() {
	err := c.Mount(context.Background(), ArtifactsPath, c.artifacts, &MountOptions{
		Title: "Artifacts", Summary: "Results that were too large for an answer.", Trusted: true,
	})
	if err != nil { // of an empty space and our own Host
		c.audit.Fault(newID(), ArtifactsPath, err)
	}
}

// origin is what an artifact is a result of.
type origin struct {
	node *space.Node
	op   *idl.Operation
}

// artifactOf reports whether the node is an artifact, and of what if it is the
// principal's and still kept.
func (c *Client) artifactOf(p *policy.Principal, n *space.Node) (of *origin, untrusted, is bool) {
	if c.artifacts == nil || n.Mount == nil || n.Mount.Path != ArtifactsPath {
		return nil, false, false
	}
	kept, untrusted, ok := c.artifacts.Origin(p.Caller(), n.HostPath)
	if !ok {
		return nil, true, true
	}
	return kept.(*origin), untrusted, true
}

// maxResult is how large a result may be as a Host sent it; 0 is what an
// operation declares.
func (c *Client) maxResult() int {
	if c.artifacts == nil {
		return 0
	}
	return artifact.MaxBytes
}

// keep answers a call whose send failed with err because the result is too
// large: by an artifact, or nil if there is none to be.
func (c *Client) keep(ctx context.Context, p *policy.Principal, r *prepared, rec *audit.Record, err error) *Outcome {
	var size *idl.SizeError
	if _, _, is := c.artifactOf(p, r.node); is || c.artifacts == nil || !errors.As(err, &size) {
		return nil
	}
	whole := size.Whole
	kept, err := c.artifacts.Put(p.Caller(), whole.JSON, artifact.Info{
		Label: r.op.Name, Untrusted: whole.Untrusted, Origin: &origin{r.node, r.op},
	})
	if err != nil {
		if !errors.Is(err, artifact.ErrTooLarge) {
			c.audit.Fault(newID(), rec.Tool, err)
		}
		return nil
	}
	rec.Bytes = len(whole.JSON)
	out := &Outcome{
		Artifact: summary(kept, size), DryRun: r.call.DryRun, Repaired: r.args.Repairs,
		Entries: c.learn(ctx, p, whole.Entries), Untrusted: whole.Untrusted,
	}
	if whole.Untrusted {
		out.Trust = untrusted
	}
	return out
}

// summary tells what was kept.
func summary(kept *artifact.Kept, size *idl.SizeError) *Artifact {
	a := &Artifact{
		Path: ArtifactsPath + kept.Path, Bytes: kept.Bytes, Lines: kept.Lines, Head: kept.Head, Tail: kept.Tail,
		ExpiresMillis: kept.Lifetime.Milliseconds(),
		Hint: fmt.Sprintf("the result is larger than the %d bytes of an answer: these are its beginning and its end; "+
			"read on by the calls, find parts by search(query) and select(path) of the same entry, or ask for less", size.Max),
	}
	offset, first := len(kept.Head), kept.HeadLines+1
	if offset == kept.Bytes {
		offset, first = 0, 1
	}
	a.Calls = []Call{
		{Target: a.Path, Operation: "read", Arguments: json.RawMessage(fmt.Sprintf(`{"offset":%d,"length":8000}`, offset))},
		{Target: a.Path, Operation: "lines", Arguments: json.RawMessage(fmt.Sprintf(`{"first":%d,"count":100}`, first))},
	}
	return a
}

// expired answers a call of an artifact that is no longer kept: to its owner
// alone, as to everybody else it never was (T9). Of all others it returns nil.
func (c *Client) expired(p *policy.Principal, path string) *Error {
	if c.artifacts == nil || len(path) <= len(ArtifactsPath) || path[:len(ArtifactsPath)] != ArtifactsPath ||
		!c.artifacts.Gone(p.Caller(), path[len(ArtifactsPath):]) {
		return nil
	}
	return &Error{
		Class: NotFound, Message: "there is no entry at this path",
		Hint: "the artifact has expired; make the call that it was the result of again",
	}
}
