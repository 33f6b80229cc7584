package idl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl"
)

// The archives of testdata/compile hold documents and what Compile makes of
// them: "faults", as Render writes them, and "compiled", the documents that it
// returned. All documents are asked for, or those that a line "compile: ..."
// of the comment names. A line "places only" keeps of the faults only where
// they are and which rules they break, for faults that another package words.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/compile/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { checkGolden(t, path) })
	}
}

func checkGolden(t *testing.T, path string) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	var names []string
	golden := map[string]string{}
	var kept []txtar.File
	for _, f := range a.Files {
		if f.Name == "faults" || f.Name == "compiled" {
			golden[f.Name] = string(f.Data)
			continue
		}
		files[f.Name] = &fstest.MapFile{Data: f.Data}
		names = append(names, f.Name)
		kept = append(kept, f)
	}
	for line := range strings.Lines(string(a.Comment)) {
		if list, ok := strings.CutPrefix(line, "compile:"); ok {
			names = strings.Fields(list)
		}
	}
	load := idl.FSLoader(files)
	docs, err := idl.Compile(load, names...)
	got := map[string]string{"compiled": dump(docs)}
	if err != nil {
		var b strings.Builder
		if err := idl.Render(&b, err.(idl.ErrorList), load); err != nil {
			t.Fatal(err)
		}
		got["faults"] = b.String()
		if strings.Contains(string(a.Comment), "\nplaces only\n") {
			b.Reset()
			for _, d := range err.(idl.ErrorList) {
				fmt.Fprintf(&b, "%s: error: [%s]\n", d.Span, d.Rule)
			}
			got["faults"] = b.String()
		}
	}
	if *update {
		a.Files = kept
		for _, name := range []string{"faults", "compiled"} {
			if got[name] != "" {
				a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got[name])})
			}
		}
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, name := range []string{"faults", "compiled"} {
		if diff := cmp.Diff(golden[name], got[name]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// dump writes out everything that compiled documents say.
func dump(docs []*idl.Document) string {
	var b strings.Builder
	for _, d := range docs {
		fmt.Fprintf(&b, "document %s: package %s, version %d", d.Name, d.Package, d.Version)
		for _, i := range d.Imports {
			fmt.Fprintf(&b, ", imports %s", i.Name)
		}
		b.WriteByte('\n')
		for _, i := range d.Interfaces {
			fmt.Fprintf(&b, "\ninterface %s (%q)\n", i.QualifiedName(), i.Doc)
			if i.Deprecated != "" {
				fmt.Fprintf(&b, "  deprecated %q\n", i.Deprecated)
			}
			for _, o := range i.Operations {
				dumpOperation(&b, o)
			}
		}
		for _, r := range d.Records {
			fmt.Fprintf(&b, "\n%s\n", r)
		}
		for _, e := range d.Enums {
			fmt.Fprintf(&b, "\n%s\n", e)
		}
	}
	return b.String()
}

func dumpOperation(b *strings.Builder, o *idl.Operation) {
	fmt.Fprintf(b, "  %s\n", o.Signature())
	if o.Deprecated != "" {
		fmt.Fprintf(b, "    deprecated %q\n", o.Deprecated)
	}
	if o.Doc != "" {
		fmt.Fprintf(b, "    doc %q\n", o.Doc)
	}
	fmt.Fprintf(b, "    %s informational=%t idempotent=%t dry_run=%t cost=%d timeout=%s max_output=%d audience=%s\n",
		o.Risk, o.Informational, o.Idempotent, o.DryRun, o.Cost, o.Timeout, o.MaxOutput, o.Audience)
	if len(o.Aliases) > 0 {
		b.WriteString("    aliases [")
		for i, a := range o.Aliases {
			if i > 0 {
				b.WriteByte(' ')
			}
			if a.Language != "" {
				b.WriteString(a.Language + ":")
			}
			fmt.Fprintf(b, "%q", a.Text)
		}
		b.WriteString("]\n")
	}
	for _, e := range o.Examples {
		fmt.Fprintf(b, "    example %s\n", e)
	}
	for _, p := range o.Params {
		if p.Deprecated != "" {
			fmt.Fprintf(b, "    %s deprecated %q\n", p.Name, p.Deprecated)
		}
		if p.Doc != "" {
			fmt.Fprintf(b, "    %s: %q\n", p.Name, p.Doc)
		}
	}
	typeNames := func(what string, records []*idl.Record, enums []*idl.Enum) {
		if len(records)+len(enums) == 0 {
			return
		}
		fmt.Fprintf(b, "    types of the %s:", what)
		for _, r := range records {
			b.WriteString(" " + r.Name)
		}
		for _, e := range enums {
			b.WriteString(" " + e.Name)
		}
		b.WriteByte('\n')
	}
	records, enums := o.ParamTypes()
	typeNames("parameters", records, enums)
	records, enums = o.Types()
	typeNames("result", records, enums)
}
