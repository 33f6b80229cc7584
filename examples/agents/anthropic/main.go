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
	"io"
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
	"github.com/wipagent/wipagent/space"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil && ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted")
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(err.Error(), cmp.Or(os.Getenv("ANTHROPIC_API_KEY"), "\x00"), "[key]"))
		os.Exit(1)
	}
}

// run asks what args say and prints the answer; log gets a line for each call
// of an operation.
func run(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("anthropic", flag.ContinueOnError)
	flags.SetOutput(log)
	model := flags.String("model", anthropic.ModelClaudeSonnet5_5, "the model that answers")
	surface := flags.String("surface", string(adapter.Verbs), "what it works with: verbs or operations")
	form := flags.String("dialect", "anthropic", "the form of the tools: anthropic or anthropic-strict")
	baseURL := flags.String("base-url", cmp.Or(os.Getenv("ANTHROPIC_BASE_URL"), "https://api.anthropic.com/"), "where the API is")
	turns := flags.Int("turns", 20, "how often the model is asked at most")
	stream := flags.Bool("stream", false, "print what the model says as it comes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	question, key := strings.Join(flags.Args(), " "), os.Getenv("ANTHROPIC_API_KEY")
	if question == "" || key == "" {
		return errors.New("found no question or no ANTHROPIC_API_KEY, expected: ANTHROPIC_API_KEY=… anthropic [flags] QUESTION")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the world ends with the run
	tools, err := toolset(ctx, log, *form, adapter.Surface(*surface))
	if err != nil {
		return err
	}
	params := anthropic.MessageNewParams{
		Model: *model, MaxTokens: 8192,
		System:       []anthropic.TextBlockParam{{Text: tools.Instructions()}},
		Messages:     []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(question))},
		CacheControl: anthropic.NewCacheControlEphemeralParam(), // what was sent before is the same bytes again
	}
	var declared []json.RawMessage
	if err := json.Unmarshal(tools.Export().Tools, &declared); err != nil {
		return err
	}
	for _, tool := range declared { // as they are: the order of members tells a model something
		params.Tools = append(params.Tools, param.Override[anthropic.ToolUnionParam](tool))
	}

	api := anthropic.NewClient(option.WithAPIKey(key), option.WithBaseURL(*baseURL))
	for range *turns {
		message, err := send(ctx, &api, params, *stream, out)
		if err != nil {
			return err
		}
		reply, calls, err := tools.Turn(ctx, []byte(message.RawJSON()))
		if err != nil {
			return err
		}
		if calls == 0 {
			return finish(message, *stream, out)
		}
		var results []anthropic.ContentBlockParamUnion
		if err := json.Unmarshal(reply, &results); err != nil {
			return err
		}
		params.Messages = append(params.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
	}
	return fmt.Errorf("found no answer after %d turns", *turns)
}

// toolset opens the embedded grid and returns what the model may do there.
func toolset(ctx context.Context, log io.Writer, form string, surface adapter.Surface) (*adapter.Toolset, error) {
	provider := dialect.Lookup(form)
	if provider == nil || provider.Form() != dialect.Messages {
		return nil, fmt.Errorf("found the dialect %q, expected anthropic or anthropic-strict", form)
	}
	w := world.New()
	demo.New(nil).Start(ctx, w)
	c := client.New(&client.Config{Audit: audit.New(log)})
	if err := c.Mount(ctx, "/grid", objects.New(w, nil), &space.MountOptions{Title: "Grid", Trusted: true}); err != nil {
		return nil, err
	}
	owner := &policy.Principal{ID: "owner", Audience: idl.LocalOperator}
	return adapter.New(adapter.Config{Client: c}).Toolset(ctx, owner, adapter.ToolsetOptions{Dialect: provider, Surface: surface})
}

// send sends the conversation and returns the model's next message.
func send(ctx context.Context, api *anthropic.Client, params anthropic.MessageNewParams, stream bool, out io.Writer) (*anthropic.Message, error) {
	if !stream {
		return api.Messages.New(ctx, params)
	}
	events, message := api.Messages.NewStreaming(ctx, params), anthropic.Message{}
	defer events.Close()
	for events.Next() {
		event := events.Current()
		if err := message.Accumulate(event); err != nil {
			return nil, err
		}
		fmt.Fprint(out, event.Delta.Text) // of other events it is empty
		if event.Type == "content_block_stop" && message.Content[event.Index].Text != "" {
			fmt.Fprintln(out)
		}
		if event.Type == "message_stop" {
			return &message, nil
		}
	}
	return nil, cmp.Or(events.Err(), errors.New("the stream broke off"))
}

// finish prints the answer, unless it was streamed.
func finish(message *anthropic.Message, streamed bool, out io.Writer) error {
	for _, block := range message.Content {
		if !streamed && block.Text != "" {
			fmt.Fprintln(out, block.Text)
		}
	}
	if message.StopReason != anthropic.StopReasonEndTurn {
		return fmt.Errorf("the answer ended early: %s", message.StopReason)
	}
	return nil
}
