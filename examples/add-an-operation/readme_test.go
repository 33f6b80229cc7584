// Package tutorial_test takes the steps of the tutorial.
package tutorial_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// block is a fenced block: its language, the file that it is, and its text.
var block = regexp.MustCompile("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$")

// TestTutorial takes the steps of README.md in an empty folder: what names a
// file is written, sh is run, text is what the sh before it must have printed,
// and json is what a client starts the server by.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two programs")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	printed, seen := "", map[string]int{}
	for _, m := range block.FindAllStringSubmatch(string(readme), -1) {
		language, file, text := m[1], m[2], m[3]
		seen[language]++
		switch {
		case file != "":
			if err := os.WriteFile(filepath.Join(s.dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			s.written = append(s.written, file)
		case language == "sh":
			printed = s.run(t, text)
		case language == "text":
			if diff := cmp.Diff(text, printed); diff != "" {
				t.Errorf("a step prints otherwise (-written +printed):\n%s", diff)
			}
		case language == "json":
			s.serve(t, text)
		default:
			t.Errorf("found a block of %s without the name of a file", language)
		}
	}
	want := map[string]int{"sh": 6, "wip": 1, "go": 3, "text": 1, "json": 1}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("the blocks differ (-want +got):\n%s", diff)
	}
	// The tools leave what was written as it stands in the text.
	s.run(t, "test -z \"$(gofmt -l "+strings.Join(s.goFiles(), " ")+")\"\nwipagent idl fmt --check .\n")
}

// shell runs one step after the other.
type shell struct {
	dir     string // where the next step runs
	env     []string
	written []string
}

func newShell(t *testing.T) *shell {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	path := bin + string(os.PathListSeparator) + os.Getenv("PATH")
	t.Setenv("PATH", path)
	return &shell{dir: t.TempDir(), env: append(os.Environ(),
		"WIPAGENT="+root, "GOBIN="+bin, "GOWORK=", "GOFLAGS=", "GOPROXY=off")}
}

// run runs commands and returns what they print.
func (s *shell) run(t *testing.T, commands string) string {
	t.Helper()
	where := filepath.Join(t.TempDir(), "where")
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", commands+"pwd >'"+where+"'")
	cmd.Dir, cmd.Env = s.dir, s.env
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s%v\n%s%s", commands, err, out, errs.String())
	}
	dir, err := os.ReadFile(where)
	if err != nil {
		t.Fatal(err)
	}
	s.dir = strings.TrimSuffix(string(dir), "\n")
	return string(out)
}

func (s *shell) goFiles() (files []string) {
	for _, name := range s.written {
		if strings.HasSuffix(name, ".go") {
			files = append(files, name)
		}
	}
	return files
}

// serve starts the only server of a client's configuration, and asks it.
func (s *shell) serve(t *testing.T, config string) {
	t.Helper()
	var c struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(config), &c); err != nil || len(c.Servers) != 1 {
		t.Fatalf("found %d servers and %v in\n%s", len(c.Servers), err, config)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, server := range c.Servers {
		cmd := exec.Command(server.Command, server.Args...)
		cmd.Dir, cmd.Env = s.dir, s.env
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []struct {
			tool, want string
			args       map[string]any
		}{
			{"discover", `"dry_beds"`, map[string]any{"query": "which beds are dry?"}},
			{"inspect", `"below_percent"`, map[string]any{"target": "/garden#dry_beds"}},
			{"invoke", `"tomatoes"`, map[string]any{"target": "/garden", "operation": "dry_beds", "arguments": map[string]any{}}},
		} {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: call.tool, Arguments: call.args})
			if err != nil {
				t.Fatal(err)
			}
			answer, err := json.Marshal(result.StructuredContent)
			if err != nil || result.IsError || !strings.Contains(string(answer), call.want) {
				t.Errorf("%s answers %s, %v; expected %s in it", call.tool, answer, err, call.want)
			}
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}
