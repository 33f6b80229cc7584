package dialect_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/adapter/dialect"
)

func init() {
	if flag.Lookup("update") == nil { // another file of the tests may have it
		flag.Bool("update", false, "rewrite the goldens")
	}
}

// TestEnvelopeGolden reads one example of each envelope of each provider. A
// file NAME.json is a message, NAME.calls what it holds. The archive's name
// ends in the dialect's.
func TestEnvelopeGolden(t *testing.T) {
	envelopeGolden(t, "envelope", ".json", ".calls", func(d *dialect.Dialect, message []byte) string {
		calls, err := d.Calls(message)
		return showCalls(calls, err)
	})
}

// TestStreamGolden reads one example of each stream. A file NAME.events has
// one event a line, or server-sent events.
func TestStreamGolden(t *testing.T) {
	envelopeGolden(t, "stream", ".events", ".calls", func(d *dialect.Dialect, events []byte) string {
		s := d.Stream()
		for line := range strings.Lines(string(events)) {
			if err := s.Add([]byte(line)); err != nil {
				return "error: " + err.Error() + "\n"
			}
		}
		calls, err := s.Calls()
		return showCalls(calls, err)
	})
}

// TestResultGolden answers one example of each envelope. A file NAME.answered
// has the message in its first line and then an answer to each call a line,
// behind "failed" and "untrusted" where that is so.
func TestResultGolden(t *testing.T) {
	envelopeGolden(t, "result", ".answered", ".reply", func(d *dialect.Dialect, file []byte) string {
		message, answers, _ := strings.Cut(string(file), "\n")
		calls, err := d.Calls([]byte(message))
		if err != nil {
			return showCalls(nil, err)
		}
		var results []dialect.Result
		for line := range strings.Lines(answers) {
			r := dialect.Result{Call: calls[len(results)]}
			line, r.Failed = strings.CutPrefix(line, "failed ")
			line, r.Untrusted = strings.CutPrefix(line, "untrusted ")
			r.JSON = json.RawMessage(line)
			results = append(results, r)
		}
		reply, err := d.Results(results, dialect.ResultOptions{Mark: []byte("golden")})
		if err != nil {
			return showCalls(nil, err)
		}
		var list []json.RawMessage
		if err := json.Unmarshal(reply, &list); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, item := range list {
			fmt.Fprintf(&b, "%s\n", item)
		}
		return b.String()
	})
}

// envelopeGolden runs the archives of a kind.
func envelopeGolden(t *testing.T, kind, in, out string, run func(*dialect.Dialect, []byte) string) {
	files, err := filepath.Glob(filepath.Join("testdata", kind+"_*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no goldens", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), kind+"_"), ".txtar")
		d := dialect.Lookup(name)
		if d == nil {
			t.Fatalf("%s: no dialect %q", file, name)
		}
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: archive.Comment}
			for _, f := range archive.Files {
				if stem, ok := strings.CutSuffix(f.Name, in); ok {
					got.Files = append(got.Files, f, txtar.File{Name: stem + out, Data: []byte(run(d, f.Data))})
				}
			}
			if flag.Lookup("update").Value.String() == "true" {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("-want +got, -update rewrites it:\n%s", diff)
			}
		})
	}
}

// showCalls writes calls as lines.
func showCalls(calls []dialect.Call, err error) string {
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s %q %s %s", c.Form, c.ID, c.Name, c.Arguments)
		if c.Caller != nil {
			fmt.Fprintf(&b, " by %s", c.Caller)
		}
		b.WriteByte('\n')
	}
	if len(calls) == 0 {
		return "no calls\n"
	}
	return b.String()
}
