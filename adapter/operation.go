package adapter

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
)

// operationTool is one operation as a tool of its own. Of an interface that one
// entry has, it is bound to that entry; else its record takes the entry's path
// first.
type operationTool struct {
	name    string
	op      *idl.Operation
	trusted bool
	// needsApproval says that each call must be approved before it runs.
	needsApproval bool
	paths         []string // of the entries that have it, in order
	target        string   // the member with the path; empty if the tool is bound
	dryRun        string   // the member that asks for a dry run; empty if there is none
	// record is the operation with those members, by which the tool's records
	// are checked; the operation itself if it has neither.
	record *idl.Operation
}

func newOperationTool(op *idl.Operation, trusted bool, entries []client.Listed, bound bool) *operationTool {
	t := &operationTool{op: op, trusted: trusted, needsApproval: entries[0].NeedsApproval(), record: op}
	for _, l := range entries {
		t.paths = append(t.paths, l.Node.Path)
	}
	params := slices.Clone(op.Params)
	if !bound {
		t.target = free(op.Params, "target", "target_entry", "entry_path")
		params = slices.Insert(params, 0, &idl.Param{
			Name: t.target, Doc: targetDoc(op.Interface, t.paths), Type: &idl.Type{Kind: idl.Entry, Interface: op.Interface},
		})
	}
	if op.DryRun {
		t.dryRun = free(op.Params, dryRun, "only_try")
		params = append(params, &idl.Param{
			Name: t.dryRun, Doc: "True: only tell what it would do.", Type: &idl.Type{Kind: idl.Bool}, Default: json.RawMessage("false"),
		})
	}
	if len(params) == len(op.Params) {
		return t
	}
	t.record = &idl.Operation{
		Name: op.Name, Interface: op.Interface, Doc: op.Doc, Params: params, Result: op.Result,
		Risk: op.Risk, Idempotent: op.Idempotent, DryRun: op.DryRun, Cost: op.Cost, Timeout: op.Timeout, MaxOutput: op.MaxOutput, Audience: op.Audience,
	}
	return t
}

// free returns the first name that no parameter has in any spelling, with as
// many underscores in front of the last as it takes.
func free(params []*idl.Param, names ...string) string {
	for _, name := range names {
		if !slices.ContainsFunc(params, func(p *idl.Param) bool { return foldName(p.Name) == foldName(name) }) {
			return name
		}
	}
	return free(params, names[len(names)-1]+"_"+strconv.Itoa(len(params)))
}

func (t *operationTool) verb() string   { return "invoke" }
func (t *operationTool) called() string { return t.name }

func (t *operationTool) run(c *toolCall, raw json.RawMessage) (Answer, error) {
	call := client.Call{ID: c.id, Operation: t.op.Name, Interface: t.op.Interface.QualifiedName(), Arguments: raw}
	sent := unfold(raw, t.name)
	repairs := sent.repairs
	if t.record == t.op {
		call.Target = t.paths[0]
		call.Arguments = sent.record
	} else {
		args, err := t.record.DecodeArgs(sent.record)
		var bad *idl.ArgumentError
		if errors.As(err, &bad) {
			return Answer{}, t.misread(c, call, sent, bad)
		}
		t.read(&call, args.Record)
		repairs = append(repairs, sent.under(args.Repairs)...)
	}
	c.meant = call
	out, err := c.client.Invoke(c.ctx, c.principal, call)
	var e *client.Error
	if errors.As(err, &e) {
		return Answer{}, t.told(sent, e)
	}
	out.Repaired = append(repairs, sent.under(out.Repaired)...)
	return Answer{JSON: marshal(out), Untrusted: out.Untrusted}, nil
}

// read takes what the tool's own members say, and the operation's arguments, out
// of a record that was checked.
func (t *operationTool) read(call *client.Call, record json.RawMessage) {
	if call.Target = t.paths[0]; t.target != "" {
		call.Target = gjson.GetBytes(record, t.target).Str
	}
	call.DryRun = t.dryRun != "" && gjson.GetBytes(record, t.dryRun).Bool()
	call.Arguments = t.without(record)
}

// misread answers a record that does not fit. What is hidden is looked for
// first, by the path that was sent if it can be told.
func (t *operationTool) misread(c *toolCall, call client.Call, sent unfolded, bad *idl.ArgumentError) error {
	e := &client.Error{
		Class: client.BadArguments, Message: "the arguments do not fit the operation",
		Faults: bad.Faults, Hint: "the tool takes " + t.signature(), Operation: t.op, Untrusted: !t.trusted,
	}
	for i := range e.Faults {
		e.Faults[i].Path = sent.at + e.Faults[i].Path
	}
	var meant []client.Call
	if bad.Corrected != nil {
		t.read(&call, bad.Corrected)
		c.meant, meant = call, []client.Call{call}
	}
	err := c.client.Misread(c.ctx, c.principal, t.verb(), c.id, e, meant...)
	if errors.As(err, &e) {
		e.Corrected = t.corrected(e.Corrected)
		t.keep(e, sent.record)
	}
	return err
}

// signature is that of the tool's record, without what a stranger may have
// hidden in its defaults.
func (t *operationTool) signature() string {
	s, _, _ := strings.Cut(t.record.Signature(), ") -> ")
	s = t.name + strings.TrimPrefix(s, t.op.Name) + ")"
	if !t.trusted {
		s = cleanLines(s)
	}
	return s
}

