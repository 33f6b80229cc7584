package dialect_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// seed adds the inputs of the goldens, each for its dialect.
func seed(f *testing.F, kind, ext string) {
	files, err := filepath.Glob(filepath.Join("testdata", kind+"_*.txtar"))
	if err != nil || len(files) == 0 {
		f.Fatal("no goldens", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), kind+"_"), ".txtar")
		at := slices.IndexFunc(dialect.All(), func(d *dialect.Dialect) bool { return d.Name == name })
		for _, a := range archive.Files {
			if strings.HasSuffix(a.Name, ext) {
				f.Add(uint8(at), a.Data)
			}
		}
	}
}

// FuzzCalls: no message does harm, what is read can be answered, and answers
// are JSON.
func FuzzCalls(f *testing.F) {
	seed(f, "envelope", ".json")
	f.Fuzz(func(t *testing.T, at uint8, message []byte) {
		d := dialect.All()[int(at)%len(dialect.All())]
		before := slices.Clone(message)
		calls, err := d.Calls(message)
		if string(before) != string(message) {
			t.Fatal("the message was written to")
		}
		checkCalls(t, d, calls, err)
	})
}

// FuzzStream: no stream does harm, and of a provider that streams whole calls
// it has those of the message.
func FuzzStream(f *testing.F) {
	seed(f, "stream", ".events")
	f.Fuzz(func(t *testing.T, at uint8, events []byte) {
		d := dialect.All()[int(at)%len(dialect.All())]
		read := func() ([]dialect.Call, error) {
			s := d.Stream()
			for line := range strings.Lines(string(events)) {
				if err := s.Add([]byte(line)); err != nil {
					if _, of := s.Calls(); of != err {
						t.Fatalf("the failed stream has calls: %v", of)
					}
					return nil, err
				}
			}
			calls, err := s.Calls()
			again, _ := s.Calls()
			if diff := cmp.Diff(calls, again); diff != "" {
				t.Fatalf("asked twice:\n%s", diff)
			}
			return calls, err
		}
		calls, err := read()
		checkCalls(t, d, calls, err)
		if again, _ := read(); !cmp.Equal(calls, again) {
			t.Fatal("the same stream has other calls")
		}
		if d.Form() == dialect.Generate && !strings.Contains(strings.TrimSpace(string(events)), "\n") && err == nil && len(calls) > 0 &&
			strings.HasPrefix(string(events), "{") {
			whole, err := d.Calls(events)
			if diff := cmp.Diff(whole, calls); err != nil || diff != "" {
				t.Fatalf("%v, -message +stream:\n%s", err, diff)
			}
		}
	})
}

// checkCalls checks what holds of all calls.
func checkCalls(t *testing.T, d *dialect.Dialect, calls []dialect.Call, err error) {
	if err != nil {
		if calls != nil || len(err.Error()) > 2000 {
			t.Fatalf("%d calls beside an error of %d bytes", len(calls), len(err.Error()))
		}
		return
	}
	if len(calls) > dialect.MaxCalls {
		t.Fatalf("%d calls", len(calls))
	}
	ids := map[string]bool{}
	var results []dialect.Result
	for _, c := range calls {
		if c.Name == "" || c.Form == "" || c.ID != "" && ids[c.ID] {
			t.Fatalf("a call that cannot be answered: %+v", c)
		}
		ids[c.ID] = true
		results = append(results, dialect.Result{Call: c, JSON: json.RawMessage(`{"error":{"message":"m"}}`), Failed: true, Untrusted: true})
	}
	reply, err := d.Results(results, dialect.ResultOptions{Mark: []byte("key")})
	if err != nil {
		t.Fatalf("an answer to %+v: %v", calls, err)
	}
	var list []map[string]any
	if err := json.Unmarshal(reply, &list); err != nil || len(list) != len(calls) {
		t.Fatalf("%d answers to %d calls, %v: %s", len(list), len(calls), err, reply)
	}
}
