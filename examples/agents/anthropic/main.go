// Command anthropic lets a model of Anthropic's answer a question about a world.
// It is one page: the embedded grid, its tools in Anthropic's form, and the loop.
//
//	ANTHROPIC_API_KEY=… go run . "Who is near me, and what stands around?"
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

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

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
	model := flag.String("model", anthropic.ModelClaudeSonnet5_5, "the model that answers")
	surface := flag.String("surface", string(adapter.Verbs), "what it works with: verbs or operations")
	form := flag.String("dialect", "anthropic", "the form of the tools: anthropic or anthropic-strict")
	baseURL := flag.String("base-url", cmp.Or(os.Getenv("ANTHROPIC_BASE_URL"), "https://api.anthropic.com/"), "where the API is")
	turns := flag.Int("turns", 20, "how often the model is asked at most")
	stream := flag.Bool("stream", false, "print what the model says as it comes")
	flag.Parse()
	question, key := strings.Join(flag.Args(), " "), os.Getenv("ANTHROPIC_API_KEY")
	if question == "" || key == "" {
		fmt.Fprintln(os.Stderr, "usage: ANTHROPIC_API_KEY=… anthropic [flags] QUESTION")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	tools, err := toolset(ctx, *form, adapter.Surface(*surface))
	if err == nil {
		a := agent{anthropic.NewClient(option.WithAPIKey(key), option.WithBaseURL(*baseURL)), tools, *model, *turns, *stream}
		err = a.answer(ctx, question)
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop() // ends the world too
	if err != nil {
		fmt.Fprintln(os.Stderr, "anthropic:", strings.ReplaceAll(err.Error(), key, "[key]"))
		os.Exit(1)
	}
}

// toolset opens the embedded grid and returns what the model may do there, on
// behalf of whoever started the program. Each call is logged on stderr.
func toolset(ctx context.Context, form string, surface adapter.Surface) (*adapter.Toolset, error) {
	provider := dialect.Lookup(form)
	if provider == nil || provider.Form() != dialect.Messages {
		return nil, fmt.Errorf("found the dialect %q, expected anthropic or anthropic-strict", form)
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
	api    anthropic.Client
	tools  *adapter.Toolset
	model  string
	turns  int
	stream bool
}

// answer asks the model, runs what it calls, sends the results, and so on until
// it calls nothing.
func (a *agent) answer(ctx context.Context, question string) error {
	params := anthropic.MessageNewParams{
		Model: a.model, MaxTokens: 8192,
		System:       []anthropic.TextBlockParam{{Text: a.tools.Instructions()}},
		Messages:     []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(question))},
		CacheControl: anthropic.NewCacheControlEphemeralParam(), // what was sent before is the same bytes again
	}
	var declared []json.RawMessage
	if err := json.Unmarshal(a.tools.Export().Tools, &declared); err != nil {
		return err
	}
	for _, tool := range declared { // as they are: the order of members tells a model something
		params.Tools = append(params.Tools, param.Override[anthropic.ToolUnionParam](tool))
	}
	for range a.turns {
		message, err := a.send(ctx, params)
		if err != nil {
			return err
		}
		reply, calls, err := a.tools.Turn(ctx, []byte(message.RawJSON()))
		if err != nil {
			return err
		}
		if calls == 0 {
			return a.finish(message)
		}
		var results []anthropic.ContentBlockParamUnion
		if err := json.Unmarshal(reply, &results); err != nil {
			return err
		}
		params.Messages = append(params.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
	}
	return fmt.Errorf("found no answer after %d turns", a.turns)
}

// send sends the conversation and returns the model's next message.
func (a *agent) send(ctx context.Context, params anthropic.MessageNewParams) (*anthropic.Message, error) {
	if !a.stream {
		return a.api.Messages.New(ctx, params)
	}
	events, message := a.api.Messages.NewStreaming(ctx, params), anthropic.Message{}
	defer events.Close()
	for events.Next() {
		event := events.Current()
		if err := message.Accumulate(event); err != nil {
			return nil, err
		}
		fmt.Print(event.Delta.Text) // of other events it is empty
		if event.Type == "content_block_stop" && message.Content[event.Index].Text != "" {
			fmt.Println()
		}
		if event.Type == "message_stop" {
			return &message, nil
		}
	}
	return nil, cmp.Or(events.Err(), errors.New("the stream broke off"))
}

// finish prints the answer, unless it was printed as it came.
func (a *agent) finish(message *anthropic.Message) error {
	text := ""
	for _, block := range message.Content {
		text += block.Text
	}
	if !a.stream && text != "" {
		fmt.Println(text)
	}
	if message.StopReason != anthropic.StopReasonEndTurn || text == "" {
		return fmt.Errorf("the answer ended early: %s", message.StopReason)
	}
	return nil
}
