package principals

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
)

var update = flag.Bool("update", false, "rewrite the golden parts")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func hexOf(token string) string {
	digest := Digest(token)
	return hex.EncodeToString(digest[:])
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "principals.toml")
	write(t, path, fmt.Sprintf(`
[principals."svc:robot.1"]
audience = "im"
token_sha256 = [%q, %q]
expires = 2031-01-31T02:00:00+02:00
intent = []
rate = 2.5
burst = 7
embedder = true

[principals.nightly]
audience = "scheduler_run"
token_sha256 = [%q]
grants = ["/grid/inventory#inventory_search"]

[principals.gone]
audience = "local_operator"
token_sha256 = [%q]
revoked = true

[principals.late]
audience = "local_operator"
token_sha256 = [%q]
expires = 2001-01-01T00:00:00Z
`, hexOf("a"), strings.ToUpper(hexOf("b")), hexOf("c"), hexOf("d"), hexOf("e")))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	robot := &Access{
		Principal: policy.Principal{ID: "svc:robot.1", Audience: idl.IM, Intent: []string{}},
		Embedder:  true, Rate: 2.5, Burst: 7, Expires: time.Date(2031, 1, 31, 0, 0, 0, 0, time.UTC),
	}
	nightly := &Access{Principal: policy.Principal{ID: "nightly", Audience: idl.SchedulerRun, Grants: []string{"/grid/inventory#inventory_search"}}}
	for token, want := range map[string]*Access{"a": robot, "b": robot, "c": nightly, "d": nil, "e": nil, "f": nil, "": nil, hexOf("a"): nil} {
		got, err := f.Verify(t.Context(), token)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Access{}, "Done")); diff != "" || (want == nil) != errors.Is(err, ErrUnknown) {
			t.Errorf("token %q: %v %s", token, err, diff)
		}
	}
	for at, want := range map[time.Time]Tally{
		time.Now(): {Tokens: 5, Revoked: 1, Expired: 1},
		time.Date(2031, 1, 31, 0, 0, 0, 0, time.UTC): {Tokens: 5, Revoked: 1, Expired: 3},
	} {
		if diff := cmp.Diff(want, f.Tally(at)); diff != "" {
			t.Errorf("at %s: %s", at, diff)
		}
	}
}

// TestFaults tells what is wrong with files: all of it, at its line, and without
// a value of the file.
func TestFaults(t *testing.T) {
	const golden = "testdata/faults.txtar"
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var out []txtar.File
	for _, file := range archive.Files {
		if strings.HasSuffix(file.Name, ".want") {
			continue
		}
		_, err := parse(file.Name, file.Data)
		var list Errors
		got := "nothing\n"
		if errors.As(err, &list) {
			got = ""
			for _, e := range list {
				got += e.Error() + "\n"
			}
		}
		if strings.Contains(got, "SECRET") {
			t.Errorf("%s: a value is quoted:\n%s", file.Name, got)
		}
		out = append(out, file, txtar.File{Name: file.Name + ".want", Data: []byte(got)})
	}
	result := txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: out})
	if *update {
		if err := os.WriteFile(golden, result, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(result)); diff != "" {
		t.Error(diff)
	}
}

func TestBounds(t *testing.T) {
	table := func(i int, more string) string {
		return fmt.Sprintf("[principals.p%d]\naudience = \"im\"\ntoken_sha256 = [%q]\n%s\n", i, hexOf(fmt.Sprint(i)), more)
	}
	var many strings.Builder
	for i := range maxTokens + 1 {
		many.WriteString(table(i, ""))
	}
	for name, test := range map[string]struct{ text, want string }{
		"tokens":   {many.String(), "4097 tokens"},
		"brackets": {table(1, "intent = "+strings.Repeat("[", 1<<19)), "levels"},
		"line":     {table(1, "intent = ["+strings.Repeat(`"/a#b", `, 2000)+"]"), ":4: found a line of more than"},
		"intent":   {table(1, "intent = [\n"+strings.Repeat("\"/a#b\",\n", 257)+"]"), "at most 256"},
		"name":     {table(1, `intent = ["/`+strings.Repeat("a", 1025)+`#b"]`), "no operation"},
		"faults": {func() (s string) {
			for i := range 30 {
				s += fmt.Sprintf("x%d = 1\n", i)
			}
			return s
		}(), "x19"},
	} {
		_, err := parse("p.toml", []byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 4000 {
			t.Errorf("%s: found %.300v, expected %s", name, err, test.want)
		}
	}
}

// TestReload changes the file in each way: who is in it as before keeps their
// Access, all others lose theirs.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.toml")
	table := func(name, token, more string) string {
		return fmt.Sprintf("[principals.%s]\naudience = \"im\"\ntoken_sha256 = [%q]\n%s\n", name, hexOf(token), more)
	}
	both := table("a", "a", "") + table("b", "b", "")
	for name, test := range map[string]struct {
		after           string
		keeps, verifies bool // a
		bad             bool
	}{
		"nothing":              {both, true, true, false},
		"another line":         {"# words\n" + both, true, true, false},
		"a further principal":  {both + table("c", "c", ""), true, true, false},
		"revoked":              {table("a", "a", "revoked = true") + table("b", "b", ""), false, false, false},
		"taken out":            {table("b", "b", ""), false, false, false},
		"another token":        {table("a", "x", "") + table("b", "b", ""), false, false, false},
		"other rights":         {table("a", "a", "intent = []") + table("b", "b", ""), false, true, false},
		"another name":         {table("z", "a", "") + table("b", "b", ""), false, true, false},
		"another rate":         {table("a", "a", "rate = 3") + table("b", "b", ""), false, true, false},
		"bad":                  {"nonsense", true, true, true},
		"bad in another place": {table("a", "a", "revoked = true") + table("b", "b", "burst = 0"), true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, path, both)
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			first, err := f.Verify(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			second, _ := f.Verify(t.Context(), "b")
			write(t, path, test.after)
			if _, err := f.Reload(); (err != nil) != test.bad {
				t.Fatalf("reloading: %v", err)
			}
			again, err := f.Verify(t.Context(), "a")
			if keeps, verifies := again == first, err == nil; keeps != test.keeps || verifies != test.verifies {
				t.Errorf("keeps %v, verifies %v, expected %v, %v", keeps, verifies, test.keeps, test.verifies)
			}
			if first.Over(time.Now()) == test.keeps {
				t.Errorf("the access that there was is over: %v", !test.keeps)
			}
			if kept, _ := f.Verify(t.Context(), "b"); kept != second || second.Over(time.Now()) {
				t.Error("somebody else lost their access")
			}
		})
	}
}

