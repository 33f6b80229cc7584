package lsp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/wipagent/wipagent/idl/lsp"
)

func rules(list []diagnostic) []string {
	names := []string{}
	for _, d := range list {
		if d.Severity == 1 {
			names = append(names, d.Code)
		}
	}
	return names
}

func TestDiagnosticsAsYouType(t *testing.T) {
	e := newEditor(t, nil)
	e.open("a.wip", "package a;\n\n/// 🚪 Where it is.\nrecord A { /* 🚪 */ x: in; }\n")
	got := e.diagnostics("a.wip", 1)
	if diff := cmp.Diff([]string{"unknown-type"}, rules(got)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if want := (span{position{3, 23}, position{3, 25}}); got[0].Range != want {
		t.Errorf("got range %v, want %v", got[0].Range, want)
	}
	e.change("a.wip", 2, object{"range": span{position{3, 25}, position{3, 25}}, "text": "t"})
	if got := rules(e.diagnostics("a.wip", 2)); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
	// Two changes of one notification apply one after the other.
	e.change("a.wip", 3, object{"range": span{position{0, 0}, position{0, 0}}, "text": "\n"},
		object{"range": span{position{1, 0}, position{1, 11}}, "text": "package a"})
	if diff := cmp.Diff([]string{"missing-semicolon"}, rules(e.diagnostics("a.wip", 3))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDiagnosticsOfSeveralMistakes(t *testing.T) {
	e := newEditor(t, nil)
	e.open("a.wip", "package a;\nrecord A { x: nt }\ninterface B { go(a: list<int = 5, b: text) -> ; }\n")
	got := rules(e.diagnostics("a.wip", 1))
	for _, rule := range []string{"unknown-type", "missing-semicolon", "unclosed-angle", "parameter-type", "missing-type"} {
		if !strings.Contains(strings.Join(got, " "), rule) {
			t.Errorf("got %q, want %q among them", got, rule)
		}
	}
}

// TestDiagnosticsAcrossDocuments changes a document in the editor and looks at
// another that imports it, directly or through a third.
func TestDiagnosticsAcrossDocuments(t *testing.T) {
	e := newEditor(t, map[string]string{"wip.toml": "imports = [\"lib\"]\n", "lib/shared.wip": shared})
	e.open("shop.wip", shop)
	e.open("far.wip", "package far;\nimport \"shop.wip\";\nrecord Far { item: Item; }\n")
	if got := rules(e.diagnostics("shop.wip", 1)); len(got) != 0 {
		t.Fatalf("got %v, want none", got)
	}
	e.open("lib/shared.wip", strings.Replace(shared, "record Place", "record Spot", 1))
	e.wait("shop.wip", func(p published) bool {
		return strings.Join(rules(p.Diagnostics), " ") == "unknown-type unknown-type"
	})
	// Closing it without saving brings back what is on disk.
	e.tell("textDocument/didClose", object{"textDocument": object{"uri": e.uri("lib/shared.wip")}})
	e.wait("shop.wip", func(p published) bool { return len(rules(p.Diagnostics)) == 0 })
	e.wait("lib/shared.wip", func(p published) bool { return len(p.Diagnostics) == 0 })

	// A change on disk, of which the editor tells.
	if err := os.WriteFile(filepath.Join(e.dir, "lib", "shared.wip"), []byte("package shared;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e.tell("workspace/didChangeWatchedFiles", object{"changes": []any{}})
	e.wait("shop.wip", func(p published) bool { return len(rules(p.Diagnostics)) > 2 })
}

// TestOneConfiguration fails if the editor does not follow the wip.toml of the
// command line.
func TestOneConfiguration(t *testing.T) {
	e := newEditor(t, map[string]string{"wip.toml": "imports = [\"lib\"]\n", "lib/deep/shared.wip": shared})
	text := strings.Replace(shop, "shared.wip", "deep/shared.wip", 1)
	e.open("sub/shop.wip", text)
	if got := rules(e.diagnostics("sub/shop.wip", 1)); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
	if err := os.WriteFile(filepath.Join(e.dir, "wip.toml"), []byte("imports = 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e.tell("workspace/didChangeWatchedFiles", object{"changes": []any{}})
	e.wait("sub/shop.wip", func(p published) bool { return len(rules(p.Diagnostics)) > 0 })
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.told) == 0 || !strings.Contains(e.told[0], "wip.toml") {
		t.Errorf("got the messages %q, want one about wip.toml", e.told)
	}
}

func TestWatchesFiles(t *testing.T) {
	e := newEditor(t, nil)
	e.open("a.wip", "package a;\n")
	e.diagnostics("a.wip", 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.asked) != 1 || !strings.Contains(e.asked[0], "client/registerCapability") || !strings.Contains(e.asked[0], "**/*.wip") {
		t.Errorf("got %q, want a registration", e.asked)
	}
}

func TestUnsavedDocument(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("untitled:Untitled-1", shop)
	if got := rules(e.wait("untitled:Untitled-1", func(p published) bool { return p.Version != nil }).Diagnostics); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
}

func TestLifecycle(t *testing.T) {
	tests := []struct {
		name     string
		messages []string
		codes    []int // of the answers; 0 is a result
		want     error
	}{
		{"good", []string{`{"id":1,"method":"initialize","params":{"capabilities":{}}}`, `{"id":2,"method":"shutdown"}`, `{"method":"exit"}`}, []int{0, 0}, nil},
		{"end of input after shutdown", []string{`{"id":1,"method":"initialize","params":{}}`, `{"id":2,"method":"shutdown"}`}, []int{0, 0}, nil},
		{"exit without shutdown", []string{`{"id":1,"method":"initialize","params":{}}`, `{"method":"exit"}`}, []int{0}, lsp.ErrNoShutdown},
		{"end of input", nil, nil, lsp.ErrNoShutdown},
		{"before initialize", []string{`{"id":1,"method":"textDocument/hover","params":{}}`}, []int{-32002}, lsp.ErrNoShutdown},
		{"twice", []string{`{"id":1,"method":"initialize","params":{}}`, `{"id":2,"method":"initialize","params":{}}`}, []int{0, -32600}, lsp.ErrNoShutdown},
		{"after shutdown", []string{`{"id":1,"method":"initialize","params":{}}`, `{"id":2,"method":"shutdown"}`, `{"id":3,"method":"workspace/symbol","params":{"query":""}}`},
			[]int{0, 0, -32600}, nil},
		{"unknown method", []string{`{"id":"x","method":"textDocument/fly"}`}, []int{-32601}, lsp.ErrNoShutdown},
		{"unknown notification", []string{`{"method":"$/fly"}`, `{"id":1,"method":"initialize","params":{}}`}, []int{0}, lsp.ErrNoShutdown},
		{"wrong parameters", []string{`{"id":1,"method":"initialize","params":[1]}`}, []int{-32602}, lsp.ErrNoShutdown},
		{"null parameters", []string{`{"id":1,"method":"initialize","params":null}`}, []int{0}, lsp.ErrNoShutdown},
		{"no such document", []string{`{"id":1,"method":"initialize","params":{}}`, `{"id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///x.wip"}}}`}, []int{0, -32602}, lsp.ErrNoShutdown},
		{"no JSON", []string{`{"id":1,`, `{"id":1,"method":"initialize","params":{}}`}, []int{-32700, 0}, lsp.ErrNoShutdown},
		{"no message", []string{`{"a":1}`, `[]`, `5`, `{"id":1,"method":"initialize","params":{}}`}, []int{-32600, -32600, -32600, 0}, lsp.ErrNoShutdown},
		{"batch", []string{`[{"id":1,"method":"initialize"}]`}, []int{-32600}, lsp.ErrNoShutdown},
		{"answer to nothing", []string{`{"id":7,"result":null}`, `{"id":1,"method":"initialize","params":{}}`}, []int{0}, lsp.ErrNoShutdown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var in, out bytes.Buffer
			for _, m := range tt.messages {
				fmt.Fprintf(&in, "Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s", len(m), m)
			}
			if err := lsp.Serve(t.Context(), &in, &out, nil); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			var codes []int
			for _, answer := range strings.Split(out.String(), "Content-Length: ")[1:] {
				_, content, _ := strings.Cut(answer, "\r\n\r\n")
				var m struct {
					Error struct {
						Code int `json:"code"`
					} `json:"error"`
				}
				if err := json.Unmarshal([]byte(content), &m); err != nil {
					t.Errorf("%q: %s", content, err)
				}
				codes = append(codes, m.Error.Code)
			}
			if diff := cmp.Diff(tt.codes, codes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"no length", "Content-Type: x\r\n\r\n{}", "without a content length"},
		{"negative", "Content-Length: -1\r\n\r\n", "content length"},
		{"no number", "Content-Length: ten\r\n\r\n", `found the content length "ten", expected a number of bytes`},
		{"too large", "Content-Length: 99999999999\r\n\r\n", "content length"},
		{"no header", "GET / HTTP/1.1\r\n\r\n", "expected a name and a value"},
		{"endless line", strings.Repeat("x", 1<<16), "header line"},
		{"endless header", strings.Repeat("A: b\r\n", 1000), "lines"},
		{"cut in the header", "Content-Len", "unexpected EOF"},
		{"cut in the content", "Content-Length: 16000000\r\n\r\n{", "unexpected EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := lsp.Serve(t.Context(), strings.NewReader(tt.in), io.Discard, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestEndOfContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	done := make(chan error)
	go func() { done <- lsp.Serve(ctx, in, io.Discard, nil) }()
	cancel()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("Serve goes on")
	}
}

// TestCancel cancels requests that wait behind one another; each is answered,
// with its result or as cancelled.
func TestCancel(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("shop.wip", shop)
	cancelled := 0
	var calls []jsonrpc2.Waiter
	for i := range 50 {
		id := jsonrpc2.ID{Num: uint64(1000 + i)}
		call, err := e.conn.DispatchCall(t.Context(), "textDocument/documentSymbol", object{"textDocument": object{"uri": e.uri("shop.wip")}}, jsonrpc2.PickID(id))
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
		e.tell("$/cancelRequest", object{"id": id})
	}
	for _, call := range calls {
		var list []documentSymbol
		err := call.Wait(t.Context(), &list)
		var refusal *jsonrpc2.Error
		switch {
		case errors.As(err, &refusal) && refusal.Code == -32800:
			cancelled++
		case err != nil:
			t.Fatal(err)
		case len(list) != 3:
			t.Errorf("got %d symbols, want 3", len(list))
		}
	}
	t.Logf("%d of 50 were cancelled", cancelled)
}

// TestSuperseded types fast; the last state is what is shown at the end.
func TestSuperseded(t *testing.T) {
	e := newEditor(t, nil)
	e.open("a.wip", "package a;\n\nrecord A { x: int; }\n")
	for v := 2; v < 300; v++ {
		e.replace("a.wip", v, fmt.Sprintf("package a;\n\nrecord A { x%d: wrong%d; }\n", v, v))
	}
	got := e.diagnostics("a.wip", 299)
	if len(got) == 0 || !strings.Contains(got[0].Message, "wrong299") {
		t.Errorf("got %v, want what is wrong with the last", got)
	}
}

// TestLimits goes past what is kept; the server stays, and says so.
func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time, at length: nothing for the race detector")
	}
	said := func(e *editor, words string) {
		t.Helper()
		deadline := time.After(patience)
		for {
			e.mu.Lock()
			all := strings.Join(e.told, "\n")
			e.mu.Unlock()
			if strings.Contains(all, words) {
				return
			}
			select {
			case <-e.news:
			case <-deadline:
				t.Fatalf("waited in vain for %q, got %q", words, all)
			}
		}
	}
	e := newEditor(t, nil)
	e.open("large.wip", "package a;\n"+strings.Repeat("// x\n", 1<<18))
	if diff := cmp.Diff([]string{"too-large"}, rules(e.diagnostics("large.wip", 1))); diff != "" {
		t.Errorf("a large document (-want +got):\n%s", diff)
	}
	e.open("huge.wip", strings.Repeat("//// x\n", 600_000))
	said(e, "huge.wip")
	e.open("many.wip", "package a;\n")
	changes := make([]object, 5000)
	for i := range changes {
		changes[i] = object{"range": span{}, "text": "//\n"}
	}
	e.change("many.wip", 2, changes...)
	said(e, "many.wip")
	for i := range 600 {
		e.open(fmt.Sprintf("doc%d.wip", i), "package a;\n")
	}
	said(e, "open documents")
	e.replace("doc1.wip", 2, "package\n")
	e.wait("doc1.wip", func(p published) bool { return len(rules(p.Diagnostics)) > 0 })
}
