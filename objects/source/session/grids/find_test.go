package grids_test

import (
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/grids"
)

func setRoots(client *http.Client, pool *x509.CertPool) {
	client.Transport.(*http.Transport).TLSClientConfig.RootCAs = pool
}

func TestFind(t *testing.T) {
	c := load(t, whole+`
[accounts.three]
grid = "aditi"
name = "A"
[accounts.four]
grid = "aditi"
name = "B"
`)
	for _, test := range []struct{ name, grid, uri, account string }{
		{"bot", "home", "http://home.example:8002/", "bot"},
		{"home", "home", "http://home.example:8002/", "bot"},
		{"agni", "agni", "https://login.agni.lindenlab.com/cgi-bin/login.cgi", "two"}, // the only one
		{"aditi", "aditi", "https://login.aditi.lindenlab.com/cgi-bin/login.cgi", ""}, // one of two
		{"local", "local", "http://127.0.0.1:9000/", ""},
		{"http://HOME.example:8002", "home", "http://home.example:8002/", "bot"},
		{"https://Other.example/login?x=1", "", "https://other.example/login?x=1", ""},
	} {
		g, a, err := c.Find(test.name)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		account := ""
		if a != nil {
			account = a.Name
		}
		if g.Name != test.grid || g.LoginURI != test.uri || account != test.account {
			t.Errorf("%s: found %+v and %q, want %+v", test.name, g, account, test)
		}
	}
	_, _, err := c.Find("agnii")
	if !errors.Is(err, grids.ErrUnknown) || !strings.Contains(err.Error(), `did you mean "agni"?`) || !strings.Contains(err.Error(), "three, two") {
		t.Errorf("found %v", err)
	}
	for _, uri := range []string{"ftp://h/", "http://", "http://u@h/", "http://h/#f", "http://h:0/", "http://h/ x", "http://h/é", "http://h/" + strings.Repeat("x", 3000)} {
		if _, _, err := c.Find(uri); err == nil || errors.Is(err, grids.ErrUnknown) {
			t.Errorf("%.50s: found %v, want a refusal", uri, err)
		}
	}
	_, a, _ := c.Find("bot")
	a.First = "Changed"
	if _, again, _ := c.Find("bot"); again.First != "Test" {
		t.Error("a caller changed the settings")
	}
}

func TestExposed(t *testing.T) {
	for uri, want := range map[string]bool{
		"http://h/": true, "http://10.0.0.1/": true, "http://localhost.example/": true,
		"https://h/": false, "http://localhost:9000/": false, "http://127.3.2.1/": false, "http://[::1]:9000/": false,
	} {
		if got := (grids.Grid{LoginURI: uri}).Exposed(); got != want {
			t.Errorf("%s: found %v, want %v", uri, got, want)
		}
	}
}

func TestParseName(t *testing.T) {
	for s, want := range map[string]string{
		"Test Robot": "Test|Robot", " Test   Robot ": "Test|Robot", "test.robot": "test|robot", "Test": "Test|Resident",
		"T.R Robot": "T.R|Robot", "日本 語": "日本|語",
		"": "", "a.b.c": "", "a.": "", ".b": "", "A B C": "", "a\x1b[m b": "", "a\xff": "", "a\u202eb c": "", strings.Repeat("x", 65): "",
	} {
		first, last, err := grids.ParseName(s)
		if got := first + "|" + last; err == nil && got != want || (err != nil) != (want == "") {
			t.Errorf("%q: found %q, %v, want %q", s, got, err, want)
		}
	}
}

func TestCheckStart(t *testing.T) {
	for s, want := range map[string]bool{
		"last": true, "home": true, "uri:Ahern&1&2&3": true, "uri:Two Words&0&255&4096": true,
		"": false, "Last": false, "uri:": false, "uri:A": false, "uri:A&1&2": false, "uri:A&1&2&3&4": false, "uri:&1&2&3": false,
		"uri:A&-1&2&3": false, "uri:A&1.5&2&3": false, "uri:A&1&2&99999": false, "uri:A\n&1&2&3": false, "Ahern&1&2&3": false, "uri:\xff&1&2&3": false,
		"uri:" + strings.Repeat("x", 300) + "&1&2&3": false,
	} {
		if err := grids.CheckStart(s); (err == nil) != want {
			t.Errorf("%q: found %v, want it valid: %v", s, err, want)
		}
	}
}

func TestNewAccount(t *testing.T) {
	a, err := grids.NewAccount("test.robot")
	if err != nil || a.First != "test" || a.Last != "robot" || a.Start != "last" || a.DrawDistance != 256 || !a.DisplayNames || a.AcceptTerms {
		t.Errorf("found %+v, %v", a, err)
	}
}
