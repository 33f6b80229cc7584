package grids_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/grids"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestPassword(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		write(t, path, text, mode)
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file("target", "pw", 0o400), link); err != nil {
		t.Fatal(err)
	}
	general := []string{"WIPAGENT_PASSWORD", "general"}
	for _, test := range []struct {
		name    string
		account grids.Account
		env     []string
		want    string
		problem string
	}{
		{"variable", grids.Account{PasswordEnv: "BOT"}, append(general, "BOT", "p w\n"), "p w\n", ""},
		{"variable not set", grids.Account{PasswordEnv: "BOT"}, general, "", "BOT, which password_env names, is not set; export"},
		{"general", grids.Account{}, general, "general", ""},
		{"nothing", grids.Account{}, nil, "", "set WIPAGENT_PASSWORD, or password_env or password_file"},
		{"file", grids.Account{PasswordFile: file("plain", "p w\n", 0o600)}, general, "p w", ""},
		{"file of Windows", grids.Account{PasswordFile: file("crlf", "pw\r\n", 0o600)}, nil, "pw", ""},
		{"no line break", grids.Account{PasswordFile: file("bare", " pw ", 0o400)}, nil, " pw ", ""},
		{"link", grids.Account{PasswordFile: link}, nil, "pw", ""},
		{"empty", grids.Account{PasswordFile: file("empty", "\n", 0o600)}, general, "", "empty is empty; expected the password alone"},
		{"spaces", grids.Account{PasswordFile: file("spaces", " \t \n", 0o600)}, general, "", "spaces holds spaces alone"},
		{"NUL", grids.Account{PasswordFile: file("NUL", "p\x00w\n", 0o600)}, nil, "", "NUL holds a NUL byte"},
		{"UTF-16", grids.Account{PasswordFile: file("utf16", "p\x00w\x00\r\x00\n\x00", 0o600)}, nil, "", "utf16 holds a NUL byte"},
		{"two lines", grids.Account{PasswordFile: file("two", "a\n\n", 0o600)}, nil, "", "two holds more than one line"},
		{"group", grids.Account{PasswordFile: file("group", "pw", 0o640)}, general, "", "others than its owner have access (mode 0640)"},
		{"others", grids.Account{PasswordFile: file("others", "pw", 0o604)}, nil, "", "others than its owner"},
		{"others write", grids.Account{PasswordFile: file("write", "pw", 0o602)}, nil, "", "others than its owner"},
		{"large", grids.Account{PasswordFile: file("large", strings.Repeat("x", 5000), 0o600)}, nil, "", "more than 4096 bytes"},
		{"absent", grids.Account{PasswordFile: filepath.Join(dir, "absent")}, general, "", "absent"},
		{"folder", grids.Account{PasswordFile: dir}, nil, "", "found a directory, expected a regular file"},
		{"device", grids.Account{PasswordFile: "/dev/zero"}, nil, "", "found a device, expected a regular file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (strings.Contains(test.problem, "others") || test.name == "device") {
				t.Skip("no such permissions or files there")
			}
			test.account.Name = "bot"
			got, err := grids.Password(t.Context(), &test.account, environment(test.env...))
			if test.problem == "" {
				if err != nil || got.Reveal() != test.want {
					t.Errorf("found %q, %v, want %q", got.Reveal(), err, test.want)
				}
				return
			}
			var e *grids.CredentialError
			if !errors.As(err, &e) || e.Account != "bot" || !strings.Contains(e.Error(), test.problem) || !got.IsZero() {
				t.Errorf("found %v, want %q", err, test.problem)
			}
			if errors.Is(err, grids.ErrNoPassword) != (test.name == "nothing") {
				t.Errorf("%v: a password may be asked for only where nothing was said", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := grids.Password(ctx, &grids.Account{}, environment(general...)); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, want the context's error", err)
	}
	_, err := grids.Password(t.Context(), &grids.Account{First: "A", Last: "B"}, environment())
	if err == nil || !strings.Contains(err.Error(), "password of A B") {
		t.Errorf("found %v, want the avatar named", err)
	}
}

func TestMFACode(t *testing.T) {
	env := environment("WIPAGENT_MFA_CODE", "111 222", "BOT_MFA", " 333\t444\n")
	for variable, want := range map[string]string{"": "111222", "BOT_MFA": "333444", "OTHER": ""} {
		got := grids.MFACode(&grids.Account{MFAEnv: variable}, env)
		if got.Reveal() != want || got.IsZero() != (want == "") {
			t.Errorf("%q: found %q, want %q", variable, got.Reveal(), want)
		}
	}
}

func TestMFAHash(t *testing.T) {
	c := load(t, whole)
	grid, account, _ := c.Find("bot")
	get := func(g grids.Grid, a *grids.Account) string {
		t.Helper()
		hash, err := c.MFAHash(g, a)
		if err != nil {
			t.Fatal(err)
		}
		return hash.Reveal()
	}
	set := func(value string) {
		t.Helper()
		if err := c.SetMFAHash(grid, account, secret.New(value)); err != nil {
			t.Fatal(err)
		}
	}
	if got := get(grid, account); got != "" {
		t.Errorf("at first: found %q", got)
	}
	set("one")
	set("two\n")
	if got := get(grid, account); got != "two\n" {
		t.Errorf("found %q, want what was set last, byte for byte", got)
	}
	for name, change := range map[string]func(g *grids.Grid, a *grids.Account){
		"another address": func(g *grids.Grid, _ *grids.Account) { g.LoginURI = "http://other/" },
		"another first":   func(_ *grids.Grid, a *grids.Account) { a.First = "Other" },
		"another last":    func(_ *grids.Grid, a *grids.Account) { a.First, a.Last = "TestR", "obot" },
	} {
		g, a := grid, *account
		change(&g, &a)
		if got := get(g, &a); got != "" {
			t.Errorf("%s was given %q", name, got)
		}
	}
	same := *account
	same.Name, same.First = "", "TEST"
	if got := get(grid, &same); got == "" {
		t.Error("the same avatar in other letters was given nothing")
	}
	if err := c.SetMFAHash(grid, account, secret.New(strings.Repeat("x", 5000))); err == nil {
		t.Error("a hash that could not be read again was kept")
	}
	files, _ := os.ReadDir(filepath.Join(c.Dir(), "mfa"))
	if len(files) != 1 {
		t.Errorf("found %v, want one file and nothing half written", files)
	}
	for _, f := range files {
		path := filepath.Join(c.Dir(), "mfa", f.Name())
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("found mode %v, want 0600", info.Mode())
		}
		if runtime.GOOS != "windows" {
			write(t, path, "two", 0o644)
			if _, err := c.MFAHash(grid, account); err == nil || strings.Contains(err.Error(), "two") {
				t.Errorf("a hash that others can read: found %v, want a refusal", err)
			}
			write(t, path, "two", 0o600)
		}
	}
	for range 2 {
		if err := c.ClearMFAHash(grid, account); err != nil {
			t.Fatal(err)
		}
	}
	if got := get(grid, account); got != "" {
		t.Errorf("after clearing: found %q", got)
	}
	set("three")
	set("")
	if got := get(grid, account); got != "" {
		t.Errorf("after setting none: found %q", got)
	}
}

