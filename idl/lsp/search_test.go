package lsp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/wipagent/wipagent/idl/lsp"
)

// TestSearchStaysInTheFolder searches where neither a workspace nor a wip.toml
// says what belongs together.
func TestSearchStaysInTheFolder(t *testing.T) {
	folder := newEditor(t, map[string]string{"a.wip": "package a;\nrecord Near { x: int; }\n", "below/b.wip": "package b;\nrecord Nested { x: int; }\n"})
	e := startEditor(t, "", object{})
	e.open(folder.uri("a.wip"), "package a;\nrecord Near { x: int; }\n")
	for session, want := range map[*editor][]string{folder: {"Near", "Nested"}, e: {"Near"}} {
		var got []struct{ Name string }
		session.call("workspace/symbol", object{"query": "ne"}, &got)
		names := []string{}
		for _, s := range got {
			names = append(names, s.Name)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestLargeMessages sends messages that are not read: each is answered or told
// of, and the session goes on.
func TestLargeMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time, at length: nothing for the race detector")
	}
	pad := strings.Repeat(`\"{[`, 17<<20/4)
	var in, out bytes.Buffer
	for _, m := range []string{
		`{"id":1,"method":"initialize","params":{}}`,
		`{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///q/a.wip","version":1,"text":"package a;"}}}`,
		`{"method":"textDocument/didChange","params":{"textDocument":{"version":2,"uri":"file:///q/a.wip"},"contentChanges":[{"text":"` + pad + `"}]}}`,
		`{"method":"x","params":{"id":5,"text":"` + pad + `"},"id":7}`,
		`{"id":8,"method":"textDocument/documentSymbol","params":{"textDocument":{"uri":"file:///q/a.wip"}}}`,
		strings.Repeat("]", 17<<20) + "{",
		`{"id":9,"method":"shutdown"}`,
	} {
		fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n%s", len(m), m)
	}
	if err := lsp.Serve(t.Context(), &in, &out, nil); err != nil && !errors.Is(err, lsp.ErrNoShutdown) {
		t.Fatal(err)
	}
	codes, told := map[int]int{}, ""
	for _, answer := range strings.Split(out.String(), "Content-Length: ")[1:] {
		_, content, _ := strings.Cut(answer, "\r\n\r\n")
		var m struct {
			ID     int
			Error  struct{ Code int }
			Params struct{ Message string }
		}
		if err := json.Unmarshal([]byte(content), &m); err != nil {
			t.Fatal(err)
		}
		if m.ID != 0 {
			codes[m.ID] = m.Error.Code
		}
		told += m.Params.Message + "\n"
	}
	if diff := cmp.Diff(map[int]int{1: 0, 7: -32803, 8: -32602, 9: 0}, codes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(told, "a.wip is left out until it is opened again") {
		t.Errorf("got %q", told)
	}
}

// TestSearchIsOvertaken asks for a hover behind a search of many documents, and
// then makes the search out of date.
func TestSearchIsOvertaken(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d.wip", i)] = longDocument(300)
	}
	e := newEditor(t, files)
	e.open("a.wip", shop)
	search, err := e.conn.DispatchCall(t.Context(), "workspace/symbol", object{"query": "zzz"})
	if err != nil {
		t.Fatal(err)
	}
	e.call("textDocument/hover", e.at("a.wip", shop, "record "), nil)
	e.replace("a.wip", 2, shop+"\n")
	var refusal *jsonrpc2.Error
	if err := search.Wait(t.Context(), nil); !errors.As(err, &refusal) || refusal.Code != -32801 {
		t.Errorf("got %v, want that the documents have changed", err)
	}
}
