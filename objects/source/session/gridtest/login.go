package gridtest

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// call is a login request, read by its element names alone.
type call struct {
	Method  string `xml:"methodName"`
	Members []struct {
		Name  string `xml:"name"`
		Value struct {
			String string `xml:"string"`
			Int    string `xml:"int"`
			I4     string `xml:"i4"`
			Bool   string `xml:"boolean"`
		} `xml:"value"`
	} `xml:"params>param>value>struct>member"`
}

// login answers a login request.
func (g *Grid) login(req *http.Request, body []byte) answer {
	if req.Method != http.MethodPost {
		return answer{status: http.StatusNotFound}
	}
	var asked call
	if err := xml.Unmarshal(body, &asked); err != nil || asked.Method != "login_to_simulator" {
		return answer{status: http.StatusBadRequest}
	}
	fields := map[string]string{}
	for _, m := range asked.Members {
		fields[m.Name] = m.Value.String + m.Value.Int + m.Value.I4 + m.Value.Bool
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.poke()
	if len(g.answers) > 0 {
		scripted := g.answers[0]
		g.answers = g.answers[1:]
		return scripted.answer(g)
	}
	account, refusal := g.authenticate(fields)
	if refusal != nil {
		return refusal.answer()
	}
	r, to, refusal := g.destination(account, fields["start"])
	if refusal != nil {
		return refusal.answer()
	}
	return g.welcome(account, g.admit(account, r, to)).answer()
}

// authenticate returns the account that a login is for, or a refusal. Like
// OpenSimulator it says "key" of all that is wrong.
func (g *Grid) authenticate(fields map[string]string) (*account, reply) {
	var a *account
	for _, other := range g.accounts {
		if strings.EqualFold(other.First, fields["first"]) && strings.EqualFold(other.Last, fields["last"]) {
			a = other
		}
	}
	if a == nil || fields["passwd"] != passwordHash(a.Password) || fields["channel"] == "" || fields["version"] == "" {
		return nil, refuse("key", "Could not authenticate your avatar. Please check your username and password.")
	}
	switch {
	case a.Terms != "" && fields["agree_to_tos"] != "1":
		return nil, refuse("tos", a.Terms)
	case a.Critical != "" && fields["read_critical"] != "1":
		return nil, refuse("critical", a.Critical)
	case a.Token != "" && (a.hash == "" || fields["mfa_hash"] != a.hash):
		if fields["token"] != a.Token {
			return nil, refuse("mfa_challenge", "Please enter the code.")
		}
		a.hash = g.newID().String()
		g.secret(a.hash)
	}
	if a.agent != nil {
		a.agent.kick("New login detected")
		return nil, refuse("presence", "You appear to be already logged in.")
	}
	return a, nil
}

func passwordHash(password string) string {
	sum := md5.Sum([]byte(password))
	return "$1$" + hex.EncodeToString(sum[:])
}

// ForgetToken makes the hash that stands for an account's token worthless.
func (g *Grid) ForgetToken(name string) {
	id := g.Agent(name)
	g.do(func() {
		for _, a := range g.accounts {
			if a.ID == id {
				a.hash = ""
			}
		}
	})
}

// destination returns where a login arrives.
func (g *Grid) destination(a *account, start string) (*Region, world.Vec3, reply) {
	r, to := g.regions[0], a.Position
	if a.Region != "" {
		r = g.region(a.Region)
	}
	if rest, ok := strings.CutPrefix(start, "uri:"); ok {
		parts := strings.Split(rest, "&")
		for _, other := range g.regions {
			if len(parts) == 4 && other.Name == parts[0] {
				r = other
				to.X, _ = strconv.ParseFloat(parts[1], 64)
				to.Y, _ = strconv.ParseFloat(parts[2], 64)
				to.Z, _ = strconv.ParseFloat(parts[3], 64)
			}
		}
	}
	if to == (world.Vec3{}) {
		to = world.Vec3{X: float64(r.SizeX) / 2, Y: float64(r.SizeY) / 2, Z: 25}
	}
	if math.IsNaN(to.X + to.Y + to.Z) {
		return nil, world.Vec3{}, refuse("key", "No such place.")
	}
	if time.Now().Before(r.down) {
		return nil, world.Vec3{}, refuse("connect", "The region you are trying to enter is not available.")
	}
	return r, to, nil
}

// welcome is the answer to a login that gets in.
func (g *Grid) welcome(a *account, c *circuit) reply {
	r := c.region
	var skeleton strings.Builder
	for _, f := range a.Folders {
		skeleton.WriteString("<value>" + string(reply{
			text("name", f.Name), text("folder_id", f.ID.String()), number("type_default", f.Type),
			number("version", f.Version), text("parent_id", f.ParentID.String()),
		}.body()) + "</value>")
	}
	root := "<value>" + string(reply{text("folder_id", a.Folders[0].ID.String())}.body()) + "</value>"
	out := reply{
		text("login", "true"), text("message", "Welcome to a grid for tests."),
		text("agent_id", a.ID.String()), text("session_id", c.agent.session.String()), text("secure_session_id", c.agent.secure.String()),
		number("circuit_code", int(c.agent.code)), text("sim_ip", r.addr.Addr().String()), number("sim_port", int(r.addr.Port())),
		text("seed_capability", c.seed.url), number("region_x", int(r.X)), number("region_y", int(r.Y)),
		number("region_size_x", r.SizeX), number("region_size_y", r.SizeY), number("http_port", 0),
		text("first_name", `"`+a.First+`"`), text("last_name", a.Last), text("start_location", "last"),
		text("agent_access", "M"), text("look_at", "[r0,r1,r0]"), text("home", "{'region_handle':[r256000,r256000], 'position':[r128,r128,r20]}"),
		number("seconds_since_epoch", int(time.Now().Unix())),
		list("inventory-root", root), list("inventory-skeleton", skeleton.String()), list("buddy-list", ""),
		list("inventory-lib-root", ""), list("login-flags", "<value>"+string(reply{text("stipend_since_login", "N")}.body())+"</value>"),
	}
	if a.hash != "" {
		out = append(out, text("mfa_hash", a.hash))
	}
	return out
}

// reply is the struct that answers a login, member by member.
type reply [][2]string // a name, and a value as XML

func text(name, s string) [2]string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s))
	return [2]string{name, "<string>" + b.String() + "</string>"}
}

