package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checked runs idl check in a folder with these files, and returns the exit
// code and what was printed.
func checked(t *testing.T, files map[string]string, args ...string) (int, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out bytes.Buffer
	code := run(context.Background(), append([]string{"idl", "check"}, args...), streams{io.NopCloser(strings.NewReader("")), &out, io.Discard, 0})
	return code, out.String()
}

const faultyDoc = `package house;

interface Door {
  /// Wie er heißt: 𝒹oor
  label(note: string = none, how: Sped = fast) -> bool
  @cost(1) @cost(2) stop() -> bool;
}

enum Speed { slow, fast }
`

// What a SARIF 2.1.0 log must have, by its schema, of the parts that we write.
func TestSARIF(t *testing.T) {
	code, out := checked(t, map[string]string{"a door.wip": faultyDoc, "b.wip": "package b;\nrecord B { x: int; }\n"}, ".", "--sarif")
	if code != exitFailed {
		t.Errorf("exited with %d", code)
	}
	var log sarifLog
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || !strings.HasPrefix(log.Schema, "https://") || len(log.Runs) != 1 {
		t.Fatalf("version %q, schema %q, %d runs", log.Version, log.Schema, len(log.Runs))
	}
	r := log.Runs[0]
	if r.Tool.Driver.Name == "" || r.ColumnKind != "utf16CodeUnits" {
		t.Errorf("tool %q, columns %q", r.Tool.Driver.Name, r.ColumnKind)
	}
	ids := map[string]bool{}
	for _, rule := range r.Tool.Driver.Rules {
		if rule.ID == "" || ids[rule.ID] || rule.Short.Text == "" || rule.Help.Text == "" || !strings.HasPrefix(rule.Help.Markdown, "# "+rule.ID) ||
			rule.Default.Level != "error" && rule.Default.Level != "warning" {
			t.Errorf("rule %+.200v", rule)
		}
		ids[rule.ID] = true
	}
	region := func(at *sarifRegion) {
		if at == nil || at.StartLine < 1 || at.StartColumn < 1 || at.EndLine < at.StartLine || at.EndLine == at.StartLine && at.EndColumn < at.StartColumn {
			t.Errorf("region %+v", at)
		}
	}
	artifact := func(a sarifArtifact) {
		u, err := url.Parse(a.URI)
		if err != nil || u.IsAbs() || strings.HasPrefix(u.Path, "/") || strings.ContainsAny(a.URI, ` \`) {
			t.Errorf("artifact %q: %v", a.URI, err)
		}
	}
	rules, fixes, related := map[string]int{}, 0, 0
	for _, res := range r.Results {
		rules[res.RuleID]++
		if res.RuleIndex < 0 || res.RuleIndex >= len(r.Tool.Driver.Rules) || r.Tool.Driver.Rules[res.RuleIndex].ID != res.RuleID {
			t.Errorf("rule %q has the index %d", res.RuleID, res.RuleIndex)
		}
		if res.Message.Text == "" || res.Level != "error" && res.Level != "warning" || len(res.Locations) != 1 {
			t.Errorf("result %+v", res)
		}
		for _, at := range append(res.Locations, res.Related...) {
			artifact(at.Physical.Artifact)
			region(at.Physical.Region)
		}
		for i, at := range res.Related {
			related++
			if at.ID != i+1 || at.Message == nil || at.Message.Text == "" {
				t.Errorf("related %+v", at)
			}
		}
		for _, fix := range res.Fixes {
			fixes++
			if fix.Description.Text == "" || len(fix.Changes) == 0 {
				t.Errorf("fix %+v", fix)
			}
			for _, change := range fix.Changes {
				artifact(change.Artifact)
				if len(change.Replacements) == 0 {
					t.Errorf("change %+v", change)
				}
				for _, put := range change.Replacements {
					region(&put.Deleted)
				}
			}
		}
	}
	for _, rule := range []string{"value-type", "unknown-type", "missing-semicolon", "duplicate-annotation"} {
		if rules[rule] != 1 {
			t.Errorf("found %s %d times", rule, rules[rule])
		}
	}
	if fixes < 4 || related < 1 {
		t.Errorf("found %d fixes and %d related places", fixes, related)
	}
}

func TestArtifactURI(t *testing.T) {
	for name, want := range map[string]string{
		"a/b c.wip": "a/b%20c.wip", "x:y.wip": "./x:y.wip", "a/x:y.wip": "a/x:y.wip", "größe.wip": "gr%C3%B6%C3%9Fe.wip",
	} {
		if got := artifact(name).URI; got != want {
			t.Errorf("the URI of %q is %q, want %q", name, got, want)
		}
	}
}

// Columns count bytes, code points and UTF-16 code units.
func TestFindingColumns(t *testing.T) {
	_, out := checked(t, map[string]string{"a.wip": "package a;\n/* ß𝒹 */ record A { x: it; }\n"}, "--no-lint", "a.wip", "--json")
	var list []finding
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	want := point{Offset: 38, Line: 2, Byte: 28, Rune: 24, UTF16: 25}
	if len(list) != 1 || *list[0].Start != want || list[0].Severity != "error" || len(list[0].Fixes) != 1 || list[0].Fixes[0].Edits[0].Text != "int" {
		t.Errorf("found %s, want one at %+v", out, want)
	}
}
