package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/space/wip"
)

// published is a Host with one document, shop.wip, whose interfaces the entry
// /shop has, and entries below that.
type published struct {
	document   string
	interfaces int
	children   int
}

func (h published) Fetch(context.Context, wip.Caller, string) (wip.Entry, error) {
	return wip.Entry{}, &wip.Failure{Class: wip.NotFound}
}

func (h published) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	object, shelf := &wip.Object{ID: "shop"}, wip.InterfaceRef{Document: "shelf.wip", Interface: "Shelf"}
	for i := range h.interfaces {
		object.Interfaces = append(object.Interfaces, wip.InterfaceRef{Document: "shop.wip", Interface: fmt.Sprintf("Shop%d", i)})
	}
	shop := wip.Tree{Entry: wip.Entry{Path: "/shop", Title: "Shop", Object: object, Indexable: true}}
	for i := range h.children {
		shop.Children = append(shop.Children, wip.Tree{Entry: wip.Entry{
			Path: fmt.Sprintf("/shop/shelf%d", i), Title: "Shelf", Summary: strings.Repeat("full of things ", 20), Indexable: true,
			Object: &wip.Object{ID: fmt.Sprint(i), Interfaces: []wip.InterfaceRef{shelf}},
		}})
	}
	return wip.Tree{Entry: wip.Entry{Path: "/"}, Children: []wip.Tree{shop}}, nil
}

func (h published) Document(_ context.Context, name string) ([]byte, error) {
	if name == "shelf.wip" {
		return []byte("package shelf;\nversion 1;\n@read_only @audience(public_chat)\ninterface Shelf {\n/// Looks.\nlook() -> bool;\n}\n"), nil
	}
	return []byte(h.document), nil
}

func (published) CallOperation(context.Context, wip.Call) (wip.Result, error) {
	return wip.Result{Value: json.RawMessage(`{"ok":true}`)}, nil
}

// shop writes a document: interfaces with operations each, and sentences for
// each thing that can be documented.
func shop(interfaces, operations, sentences int) string {
	var b strings.Builder
	doc := func(of string) {
		for range sentences {
			fmt.Fprintf(&b, "/// What there is to say of the %s.\n", of)
		}
	}
	b.WriteString("package shop;\nversion 1;\n")
	for i := range interfaces {
		doc("interface")
		fmt.Fprintf(&b, "@read_only @audience(public_chat)\ninterface Shop%d {\n", i)
		for o := range operations {
			doc("operation")
			fmt.Fprintf(&b, "@example(word: \"an example\") operation_%d_%d(\n", i, o)
			doc("parameter")
			b.WriteString("word: string [1..40 bytes]) -> Sold;\n")
		}
		b.WriteString("}\n")
	}
	doc("record")
	b.WriteString("record Sold {\n")
	doc("field")
	b.WriteString("ok: bool;\n}\n")
	return b.String()
}

// many writes a document with one operation of many parameters, with sentences
// about each.
func many(sentences int) string {
	var b strings.Builder
	b.WriteString("package shop;\nversion 1;\n/// A shop.\n@read_only @audience(public_chat)\ninterface Shop0 {\n/// Sells.\n@example(word_1: true) operation_0_0(\n")
	for p := range 20 {
		fmt.Fprintf(&b, "%sword_%d: bool = false,\n", strings.Repeat("/// What there is to say of it.\n", sentences), p)
	}
	b.WriteString(") -> bool;\n}\n")
	return b.String()
}

// description is what a model makes of an answer of inspect.
type description struct {
	Path       string
	Interfaces []struct {
		Doc        string
		Operations []struct {
			Name, Signature, Doc, Risk string
			Parameters                 map[string]string
			Example                    json.RawMessage
			Cost                       int
		}
		Types []string
	}
	Forms     map[string]string
	Children  []struct{ Path string }
	Input     json.RawMessage `json:"input_schema"`
	Output    json.RawMessage `json:"output_schema"`
	Truncated bool
	Hint      string
}

