package grids_test

import (
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/grids"
)

// folder returns a folder whose grids.toml has the given text.
func folder(t testing.TB, text string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, grids.FileName), text, 0o644)
	return dir
}

func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}

func load(t testing.TB, text string) *grids.Config {
	t.Helper()
	c, err := grids.Load(folder(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const whole = `
[grids.home]
login_uri = "HTTP://Home.Example:8002"
ca_file = "home.pem"
account = "bot"

[grids.agni]
ca_file = "/etc/agni.pem"

[accounts.bot]
grid = "home"
name = "Test Robot"
password_env = "BOT_PASSWORD"
mfa_env = "BOT_MFA"
start = "uri:Some Region&128&1&0"
accept_terms = true
read_critical = true
draw_distance = 32
object_names = true
display_names = false

[accounts.two]
grid = "agni"
name = "second"
password_file = "two.password"
`

func TestLoad(t *testing.T) {
	c := load(t, whole)
	dir := c.Dir()
	wantGrids := []grids.Grid{
		{Name: "aditi", LoginURI: "https://login.aditi.lindenlab.com/cgi-bin/login.cgi"},
		{Name: "agni", LoginURI: "https://login.agni.lindenlab.com/cgi-bin/login.cgi", CAFile: "/etc/agni.pem"},
		{Name: "home", LoginURI: "http://home.example:8002/", CAFile: filepath.Join(dir, "home.pem"), Account: "bot"},
		{Name: "local", LoginURI: "http://127.0.0.1:9000/"},
	}
	if d := cmp.Diff(wantGrids, c.Grids()); d != "" {
		t.Errorf("grids (-want +got):\n%s", d)
	}
	wantAccounts := []grids.Account{
		{
			Name: "bot", Grid: "home", First: "Test", Last: "Robot", PasswordEnv: "BOT_PASSWORD", MFAEnv: "BOT_MFA",
			Start: "uri:Some Region&128&1&0", AcceptTerms: true, ReadCritical: true, DrawDistance: 32, ObjectNames: true,
		},
		{
			Name: "two", Grid: "agni", First: "second", Last: "Resident", PasswordFile: filepath.Join(dir, "two.password"),
			Start: "last", DrawDistance: 256, DisplayNames: true,
		},
	}
	if d := cmp.Diff(wantAccounts, c.Accounts()); d != "" {
		t.Errorf("accounts (-want +got):\n%s", d)
	}
	inline := load(t, strings.NewReplacer("DIR", dir).Replace(`
grids = {agni = {ca_file = "/etc/agni.pem"}, home = {login_uri = "http://home.example:8002/", ca_file = "DIR/home.pem", account = "bot"}}
accounts.bot = {grid = "home", name = "test.robot", start = "last"}`))
	if d := cmp.Diff(wantGrids, inline.Grids()); d != "" {
		t.Errorf("grids of inline tables (-want +got):\n%s", d)
	}
}

// A path may begin at the user's own folder.
func TestLoadFromHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	c := load(t, bot+"password_file = \"~/pw\"\n")
	if got, want := c.Accounts()[0].PasswordFile, filepath.Join(home, "pw"); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if got, err := grids.Path("/x", "~other/pw"); err != nil || got != filepath.Join("/x", "~other/pw") {
		t.Errorf("found %s, %v", got, err)
	}
}

func TestLoadWithoutFile(t *testing.T) {
	c, err := grids.Load(filepath.Join(t.TempDir(), "not there"))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Grids()) != 3 || len(c.Accounts()) != 0 {
		t.Errorf("found %v and %v, want the three built-in grids alone", c.Grids(), c.Accounts())
	}
}

const home = "[grids.home]\nlogin_uri = \"http://h/\"\n"

// bot is home with an account to which a test adds lines, from line 6 on.
const bot = home + "[accounts.bot]\ngrid = \"home\"\nname = \"A B\"\n"

func TestLoadRefuses(t *testing.T) {
	for _, test := range []struct {
		name, text string
		line       int
		want       string
	}{
		{"unknown table", "\n[grid.home]\n", 2, `no key "grid" is known here (did you mean "grids"?)`},
		{"unknown key of a grid", home + "logn_uri = \"x\"\n", 3, `(did you mean "login_uri"?); expected account, ca_file, login_uri`},
		{"unknown key of an account", bot + "pasword_env = \"X\"\n", 6, `did you mean "password_env"?`},
		{"case", bot + "Start = \"home\"\n", 6, `did you mean "start"?`},
		{"far off", home + "colour = 1\n", 3, `no key "colour" is known here; expected`},
		{"inline", "accounts = {bot = {pasword = 1}}\n", 1, `no key "pasword"`},
		{"table too deep", home + "[grids.home.more]\nx = 1\n", 3, `no key "more"`},
		{"dotted too deep", home + "account.x = 1\n", 3, `no key "x"`},
		{"no table", "grids = 1\n", 1, "grids: expected a table"},
		{"grid no table", "[grids]\nhome = \"http://h/\"\n", 2, "grids.home: expected a table: [grids.NAME]"},
		{"list of tables", "[[grids]]\nhome = 1\n", 1, "expected a table"},
		{"list of grids", "[[grids.home]]\nlogin_uri = \"http://h/\"\n", 1, "expected a table"},
		{"no login URI", "[grids.home]\n", 1, `grid "home" has no login_uri`},
		{"name", "[grids.\"a/b\"]\n", 1, "a name is"},
		{"not a string", "[grids.home]\nlogin_uri = 9000\n", 2, "grids.home.login_uri: expected a string in quotes"},
		{"empty", bot + "password_file = \"\"\n", 6, "leave the key out"},
		{"scheme", "[grids.home]\nlogin_uri = \"ftp://h/\"\n", 2, `found scheme "ftp", expected http or https`},
		{"no host", "[grids.home]\nlogin_uri = \"http:///x\"\n", 2, "no host"},
		{"port", "[grids.home]\nlogin_uri = \"http://h:99999/\"\n", 2, "expected 1 to 65535"},
		{"default account", home + "account = \"bt\"\n[accounts.bot]\ngrid=\"home\"\nname=\"A\"\n", 3, `no account "bt" (did you mean "bot"?)`},
		{"account elsewhere", home + "account = \"bot\"\n[accounts.bot]\ngrid=\"agni\"\nname=\"A\"\n", 3, `account "bot" is of grid "agni"`},
		{"same name", home + "[accounts.home]\ngrid=\"home\"\nname=\"A\"\n", 3, "names a grid already"},
		{"name of a built-in", "[accounts.agni]\ngrid=\"agni\"\nname=\"A\"\n", 1, "names a grid already"},
		{"no grid", "[accounts.bot]\nname=\"A\"\n", 1, "has no grid"},
		{"unknown grid", "[accounts.bot]\ngrid=\"agnj\"\nname=\"A\"\n", 2, `did you mean "agni"?`},
		{"no name", "[accounts.bot]\ngrid=\"agni\"\n", 1, "has no name"},
		{"avatar", "[accounts.bot]\ngrid=\"agni\"\nname=\"A B C\"\n", 3, "expected an avatar's name"},
		{"start", bot + "start = \"uri:X\"\n", 6, "expected last, home"},
		{"draw distance", bot + "draw_distance = 512\n", 6, "32 to 256"},
		{"draw distance of text", bot + "draw_distance = \"far\"\n", 6, "32 to 256"},
		{"flag", bot + "accept_terms = \"yes\"\n", 6, "expected true or false"},
		{"two passwords", bot + "password_env = \"A\"\npassword_file = \"b\"\n", 7, "expected one"},
		{"twice", bot + "grid = \"home\"\n", 6, "there already"},
		{"table twice", home + home, 3, "there already"},
		{"no TOML", home + "what is this\n", 3, "not TOML"},
		{"control character", home + "ca_file = \"a\x00b\"\n", 3, "not TOML"},
		{"NUL in a path", home + "ca_file = \"a\\u0000b\"\n", 3, "NUL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := folder(t, test.text)
			_, err := grids.Load(dir)
			var e *grids.Error
			if !errors.As(err, &e) {
				t.Fatalf("found %v, want a *grids.Error", err)
			}
			if e.Line != test.line || !strings.Contains(e.Message, test.want) || e.Path != filepath.Join(dir, grids.FileName) {
				t.Errorf("found %v\nwant line %d and %q", e, test.line, test.want)
			}
		})
	}
}

