package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is fit to be sent to a server.
func request(uri string) *login.Request {
	return &login.Request{
		URI: uri, First: "Test", Last: "User", Password: secret.New("secret"),
		Channel: "wipagent", Version: "0.1.0", Platform: "lnx",
	}
}

// serve starts a grid that answers each request as handle says.
func serve(t *testing.T, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server
}

// answer is a handler that writes one body.
func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// response wraps members of a reply's struct, given as name and XML of the
// value.
func response(members ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><methodResponse><params><param><value><struct>`)
	for i := 0; i < len(members); i += 2 {
		fmt.Fprintf(&b, "<member><name>%s</name><value>%s</value></member>", members[i], members[i+1])
	}
	b.WriteString(`</struct></value></param></params></methodResponse>`)
	return b.String()
}

// success is the least that lets a session begin; members are added, or
// replace those of the same name.
func success(members ...string) string {
	all := []string{
		"login", "<string>true</string>",
		"agent_id", "0a0a0a0a-0000-4000-8000-000000000001",
		"session_id", "dd733615-2954-48d3-bf39-b77079a92846",
		"secure_session_id", "0b52d73f-8e97-402c-886d-95a6cf58f5d8",
		"circuit_code", "<i4>7</i4>",
		"sim_ip", "<string>127.0.0.1</string>",
		"sim_port", "<int>9000</int>",
		"seed_capability", "<string>http://127.0.0.1:9000/CAPS/x/</string>",
		"region_x", "<i4>256000</i4>",
		"region_y", "<i4>256256</i4>",
	}
	for i := 0; i < len(members); i += 2 {
		if at := slices.Index(all, members[i]); at >= 0 && at%2 == 0 {
			all[at+1] = members[i+1]
		} else {
			all = append(all, members[i:i+2]...)
		}
	}
	return response(all...)
}

// do logs in to a server that gives one answer.
func do(t *testing.T, status int, body string) (*login.Reply, error) {
	t.Helper()
	server := serve(t, answer(status, body))
	return login.Do(t.Context(), server.Client(), request(server.URL))
}

// failure returns the *login.Error of a login that must fail.
func failure(t *testing.T, reply *login.Reply, err error) *login.Error {
	t.Helper()
	var e *login.Error
	if !errors.As(err, &e) || reply != nil {
		t.Fatalf("found %+v, %v, expected a *login.Error", reply, err)
	}
	return e
}

// TestCapture: the reply of a real simulator, forbidden characters and all.
func TestCapture(t *testing.T) {
	for _, name := range []string{"login-session", "login-session-cached"} {
		t.Run(name, func(t *testing.T) {
			var truth struct {
				Login struct {
					AgentID       string `json:"agent_id"`
					FirstName     string `json:"first_name"`
					LastName      string `json:"last_name"`
					CircuitCode   uint32 `json:"circuit_code"`
					RegionX       uint32 `json:"region_x"`
					RegionY       uint32 `json:"region_y"`
					SizeX         int    `json:"region_size_x"`
					SizeY         int    `json:"region_size_y"`
					StartLocation string `json:"start_location"`
					Root          string `json:"inventory_root"`
					Folders       int    `json:"skeleton_folders"`
				}
				Inventory struct {
					Folders []struct {
						UUID, Name string
						Type       int `json:"type_default"`
						Version    int
					}
				}
			}
			capture.Truth(t, name, &truth)
			exchanges := capture.Fixture(t, name).Exchanges
			at := slices.IndexFunc(exchanges, func(e capture.Exchange) bool {
				return strings.Contains(string(e.RequestBody), "login_to_simulator")
			})
			reply, err := do(t, exchanges[at].Status, string(exchanges[at].ResponseBody))
			if err != nil {
				t.Fatal(err)
			}
			found, expected := *reply, truth.Login
			if found.AgentID.String() != expected.AgentID || found.FirstName != expected.FirstName || found.LastName != expected.LastName ||
				found.CircuitCode.Reveal() != expected.CircuitCode || found.RegionX != expected.RegionX || found.RegionY != expected.RegionY ||
				found.SizeX != expected.SizeX || found.SizeY != expected.SizeY || found.StartLocation != expected.StartLocation ||
				found.InventoryRoot.String() != expected.Root || len(found.Folders) != expected.Folders {
				t.Errorf("found %+v, expected %+v", found, expected)
			}
			if found.Simulator != netip.MustParseAddrPort("127.0.0.1:9000") || found.SessionID.IsZero() || found.FoldersOmitted != 0 ||
				!strings.HasPrefix(found.Seed.Reveal(), "http://127.0.0.1:9000/CAPS/") || found.Message == "" || found.LibraryRoot.IsZero() {
				t.Errorf("found %+v", found)
			}
			folders := map[string]login.Folder{}
			for _, f := range reply.Folders {
				folders[f.ID.String()] = f
			}
			for _, f := range truth.Inventory.Folders {
				if got := folders[f.UUID]; got.Name != f.Name || got.Type != f.Type || got.Version != f.Version {
					t.Errorf("found folder %+v, expected %+v", got, f)
				}
			}
			if len(truth.Inventory.Folders) != len(folders) {
				t.Errorf("found %d folders, expected %d", len(folders), len(truth.Inventory.Folders))
			}
		})
	}
}

// TestForms: the same facts in the forms that different grids give them.
func TestForms(t *testing.T) {
	for _, test := range []struct {
		name    string
		members []string
		want    func(r *login.Reply)
	}{
		{"plain", nil, func(r *login.Reply) {}},
		{"login as int", []string{"login", "<int>1</int>"}, func(r *login.Reply) {}},
		{"login as boolean", []string{"login", "<boolean>1</boolean>"}, func(r *login.Reply) {}},
		{"numbers as strings", []string{"circuit_code", "<string>7</string>", "sim_port", "9000", "region_x", "<string> 256000 </string>"}, func(r *login.Reply) {}},
		{"numbers as doubles", []string{"region_x", "<double>256000.0</double>"}, func(r *login.Reply) {}},
		{"negative circuit code", []string{"circuit_code", "<i4>-1</i4>"}, func(r *login.Reply) { r.CircuitCode = secret.New[uint32](0xFFFFFFFF) }},
		{"large circuit code", []string{"circuit_code", "<i8>4294967295</i8>"}, func(r *login.Reply) { r.CircuitCode = secret.New[uint32](0xFFFFFFFF) }},
		{"quoted names", []string{"first_name", `<string>"Test"</string>`, "last_name", "Resident"}, func(r *login.Reply) { r.FirstName, r.LastName = "Test", "Resident" }},
		{"a large region", []string{"region_size_x", "<i4>1024</i4>", "region_size_y", "512"}, func(r *login.Reply) { r.SizeX, r.SizeY = 1024, 512 }},
		{"sizes of zero", []string{"region_size_x", "<i4>0</i4>", "region_size_y", "<nil/>"}, func(r *login.Reply) {}},
		{"message", []string{"message", "Tom & Jerry\r\n say &#x1b;[31mhi"}, func(r *login.Reply) { r.Message = "Tom & Jerry\n say [31mhi" }},
		{"unreadable look_at", []string{"look_at", "[r0.99,oops", "home", "<struct><member></member></struct>"}, func(r *login.Reply) {}},
		{"clock", []string{"seconds_since_epoch", "1795985958"}, func(r *login.Reply) { r.ServerTime = time.Unix(1795985958, 0).UTC() }},
		{"mfa hash", []string{"mfa_hash", "<string>h</string>"}, func(r *login.Reply) { r.MFAHash = secret.New("h") }},
		{"IPv6", []string{"sim_ip", "::ffff:10.0.0.1"}, func(r *login.Reply) { r.Simulator = netip.MustParseAddrPort("10.0.0.1:9000") }},
		{"root as struct", []string{"inventory-root", "<struct><member><name>folder_id</name><value>412e8a37-4dcb-4ee7-a30b-c050ab6f6782</value></member></struct>"},
			func(r *login.Reply) { r.InventoryRoot = world.MustUUID("412e8a37-4dcb-4ee7-a30b-c050ab6f6782") }},
		{"skeleton", []string{"inventory-skeleton", "<array><data>" +
			"<value><struct><member><name>folder_id</name><value>412e8a37-4dcb-4ee7-a30b-c050ab6f6782</value></member><member><name>name</name><value>R & D</value></member>" +
			"<member><name>version</name><value>5</value></member><member><name>type_default</name><value><string>3</string></value></member></struct></value>" +
			"<value><struct><member><name>folder_id</name><value>oops</value></member></struct></value>" +
			"<value>text</value></data></array>"},
			func(r *login.Reply) {
				r.Folders = []login.Folder{{ID: world.MustUUID("412e8a37-4dcb-4ee7-a30b-c050ab6f6782"), Name: "R & D", Type: 3, Version: 5}}
				r.FoldersOmitted = 2
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := do(t, http.StatusOK, success(test.members...))
			if err != nil {
				t.Fatal(err)
			}
			want := login.Reply{
				AgentID:         world.MustUUID("0a0a0a0a-0000-4000-8000-000000000001"),
				SessionID:       secret.New(world.MustUUID("dd733615-2954-48d3-bf39-b77079a92846")),
				SecureSessionID: secret.New(world.MustUUID("0b52d73f-8e97-402c-886d-95a6cf58f5d8")),
				CircuitCode:     secret.New[uint32](7), Simulator: netip.MustParseAddrPort("127.0.0.1:9000"),
				Seed: secret.New("http://127.0.0.1:9000/CAPS/x/"), RegionX: 256000, RegionY: 256256, SizeX: 256, SizeY: 256,
				Folders: []login.Folder{},
			}
			test.want(&want)
			if diff := cmp.Diff(want, *got, revealed); diff != "" {
				t.Errorf("found (+), expected (-):\n%s", diff)
			}
			if handle := got.RegionHandle(); handle != 256000<<32|256256 {
				t.Errorf("found region handle %d", handle)
			}
		})
	}
}

// revealed compares secrets by what they hold.
var revealed = cmp.Options{
	cmp.Comparer(func(a, b secret.Of[string]) bool { return a.IsZero() == b.IsZero() && a.Reveal() == b.Reveal() }),
	cmp.Comparer(func(a, b secret.Of[uint32]) bool { return a.IsZero() == b.IsZero() && a.Reveal() == b.Reveal() }),
	cmp.Comparer(func(a, b secret.Of[world.UUID]) bool { return a.IsZero() == b.IsZero() && a.Reveal() == b.Reveal() }),
	cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }),
}

// TestRefusals: each reason that a grid gives, and whether trying again is
// any use.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		given string
		want  login.Reason
		retry bool
	}{
		{"key", login.ReasonKey, false},
		{"presence", login.ReasonPresence, true},
		{"connect", login.ReasonConnect, true},
		{"Internal Error", login.ReasonConnect, true},
		{"tos", login.ReasonTerms, false},
		{"critical", login.ReasonCritical, false},
		{"update", login.ReasonUpdate, false},
		{"optional", login.ReasonOptional, false},
		{"mfa_challenge", login.ReasonMFA, false},
		{"something new", login.ReasonUnknown, false},
		{"", login.ReasonUnknown, false},
	} {
		t.Run(test.given, func(t *testing.T) {
			reply, err := do(t, http.StatusOK, response(
				"login", "<string>false</string>", "reason", test.given, "message", "Sorry,\x1b[31m no.", "message_id", "LoginFailed", "mfa_hash", "h"))
			e := failure(t, reply, err)
			if e.Reason != test.want || e.Given != test.given || e.Message != "Sorry,[31m no." || e.MessageID != "LoginFailed" || e.Status != 200 || e.MFAHash.Reveal() != "h" || e.Err != nil {
				t.Errorf("found %+v, expected reason %s", e, test.want)
			}
			if after, ok := e.Retry(); ok != test.retry || (after > 0) != test.retry {
				t.Errorf("found retry %v after %v, expected %v", ok, after, test.retry)
			}
			if !strings.Contains(e.Error(), string(test.want)) || !strings.Contains(e.Error(), "Sorry") {
				t.Errorf("found %q", e)
			}
		})
	}
}

// TestStrangeAnswers: what comes back where no grid is, or a broken one.
func TestStrangeAnswers(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		want   login.Reason
		part   string // of the error's text
		retry  bool
	}{
		{"maintenance page", 503, "<html>\n<body>Down for <b>maintenance</b>\x1b[31m</body>", login.ReasonNotGrid, `503 with a body that begins "<html> <body>Down for`, true},
		{"text", 404, "no such page", login.ReasonNotGrid, `404 with a body that begins "no such page"`, false},
		{"nothing", 200, "", login.ReasonNotGrid, "status 200 with an empty body", false},
		{"too many requests", 429, "slow down", login.ReasonNotGrid, "429", true},
		{"LLSD", 200, "<llsd><map><key>session_id</key><uuid>dd733615-2954-48d3-bf39-b77079a92846</uuid></map></llsd>", login.ReasonNotGrid, "of another format, not shown", false},
		{"JSON", 200, `{"session_id":"dd733615"}`, login.ReasonNotGrid, "of another format, not shown", false},
		{"binary", 200, "\x00\x01\x02", login.ReasonNotGrid, "", false},
		{"fault", 500, "<methodResponse><fault><value><struct><member><name>faultCode</name><value><int>4</int></value></member><member><name>faultString</name><value>Too many\nparameters.</value></member></struct></value></fault></methodResponse>",
			login.ReasonFault, "XML-RPC fault 4: Too many parameters.", false},
		{"fault without a struct", 200, "<methodResponse><fault><value>no</value></fault></methodResponse>", login.ReasonFault, "XML-RPC fault 0", false},
		{"no params", 200, "<methodResponse></methodResponse>", login.ReasonMalformed, "without a value", false},
		{"empty params", 200, "<methodResponse><params/></methodResponse>", login.ReasonMalformed, "found no param", false},
		{"string", 200, "<methodResponse><params><param><value>true</value></param></params></methodResponse>", login.ReasonMalformed, "neither lets us in nor says why not", false},
		{"breaks off", 200, success()[:700], login.ReasonMalformed, "breaks off in line 1", false},
		{"deep", 200, "<methodResponse><params><param>" + strings.Repeat("<value><array><data>", 30), login.ReasonMalformed, "nested", false},
		{"reason only", 200, response("reason", "key"), login.ReasonKey, "key", false},
		{"no seed", 200, success("seed_capability", "<nil/>"), login.ReasonMalformed, "found nothing as seed_capability", false},
		{"foreign seed", 200, success("seed_capability", "file:///etc/passwd"), login.ReasonMalformed, "found another form as seed_capability, expected an http or https address", false},
		{"no session", 200, success("session_id", "00000000-0000-0000-0000-000000000000"), login.ReasonMalformed, "session_id", false},
		{"odd agent", 200, success("agent_id", "someone"), login.ReasonMalformed, "agent_id", false},
		{"host name", 200, success("sim_ip", "sim.example"), login.ReasonMalformed, "sim_ip, expected an IP address", false},
		{"unspecified address", 200, success("sim_ip", "0.0.0.0"), login.ReasonMalformed, "sim_ip", false},
		{"port", 200, success("sim_port", "<int>70000</int>"), login.ReasonMalformed, "sim_port, expected a number of 1 to 65535", false},
		{"circuit code", 200, success("circuit_code", "1.5"), login.ReasonMalformed, "circuit_code", false},
		{"region", 200, success("region_x", "<int>-256</int>"), login.ReasonMalformed, "region_x", false},
		{"size", 200, success("region_size_x", "<int>1000000</int>"), login.ReasonMalformed, "region_size_x", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			reply, err := do(t, test.status, test.body)
			e := failure(t, reply, err)
			if e.Reason != test.want || e.Status != test.status || !strings.Contains(e.Error(), test.part) || strings.ContainsRune(e.Error(), '\x1b') {
				t.Errorf("found %+v: %v, expected %s with %q", e, e, test.want, test.part)
			}
			if _, ok := e.Retry(); ok != test.retry {
				t.Errorf("found retry %v, expected %v", ok, test.retry)
			}
		})
	}
}

