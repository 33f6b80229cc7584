package mcp

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
)

// metaCallID is the member of a request's _meta by which a client says which tool
// call of its model the request is for, so that one that is sent again is known
// by a Host that has carried it out. The request's own id would not do: each
// attempt has another.
const metaCallID = "wipagent/call-id"

// patience is how long the user of a client is awaited.
const patience = 10 * time.Minute

// asker asks the user of a client for approvals by elicitation, if the client has
// declared that it can. Until version 2025-11-25 of the protocol that is a
// request to the client in the course of the call. Since then the call is
// answered with the question, and comes again with the user's answer: nothing has
// been done by then, and no failure is counted.
type asker struct {
	key   []byte          // signs what a client brings back
	tools map[string]bool // by the names that the SDK knows
}

func newAsker(tools *adapter.Toolset) *asker {
	a := &asker{key: make([]byte, 32), tools: map[string]bool{}}
	rand.Read(a.key) // never fails
	for _, t := range declared(tools) {
		a.tools[t.Name] = true
	}
	return a
}

// asked is one request, and what was asked in its course.
type asked struct {
	*asker
	req      *sdk.CallToolRequest
	id       string // of the tool call
	question string // to be answered by another request; empty if there is none
}

// begin reads which tool call the request is for.
func (a *asker) begin(req *sdk.CallToolRequest) *asked {
	q := &asked{asker: a, req: req}
	encoded, signature, _ := strings.Cut(req.Params.RequestState, ".")
	id, err := base64.RawURLEncoding.DecodeString(encoded)
	meta, _ := req.Params.Meta[metaCallID].(string)
	switch {
	case err == nil && len(id) > 0 && hmac.Equal([]byte(signature), []byte(q.sign(string(id)))):
		q.id = string(id)
	case meta != "" && len(meta) <= 256:
		q.id = meta
	default:
		q.id = rand.Text()
	}
	return q
}

// sign binds a question to the tool, the arguments and the identifier.
func (q *asked) sign(id string) string {
	mac := hmac.New(sha256.New, q.key)
	for _, part := range [][]byte{[]byte(id), []byte(q.req.Params.Name), sameAs(q.req.Params.Arguments)} {
		sum := sha256.Sum256(part)
		mac.Write(sum[:])
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// sameAs writes JSON anew, so that a client may do so too in between.
func sameAs(raw json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	same, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return same
}

// context returns a context whose calls are asked for, if the client can ask.
func (q *asked) context(ctx context.Context) context.Context {
	if q.req.Session == nil {
		return ctx
	}
	about := q.req.Session.InitializeParams()
	if about == nil || about.Capabilities == nil || about.Capabilities.Elicitation == nil {
		return ctx
	}
	if can := about.Capabilities.Elicitation; can.Form == nil && can.URL != nil {
		return ctx
	}
	if about.ProtocolVersion >= "2026-07-28" {
		return client.WithApprover(ctx, q.later)
	}
	return client.WithApprover(ctx, q.now)
}

// elicitation asks a question that is answered by accepting it.
func elicitation(question string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Mode: "form", Message: question, RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}
}

// now asks the client and waits for the user's answer.
func (q *asked) now(ctx context.Context, a client.Approval) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := q.req.Session.Elicit(ctx, elicitation(a.Question()))
	return err == nil && answer.Action == "accept"
}

// approval is what the question is called in a request for input.
const approval = "approval"

// later takes the answer that the request brings, or leaves the question for the
// client. A program that makes several calls would make those before the question
// again, so that it cannot ask; nor can what the SDK does not know by its name.
func (q *asked) later(_ context.Context, a client.Approval) bool {
	if a.Call.ID != q.id || !q.tools[q.req.Params.Name] {
		return false
	}
	if strings.HasSuffix(q.req.Params.RequestState, "."+q.sign(q.id)) {
		answer, ok := q.req.Params.InputResponses[approval].(*sdk.ElicitResult)
		return ok && answer.Action == "accept"
	}
	q.question = a.Question()
	a.Defer()
	return false
}

// result returns the question in place of an answer; nil if there is none.
func (q *asked) result() *sdk.CallToolResult {
	if q.question == "" {
		return nil
	}
	return &sdk.CallToolResult{
		InputRequests: sdk.InputRequestMap{approval: elicitation(q.question)},
		RequestState:  base64.RawURLEncoding.EncodeToString([]byte(q.id)) + "." + q.sign(q.id),
	}
}
