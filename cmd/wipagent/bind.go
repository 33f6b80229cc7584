package main

import (
	"cmp"
	"context"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl/cleantext"
	"github.com/wipagent/wipagent/idl/gen"
	"github.com/wipagent/wipagent/space"
)

type bindCmd struct {
	Language string `arg:"" enum:"python,typescript" help:"python or typescript." placeholder:"LANGUAGE"`
	Out      string `short:"o" default:"." help:"The folder to write to; by default the working directory." placeholder:"DIR"`
	Package  string `help:"The name of Python's package; by default wipagent." placeholder:"NAME"`
	Check    bool   `help:"Write nothing; fail if a file is not what would be written, or is left over."`
	Prune    bool   `help:"Remove files that were generated and are no longer."`
}

// Help shows examples.
func (bindCmd) Help() string {
	return `Bindings are of what the Hosts have now and the caller may see. The module mounted connects to a server with the same flags
for the world and the caller as were given here, and has the entries by their paths:

  import wipagent
  with wipagent.mounted.connect() as world:
      world.grid.region.nearby_avatars(radius_meters=20)

Python finds the package where it runs inside DIR or with PYTHONPATH=DIR.

idl gen writes bindings of documents instead. A password is never written. A file that wipagent has not generated is never
overwritten, nor is anything written through a link below the folder.

Exit codes: 0 done, 1 a file in the way, or --check found something, 2 the command line was wrong, 3 the world could not be had,
or a file not be read or written.

Examples:
  wipagent bind python -o lib                        # lib/wipagent
  wipagent bind typescript -o src/wip --as public_chat
  wipagent bind python -o lib --package bots --mount /bots/anna=grid:anna --mount /bots/bo=grid:bo
  wipagent bind python -o lib --check`
}

// Run runs the command.
func (b *bindCmd) Run(ctx context.Context, c *cli) error {
	if b.Check && b.Prune {
		return usageError("found --check beside --prune, expected one of them")
	}
	name := cmp.Or(b.Package, "wipagent")
	if b.Package != "" && b.Language == "typescript" {
		return usageError("found --package %s for typescript, whose modules have no common name", b.Package)
	}
	if err := checkPackage(b.Language, name); err != nil {
		return err
	}
	for _, world := range append([]string{c.World}, c.Mount...) {
		if withoutUser(world) != world { // it would stand in a file
			return usageError("%q: found a name before the host, where a password may be", withoutUser(world))
		}
	}
	c.whole = true
	return c.with(ctx, describing, func(_ context.Context, s *session) error {
		mounted := &gen.Mounted{
			Entries: mountedEntries(s.client.Catalog(s.principal)),
			Command: append([]string{"wipagent", "serve"}, c.words()...),
			Clean:   func(words string) string { clean, _ := cleantext.Clean(words, 0); return clean },
		}
		if len(mounted.Entries) == 0 {
			c.warn("found nothing that %s may call: the bindings are empty", c.As)
		}
		files := gen.TypeScriptMounted
		if b.Language == "python" {
			files = func(m *gen.Mounted) []gen.File { return inFolder(name, gen.PythonMounted(m)) }
		}
		w := &generation{cli: c, dir: b.Out, prune: b.Prune, Check: b.Check}
		return w.run(files(mounted), true)
	})
}

// tellFailure prints why there are no bindings.
func (b *bindCmd) tellFailure(c *cli, err error) {
	if c.JSON {
		c.printJSON(&generation{Check: b.Check, Files: []generatedFile{}, Error: printable(err.Error())})
	}
}

// mountedEntries returns the entries of a catalog.
func mountedEntries(catalog []client.Listed) []gen.Entry {
	var list []gen.Entry
	var last *space.Node
	for _, l := range catalog {
		if l.Node != last {
			last = l.Node
			list = append(list, gen.Entry{
				Path: last.Path, Title: last.Title, Summary: last.Summary, Mount: last.Mount.Path, Untrusted: !last.Mount.Trusted,
			})
		}
		e := &list[len(list)-1]
		e.Operations = append(e.Operations, gen.EntryOperation{Name: l.Operation.Name, Operation: l.Operation.Operation})
	}
	return list
}
