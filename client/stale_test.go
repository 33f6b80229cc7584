package client_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/space/wip"
)

// TestStale exchanges what an entry leads to between a look at it and a call.
func TestStale(t *testing.T) {
	const other = "second"
	renamed := strings.Replace(deskDocument, "look() -> int", "look(far: bool = false) -> int", 1)
	renamed = strings.Replace(renamed, "label(text: string)", "label(words: string)", 1)
	moreBehind := strings.Replace(deskDocument, "@destructive burn", "@read_only count() -> int; @destructive burn", 1)
	for name, test := range map[string]struct {
		operation, arguments string
		object, document     string // then; empty is as before
		gone                 bool
		sent                 string // to the Host
		class                client.Class
		message, hint        string
	}{
		"another Object, read":                   {operation: "look", object: other, sent: "look look"},
		"another Object, tried":                  {operation: "write", arguments: `{"text":"x","dry_run":true}`, object: other, sent: "try-write try-write"},
		"another Object, changed":                {operation: "burn", object: other, sent: "burn", class: client.Domain, message: "leads to something else", hint: "inspect /d/desk again"},
		"another Object, changed idempotently":   {operation: "label", arguments: `{"text":"x"}`, object: other, sent: "try-label label", class: client.Domain, message: "leads to something else"},
		"another Object with more, read":         {operation: "look", object: other, document: moreBehind, sent: "look look"},
		"another Object with other words":        {operation: "look", object: other, document: renamed, sent: "look", class: client.Domain, message: "leads to something else", hint: "the signature now: look(far: bool = false)"},
		"another Object without the operation":   {operation: "look", object: other, document: strings.Replace(deskDocument, "@read_only look() -> int;", "", 1), sent: "look", class: client.Domain, message: "something else"},
		"another Object that hides it":           {operation: "look", object: other, document: strings.Replace(deskDocument, "@read_only look", "@audience(local_operator) @read_only look", 1), sent: "look", class: client.Domain, message: "something else"},
		"another Object where it does not read":  {operation: "look", object: other, document: strings.Replace(deskDocument, "@read_only look", "@mutating look", 1), sent: "look", class: client.Domain, message: "something else"},
		"another Object of a different document": {operation: "look", object: other, document: strings.Replace(deskDocument, "package desk", "package table", 1), sent: "look", class: client.Domain, message: "something else"},
		"nothing any more":                       {operation: "look", gone: true, sent: "look", class: client.NotFound},
	} {
		for _, alone := range []bool{false, true} { // known by a tree, or by a look-up
			h := &deskHost{alone: alone}
			c := h.open(t, true, yes)
			if test.arguments == "" {
				test.arguments = `{}`
			}
			if _, err := c.Inspect(t.Context(), visitor, "/d/desk"); err != nil {
				t.Fatal(err)
			}
			switch {
			case test.gone:
				h.object = "" // Fetch says that it is not there
			case test.object != "":
				h.object = test.object
			}
			if test.document != "" {
				h.document = test.document
			}
			_, err := c.Invoke(t.Context(), visitor, call("/d/desk", test.operation, test.arguments))
			if got := h.done(); got != test.sent {
				t.Errorf("%s (alone: %v): the Host was asked for %q, want %q", name, alone, got, test.sent)
			}
			if test.class == "" {
				if err != nil {
					t.Errorf("%s (alone: %v): %v", name, alone, err)
				}
				continue
			}
			e := failure(t, err)
			if e.Class != test.class || !strings.Contains(e.Message, test.message) || !strings.Contains(e.Hint, test.hint) {
				t.Errorf("%s (alone: %v): %v", name, alone, e)
			}
			if all := e.Error(); strings.Contains(all, "second") || strings.Contains(all, "first") {
				t.Errorf("%s: it tells of identifiers: %s", name, all)
			}
			if test.class == client.Domain && !test.gone && test.document == "" {
				// Having been told, the caller decides, and the call works.
				if _, err := c.Invoke(t.Context(), visitor, call("/d/desk", test.operation, test.arguments)); err != nil {
					t.Errorf("%s (alone: %v): a second time: %v", name, alone, err)
				}
			}
		}
	}
}

// TestStaleForEver has a Host that says of each call that its entry is not what
// it was, although it is: it is asked once more at most.
func TestStaleForEver(t *testing.T) {
	h := &lying{}
	h.object, h.document = "first", deskDocument
	c := client.New(nil)
	if err := c.Mount(t.Context(), "/d", h, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Invoke(t.Context(), visitor, call("/d/desk", "look", `{}`))
	if e := failure(t, err); e.Class != client.Unavailable || !strings.Contains(e.Message, "changing") || h.done() != "look" {
		t.Errorf("%v", e)
	}
}

// lying is a desk that takes no call's Object for its own.
type lying struct{ deskHost }

func (h *lying) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	call.Object = "none"
	return h.deskHost.CallOperation(ctx, call)
}

// TestSubstitutedDocument has a Host serve another document than its entry names:
// what it declares is not used, the operator is told, and the caller only that
// something is missing.
func TestSubstitutedDocument(t *testing.T) {
	h := &substituting{}
	h.alone = true
	h.object, h.document = "first", deskDocument
	log := &bytes.Buffer{}
	c := client.New(&client.Config{Audit: audit.New(log)})
	if err := c.Mount(t.Context(), "/d", h, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Invoke(t.Context(), visitor, call("/d/desk", "look", `{}`)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := c.Invoke(t.Context(), visitor, call("/d/desk", "ring", `{}`))
		if e := failure(t, err); e.Class != client.NotFound || !strings.Contains(e.Hint, "not available now") || strings.Contains(e.Hint, "igest") {
			t.Errorf("%v", e)
		}
	}
	if n := strings.Count(log.String(), `"cause":"mount /d: an IDL document does not have the digest that its reference gives"`); n != 1 {
		t.Errorf("the operator is told %d times:\n%s", n, log)
	}
}

// substituting is a desk with a bell whose document was exchanged.
type substituting struct{ deskHost }

func (h *substituting) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	e, err := h.deskHost.Fetch(ctx, caller, path)
	if e.Object != nil {
		e.Object.Interfaces = append(e.Object.Interfaces, wip.InterfaceRef{Document: "bell.wip", Interface: "Bell", SHA256: strings.Repeat("0", 64)})
	}
	return e, err
}

func (h *substituting) Document(ctx context.Context, name string) ([]byte, error) {
	if name == "bell.wip" {
		return []byte(`package bell; @read_only @audience(public_chat) interface Bell { ring() -> int; }`), nil
	}
	return h.deskHost.Document(ctx, name)
}

// TestReadOnlyKnowsWhatResultsLeadTo: what no tree has may change things too.
func TestReadOnlyKnowsWhatResultsLeadTo(t *testing.T) {
	for document, want := range map[string]bool{
		`package desk; @read_only interface Desk { find() -> list<entry<Drawer>>; } @read_only interface Drawer { look() -> int; }`: true,
		`package desk; @read_only interface Desk { find() -> list<entry<Drawer>>; } @mutating interface Drawer { lock() -> int; }`:  false,
	} {
		h := &deskHost{document: document}
		if got := h.open(t, true, nil).ReadOnly(); got != want {
			t.Errorf("%s: only reads: %v", document, got)
		}
		if h.open(t, false, nil).ReadOnly() {
			t.Errorf("%s: a Host that nobody vouches for is believed", document)
		}
	}
}