// TestErrorsHideValues puts a password where it does not belong.
func TestErrorsHideValues(t *testing.T) {
	const canary = "c4n4ry"
	for _, text := range []string{
		bot + "password = \"" + canary + "\"\n",
		bot + "password = " + canary + "\n",
		bot + "password = 4" + canary + "\n",
		bot + "password = \"" + canary + "\n",
		bot + "password = '''" + canary + "\n",
		bot + "password = \"" + canary + "\" \"" + canary + "\"\n",
		bot + "password = 1979-" + canary + "\n",
		bot + "password = \"\\u" + canary + "\"\n",
		bot + "password_env = \"" + canary + "!\"\n",
		bot + "password_env = [\"" + canary + "\"]\n",
		bot + "mfa_env = \"" + canary + " 1\"\n",
		"[grids.home]\nlogin_uri = \"http://me:" + canary + "@h/\"\n",
		"[grids.home]\nlogin_uri = \"http://me:" + canary + "@h:x/%zz\"\n",
	} {
		_, err := grids.Load(folder(t, text))
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s\nfound %v, want an error without the value", text, err)
		}
	}
	for _, uri := range []string{"http://me:" + canary + "@h/", "http://me:" + canary + "@h:x/%zz"} {
		if _, _, err := load(t, "").Find(uri); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: found %v, want an error without the value", uri, err)
		}
	}
}

