package lsp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl/lsp"
)

// FuzzSession sends any messages, one a line, behind a sound beginning. The
// server must end with the input, and never answer with a fault of its own.
func FuzzSession(f *testing.F) {
	const doc = `{"uri":"file:///nowhere/a.wip"}`
	at := func(method string, line, char int, more string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"textDocument/%s","params":{"textDocument":%s,"position":{"line":%d,"character":%d}%s}}`, method, doc, line, char, more)
	}
	seeds := []string{
		at("completion", 1, 13, ""), at("hover", 0, 3, ""), at("definition", 1, 8, ""), at("references", 1, 8, ""),
		at("rename", 1, 8, `,"newName":"B"`), at("prepareRename", 99, -5, ""), at("documentHighlight", 1, 99999999, ""),
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///nowhere/a.wip","version":2},"contentChanges":[{"range":{"start":{"line":1,"character":3},"end":{"line":0,"character":1}},"text":"🚪"}]}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///nowhere/a.wip"},"contentChanges":[{"text":"interface A { @example(x: "}]}}`,
		`{"jsonrpc":"2.0","id":"s","method":"textDocument/semanticTokens/full","params":{"textDocument":` + doc + `}}`,
		`{"jsonrpc":"2.0","id":6,"method":"textDocument/semanticTokens/range","params":{"textDocument":` + doc + `,"range":{"start":{"line":5,"character":0},"end":{"line":1,"character":1}}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"textDocument/codeAction","params":{"textDocument":` + doc + `,"range":{"start":{"line":0,"character":0},"end":{"line":9,"character":0}},"context":{"only":["quickfix"]}}}`,
		`{"jsonrpc":"2.0","id":8,"method":"textDocument/formatting","params":{"textDocument":` + doc + `}}`,
		`{"jsonrpc":"2.0","id":9,"method":"textDocument/foldingRange","params":{"textDocument":` + doc + `}}`,
		`{"jsonrpc":"2.0","id":10,"method":"textDocument/documentSymbol","params":{"textDocument":` + doc + `}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":` + doc + `}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":[]}}`, `{"jsonrpc":"2.0","id":1,"result":5,"method":"x"}`, `[]`, `null`, `{"id":1.5,"method":"shutdown"}`,
	}
	for i, s := range seeds {
		f.Add(s)
		f.Add(s + "\n" + seeds[(i*7+3)%len(seeds)])
	}
	f.Fuzz(func(t *testing.T, lines string) {
		if len(lines) > 1<<16 {
			return
		}
		if strings.Contains(lines, "file:") && strings.Count(lines, "file:") != strings.Count(lines, "file:///nowhere/") {
			return // not the machine's own files
		}
		messages := []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`,
			`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///nowhere/a.wip","version":1,"text":"package a;\nrecord A { x: A?; 門: int [1..; }\nenum E { a }\n"}}}`,
		}
		var in, out bytes.Buffer
		for _, m := range append(messages, strings.Split(lines, "\n")...) {
			if strings.Contains(m, "workspace/symbol") {
				continue // it may look through folders that are not ours
			}
			fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n%s", len(m), m)
		}
		lsp.Serve(t.Context(), &in, &out, nil) // the error is the fuzzer's fault
		for _, answer := range strings.Split(out.String(), "Content-Length: ")[1:] {
			_, content, _ := strings.Cut(answer, "\r\n\r\n")
			var m struct {
				Error struct {
					Code    int    `json:"code"`
					Message string `json:"message"`
				} `json:"error"`
			}
			if err := json.Unmarshal([]byte(content), &m); err != nil {
				t.Fatalf("%q: %s", content, err)
			}
			if m.Error.Code == -32603 {
				t.Fatal(m.Error.Message)
			}
		}
	})
}