// TestRequests: what is not fit to be sent is not sent.
func TestRequests(t *testing.T) {
	server := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("found a call, expected none") })
	for _, test := range []struct {
		name  string
		spoil func(r *login.Request)
	}{
		{"no address", func(r *login.Request) { r.URI = "" }},
		{"other scheme", func(r *login.Request) { r.URI = "ftp://127.0.0.1/" }},
		{"credentials in the address", func(r *login.Request) { r.URI = strings.Replace(r.URI, "//", "//canary:canary@", 1) }},
		{"unreadable address", func(r *login.Request) { r.URI = "http://canary\x00/" }},
		{"no name", func(r *login.Request) { r.First = "" }},
		{"no password", func(r *login.Request) { r.Password = secret.Of[string]{} }},
		{"no channel", func(r *login.Request) { r.Channel = "" }},
		{"no version", func(r *login.Request) { r.Version = "" }},
		{"platform", func(r *login.Request) { r.Platform = "amiga" }},
		{"machine ID", func(r *login.Request) { r.MAC = "12:34" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request(server.URL)
			test.spoil(r)
			reply, err := login.Do(t.Context(), nil, r)
			e := failure(t, reply, err)
			if _, retry := e.Retry(); e.Reason != login.ReasonRequest || retry || strings.Contains(e.Error(), "canary") {
				t.Errorf("found %v", e)
			}
		})
	}
}