func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.toml")
	table := fmt.Sprintf("[principals.a]\naudience = \"im\"\ntoken_sha256 = [%q]\n", hexOf("a"))
	write(t, path, table)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		told := make(chan string, 100)
		go f.Watch(ctx, time.Second, func(err error) {
			switch {
			case err == nil:
				told <- "good"
			case os.IsNotExist(err):
				told <- "gone"
			default:
				told <- "bad"
			}
		})
		steps := []struct {
			do   func()
			want []string
		}{
			{func() {}, nil},
			{func() { write(t, path, table+"revoked = true\n") }, []string{"good"}},
			{func() { write(t, path, "nonsense") }, []string{"bad"}},
			{func() { os.Remove(path) }, []string{"gone"}},
			{func() { write(t, path, table+"revoked = true\n") }, []string{"good"}},
			{func() { write(t, path, table) }, []string{"good"}},
			{func() { os.Chmod(path, 0o666) }, []string{"bad"}},
		}
		for i, step := range steps {
			step.do()
			time.Sleep(5 * time.Second)
			synctest.Wait()
			var heard []string
			for len(told) > 0 {
				heard = append(heard, <-told)
			}
			if diff := cmp.Diff(step.want, heard); diff != "" {
				t.Errorf("step %d: %s", i, diff)
			}
		}
		cancel()
		synctest.Wait()
	})
}

// TestOthersFiles refuses files that somebody else can have written.
func TestOthersFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.toml")
	write(t, path, fmt.Sprintf("[principals.a]\naudience = \"im\"\ntoken_sha256 = [%q]\n", hexOf("a")))
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o440: true, 0o640: true, 0o660: false, 0o644: false, 0o602: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); (err == nil) != ok {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	if _, err := Open(filepath.Dir(path)); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := Open(path + "x"); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}

func TestNewToken(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		token, digest := NewToken()
		if seen[token] || len(token) < 50 || digest != Digest(token) {
			t.Fatalf("found the token %q", token)
		}
		seen[token] = true
	}
	token, digest := NewToken()
	verify := NewVerifier(digest, &Access{Principal: policy.Principal{ID: "me"}})
	if a, err := verify(t.Context(), token); err != nil || a.Principal.ID != "me" {
		t.Errorf("its own token: %v", err)
	}
	if _, err := verify(t.Context(), token+"x"); !errors.Is(err, ErrUnknown) {
		t.Errorf("another token: %v", err)
	}
}

// FuzzParse reads any text. What is read keeps its promises, and nothing panics.
func FuzzParse(f *testing.F) {
	f.Add("[principals.a]\naudience = \"im\"\ntoken_sha256 = [\"" + hexOf("a") + "\"]\n")
	f.Add("principals = {a = {audience = \"im\", revoked = true, expires = 2001-01-01}}\n[[x]]\n[[x]]\n")
	f.Add("[principals]\na.b.c = 1\na.audience = 1\n\"\".x = 2")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parse("p.toml", []byte(text))
		if err != nil {
			var faults Errors
			if !errors.As(err, &faults) || len(faults) == 0 || len(faults) > maxFaults {
				t.Fatalf("found %v", err)
			}
			return
		}
		for _, e := range list {
			if !ValidID(e.Principal.ID) || e.Principal.Audience == 0 || len(e.digests) == 0 && !e.revoked {
				t.Fatalf("found %+v", e)
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	for _, n := range []int{1, 50, maxTokens} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := &set{}
			for i := range n {
				s.digests, s.access = append(s.digests, Digest(fmt.Sprint(i))), append(s.access, &held{Access: &Access{}})
			}
			now := time.Now()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.find("0", now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestTally says what an operator should know of tokens that let nobody in.
func TestTally(t *testing.T) {
	for tally, want := range map[Tally]string{
		{Tokens: 3}:                         "3 tokens",
		{Tokens: 1}:                         "1 token",
		{}:                                  "0 tokens",
		{Tokens: 3, Revoked: 1}:             "3 tokens, of which 1 is revoked",
		{Tokens: 4, Expired: 2}:             "4 tokens, of which 2 are expired",
		{Tokens: 4, Revoked: 2, Expired: 1}: "4 tokens, of which 2 are revoked and 1 is expired",
		{Tokens: 1, Revoked: 1}:             "1 token, which is revoked: nobody is let in",
		{Tokens: 1, Expired: 1}:             "1 token, which is expired: nobody is let in",
		{Tokens: 3, Revoked: 1, Expired: 2}: "3 tokens, of which 1 is revoked and 2 are expired: nobody is let in",
	} {
		if got := tally.String(); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
		if got := tally.Good(); got != tally.Tokens-tally.Revoked-tally.Expired {
			t.Errorf("%s: found %d that are good", tally, got)
		}
	}
}
