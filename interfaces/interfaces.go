// Package interfaces holds what the grid offers: its IDL documents, and the Go
// bindings that are generated from them.
//
// An Object of the grid implements one generated interface, such as [Region];
// the generated function of the same name, such as [CallRegion], calls it with
// typed arguments and writes the JSON form of what it returns. An operation
// whose Go method is missing or differs does not compile.
package interfaces

//go:generate go run generate.go

import (
	"embed"
	"io/fs"
)

//go:embed *.wip
var documents embed.FS

// FS returns the IDL documents by the names under which they import one
// another, such as "region.wip". It is read-only and safe for concurrent use.
func FS() fs.FS { return documents }
