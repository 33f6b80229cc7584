package script_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	visitor = &policy.Principal{ID: "visitor", Audience: idl.PublicChat}
	owner   = &policy.Principal{ID: "owner", Audience: idl.LocalOperator}
)

// grid returns a client with the demo grid at /grid, and its log.
func grid(t testing.TB) (*client.Client, *bytes.Buffer) {
	t.Helper()
	w := world.New()
	w.Apply(demo.New(nil).Open(time.Now())...)
	log := &bytes.Buffer{}
	c := client.New(&client.Config{Audit: audit.New(log)})
	if err := c.Mount(t.Context(), "/grid", objects.New(w, nil), &client.MountOptions{Title: "Demo grid", Trusted: true}); err != nil {
		t.Fatal(err)
	}
	return c, log
}

// TestScripts runs the scripts of testdata/scripts.txtar, each with the limits of
// code mode, and compares what they print and how they fail.
func TestScripts(t *testing.T) {
	const golden = "testdata/scripts.txtar"
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := string(txtar.Format(archive))
	got := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ".star")
		if !ok {
			continue
		}
		var out bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			c, _ := grid(t)
			p := owner
			if strings.HasPrefix(name, "visitor") {
				p = visitor
			}
			e := script.New(script.Config{Client: c, Principal: p, Output: &out})
			if err := e.Run(t.Context(), f.Name, f.Data); err != nil {
				var fail *script.Error
				if !errors.As(err, &fail) {
					t.Fatalf("%s: got an error %T", f.Name, err)
				}
				fmt.Fprintf(&out, "error:\n%s\n", fail.Backtrace())
			}
		})
		got.Files = append(got.Files, f, txtar.File{Name: name + ".out", Data: out.Bytes()})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(txtar.Format(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
