// Command gemini lets a Gemini model answer a question about a world.
// It is one page: the embedded grid, its tools in Gemini's form, and the loop.
//
//	GEMINI_API_KEY=… go run . "Who is near me, and what stands around?"
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
	"reflect"
	"strings"

	"google.golang.org/genai"

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
	model := flag.String("model", "gemini-flash-latest", "the model that answers")
	surface := flag.String("surface", string(adapter.Verbs), "what it works with: verbs or operations")
	form := flag.String("dialect", "gemini", "the form of the tools: gemini or gemini-json")
	baseURL := flag.String("base-url", cmp.Or(os.Getenv("GOOGLE_GEMINI_BASE_URL"), "https://generativelanguage.googleapis.com/"), "where the API is")
	turns := flag.Int("turns", 20, "how often the model is asked at most")
	stream := flag.Bool("stream", false, "print what the model says as it comes")
	flag.Parse()
	question, key := strings.Join(flag.Args(), " "), os.Getenv("GEMINI_API_KEY")
	if question == "" || key == "" {
		fmt.Fprintln(os.Stderr, "usage: GEMINI_API_KEY=… gemini [flags] QUESTION")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	tools, err := toolset(ctx, *form, adapter.Surface(*surface))
	if err == nil {
		var api *genai.Client
		api, err = genai.NewClient(ctx, &genai.ClientConfig{
			Backend: genai.BackendGeminiAPI, APIKey: key, HTTPOptions: genai.HTTPOptions{BaseURL: *baseURL},
		})
		if err == nil {
			a := agent{api, tools, *model, *turns, *stream}
			err = a.answer(ctx, question)
		}
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop() // ends the world too
	if err != nil {
		fmt.Fprintln(os.Stderr, "gemini:", strings.ReplaceAll(err.Error(), key, "[key]"))
		os.Exit(1)
	}
}

// toolset opens the embedded grid and returns what the model may do there, on
// behalf of whoever started the program. Each call is logged on stderr.
func toolset(ctx context.Context, form string, surface adapter.Surface) (*adapter.Toolset, error) {
	provider := dialect.Lookup(form)
	if provider == nil || provider.Form() != dialect.Generate {
		return nil, fmt.Errorf("found the dialect %q, expected gemini or gemini-json", form)
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
	api    *genai.Client
	tools  *adapter.Toolset
	model  string
	turns  int
	stream bool
}

// answer asks the model, runs what it calls, sends the results, and so on until
// it calls nothing.
func (a *agent) answer(ctx context.Context, question string) error {
	config := &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText(a.tools.Instructions(), genai.RoleUser)}
	if err := json.Unmarshal(a.tools.Export().Tools, &config.Tools); err != nil {
		return err
	}
	conversation := []*genai.Content{genai.NewContentFromText(question, genai.RoleUser)}
	for range a.turns {
		said, err := a.send(ctx, conversation, config)
		if err != nil {
			return err
		}
		message, err := json.Marshal(said)
		if err != nil {
			return err
		}
		reply, calls, err := a.tools.Turn(ctx, message)
		if err != nil {
			return err
		}
		if calls == 0 {
			return a.finish(said)
		}
		var results []*genai.Part
		if err := json.Unmarshal(reply, &results); err != nil {
			return err
		}
		// The model's content goes back whole: its parts are signed.
		conversation = append(conversation, said.Content, genai.NewContentFromParts(results, genai.RoleUser))
	}
	return fmt.Errorf("found no answer after %d turns", a.turns)
}

// send sends the conversation and returns what the model says next.
func (a *agent) send(ctx context.Context, conversation []*genai.Content, config *genai.GenerateContentConfig) (*genai.Candidate, error) {
	said := &genai.Candidate{Content: &genai.Content{Role: genai.RoleModel}}
	take := func(response *genai.GenerateContentResponse) error {
		if response.PromptFeedback != nil && response.PromptFeedback.BlockReason != "" {
			return fmt.Errorf("the question was blocked: %s", response.PromptFeedback.BlockReason)
		}
		for _, candidate := range response.Candidates {
			if candidate.Content == nil {
				candidate.Content = new(genai.Content)
			}
			for _, part := range candidate.Content.Parts {
				if !reflect.ValueOf(*part).IsZero() { // a stream may end in an empty text, which may not be sent back
					said.Content.Parts = append(said.Content.Parts, part)
				}
			}
			said.FinishReason = cmp.Or(candidate.FinishReason, said.FinishReason)
		}
		return nil
	}
	if !a.stream {
		response, err := a.api.Models.GenerateContent(ctx, a.model, conversation, config)
		if err != nil {
			return nil, err
		}
		return said, take(response)
	}
	for chunk, err := range a.api.Models.GenerateContentStream(ctx, a.model, conversation, config) {
		if err == nil {
			err = take(chunk)
		}
		if err != nil {
			return nil, err
		}
		fmt.Print(text(chunk.Candidates...))
	}
	if said.FinishReason == "" {
		return nil, errors.New("the stream broke off")
	}
	if text(said) != "" {
		fmt.Println()
	}
	return said, nil
}

// text returns what candidates say to the reader; their thoughts are not for it.
func text(candidates ...*genai.Candidate) (text string) {
	for _, candidate := range candidates {
		for _, part := range candidate.Content.Parts {
			if !part.Thought {
				text += part.Text
			}
		}
	}
	return text
}

// finish prints the answer, unless it was printed as it came.
func (a *agent) finish(said *genai.Candidate) error {
	text := text(said)
	if !a.stream && text != "" {
		fmt.Println(text)
	}
	if said.FinishReason != genai.FinishReasonStop || text == "" {
		return fmt.Errorf("the answer ended early: %s", cmp.Or(string(said.FinishReason), "no reason given"))
	}
	return nil
}
