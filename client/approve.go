package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/cleantext"
)

// Approval is what somebody decides on before a call that may change things.
type Approval struct {
	Principal *policy.Principal
	// Call is the call as it was understood: Arguments hold every declared
	// parameter, and paths are those of the space.
	Call      Call
	Operation *idl.Operation
	// Risk is what has to be reckoned with, Mutating or Destructive: of a Host
	// that nobody vouches for the worst, whatever its document claims.
	Risk idl.Risk
	// Trusted says that the Host's words are taken for what they are.
	Trusted bool
	// Preview is what a dry run of the call returned, shaped, cleaned and
	// bounded like any result; nil if there was none. What it says may have
	// changed by the time the call is made.
	Preview json.RawMessage
	// NoPreview says why a dry run that there should have been could not be had;
	// empty if there was one, or can be none.
	NoPreview string

	deferred *bool
}

// Defer says that the answer comes with a later attempt at the same call. The
// approver then returns false, nothing is done, and the call ends with an Error
// for which Waiting holds.
func (a Approval) Defer() { *a.deferred = true }

// Question asks for the approval in plain words: who asks for what, how risky it
// is, with which arguments, and what a dry run said. It has at most 4 KiB and no
// control characters but line ends. Links are removed, and what strangers may
// have written is said to be theirs.
func (a Approval) Question() string {
	const most = 1500 // bytes of a value
	var b strings.Builder
	line := func(format string, args ...any) {
		text, _ := cleantext.Clean(fmt.Sprintf(format, args...), 0)
		b.WriteString(text + "\n")
	}
	shown := func(label string, value json.RawMessage) {
		if len(value) > most {
			label += fmt.Sprintf(" (%d bytes, of which this is the beginning)", len(value))
			value = beginnings(value, most)
		}
		text, _ := cleantext.Clean(string(value), most)
		line("%s: %s", label, blanks.ReplaceAllString(text, "[blanks]"))
	}
	dry := ""
	if a.Call.DryRun {
		dry = ", as a dry run,"
	}
	line("%.128s (%s) asks%s for %s of %.256s.", a.Principal.ID, a.Principal.Audience, dry, a.Operation.Name, place(a.Call.Target))
	switch {
	case !a.Trusted:
		line("Nobody vouches for its Host: it may do anything with the call, whatever it says of itself.")
	case a.Risk == idl.Destructive:
		line("It may destroy what cannot be had back.")
	default:
		line("It changes things.")
	}
	if a.Trusted && a.Operation.Doc != "" {
		line("Its Host says: %.300s", a.Operation.Doc)
	}
	shown("Arguments, in which strangers' words may stand", a.Call.Arguments)
	if a.Preview != nil {
		shown("A dry run says", a.Preview)
	} else if a.NoPreview != "" {
		line("A dry run could not be had: %.300s.", a.NoPreview)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// blanks is what could push a stranger's words to where a line of ours is
// expected.
var blanks = regexp.MustCompile(`[\s\p{Z}\x{2800}]{3,}`)

// plainPath is a path that cannot be read as words of the question.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9/._-]*$`)

// place returns a path as the question has it: a Host may name an entry so that
// it reads like a sentence.
func place(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	return strconv.Quote(blanks.ReplaceAllString(path, "[blanks]"))
}

// beginnings shortens a record to about so many bytes, each member by itself, so
// that a long one in front hides none behind it. What is no record is cut.
func beginnings(value json.RawMessage, most int) json.RawMessage {
	members := gjson.ParseBytes(value)
	count := 0
	members.ForEach(func(_, _ gjson.Result) bool { count++; return true })
	if !members.IsObject() || count == 0 || most/count < 32 {
		return value
	}
	out := []byte{'{'}
	members.ForEach(func(name, member gjson.Result) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, name.Raw...), ':')
		if room := most/count - len(name.Raw) - 24; len(member.Raw) > max(room, 8) {
			out = fmt.Appendf(out, "%s… (%d bytes)", strings.ToValidUTF8(member.Raw[:max(room, 8)], ""), len(member.Raw))
		} else {
			out = append(out, member.Raw...)
		}
		return true
	})
	return append(out, '}')
}

type approverKey struct{}