func TestTransport(t *testing.T) {
	t.Run("nobody there", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		reply, err := login.Do(t.Context(), nil, request(server.URL+"/canary"))
		e := failure(t, reply, err)
		if _, retry := e.Retry(); e.Reason != login.ReasonTransport || !retry || e.Status != 0 || strings.Contains(e.Error(), "canary") {
			t.Errorf("found %+v", e)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done()
		})
		reply, err := login.Do(ctx, server.Client(), request(server.URL))
		if e := failure(t, reply, err); e.Reason != login.ReasonTransport || !errors.Is(e, context.Canceled) {
			t.Errorf("found %+v", e)
		}
	})
	t.Run("body breaks off", func(t *testing.T) {
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "<methodResponse>")
		})
		reply, err := login.Do(t.Context(), server.Client(), request(server.URL))
		if e := failure(t, reply, err); e.Reason != login.ReasonTransport || !errors.Is(e, io.ErrUnexpectedEOF) {
			t.Errorf("found %+v", e)
		}
	})
	t.Run("long body", func(t *testing.T) {
		client := &http.Client{Transport: grid(func(*http.Request) (int, http.Header, string) { return 200, nil, "" }).saying(64<<20 + 1)}
		reply, err := login.Do(t.Context(), client, request("http://grid.example/"))
		if e := failure(t, reply, err); e.Reason != login.ReasonMalformed || !strings.Contains(e.Error(), "over 67108864 bytes") {
			t.Errorf("found %+v", e)
		}
	})
}

