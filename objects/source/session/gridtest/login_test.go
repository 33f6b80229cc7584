package gridtest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

func TestLogin(t *testing.T) { synctest.Test(t, testLogin) }

func testLogin(t *testing.T) {
	g := gridtest.New(&gridtest.Config{
		Accounts: []gridtest.Account{
			{First: "Test", Last: "User", Password: "secret"},
			{First: "Careful", Last: "Resident", Password: "p", Terms: "the terms", Critical: "read this", Token: "123456"},
		},
		Regions: []gridtest.RegionConfig{{Name: "Alpha"}, {Name: "Big <Bold>", SizeX: 1024, SizeY: 512}},
	})
	defer g.Close()
	do := func(change func(*login.Request)) (*login.Reply, error) {
		req := request(g.LoginURI())
		change(req)
		return login.Do(context.Background(), &http.Client{Transport: g.Transport()}, req)
	}
	refused := func(name string, want login.Reason, change func(*login.Request)) {
		t.Helper()
		_, err := do(change)
		var e *login.Error
		if !errors.As(err, &e) || e.Reason != want {
			t.Errorf("%s: found %v, expected reason %q", name, err, want)
		}
	}
	refused("password", login.ReasonKey, func(r *login.Request) { r.Password = secret.New("wrong") })
	refused("nobody", login.ReasonKey, func(r *login.Request) { r.First = "Nobody" })
	careful := func(r *login.Request) { r.First, r.Last, r.Password = "Careful", "", secret.New("p") }
	refused("terms", login.ReasonTerms, careful)
	agree := func(r *login.Request) { careful(r); r.AcceptTerms = true }
	refused("critical", login.ReasonCritical, agree)
	read := func(r *login.Request) { agree(r); r.ReadCritical = true }
	refused("code", login.ReasonMFA, read)
	refused("wrong code", login.ReasonMFA, func(r *login.Request) { read(r); r.Token = secret.New("1") })

	reply, err := do(func(r *login.Request) {
		read(r)
		r.Token, r.Start = secret.New("123 456"), "uri:Big <Bold>&500&20&30"
	})
	if err != nil {
		t.Fatal(err)
	}
	if reply.SizeX != 1024 || reply.SizeY != 512 || reply.MFAHash.IsZero() || len(reply.Folders) != 2 || reply.FirstName != "Careful" {
		t.Errorf("found %+v, expected the big region, a hash and two folders", reply)
	}
	hash := reply.MFAHash
	stored := func(r *login.Request) { read(r); r.MFAHash = hash }
	refused("presence", login.ReasonPresence, stored)
	if _, err := do(stored); err != nil {
		t.Errorf("with a hash, after presence: %v", err)
	}
	g.ForgetToken("Careful Resident")
	refused("old hash", login.ReasonMFA, stored)

	g.AnswerLogins(
		gridtest.LoginAnswer{Reason: "update", Message: "too old"},
		gridtest.LoginAnswer{Status: 503, Body: "<html>maintenance</html>"},
		gridtest.LoginAnswer{Reason: "indeterminate"},
	)
	refused("update", login.ReasonUpdate, func(*login.Request) {})
	refused("garbage", login.ReasonNotGrid, func(*login.Request) {})
	if _, err := do(func(*login.Request) {}); err != nil {
		t.Errorf("redirected: %v", err)
	}
	if n := g.Counts()["login"]; n != 14 {
		t.Errorf("found %d logins counted, expected 14", n)
	}
}

// TestSecondLogin throws the first session out.
func TestSecondLogin(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		other := inMemory(t, g)
		defer other.close()
		if _, err := login.Do(other.ctx, other.http, request(g.LoginURI())); err == nil {
			t.Fatal("found no error, expected a refusal")
		}
		settle(2 * time.Second)
		messages, _, _ := c.seen()
		if messages["KickUser"] != 1 || messages["DisableSimulator"] != 1 || c.answers()[404] != 1 {
			t.Errorf("found messages %v and polls %v, expected a kick, an end and 404", messages, c.answers())
		}
		other.login(request(g.LoginURI()))
		settle(2 * time.Second)
		if s := g.Sessions(); len(s) != 1 || !s[0].Ready {
			t.Errorf("found sessions %+v, expected the second", s)
		}
	})
}

func TestEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		end      func(g *gridtest.Grid, c *client)
		messages map[string]int
	}{
		"kick":            {func(g *gridtest.Grid, c *client) { g.Kick(id(100), "go") }, map[string]int{"KickUser": 1, "DisableSimulator": 1}},
		"restart":         {func(g *gridtest.Grid, c *client) { g.Restart("Alpha", time.Minute) }, map[string]int{"KickUser": 1, "DisableSimulator": 1}},
		"vanish":          {func(g *gridtest.Grid, c *client) { g.Vanish(id(100)) }, map[string]int{}},
		"answered logout": {func(g *gridtest.Grid, c *client) { c.send(message.AppendLogoutRequest(nil, c.session)) }, map[string]int{"LogoutReply": 1}},
		"logout":          {func(g *gridtest.Grid, c *client) { c.send(message.AppendLogoutRequest(nil, c.session)) }, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testWorld()
			cfg.LogoutReply = tt.messages["LogoutReply"] > 0
			bubble(t, cfg, func(t *testing.T, g *gridtest.Grid, c *client) {
				tt.end(g, c)
				settle(5 * time.Second)
				messages, _, _ := c.seen()
				for _, n := range []string{"KickUser", "DisableSimulator", "LogoutReply"} {
					if messages[n] != tt.messages[n] {
						t.Errorf("found %d %s, expected %d", messages[n], n, tt.messages[n])
					}
				}
				if c.answers()[404] != 1 || len(g.Sessions()) != 0 {
					t.Errorf("found polls %v and sessions %v, expected 404 and none", c.answers(), g.Sessions())
				}
				_, err := login.Do(c.ctx, c.http, request(g.LoginURI()))
				var e *login.Error
				switch {
				case name != "restart" && err != nil:
					t.Errorf("login afterwards: %v", err)
				case name == "restart" && (!errors.As(err, &e) || e.Reason != login.ReasonConnect):
					t.Errorf("login while down: found %v, expected reason connect", err)
				}
			})
		})
	}
}

func TestWrongSessionIsDropped(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		forged := c.session
		forged.SessionID = id(1)
		c.send(message.AppendLogoutRequest(nil, forged))
		settle(2 * time.Second)
		stranger := g.Listen()
		defer stranger.Close()
		stranger.WriteToUDPAddrPort(append([]byte{0, 0, 0, 0, 99, 0}, message.AppendLogoutRequest(nil, c.session)...), c.reply.Simulator)
		settle(2 * time.Second)
		if len(g.Sessions()) != 1 {
			t.Error("found the session gone, expected both to be dropped")
		}
	})
}

// TestSecrets finds every secret that the wire has carried in the grid's list.
func TestSecrets(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		secrets := g.Secrets()
		seed, _ := c.caps.Get("EventQueueGet").Str()
		for _, s := range []string{"secret", c.session.SessionID.String(), fmt.Sprint(c.session.CircuitCode), c.reply.SecureSessionID.Reveal().String(), c.reply.Seed.Reveal(), seed} {
			if !slices.ContainsFunc(secrets, func(known string) bool { return strings.Contains(s, known) }) {
				t.Errorf("found %q, expected it to be among the secrets", s)
			}
		}
	})
}