func TestLoadBounds(t *testing.T) {
	if _, err := grids.Load(folder(t, strings.Repeat("#", 1<<20))); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("found %v, want a refusal of a large file", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, grids.FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := grids.Load(dir); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("found %v, want a refusal of a folder", err)
	}
	_, err := grids.Load(folder(t, "["+strings.Repeat("k", 100<<10)+"]\n"))
	if err == nil || len(err.Error()) > 1000 {
		t.Errorf("found an error of %d bytes for a long key", len(err.Error()))
	}
}

func TestDir(t *testing.T) {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	if got, err := grids.Dir(env(map[string]string{"WIPAGENT_CONFIG": "some/where"})); err != nil || !filepath.IsAbs(got) || !strings.HasSuffix(got, filepath.FromSlash("some/where")) {
		t.Errorf("found %q, %v", got, err)
	}
	t.Setenv("XDG_CONFIG_HOME", "/cfg")
	t.Setenv("HOME", "/home/x")
	if got, err := grids.Dir(env(nil)); err != nil || filepath.Base(got) != "wipagent" || !filepath.IsAbs(got) {
		t.Errorf("found %q, %v", got, err)
	}
}

func TestRoots(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.pem"), filepath.Join(dir, "bad.pem")
	write(t, good, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})), 0o644)
	write(t, bad, "nothing", 0o644)

	if pool, err := (grids.Grid{}).Roots(); pool != nil || err != nil {
		t.Errorf("no file: found %v, %v, want the system's", pool, err)
	}
	pool, err := (grids.Grid{CAFile: good}).Roots()
	if err != nil {
		t.Fatal(err)
	}
	client := server.Client()
	client.Transport.(interface{ CloseIdleConnections() }).CloseIdleConnections()
	setRoots(client, pool)
	if r, err := client.Get(server.URL); err != nil {
		t.Errorf("with the extra root: %v", err)
	} else {
		r.Body.Close()
	}
	for _, file := range []string{bad, filepath.Join(dir, "absent.pem"), dir} {
		if _, err := (grids.Grid{Name: "home", CAFile: file}).Roots(); err == nil || !strings.Contains(err.Error(), "ca_file of grid home") {
			t.Errorf("%s: found %v", file, err)
		}
	}
}
