package lsp

// The types of the Language Server Protocol, version 3.17, as far as this
// server speaks it. Names and fields are the protocol's.

type position struct {
	Line      int `json:"line"`      // 0-based
	Character int `json:"character"` // 0-based, in UTF-16 units
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// before reports whether p stands before q.
func (p position) before(q position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Character < q.Character
}

// touches reports whether two ranges have at least a place in common.
func (r textRange) touches(o textRange) bool { return !r.End.before(o.Start) && !o.End.before(r.Start) }

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type textDocument struct {
	URI string `json:"uri"`
}

type versionedDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

type initializeParams struct {
	RootURI          string `json:"rootUri"`
	WorkspaceFolders []struct {
		URI string `json:"uri"`
	} `json:"workspaceFolders"`
	Capabilities struct {
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

type initializeResult struct {
	Capabilities serverCapabilities `json:"capabilities"`
	ServerInfo   struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	} `json:"serverInfo"`
}

type serverCapabilities struct {
	PositionEncoding           string                `json:"positionEncoding"`
	TextDocumentSync           syncOptions           `json:"textDocumentSync"`
	HoverProvider              bool                  `json:"hoverProvider"`
	CompletionProvider         completionOptions     `json:"completionProvider"`
	DefinitionProvider         bool                  `json:"definitionProvider"`
	ReferencesProvider         bool                  `json:"referencesProvider"`
	DocumentHighlightProvider  bool                  `json:"documentHighlightProvider"`
	DocumentSymbolProvider     bool                  `json:"documentSymbolProvider"`
	WorkspaceSymbolProvider    bool                  `json:"workspaceSymbolProvider"`
	CodeActionProvider         codeActionOptions     `json:"codeActionProvider"`
	DocumentFormattingProvider bool                  `json:"documentFormattingProvider"`
	RenameProvider             renameOptions         `json:"renameProvider"`
	FoldingRangeProvider       bool                  `json:"foldingRangeProvider"`
	SemanticTokensProvider     semanticTokensOptions `json:"semanticTokensProvider"`
}

type syncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"`
	Save      bool `json:"save"`
}

// incremental is the kind of synchronisation in which changes are ranges.
const incremental = 2

type completionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

type codeActionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds"`
}

type renameOptions struct {
	PrepareProvider bool `json:"prepareProvider"`
}

type semanticTokensOptions struct {
	Legend struct {
		TokenTypes     []string `json:"tokenTypes"`
		TokenModifiers []string `json:"tokenModifiers"`
	} `json:"legend"`
	Full  bool `json:"full"`
	Range bool `json:"range"`
}

type didOpenParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument   versionedDocument `json:"textDocument"`
	ContentChanges []contentChange   `json:"contentChanges"`
}

type contentChange struct {
	Range *textRange `json:"range"` // nil if the text is the whole document
	Text  string     `json:"text"`
}

type documentParams struct {
	TextDocument textDocument `json:"textDocument"`
}

type positionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     position     `json:"position"`
}

type referenceParams struct {
	positionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type renameParams struct {
	positionParams
	NewName string `json:"newName"`
}

type rangeParams struct {
	TextDocument textDocument `json:"textDocument"`
	Range        textRange    `json:"range"`
}

type codeActionParams struct {
	rangeParams
	Context struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type symbolParams struct {
	Query string `json:"query"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// markdown returns a text in Markdown.
func markdown(s string) *markup { return &markup{Kind: "markdown", Value: s} }

type hover struct {
	Contents *markup   `json:"contents"`
	Range    textRange `json:"range"`
}

type publishDiagnosticsParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range              textRange            `json:"range"`
	Severity           int                  `json:"severity"` // 1 error, 2 warning
	Code               string               `json:"code"`
	Source             string               `json:"source"`
	Message            string               `json:"message"`
	Tags               []int                `json:"tags,omitempty"`
	RelatedInformation []relatedInformation `json:"relatedInformation,omitempty"`
}

type relatedInformation struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type completionItem struct {
	Label               string     `json:"label"`
	Kind                int        `json:"kind"`
	Tags                []int      `json:"tags,omitempty"`
	Detail              string     `json:"detail,omitempty"`
	Documentation       *markup    `json:"documentation,omitempty"`
	SortText            string     `json:"sortText,omitempty"`
	FilterText          string     `json:"filterText,omitempty"`
	InsertTextFormat    int        `json:"insertTextFormat,omitempty"` // 2: a snippet
	TextEdit            *textEdit  `json:"textEdit,omitempty"`
	AdditionalTextEdits []textEdit `json:"additionalTextEdits,omitempty"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"` // by URI
}

type documentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Tags           []int            `json:"tags,omitempty"`
	Range          textRange        `json:"range"`
	SelectionRange textRange        `json:"selectionRange"`
	Children       []documentSymbol `json:"children,omitempty"`
}

type symbolInformation struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      location `json:"location"`
	ContainerName string   `json:"containerName,omitempty"`
}

type codeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        *workspaceEdit `json:"edit"`
}

type semanticTokens struct {
	Data []uint32 `json:"data"`
}

type foldingRange struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind,omitempty"`
}

type documentHighlight struct {
	Range textRange `json:"range"`
	Kind  int       `json:"kind"` // 2 read, 3 write
}

type prepareRename struct {
	Range       textRange `json:"range"`
	Placeholder string    `json:"placeholder"`
}

type showMessageParams struct {
	Type    int    `json:"type"` // 1 error, 2 warning
	Message string `json:"message"`
}

// Tags of the protocol: of completions and symbols, and of diagnostics.
const (
	tagDeprecated        = 1
	diagnosticDeprecated = 2
)

// Numbers of the protocol's CompletionItemKind and SymbolKind.
const (
	completeMethod     = 2
	completeInterface  = 8
	completeProperty   = 10
	completeUnit       = 11
	completeEnum       = 13
	completeKeyword    = 14
	completeFile       = 17
	completeEnumMember = 20
	completeConstant   = 21
	completeStruct     = 22
	completeType       = 25 // a type parameter: what editors show for built-in types

	symbolMethod     = 6
	symbolField      = 8
	symbolEnum       = 10
	symbolInterface  = 11
	symbolVariable   = 13
	symbolEnumMember = 22
	symbolStruct     = 23
)
