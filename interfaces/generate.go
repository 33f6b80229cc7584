//go:build ignore

// Generate writes zgrid.go from the IDL documents beside it.
package main

import (
	"io/fs"
	"log"
	"os"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
)

func main() {
	log.SetFlags(0)
	dir := os.DirFS(".")
	names, err := fs.Glob(dir, "*.wip")
	if err != nil {
		log.Fatal(err)
	}
	docs, err := idl.Compile(idl.FSLoader(dir), names...)
	if err != nil {
		log.Fatal(err)
	}
	src, err := gen.Go(docs, "interfaces")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("zgrid.go", src, 0o644); err != nil {
		log.Fatal(err)
	}
}
