package main

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// BenchmarkServeStart measures from the start of the process to its first tool
// list, beside a server on the same SDK that has one empty tool.
func BenchmarkServeStart(b *testing.B) {
	for _, program := range []struct {
		name, source string
		args         []string
	}{
		{"wipagent serve", ".", []string{"serve"}},
		{"bare server", "./testdata/bareserver", nil},
	} {
		b.Run(program.name, func(b *testing.B) {
			binary := filepath.Join(b.TempDir(), "server")
			if out, err := exec.Command("go", "build", "-o", binary, program.source).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			for b.Loop() {
				end, err := firstToolList(binary, program.args)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := end(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// firstToolList starts a server and returns when it has listed its tools, with
// the function that ends it.
func firstToolList(binary string, args []string) (end func() error, err error) {
	cmd := exec.Command(binary, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprint(in, listTools); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("no tool list: %w", err)
		}
		if strings.Contains(line, `"tools":[`) {
			break
		}
	}
	return func() error {
		if err := in.Close(); err != nil {
			return err
		}
		return cmd.Wait()
	}, nil
}
