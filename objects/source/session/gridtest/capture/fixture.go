package capture

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Fixture opens a capture of the repository: "login-session" or
// "login-session-cached".
func Fixture(t testing.TB, name string) *Capture {
	t.Helper()
	f, err := os.Open(filepath.Join(folder(t), name+".pcapng.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c, err := Open(unzipped)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

// Truth decodes the right answers about the capture of that name into v, as
// encoding/json does.
func Truth(t testing.TB, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder(t), "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Captures map[string]json.RawMessage `json:"captures"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	one, ok := all.Captures[name+".pcapng"]
	if !ok {
		t.Fatalf("truth.json holds no capture %q", name)
	}
	if err := json.Unmarshal(one, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// folder finds the captures from the folder of any package of the module.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "objects", "source", "session", "testdata", "captures")
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("found no go.mod above the working directory")
		}
		dir = up
	}
}