// TestSecretsStayHidden prints everything that holds or could hold a secret.
func TestSecretsStayHidden(t *testing.T) {
	const canary = "c4n4ry"
	c := load(t, whole)
	grid, account, _ := c.Find("bot")
	if err := c.SetMFAHash(grid, account, secret.New(canary)); err != nil {
		t.Fatal(err)
	}
	env := environment("BOT_PASSWORD", canary, "BOT_MFA", canary)
	password, err := grids.Password(t.Context(), account, env)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := c.MFAHash(grid, account)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{c, grid, account, password, hash, grids.MFACode(account, env)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if s := fmt.Sprintf(verb, v); strings.Contains(s, canary) {
				t.Errorf("%s of %T shows the secret: %s", verb, v, s)
			}
		}
	}
}

func TestMachineIDs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	// Each Config stands for a process: they share nothing but the folder.
	const processes = 16
	found := make([][2]string, processes)
	var wg sync.WaitGroup
	for i := range found {
		wg.Go(func() {
			c, err := grids.Load(dir)
			if err != nil {
				t.Error(err)
				return
			}
			mac, id0, err := c.MachineIDs()
			if err != nil {
				t.Error(err)
			}
			found[i] = [2]string{mac, id0}
		})
	}
	wg.Wait()
	for _, ids := range found {
		if ids != found[0] || len(ids[0]) != 32 || len(ids[1]) != 32 || ids[0] == ids[1] || strings.Trim(ids[0]+ids[1], "0123456789abcdef") != "" {
			t.Fatalf("found %v, want everywhere the same two of 32 digits", found)
		}
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 1 {
		t.Errorf("found %v, want one file", files)
	}
	path := filepath.Join(dir, "machine-id")
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("found %v, %v, want mode 0600", info, err)
	}
	other, err := grids.Load(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if mac, _, _ := other.MachineIDs(); mac == found[0][0] {
		t.Error("two installations have the same ID")
	}
	c, _ := grids.Load(dir)
	for _, broken := range []string{"", "abc", strings.Repeat("g", 64), strings.Repeat("a", 66)} {
		write(t, path, broken, 0o600)
		if _, _, err := c.MachineIDs(); err == nil || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("%q: found %v, want a refusal that says what to do", broken, err)
		}
	}
}

// TestWritersAtOnce reads while others write: what is read is always whole.
func TestWritersAtOnce(t *testing.T) {
	c := load(t, whole)
	grid, account, _ := c.Find("bot")
	values := []string{strings.Repeat("a", 4000), strings.Repeat("b", 3000), "c"}
	var wg sync.WaitGroup
	for _, v := range values {
		wg.Go(func() {
			for range 20 {
				if err := c.SetMFAHash(grid, account, secret.New(v)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 200 {
			got, err := c.MFAHash(grid, account)
			if s := got.Reveal(); err != nil || s != "" && s != values[0] && s != values[1] && s != values[2] {
				t.Errorf("read %d bytes that nobody wrote, %v", len(s), err)
			}
		}
	})
	wg.Wait()
}

func TestInventoryCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	c := load(t, whole)
	g, a, _ := c.Find("bot")
	one, err := c.InventoryCache(g, a)
	if err != nil {
		t.Fatal(err)
	}
	g, a, _ = c.Find("two")
	two, err := c.InventoryCache(g, a)
	if err != nil || one == two || filepath.Dir(one) != filepath.Dir(two) {
		t.Errorf("found %s and %s, %v, want two files in a folder", one, two, err)
	}
	if _, err := os.Stat(one); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, want no file yet", err)
	}
	if err := os.WriteFile(one, nil, 0o600); err != nil {
		t.Error(err)
	}
}