func number(name string, n int) [2]string { return [2]string{name, fmt.Sprintf("<i4>%d</i4>", n)} }

func list(name, values string) [2]string {
	return [2]string{name, "<array><data>" + values + "</data></array>"}
}

func refuse(reason, message string) reply {
	return reply{text("reason", reason), text("message", message), text("login", "false")}
}

func (r reply) body() []byte {
	var b bytes.Buffer
	b.WriteString("<struct>")
	for _, m := range r {
		fmt.Fprintf(&b, "<member><name>%s</name><value>%s</value></member>", m[0], m[1])
	}
	b.WriteString("</struct>")
	return b.Bytes()
}

func (r reply) answer() answer {
	return answer{http.StatusOK, map[string]string{"Content-Type": "text/xml", "Connection": "close"}, fmt.Appendf(nil,
		`<?xml version="1.0" encoding="utf-8"?><methodResponse><params><param><value>%s</value></param></params></methodResponse>`, r.body())}
}

func (s *LoginAnswer) answer(g *Grid) answer {
	if s.Body != "" {
		a := answer{status: s.Status, body: []byte(s.Body)}
		if a.status == 0 {
			a.status = http.StatusOK
		}
		return a
	}
	if s.Reason != "indeterminate" {
		return refuse(s.Reason, s.Message).answer()
	}
	next := s.NextURL
	if next == "" {
		next = g.base + "/"
	}
	return reply{
		text("login", "indeterminate"), text("message", s.Message), text("next_url", next),
		text("next_method", "login_to_simulator"), text("next_duration", "1"),
	}.answer()
}