// TestSecrets: whatever goes wrong, and whoever prints what, no secret shows.
func TestSecrets(t *testing.T) {
	const (
		password = "canary-password"
		hash     = "canary-mfa-hash"
		token    = "canary-token"
		seed     = "http://127.0.0.1/canary-seed/"
		session  = "cafecafe-cafe-4afe-8afe-cafecafecafe"
	)
	bodies := map[string]string{
		"success":       success("seed_capability", seed, "session_id", session, "secure_session_id", session, "circuit_code", "12021202", "mfa_hash", hash),
		"malformed":     success("seed_capability", "canary-seed", "session_id", session, "secure_session_id", "canary-secure", "circuit_code", "canary-code", "mfa_hash", hash),
		"broken":        success("seed_capability", seed, "session_id", session+"</canary-seed>"),
		"refused":       response("login", "false", "reason", "key", "mfa_hash", hash, "message", "token canary-token or canary-mfa-hash?"),
		"odd reason":    response("login", "false", "reason", "canary-token", "message_id", "canary-token"),
		"fault":         "<methodResponse><fault><value><struct><member><name>faultString</name><value>canary-token</value></member></struct></value></fault></methodResponse>",
		"echo":          "you sent: ECHO",
		"other format":  "<login><seed>" + seed + "</seed></login>",
		"indeterminate": response("login", "indeterminate", "next_url", "http://canary-user:canary-pass@127.0.0.1/"),
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			var canaries = []string{"canary", session, "12021202"}
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				sent, _ := io.ReadAll(r.Body)
				_, sum, _ := strings.Cut(string(sent), "$1$")
				canaries = append(canaries, sum[:32])
				_, _ = io.WriteString(w, strings.Replace(body, "ECHO", string(sent), 1))
			})
			req := request(server.URL)
			req.Password, req.Token, req.MFAHash = secret.New(password), secret.New(token), secret.New(hash)
			reply, err := login.Do(t.Context(), server.Client(), req)
			var e *login.Error
			if errors.As(err, &e) != (name != "success") {
				t.Fatal(err)
			}
			shown := []any{req, *req, reply, err, e}
			if reply != nil {
				shown = append(shown, *reply)
			}
			if e != nil {
				shown = append(shown, *e, e.Error())
			}
			for _, v := range shown {
				encoded, _ := json.Marshal(v)
				for _, text := range []string{fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v), fmt.Sprintf("%q", v), string(encoded)} {
					for _, canary := range canaries {
						if strings.Contains(text, canary) {
							t.Errorf("found %q in %q", canary, text)
						}
					}
				}
			}
		})
	}
}
