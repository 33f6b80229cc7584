package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/lsp"
)

// patience guards against hanging; nothing is expected to take so long.
const patience = 30 * time.Second

type (
	position struct {
		Line      int `json:"line"`
		Character int `json:"character"`
	}
	span struct {
		Start position `json:"start"`
		End   position `json:"end"`
	}
	edit struct {
		Range   span   `json:"range"`
		NewText string `json:"newText"`
	}
	diagnostic struct {
		Range    span   `json:"range"`
		Severity int    `json:"severity"`
		Code     string `json:"code"`
		Message  string `json:"message"`
		Tags     []int  `json:"tags"`
	}
	published struct {
		URI         string       `json:"uri"`
		Version     *int         `json:"version"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}
	object = map[string]any
)

// editor is a small client of a server that runs in the same process.
type editor struct {
	t      testing.TB
	dir    string
	conn   *jsonrpc2.Conn
	done   chan error // what Serve returned
	legend []string   // the types of semantic tokens

	mu    sync.Mutex
	shown map[string]published // the last of each document
	news  chan struct{}        // something was published
	asked []string             // methods that the server called
	told  []string             // messages shown
}

// pipe is one end of a connection.
type pipe struct {
	io.Reader
	io.WriteCloser
}

// newEditor starts a server on a folder with files, by their names.
func newEditor(t testing.TB, files map[string]string) *editor {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return startEditor(t, dir, object{
		"textDocument": object{"completion": object{"completionItem": object{"snippetSupport": true}}},
		"workspace":    object{"didChangeWatchedFiles": object{"dynamicRegistration": true}},
	})
}

// startEditor starts a server on a folder, or on none if that is empty, for an
// editor with capabilities.
func startEditor(t testing.TB, dir string, capabilities object) *editor {
	t.Helper()
	e := &editor{t: t, dir: dir, done: make(chan error, 1), shown: map[string]published{}, news: make(chan struct{}, 1)}
	fromEditor, toServer := io.Pipe()
	fromServer, toEditor := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		e.done <- lsp.Serve(ctx, fromEditor, toEditor, &lsp.Config{Version: "test", Schema: func(op *idl.Operation) (in, out json.RawMessage) {
			return json.RawMessage(`{"title":"` + op.Name + `"}`), nil
		}})
		toEditor.Close()
	}()
	e.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(pipe{fromServer, toServer}, jsonrpc2.VSCodeObjectCodec{}), e, jsonrpc2.SetLogger(quiet{}))
	t.Cleanup(func() {
		cancel()
		e.conn.Close()
		fromEditor.Close()
		fromServer.Close()
	})
	var server struct {
		Capabilities struct {
			SemanticTokensProvider struct {
				Legend struct {
					TokenTypes []string `json:"tokenTypes"`
				} `json:"legend"`
			} `json:"semanticTokensProvider"`
		} `json:"capabilities"`
	}
	root := any(nil)
	if dir != "" {
		root = e.uri("")
	}
	e.call("initialize", object{"processId": nil, "rootUri": root, "capabilities": capabilities}, &server)
	e.legend = server.Capabilities.SemanticTokensProvider.Legend.TokenTypes
	e.tell("initialized", object{})
	return e
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Handle takes in what the server sends.
func (e *editor) Handle(ctx context.Context, c *jsonrpc2.Conn, req *jsonrpc2.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch req.Method {
	case "textDocument/publishDiagnostics":
		var p published
		if err := json.Unmarshal(*req.Params, &p); err != nil {
			e.t.Errorf("publishDiagnostics: %s", err)
		}
		e.shown[p.URI] = p
	case "window/showMessage":
		e.told = append(e.told, string(*req.Params))
	default:
		e.asked = append(e.asked, req.Method+" "+string(*req.Params))
		if !req.Notif {
			go c.Reply(ctx, req.ID, nil)
		}
	}
	select {
	case e.news <- struct{}{}:
	default:
	}
}

// uri returns the URI of a file of the folder.
func (e *editor) uri(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(e.dir, filepath.FromSlash(name)))}).String()
}

// call asks the server; a refusal fails the test.
func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	if err := e.try(method, params, result); err != nil {
		e.t.Fatalf("%s: %s", method, err)
	}
}

// try asks the server.
func (e *editor) try(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := e.conn.Call(ctx, method, params, result)
	var refusal *jsonrpc2.Error
	if errors.As(err, &refusal) && refusal.Code == jsonrpc2.CodeInternalError {
		e.t.Errorf("%s: %s", method, refusal.Message)
	}
	return err
}

func (e *editor) tell(method string, params any) {
	e.t.Helper()
	if err := e.conn.Notify(context.Background(), method, params); err != nil {
		e.t.Fatalf("%s: %s", method, err)
	}
}

// open opens a document with a text.
func (e *editor) open(name, text string) {
	e.tell("textDocument/didOpen", object{"textDocument": object{"uri": e.uri(name), "languageId": "wip", "version": 1, "text": text}})
}

// change makes changes to a document.
func (e *editor) change(name string, version int, changes ...object) {
	e.tell("textDocument/didChange", object{"textDocument": object{"uri": e.uri(name), "version": version}, "contentChanges": changes})
}

// replace replaces the whole text of a document.
func (e *editor) replace(name string, version int, text string) {
	e.change(name, version, object{"text": text})
}

// wait waits until what is published for a document passes.
func (e *editor) wait(name string, passes func(published) bool) published {
	e.t.Helper()
	deadline := time.After(patience)
	for {
		e.mu.Lock()
		p, ok := e.shown[e.uri(name)]
		e.mu.Unlock()
		if ok && passes(p) {
			return p
		}
		select {
		case <-e.news:
		case err := <-e.done:
			e.t.Fatalf("the server ended: %v", err)
		case <-deadline:
			e.t.Fatalf("waited in vain for diagnostics of %s; the last are %+v", name, p)
		}
	}
}

// diagnostics returns what is published for a version of a document.
func (e *editor) diagnostics(name string, version int) []diagnostic {
	e.t.Helper()
	return e.wait(name, func(p published) bool { return p.Version != nil && *p.Version == version }).Diagnostics
}

// at returns the parameters of a request about the place behind the first
// occurrence of before in a text, in UTF-16 units.
func (e *editor) at(name, text, before string) object {
	e.t.Helper()
	i := strings.Index(text, before)
	if i < 0 {
		e.t.Fatalf("found no %q in the text", before)
	}
	return object{"textDocument": object{"uri": e.uri(name)}, "position": place(text, i+len(before))}
}

// place returns the position of an offset, counted the slow way.
func place(text string, off int) position {
	line := strings.Count(text[:off], "\n")
	start := strings.LastIndexByte(text[:off], '\n') + 1
	n := 0
	for _, r := range text[start:off] {
		n++
		if r > 0xffff {
			n++
		}
	}
	return position{Line: line, Character: n}
}

// offset is the other way of place.
func offset(text string, p position) int {
	start := 0
	for range p.Line {
		start += strings.IndexByte(text[start:], '\n') + 1
	}
	n := 0
	for i, r := range text[start:] {
		if n >= p.Character {
			return start + i
		}
		n++
		if r > 0xffff {
			n++
		}
	}
	return len(text)
}

// actions returns the code actions at the place behind the first occurrence of
// before.
func (e *editor) actions(name, text, before string) []codeAction {
	e.t.Helper()
	p := e.at(name, text, before)
	p["range"] = span{p["position"].(position), p["position"].(position)}
	p["context"] = object{"diagnostics": []any{}}
	var got []codeAction
	e.call("textDocument/codeAction", p, &got)
	return got
}

// apply returns a text after edits.
func apply(text string, edits []edit) string {
	for i := len(edits) - 1; i >= 0; i-- { // sorted, as the server sends them
		text = text[:offset(text, edits[i].Range.Start)] + edits[i].NewText + text[offset(text, edits[i].Range.End):]
	}
	return text
}
