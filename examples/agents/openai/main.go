// Command openai lets a model of OpenAI's answer a question about a world.
// It is one page: the embedded grid, its tools in OpenAI's form, and the loop.
//
//	OPENAI_API_KEY=… go run . "Who is near me, and what stands around?"
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
)

func main() {
	model := flag.String("model", openai.ChatModelGPT6Sol, "the model that answers")
	surface := flag.String("surface", string(adapter.Verbs), "what it works with: verbs or operations")
	form := flag.String("dialect", "openai", "the form of the tools: openai or openai-strict")
	baseURL := flag.String("base-url", cmp.Or(os.Getenv("OPENAI_BASE_URL"), "https://api.openai.com/v1/"), "where the API is")
	turns := flag.Int("turns", 20, "how often the model is asked at most")
	stream := flag.Bool("stream", false, "print what the model says as it comes")
	flag.Parse()
	question, key := strings.Join(flag.Args(), " "), os.Getenv("OPENAI_API_KEY")
	if question == "" || key == "" {
		fmt.Fprintln(os.Stderr, "usage: OPENAI_API_KEY=… openai [flags] QUESTION")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	tools, err := toolset(ctx, *form, adapter.Surface(*surface))
	if err == nil {
		a := agent{openai.NewClient(option.WithAPIKey(key), option.WithBaseURL(*baseURL)), tools, *model, *turns, *stream}
		err = a.answer(ctx, question)
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop() // ends the world too
	// The error's own text says the status alone.
	if refusal := (*openai.Error)(nil); errors.As(err, &refusal) {
		err = fmt.Errorf("%w: %s", err, refusal.Message)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "openai:", strings.ReplaceAll(err.Error(), key, "[key]"))
		os.Exit(1)
	}
}

// toolset opens the embedded grid and returns what the model may do there, on
// behalf of whoever started the program. Each call is logged on stderr.
func toolset(ctx context.Context, form string, surface adapter.Surface) (*adapter.Toolset, error) {
	provider := dialect.Lookup(form)
	if provider == nil || provider.Form() != dialect.Responses {
		return nil, fmt.Errorf("found the dialect %q, expected openai or openai-strict", form)
	}
	w := world.New()
	demo.New(nil).Start(ctx, w)
	c := client.New(&client.Config{Audit: audit.New(os.Stderr)})
	if err := c.Mount(ctx, "/grid", objects.New(w, nil), &client.MountOptions{Title: "Grid", Trusted: true}); err != nil {
		return nil, err
	}
	owner := &policy.Principal{ID: "owner", Audience: idl.LocalOperator}
	return adapter.New(adapter.Config{Client: c}).Toolset(ctx, owner, adapter.ToolsetOptions{Dialect: provider, Surface: surface})
}

// agent lets a model work with tools.
type agent struct {
	api    openai.Client
	tools  *adapter.Toolset
	model  string
	turns  int
	stream bool
}

// answer asks the model, runs what it calls, sends the results, and so on until
// it calls nothing.
func (a *agent) answer(ctx context.Context, question string) error {
	var declared []json.RawMessage
	if err := json.Unmarshal(a.tools.Export().Tools, &declared); err != nil {
		return err
	}
	params := responses.ResponseNewParams{Model: a.model, Instructions: openai.String(a.tools.Instructions())}
	for _, tool := range declared { // as they are: a model fills in members in the schema's order
		params.Tools = append(params.Tools, param.Override[responses.ToolUnionParam](tool))
	}
	conversation := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(question, responses.EasyInputMessageRoleUser)}
	for range a.turns {
		params.Input.OfInputItemList = conversation
		response, err := a.send(ctx, params)
		if err != nil {
			return err
		}
		reply, calls, err := a.tools.Turn(ctx, []byte(response.RawJSON()))
		if err != nil {
			return err
		}
		if calls == 0 {
			return a.finish(response)
		}
		var results []json.RawMessage
		if err := json.Unmarshal(reply, &results); err != nil {
			return err
		}
		for _, item := range response.Output { // reasoning too: a call has to come back with its reasoning
			conversation = append(conversation, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
		}
		for _, item := range results {
			conversation = append(conversation, param.Override[responses.ResponseInputItemUnionParam](item))
		}
	}
	return fmt.Errorf("found no answer after %d turns", a.turns)
}

// send sends the conversation and returns the model's next response.
func (a *agent) send(ctx context.Context, params responses.ResponseNewParams) (*responses.Response, error) {
	if !a.stream {
		return a.api.Responses.New(ctx, params)
	}
	events := a.api.Responses.NewStreaming(ctx, params)
	defer events.Close()
	for events.Next() {
		switch event := events.Current(); event.Type {
		case "response.output_text.delta":
			fmt.Print(event.Delta)
		case "response.output_text.done":
			fmt.Println()
		case "response.completed", "response.incomplete", "response.failed":
			return &event.Response, nil
		case "error":
			return nil, errors.New(event.Message)
		}
	}
	return nil, cmp.Or(events.Err(), errors.New("the stream broke off"))
}

// finish prints the answer, unless it was printed as it came.
func (a *agent) finish(response *responses.Response) error {
	text := response.OutputText()
	if !a.stream && text != "" {
		fmt.Println(text)
	}
	if response.Status != responses.ResponseStatusCompleted || text == "" {
		return fmt.Errorf("the answer ended early: %s", cmp.Or(response.Error.Message, response.IncompleteDetails.Reason, string(response.Status)))
	}
	return nil
}