// WithApprover returns a context whose calls are decided on by f, which goes
// before Config.Approve and keeps what is said there of it. Calls that run at the
// same time call it at the same time.
func WithApprover(ctx context.Context, f func(context.Context, Approval) bool) context.Context {
	return context.WithValue(ctx, approverKey{}, f)
}

type unapprovedKey struct{}

// WithUnapproved returns a context whose calls tell hint of what was not approved,
// in place of words for a model: a person has other ways than to tell who sent him.
func WithUnapproved(ctx context.Context, hint string) context.Context {
	return context.WithValue(ctx, unapprovedKey{}, hint)
}

type pauseKey struct{}

// WithPause returns a context by whose calls pause is called when somebody is
// about to be asked for approval, and what it returns when the answer is there: a
// program's own time stands still meanwhile.
func WithPause(ctx context.Context, pause func() (resume func())) context.Context {
	return context.WithValue(ctx, pauseKey{}, pause)
}

// needsApproval reports whether the call must be approved before it runs: it may
// change things, or only claims not to. That a dry run changes nothing is
// believed of a Host that is trusted.
func (r *prepared) needsApproval() bool {
	trusted := r.node.Mount.Trusted
	return policy.NeedsApproval(r.op, trusted) && !(r.call.DryRun && trusted)
}

// approval asks for what the call needs. The time that it takes is nobody's but
// the caller's.
func (c *Client) approval(ctx context.Context, p *policy.Principal, r *prepared) error {
	if !r.needsApproval() {
		return nil
	}
	approve, ok := ctx.Value(approverKey{}).(func(context.Context, Approval) bool)
	if !ok {
		approve = c.approve
	}
	message := "the operation may change things and was not approved"
	if !policy.NeedsApproval(r.op, true) {
		message = "nobody vouches for the Host, so that a call which it says only reads must be approved too, and was not"
	}
	instead, _ := ctx.Value(unapprovedKey{}).(string)
	if approve == nil {
		return &Error{Class: Refused, Message: message, Hint: cmp.Or(instead, "nobody can be asked here; tell who sent you what you would do"), Operation: r.op}
	}
	trusted := r.node.Mount.Trusted
	a := Approval{Principal: p, Call: r.call, Operation: r.op, Risk: idl.Destructive, Trusted: trusted, deferred: new(bool)}
	if trusted && r.op.Risk == idl.Mutating {
		a.Risk = idl.Mutating
	}
	// What a trial says after the real thing is no news.
	if trusted && r.op.DryRun && !c.made.Contains(r.key) {
		var err error
		if a.Preview, a.NoPreview, err = c.preview(ctx, p, r); err != nil {
			return err
		}
	}
	switch approved := asked(ctx, approve, a); {
	case approved && !*a.deferred:
		return nil
	case *a.deferred:
		return &Error{Class: Refused, Message: "the call waits for approval", Operation: r.op, waiting: true}
	case ctx.Err() != nil:
		e := contextError(ctx.Err())
		e.Message += " before it was approved; nothing was done"
		return e
	}
	return &Error{Class: Refused, Message: message, Hint: cmp.Or(instead, "it was asked about; send it again only if you are told to"), Operation: r.op}
}

// asked asks, while the time of a program that makes the call stands still.
func asked(ctx context.Context, approve func(context.Context, Approval) bool, a Approval) bool {
	if pause, ok := ctx.Value(pauseKey{}).(func() func()); ok {
		defer pause()()
	}
	return approve(ctx, a)
}

// preview returns what a dry run of the call says, or why that cannot be had now.
// What the domain forbids is not worth asking anybody for: that is the error.
func (c *Client) preview(ctx context.Context, p *policy.Principal, r *prepared) (said json.RawMessage, trouble string, err error) {
	tried := *r
	tried.call.DryRun = true
	ctx, cancel := context.WithTimeout(ctx, r.op.Timeout)
	defer cancel()
	shaped, err := c.send(ctx, p, &tried, &audit.Record{})
	if err == nil {
		return shaped.JSON, "", nil
	}
	e := c.unanswered(ctx, p, &tried, policy.Identify(r.node.Path, r.node.Interfaces, r.op), err)
	switch {
	case isDomain(err):
		return nil, "", e
	case e.defect:
		return nil, "the Host answers with a defect (ref: " + e.Ref + ")", nil
	}
	trouble = e.Message
	if e.Ref != "" {
		trouble += " (ref: " + e.Ref + ")"
	}
	return nil, trouble, nil
}