// told puts an error of the client into terms of the tool.
func (t *operationTool) told(sent unfolded, e *client.Error) error {
	e.Corrected = t.corrected(e.Corrected)
	for i := range e.Faults {
		e.Faults[i].Path = sent.at + e.Faults[i].Path
	}
	switch {
	case e.Class == client.BadArguments:
		e.Hint = "the tool takes " + t.signature()
	case e.Class == client.NotFound && t.target == "":
		e.Hint = "the entry of this tool, " + t.paths[0] + ", is not there now"
	}
	t.keep(e, sent.record)
	return e
}

// keep takes back a correction for a record that asks for something else than
// the tool does.
func (t *operationTool) keep(e *client.Error, record json.RawMessage) {
	if other := t.elsewhere(record); other != "" {
		e.Corrected = nil
		e.Hint += "; " + other
	}
}

// elsewhere says of a record that it asks for another operation than the tool's
// or, if that is bound to an entry, for another entry, as one for invoke can; or
// nothing.
func (t *operationTool) elsewhere(record json.RawMessage) string {
	if !readable(string(record)) {
		mended, ok := idl.Mend(record)
		if !ok {
			return ""
		}
		record = mended.JSON
	}
	asks := func(name, own string) bool {
		asked := gjson.GetBytes(record, name)
		return asked.Type == gjson.String && foldName(strings.Trim(asked.Str, "/ ")) != foldName(strings.Trim(own, "/")) &&
			!slices.ContainsFunc(t.record.Params, func(p *idl.Param) bool { return foldName(p.Name) == name })
	}
	switch {
	case t.target == "" && asks("target", t.paths[0]):
		return "this tool calls " + t.op.Name + " of " + t.paths[0] + " and nothing else"
	case asks("operation", t.op.Name):
		return "this tool calls " + t.op.Name + " and nothing else"
	}
	return ""
}

// corrected returns a call as a record of the tool, nil if it is none.
func (t *operationTool) corrected(call json.RawMessage) json.RawMessage {
	r := gjson.ParseBytes(call)
	if r.Get("operation").Str != t.op.Name || !r.Get("arguments").IsObject() || t.target == "" && r.Get("target").Str != t.paths[0] {
		return nil
	}
	record := t.form(r.Get("target").Str, json.RawMessage(r.Get("arguments").Raw))
	if !r.Get(dryRun).Bool() {
		return record
	}
	if t.dryRun == "" {
		return nil // which would be the real thing
	}
	before := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(record)), "}"))
	if before != "{" {
		before += ","
	}
	return json.RawMessage(before + strconv.Quote(t.dryRun) + ":true}")
}

// form returns the tool's record for a path and an argument record.
func (t *operationTool) form(path string, arguments json.RawMessage) json.RawMessage {
	if t.target == "" {
		return arguments
	}
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(arguments)), "{"))
	if rest != "}" {
		rest = "," + rest
	}
	return json.RawMessage("{" + strconv.Quote(t.target) + ":" + string(marshal(path)) + rest)
}

// without returns a record that was checked without the tool's own members.
func (t *operationTool) without(record json.RawMessage) json.RawMessage {
	var members []string
	gjson.ParseBytes(record).ForEach(func(key, value gjson.Result) bool {
		if key.Str != t.target && key.Str != t.dryRun {
			members = append(members, key.Raw+":"+value.Raw)
		}
		return true
	})
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

func (t *operationTool) example(c *toolCall, e *client.Error) json.RawMessage {
	record := exampleOf(t.op, !t.trusted)
	if record == nil {
		return nil
	}
	path := t.paths[0]
	if slices.Contains(t.paths, c.meant.Target) {
		path = c.meant.Target
	}
	return t.form(path, record)
}

// unfolded is a record taken out of what was put around it.
type unfolded struct {
	record  json.RawMessage
	at      string // JSON Pointer to the record in what was sent
	repairs []idl.Repair
}

// under returns repairs with their places in what was sent.
func (u unfolded) under(repairs []idl.Repair) []idl.Repair {
	for i := range repairs {
		repairs[i].Path = u.at + repairs[i].Path
	}
	return repairs
}

// unfold reads nothing at all as the empty record, as clients send that for a
// tool without parameters, and takes a record out of an envelope with the
// tool's name, alone or in a string. The other envelopes are known to the check.
func unfold(raw json.RawMessage, name string) unfolded {
	u := unfolded{record: raw}
	if len(strings.TrimSpace(string(raw))) == 0 {
		u.record = json.RawMessage("{}")
		u.repairs = []idl.Repair{{Note: "took no arguments for the empty record"}}
		return u
	}
	if !readable(string(raw)) {
		return u
	}
	record := gjson.ParseBytes(raw)
	if record.Type == gjson.String && readable(record.Str) {
		record = gjson.Parse(record.Str)
	}
	members := 0
	var key, inner gjson.Result
	record.ForEach(func(k, v gjson.Result) bool {
		members++
		key, inner = k, v
		return members < 2
	})
	if !record.IsObject() || members != 1 || foldName(key.Str) != foldName(name) || !inner.IsObject() {
		return u
	}
	if raw[0] == '"' {
		u.repairs = append(u.repairs, idl.Repair{Note: "read the record from a string"})
	}
	u.record, u.at = json.RawMessage(inner.Raw), "/"+key.Str
	u.repairs = append(u.repairs, idl.Repair{Path: u.at, Note: "took the record out of an envelope"})
	return u
}
