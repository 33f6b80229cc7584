package lsp

import (
	"context"
	"strings"

	"github.com/wipagent/wipagent/idl/project"
)

// protocolKinds are the protocol's numbers for the kinds of symbol.
var protocolKinds = [...]int{
	anInterface: symbolInterface, aRecord: symbolStruct, anEnum: symbolEnum,
	anOperation: symbolMethod, aParam: symbolVariable, aField: symbolField, aLabel: symbolEnumMember,
}

// documentSymbols answers the outline of a document. Parameters are left out:
// the signature has them.
func (s *server) documentSymbols(_ context.Context, p *documentParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	left := maxOutline
	return d.view().outline(d.view().symbols, &left), nil
}

// maxOutline is how many symbols the outline of a document has.
const maxOutline = 10_000

// outline returns the protocol's form of symbols, as long as some are left.
func (v *view) outline(symbols []*symbol, left *int) []documentSymbol {
	list := []documentSymbol{}
	for _, s := range symbols {
		if *left--; *left < 0 {
			break
		}
		if s.name.Name == "" {
			continue // of a faulty stretch
		}
		item := documentSymbol{Name: s.name.Name, Detail: s.detail(), Kind: protocolKinds[s.kind], Range: v.span(s.span), SelectionRange: v.span(s.name.Span)}
		item.Tags = s.tags()
		if s.kind != anOperation {
			item.Children = v.outline(s.members, left)
		}
		list = append(list, item)
	}
	return list
}

// tags returns the protocol's tags of a symbol.
func (s *symbol) tags() []int {
	if s.deprecated != nil {
		return []int{tagDeprecated}
	}
	return nil
}

// maxDetail is how much of a signature is shown beside a name, in bytes.
const maxDetail = 200

// detail returns the type of a symbol in short, as it is written.
func (s *symbol) detail() string {
	var detail string
	switch s.kind {
	case aParam, aField:
		detail = s.written(s.typ)
	case anOperation:
		names := make([]string, len(s.members))
		for i, p := range s.members {
			names[i] = p.name.Name
		}
		detail = "(" + strings.Join(names, ", ") + ") -> " + s.written(s.typ)
	}
	return cut(detail, maxDetail)
}

// maxSymbols is how many symbols of a workspace one answer holds.
const maxSymbols = 500

// workspaceSymbols answers the symbols of all documents whose names contain
// the letters of the query in their order.
func (s *server) workspaceSymbols(ctx context.Context, p *symbolParams) (any, error) {
	list := []symbolInformation{}
	seen := map[string]bool{}
	asked := map[*project.Project]bool{}
	for _, path := range s.roots() {
		in := s.snap.project(path)
		if asked[in] {
			continue
		}
		asked[in] = true
		views, _ := s.snap.workspace(ctx, path)
		for _, v := range views {
			if seen[v.path] {
				continue
			}
			seen[v.path] = true
			for _, sym := range v.names {
				if sym.kind == aParam || !subsequence(p.Query, sym.name.Name) {
					continue
				}
				if len(list) == maxSymbols {
					return list, nil
				}
				item := symbolInformation{Name: sym.name.Name, Kind: protocolKinds[sym.kind], Location: sym.place()}
				if sym.parent != nil {
					item.ContainerName = sym.parent.name.Name
				}
				list = append(list, item)
			}
		}
	}
	return list, nil
}

// roots returns a path in each project that the session knows of.
func (s *server) roots() []string {
	var paths []string
	for _, folder := range s.snap.folders {
		paths = append(paths, s.path(uriOf(folder+"/"+"any.wip")))
	}
	for path := range s.snap.docs {
		paths = append(paths, path)
	}
	return paths
}

// subsequence reports whether name has the letters of query in their order,
// whatever their case.
func subsequence(query, name string) bool {
	query, name = strings.ToLower(query), strings.ToLower(name)
	for _, r := range query {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return false
		}
		name = name[i+len(string(r)):]
	}
	return true
}