// what lists what a description holds of all that it could.
func (d description) what() string {
	var has []string
	add := func(what string, there bool) {
		if there {
			has = append(has, what)
		}
	}
	add("output", d.Output != nil)
	operations := 0
	for i, iface := range d.Interfaces {
		operations += len(iface.Operations)
		if op := iface.Operations[0]; i == 0 {
			add("types", iface.Types != nil)
			add("parameters", op.Parameters != nil && op.Example != nil)
			add("docs", iface.Doc != "" && op.Doc != "")
			add("limits", op.Risk != "" && op.Cost > 0)
			add("input", d.Input != nil)
			add("signatures", op.Signature != "")
		}
	}
	add(fmt.Sprint(operations, " operations"), operations > 0)
	add(fmt.Sprint(len(d.Children), " children"), len(d.Children) > 0)
	add("hint", d.Truncated && d.Hint != "")
	return strings.Join(has, ", ")
}

// TestDescriptionsFit inspects entries that have more to say than an answer of
// inspect may hold. What goes first is what can be asked for otherwise.
func TestDescriptionsFit(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time, at length: nothing for the race detector")
	}
	limit := 0
	for _, tool := range adapter.Tools(true) {
		if tool.Name == "inspect" {
			limit = tool.MaxOutput
		}
	}
	wide := strings.Replace(shop(1, 1, 1), "ok: bool;", "a: B; b: B; c: B; d: B;", 1) +
		"record B { a: C; b: C; c: C; d: C; }\nrecord C { a: D; b: D; c: D; d: D; }\n" +
		strings.Repeat("/// What there is to say of it.\n", 20) + "record D { a: bool; b: bool; c: bool; d: bool; }\n"
	for _, test := range []struct {
		name, target string
		host         published
		want         string
	}{
		{"little", "/x/shop", published{shop(1, 3, 1), 1, 3}, "types, parameters, docs, limits, signatures, 3 operations, 3 children"},
		{"types", "/x/shop", published{shop(1, 60, 1), 1, 0}, "types, parameters, docs, limits, signatures, 60 operations"},
		{"long types", "/x/shop", published{strings.Replace(shop(1, 90, 1), "/// What there is to say of the record.", strings.Repeat("/// What there is to say of the record.\n", 100), 1), 1, 0},
			"parameters, docs, limits, signatures, 90 operations, hint"},
		{"parameters", "/x/shop", published{shop(1, 80, 3), 1, 0}, "docs, limits, signatures, 80 operations, hint"},
		{"docs", "/x/shop", published{shop(1, 120, 5), 1, 0}, "limits, signatures, 120 operations, hint"},
		{"limits", "/x/shop", published{shop(1, 250, 2), 1, 0}, "signatures, 250 operations, hint"},
		{"signatures", "/x/shop", published{shop(3, 200, 2), 3, 0}, "600 operations, hint"},
		{"operations", "/x/shop", published{shop(6, 250, 0), 6, 0}, "1214 operations, hint"},
		{"children", "/x/shop", published{shop(1, 3, 1), 1, 3000}, "types, parameters, docs, limits, signatures, 3 operations, 45 children, hint"},
		{"all", "/x/shop", published{shop(6, 250, 0), 6, 300}, "610 operations, 45 children, hint"},
		{"output", "/x/shop#operation_0_0", published{wide, 1, 0}, "types, parameters, docs, limits, input, signatures, 1 operations, hint"},
		{"one operation", "/x/shop#operation_0_0", published{shop(1, 1, 1), 1, 0}, "output, types, parameters, docs, limits, input, signatures, 1 operations"},
		{"one long operation", "/x/shop#operation_0_0", published{many(100), 1, 0}, "docs, limits, signatures, 1 operations, hint"},
		{"one operation with a long schema", "/x/shop#operation_0_0", published{many(30), 1, 0}, "docs, limits, input, signatures, 1 operations, hint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := client.New(nil)
			if err := c.Mount(t.Context(), "/x", test.host, &client.MountOptions{Trusted: true}); err != nil {
				t.Fatal(err)
			}
			ask := func() json.RawMessage {
				answer, _ := adapter.New(adapter.Config{Client: c}).Call(t.Context(), operator, "inspect", "", json.RawMessage(`{"target":"`+test.target+`"}`))
				return answer.JSON
			}
			raw := ask()
			if len(raw) > limit {
				t.Errorf("the answer has %d bytes, at most %d are promised", len(raw), limit)
			}
			var d description
			if err := json.Unmarshal(raw, &d); err != nil {
				t.Fatalf("%v: %.300s", err, raw)
			}
			if diff := cmp.Diff(test.want, d.what()); diff != "" {
				t.Errorf("(-want +got):\n%s\nhint: %s", diff, d.Hint)
			}
			path, _, only := strings.Cut(test.target, "#")
			cut := d.Truncated && !only && !strings.HasPrefix(test.want, "types")
			if how := "inspect " + path + "#OPERATION"; strings.Contains(d.Hint, how) != cut {
				t.Errorf("the hint %q, want %q in it: %v", d.Hint, how, cut)
			}
			if len(d.Children) > 0 && len(d.Children) < test.host.children && !strings.Contains(d.Hint, "scope "+path) {
				t.Errorf("the hint %q does not say how to find the other entries", d.Hint)
			}
			if only && d.Truncated && !strings.Contains(d.Hint, "output_schema") {
				t.Errorf("the hint %q does not say what is missing", d.Hint)
			}
			var again description
			if err := json.Unmarshal(ask(), &again); err != nil || !cmp.Equal(d, again) {
				t.Errorf("two answers differ (%v):\n%s", err, cmp.Diff(d, again))
			}
		})
	}
}

