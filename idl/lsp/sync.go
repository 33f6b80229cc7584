package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/wipagent/wipagent/idl/project"
)

// initialize tells the editor what the server can do.
func (s *server) initialize(_ context.Context, p *initializeParams) (any, error) {
	if s.initialized {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "found a second initialize request"}
	}
	s.initialized = true
	var folders []string
	for _, f := range p.WorkspaceFolders {
		if path, ok := filePath(f.URI); ok {
			folders = append(folders, path)
		}
	}
	if path, ok := filePath(p.RootURI); ok && len(folders) == 0 {
		folders = []string{path}
	}
	s.snap = newSnapshot(s.snap.docs, folders, s.snap.projects, s.snap.closed)
	s.snippets = p.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport
	s.watches = p.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration

	var r initializeResult
	r.ServerInfo.Name, r.ServerInfo.Version = "wipagent", s.Version
	r.Capabilities = serverCapabilities{
		PositionEncoding:           "utf-16",
		TextDocumentSync:           syncOptions{OpenClose: true, Change: incremental, Save: true},
		HoverProvider:              true,
		CompletionProvider:         completionOptions{TriggerCharacters: []string{"@", "<", ":", "(", "[", "=", "\"", ">", "/"}},
		DefinitionProvider:         true,
		ReferencesProvider:         true,
		DocumentHighlightProvider:  true,
		DocumentSymbolProvider:     true,
		WorkspaceSymbolProvider:    true,
		CodeActionProvider:         codeActionOptions{CodeActionKinds: []string{quickFix}},
		DocumentFormattingProvider: true,
		RenameProvider:             renameOptions{PrepareProvider: true},
		FoldingRangeProvider:       true,
	}
	tokens := &r.Capabilities.SemanticTokensProvider
	tokens.Legend.TokenTypes, tokens.Legend.TokenModifiers = semanticTypes[:], semanticModifiers[:]
	tokens.Full, tokens.Range = true, true
	return r, nil
}

// whenInitialized asks the editor to watch the files that matter.
func (s *server) whenInitialized(ctx context.Context, _ *json.RawMessage) (any, error) {
	if !s.watches {
		return nil, nil
	}
	type watcher struct {
		GlobPattern string `json:"globPattern"`
	}
	watch := map[string]any{"registrations": []any{map[string]any{
		"id": "files", "method": "workspace/didChangeWatchedFiles",
		"registerOptions": map[string]any{"watchers": []watcher{{"**/*.wip"}, {"**/" + project.ConfigName}}},
	}}}
	// The answer does not matter: without it files are read again on saving.
	_, err := s.conn.DispatchCall(ctx, "client/registerCapability", watch)
	return nil, err
}

func (s *server) shutDown(context.Context, *json.RawMessage) (any, error) {
	s.shutdown = true
	return nil, nil
}

func (s *server) ignore(context.Context, *json.RawMessage) (any, error) { return nil, nil }

func (s *server) didOpen(_ context.Context, p *didOpenParams) (any, error) {
	d := newDocument(p.TextDocument.URI, s.path(p.TextDocument.URI), p.TextDocument.Version, p.TextDocument.Text, s.snap.parse)
	before := s.snap.docs[d.path]
	if before == nil && len(s.snap.docs) == maxOpenDocuments {
		s.complain(fmt.Errorf("found more than %d open documents: %s is left out", maxOpenDocuments, d.path))
		return nil, nil
	}
	s.projectsMayDiffer(d.path)
	s.replace(before, d)
	return nil, nil
}

// projectsMayDiffer makes the configuration be read again: not every editor
// watches files.
func (s *server) projectsMayDiffer(path string) {
	if !s.watches || filepath.Base(path) == project.ConfigName {
		s.snap.projects.forget()
	}
}

// replace puts a document in place of its former state, which may be nil.
func (s *server) replace(before, d *document) {
	size := s.openBytes + len(d.src)
	if before != nil {
		size -= len(before.src)
	}
	if len(d.src) > maxDocumentBytes || size > maxOpenBytes {
		s.drop(d, fmt.Errorf("found more text than can be kept: %s is left out", d.path))
		return
	}
	s.openBytes = size
	s.snap = s.snap.with(d)
	s.checker.changed(s.snap, d.path)
}

// drop forgets a document that can no longer be followed.
func (s *server) drop(d *document, why error) {
	s.close(d.path)
	s.complain(why)
}

func (s *server) didChange(_ context.Context, p *didChangeParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	after, err := d.changed(p.TextDocument.Version, p.ContentChanges)
	if err != nil {
		s.drop(d, fmt.Errorf("%s is left out until it is opened again: %w", d.path, err))
		return nil, nil
	}
	s.replace(d, after)
	return nil, nil
}

// didSave looks again at what lies on disk.
func (s *server) didSave(_ context.Context, p *documentParams) (any, error) {
	s.projectsMayDiffer(s.path(p.TextDocument.URI))
	s.checkAll()
	return nil, nil
}

func (s *server) filesChanged(context.Context, *json.RawMessage) (any, error) {
	s.snap.projects.forget()
	s.checkAll()
	return nil, nil
}

// checkAll checks all open documents again.
func (s *server) checkAll() {
	s.snap = s.snap.again()
	for path := range s.snap.docs {
		s.checker.changed(s.snap, path)
	}
}

func (s *server) didClose(_ context.Context, p *documentParams) (any, error) {
	s.close(s.path(p.TextDocument.URI))
	return nil, nil
}

// close forgets a document. What imports it sees the file on disk again.
func (s *server) close(path string) {
	d := s.snap.docs[path]
	if d == nil {
		return
	}
	s.openBytes -= len(d.src)
	s.snap = s.snap.without(path)
	s.checker.closed(s.snap, d)
}
