// Command tokens counts what a model pays for working with the embedded grid:
// for the list of tools, which is sent with every request, and for one task from
// the question to the answer, by the three verbs, by a tool for each operation,
// and in code mode. The calls are really made; only the model is played.
//
//	go run . [-peer tools.json]
//
// The tokenizer is OpenAI's o200k_base. Other providers' differ by some tens of
// percent, and add words of their own around tools.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"text/tabwriter"

	"github.com/tiktoken-go/tokenizer"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
)

func main() {
	peer := flag.String("peer", "", "a `file` with another server's answer to tools/list, to stand beside")
	flag.Parse()
	log.SetFlags(0)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := measure(ctx, *peer)
	if err != nil {
		log.Fatalln("tokens:", err)
	}
	r.print(os.Stdout)
}

// modes are the ways to work, in the order of the report.
var modes = []string{"verbs", "operations", "code mode"}

// report is what was counted.
type report struct {
	lists []list
	tasks []task
	peer  *list
}

// list is a list of tools in one dialect and mode.
type list struct {
	dialect, mode string
	tools         int
	bytes, tokens int
}

// task is what the task came to in one mode, in tokens.
type task struct {
	mode    string
	turns   int // requests to the model
	calls   int
	tools   int // list and instructions, once
	called  int // what the model wrote to call
	results int
	fresh   int // everything once: what a provider's cache does not have yet
	sent    int // everything as often as it was sent
}

// measure counts everything. The file of a peer may be empty.
func measure(ctx context.Context, peer string) (*report, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, err
	}
	count := counter{codec: codec}
	w := world.New()
	demo.New(nil).Start(ctx, w)
	c := client.New(nil)
	if err := c.Mount(ctx, "/grid", objects.New(w, nil), &client.MountOptions{Title: "Grid", Trusted: true}); err != nil {
		return nil, err
	}
	tools := func(mode, form string) (*adapter.Toolset, error) {
		cfg, surface := adapter.Config{Client: c}, adapter.Verbs
		switch mode {
		case "operations":
			surface = adapter.Operations
		case "code mode":
			cfg.Code = script.NewRunner(c, script.Limits{})
		}
		owner := &policy.Principal{ID: "owner", Audience: idl.LocalOperator}
		return adapter.New(cfg).Toolset(ctx, owner, adapter.ToolsetOptions{Dialect: dialect.Lookup(form), Surface: surface})
	}
	r := &report{}
	for _, mode := range modes {
		for _, d := range dialect.All() {
			t, err := tools(mode, d.Name)
			if err != nil {
				return nil, err
			}
			r.lists = append(r.lists, count.list(d.Name, mode, t.Export().Tools))
		}
		t, err := tools(mode, "openai")
		if err != nil {
			return nil, err
		}
		done, err := count.task(ctx, mode, t)
		if err != nil {
			return nil, err
		}
		r.tasks = append(r.tasks, done)
	}
	if peer == "" {
		return r, count.err
	}
	raw, err := os.ReadFile(peer)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Tools  json.RawMessage
		Result struct{ Tools json.RawMessage }
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", peer, err)
	}
	if answer.Tools == nil {
		answer.Tools = answer.Result.Tools
	}
	l := count.list("mcp", "peer", answer.Tools)
	if r.peer = &l; l.tools == 0 {
		return nil, fmt.Errorf("%s: found no tools, expected the answer to tools/list", peer)
	}
	return r, count.err
}

// counter counts tokens; err is its first error.
type counter struct {
	codec tokenizer.Codec
	err   error
}

func (c *counter) text(texts ...string) (n int) {
	for _, text := range texts {
		k, err := c.codec.Count(text)
		if err != nil && c.err == nil {
			c.err = err
		}
		n += k
	}
	return n
}

// list counts a list of tools, in Gemini's form with the list inside.
func (c *counter) list(form, mode string, tools json.RawMessage) list {
	var elements []struct{ FunctionDeclarations []json.RawMessage }
	if err := json.Unmarshal(tools, &elements); err != nil && tools != nil && c.err == nil {
		c.err = err
	}
	n := len(elements)
	if n == 1 && elements[0].FunctionDeclarations != nil {
		n = len(elements[0].FunctionDeclarations)
	}
	return list{form, mode, n, len(tools), c.text(string(tools))}
}

// print writes the report.
func (r *report) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "tools, tokens (o200k_base)\t")
	for _, mode := range modes {
		fmt.Fprintf(w, "%s\t", mode)
	}
	fmt.Fprintln(w)
	for i, d := range dialect.All() {
		fmt.Fprintf(w, "%s\t", d.Name)
		for m := range modes {
			l := r.lists[m*len(dialect.All())+i]
			fmt.Fprintf(w, "%d in %d\t", l.tokens, l.tools)
		}
		fmt.Fprintln(w)
	}
	if r.peer != nil {
		fmt.Fprintf(w, "peer\t\t%d in %d\t\t\n", r.peer.tokens, r.peer.tools)
	}
	w.Flush()
	fmt.Fprintf(out, "\n%s\n\n", question)
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "openai\tturns\tcalls\ttools, once\tcalls\tresults\teach once\tas sent\t")
	for _, t := range r.tasks {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", t.mode, t.turns, t.calls, t.tools, t.called, t.results, t.fresh, t.sent)
	}
	if r.peer != nil {
		turns := r.tasks[1].turns
		fmt.Fprintf(w, "peer, its tools alone\t%d\t\t%d\t\t\t\t%d\t\n", turns, r.peer.tokens, turns*r.peer.tokens)
	}
	w.Flush()
}