// TestDiscoveriesFit searches among entries with the longest paths and
// signatures: the space itself keeps what it finds short.
func TestDiscoveriesFit(t *testing.T) {
	name := strings.Repeat("sell_", 11)
	var document strings.Builder
	document.WriteString("package shop;\nversion 1;\n@read_only @audience(public_chat)\ninterface Shop0 {\n")
	for o := range 5 {
		fmt.Fprintf(&document, "/// Sells hats.\n%s%d(\n", name, o)
		for p := range 20 {
			fmt.Fprintf(&document, "/// A word.\nword_%d: string [1..40 bytes] = \"%s\",\n", p, strings.Repeat(`\"`, 20))
		}
		document.WriteString(") -> bool;\n")
	}
	document.WriteString("}\n")
	c := client.New(nil)
	if err := c.Mount(t.Context(), "/x", street{published{document.String(), 1, 0}}, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	answer, _ := adapter.New(adapter.Config{Client: c}).Call(t.Context(), operator, "discover", "", json.RawMessage(`{"query":"sell hats"}`))
	var found client.Discovery
	if err := json.Unmarshal(answer.JSON, &found); err != nil {
		t.Fatal(err)
	}
	if len(answer.JSON) > 32<<10 || len(found.Hits) == 0 || !found.Truncated || !strings.Contains(found.Message, "narrower scope") {
		t.Errorf("%d bytes with %d hits, truncated %v, message %q", len(answer.JSON), len(found.Hits), found.Truncated, found.Message)
	}
}

// street has many shops, far down.
type street struct{ published }

func (h street) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	t, err := h.published.FetchTree(ctx, caller, path)
	shop := t.Children[0]
	t.Children = nil
	for i := range 10 {
		entry, at := shop.Entry, ""
		for range 8 {
			at += "/" + strings.Repeat("s", 120)
		}
		entry.Path, entry.Summary = fmt.Sprintf("%s/%d", at, i), strings.Repeat("sells hats ", 60)
		t.Children = append(t.Children, wip.Tree{Entry: entry})
	}
	return t, err
}
