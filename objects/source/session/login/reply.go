package login

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// MaxFolders is how many folders of the inventory a Reply has at most.
const MaxFolders = 32_768

// Bounds of what a reply may say.
const (
	regionSize    = 256    // metres, where the grid names no size
	maxRegionSize = 32_768 // metres
	maxMessage    = 64 << 10
)

// Reply is a login that succeeded. It is not changed after Do returned it.
// Source: login response of Second Life and OpenSimulator.
type Reply struct {
	AgentID         world.UUID
	SessionID       secret.Of[world.UUID]
	SecureSessionID secret.Of[world.UUID]
	CircuitCode     secret.Of[uint32]
	// Simulator is where the circuit's datagrams go.
	Simulator netip.AddrPort
	// Seed is the address of the capabilities, http or https.
	Seed secret.Of[string]
	// RegionX and RegionY are the region's south-west corner, metres.
	RegionX, RegionY uint32
	// SizeX and SizeY are the region's size, metres; 256 where the grid
	// names none.
	SizeX, SizeY int
	// FirstName and LastName are as the grid spells them; empty if it does not.
	FirstName, LastName string
	// Message is the grid's word of the day, cleaned of control characters;
	// empty if there is none.
	Message string
	// StartLocation is which start it was: "last", "home", "url", "safe".
	StartLocation string
	// Access is the account's rating: "PG", "M", "A"; empty if not told.
	Access string
	// ServerTime is the grid's clock, to the second; zero if not told.
	ServerTime time.Time
	// InventoryRoot is the root folder; zero if not told.
	InventoryRoot world.UUID
	// Folders are the inventory's folders in the grid's order; LibraryRoot
	// and LibraryOwner those of the grid's library, which is not listed.
	Folders []Folder
	// FoldersOmitted counts those that Folders leaves out: beyond
	// MaxFolders, or without an ID.
	FoldersOmitted            int
	LibraryRoot, LibraryOwner world.UUID
	// MaxGroups is how many groups the account may be in; 0 if not told.
	MaxGroups int
	// MFAHash is to be stored and sent from now on; zero if none came.
	MFAHash secret.Of[string]
}

// Folder is one folder of the inventory's skeleton.
type Folder struct {
	ID world.UUID
	// ParentID is zero for the root.
	ParentID world.UUID
	// Name is as its owner wrote it, not cleaned.
	Name string
	// Type is what the grid uses it for: 8 the root, 3 landmarks, 14 trash,
	// …; -1 for an ordinary folder.
	Type int
	// Version grows with each change of what lies in it; 0 or less is unknown.
	Version int
}

// RegionHandle is the region's name in messages: X in the upper half.
func (r Reply) RegionHandle() uint64 { return uint64(r.RegionX)<<32 | uint64(r.RegionY) }

// readReply reads an answer: a reply, a redirect, or an *Error.
func readReply(status int, body []byte, scrub *scrubber) (*Reply, *redirect, error) {
	v, err := decodeResponse(bytes.NewReader(body))
	var fault *fault
	switch {
	case err == nil:
	case errors.As(err, &fault):
		fault.reason = excerpt(scrub.text(fault.reason), 300)
		return nil, nil, &Error{Reason: ReasonFault, Status: status, Err: fault}
	case errors.Is(err, errNotXMLRPC):
		return nil, nil, &Error{Reason: ReasonNotGrid, Status: status, Err: fmt.Errorf("%w but HTTP status %d%s", err, status, scrub.beginning(body))}
	default:
		return nil, nil, &Error{Reason: ReasonMalformed, Status: status, Err: unquoted(err)}
	}
	word := strings.TrimSpace(v.get("login").str())
	if strings.EqualFold(word, "indeterminate") {
		next, err := readRedirect(v)
		if err != nil {
			return nil, nil, &Error{Reason: ReasonRedirect, Status: status, Err: err}
		}
		return nil, next, nil
	}
	success, ok := v.get("login").boolean()
	if !ok && v.get("reason").absent() {
		return nil, nil, &Error{Reason: ReasonMalformed, Status: status, Err: errors.New("found an answer that neither lets us in nor says why not")}
	}
	if !success {
		return nil, nil, refusal(status, v, scrub)
	}
	reply, err := readSuccess(v, scrub)
	if err != nil {
		return nil, nil, &Error{Reason: ReasonMalformed, Status: status, Err: err, MFAHash: mfaHash(v)}
	}
	return reply, nil, nil
}

// unquoted returns a parser's error without the pieces of the document that
// it repeats.
func unquoted(err error) error {
	var syntax *xml.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	if syntax.Msg == "unexpected EOF" {
		return fmt.Errorf("found an answer that breaks off in line %d", syntax.Line)
	}
	return fmt.Errorf("found broken XML in line %d", syntax.Line)
}

// refusal reads why the grid does not let us in.
func refusal(status int, v value, scrub *scrubber) *Error {
	given := excerpt(scrub.text(v.get("reason").str()), 100)
	e := &Error{
		Reason: ReasonUnknown, Given: given, Status: status,
		Message:   message(v.get("message"), scrub),
		MessageID: excerpt(scrub.text(v.get("message_id").str()), 100),
		MFAHash:   mfaHash(v),
	}
	switch known := Reason(strings.ToLower(given)); known {
	case ReasonKey, ReasonPresence, ReasonConnect, ReasonTerms, ReasonCritical, ReasonUpdate, ReasonOptional, ReasonMFA, ReasonRedirect:
		e.Reason = known
	case "internal error": // OpenSimulator's connect
		e.Reason = ReasonConnect
	}
	return e
}

// readRedirect reads where an "indeterminate" login goes on.
func readRedirect(v value) (*redirect, error) {
	to, err := url.Parse(strings.TrimSpace(v.get("next_url").str()))
	if err != nil || to.Host == "" || to.User != nil || to.Scheme != "http" && to.Scheme != "https" {
		return nil, errors.New("found a redirect to an address that is none")
	}
	method := strings.TrimSpace(v.get("next_method").str())
	if method == "" {
		method = "login_to_simulator"
	}
	if !methodName.MatchString(method) {
		return nil, errors.New("found a redirect to a method without a proper name")
	}
	seconds, _ := v.get("next_duration").integer()
	seconds = min(max(seconds, 0), int64(maxWait/time.Second))
	return &redirect{to, method, time.Duration(seconds) * time.Second}, nil
}

var methodName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.]{0,63}$`)

// readSuccess reads the fields of a login that succeeded.
func readSuccess(v value, scrub *scrubber) (*Reply, error) {
	f := fields{v: v}
	r := &Reply{
		AgentID:         f.id("agent_id"),
		SessionID:       secret.New(f.id("session_id")),
		SecureSessionID: secret.New(f.id("secure_session_id")),
		// A signed int where the code is over 31 bits.
		CircuitCode:   secret.New(uint32(f.integer("circuit_code", math.MinInt32, math.MaxUint32))),
		Simulator:     netip.AddrPortFrom(f.addr("sim_ip"), uint16(f.integer("sim_port", 1, math.MaxUint16))),
		Seed:          secret.New(f.http("seed_capability")),
		RegionX:       uint32(f.integer("region_x", 0, math.MaxUint32)),
		RegionY:       uint32(f.integer("region_y", 0, math.MaxUint32)),
		SizeX:         f.size("region_size_x"),
		SizeY:         f.size("region_size_y"),
		FirstName:     unquote(v.get("first_name").str()),
		LastName:      unquote(v.get("last_name").str()),
		Message:       message(v.get("message"), scrub),
		StartLocation: excerpt(scrub.text(v.get("start_location").str()), 100),
		Access:        excerpt(scrub.text(v.get("agent_access").str()), 100),
		InventoryRoot: firstID(v.get("inventory-root"), "folder_id"),
		LibraryRoot:   firstID(v.get("inventory-lib-root"), "folder_id"),
		LibraryOwner:  firstID(v.get("inventory-lib-owner"), "agent_id"),
		MFAHash:       mfaHash(v),
	}
	if f.err != nil {
		return nil, f.err
	}
	if t, ok := v.get("seconds_since_epoch").integer(); ok && t > 0 {
		r.ServerTime = time.Unix(t, 0).UTC()
	}
	if n, ok := v.get("max-agent-groups").integer(); ok && n > 0 && n < math.MaxInt32 {
		r.MaxGroups = int(n)
	}
	r.folders(v.get("inventory-skeleton").items)
	return r, nil
}

// folders reads the inventory's skeleton.
func (r *Reply) folders(skeleton []value) {
	r.Folders = make([]Folder, 0, min(len(skeleton), MaxFolders))
	for _, v := range skeleton {
		id, err := parseID(v.get("folder_id"))
		if err != nil || id.IsZero() || len(r.Folders) == MaxFolders {
			r.FoldersOmitted++
			continue
		}
		parent, _ := parseID(v.get("parent_id")) // zero: an orphan, or the root
		r.Folders = append(r.Folders, Folder{
			ID: id, ParentID: parent, Name: v.get("name").str(),
			Type: small(v.get("type_default"), -1), Version: small(v.get("version"), 0),
		})
	}
}

// small reads a number that fits an int32; otherwise if there is none.
func small(v value, otherwise int) int {
	if n, ok := v.integer(); ok && n >= math.MinInt32 && n <= math.MaxInt32 {
		return int(n)
	}
	return otherwise
}

// mfaHash returns the hash that any answer may bring.
func mfaHash(v value) secret.Of[string] {
	if hash := v.get("mfa_hash").str(); hash != "" {
		return secret.New(hash)
	}
	return secret.Of[string]{}
}

// message returns the grid's text for people.
func message(v value, scrub *scrubber) string {
	text := v.str()
	if len(text) > maxMessage {
		text = text[:maxMessage]
	}
	return clean(scrub.text(text))
}

// unquote takes off the quotes that Second Life puts around names.
func unquote(s string) string {
	s = clean(s)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	return s
}

// firstID reads an ID from an array of one struct, or from a struct; zero if
// there is none.
func firstID(v value, name string) world.UUID {
	if len(v.items) > 0 {
		v = v.items[0]
	}
	id, _ := parseID(v.get(name))
	return id
}

// parseID reads a UUID.
func parseID(v value) (world.UUID, error) { return world.ParseUUID(strings.TrimSpace(v.str())) }

// fields reads what a session cannot do without. The first failure stays; it
// names the field and never what was in it, which may be a secret.
type fields struct {
	v   value
	err error
}

func (f *fields) fail(name, expected string) {
	found := "another form"
	if f.v.get(name).absent() {
		found = "nothing"
	}
	if f.err == nil {
		f.err = fmt.Errorf("found %s as %s, expected %s", found, name, expected)
	}
}

func (f *fields) id(name string) world.UUID {
	id, err := parseID(f.v.get(name))
	if err != nil || id.IsZero() {
		f.fail(name, "a UUID")
	}
	return id
}

func (f *fields) integer(name string, least, most int64) int64 {
	n, ok := f.v.get(name).integer()
	if !ok || n < least || n > most {
		f.fail(name, fmt.Sprintf("a number of %d to %d", least, most))
	}
	return n
}

// size reads a side of the region; grids with regions of one size leave it
// out, or say 0.
func (f *fields) size(name string) int {
	if n, ok := f.v.get(name).integer(); f.v.get(name).absent() || ok && n == 0 {
		return regionSize
	}
	return int(f.integer(name, 1, maxRegionSize))
}

func (f *fields) addr(name string) netip.Addr {
	a, err := netip.ParseAddr(strings.TrimSpace(f.v.get(name).str()))
	if err != nil || a.IsUnspecified() || a.IsMulticast() {
		f.fail(name, "an IP address")
	}
	return a.Unmap()
}

func (f *fields) http(name string) string {
	text := strings.TrimSpace(f.v.get(name).str())
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		f.fail(name, "an http or https address")
	}
	return text
}

// scrubber keeps what the request told in confidence out of texts in which a
// grid, or a proxy on the way, repeats it. The password itself is not looked
// for: it never went out, and hiding a word that equals it would tell it.
type scrubber struct {
	words    []string
	replacer *strings.Replacer
}

func newScrubber(req *Request) *scrubber {
	s := &scrubber{}
	var pairs []string
	for _, word := range []string{
		strings.TrimPrefix(req.passwordHash(), "$1$"), req.token(), req.MFAHash.Reveal(),
	} {
		if word != "" {
			s.words = append(s.words, word)
			pairs = append(pairs, word, secret.Hidden)
		}
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

// text returns a text with the secrets hidden.
func (s *scrubber) text(text string) string { return s.replacer.Replace(text) }

// beginning describes how a body that is no answer begins. It quotes pages
// for people only: an answer in some other format holds the session's secrets,
// and a body that repeats the request anywhere holds ours.
func (s *scrubber) beginning(body []byte) string {
	for _, word := range s.words {
		if bytes.Contains(body, []byte(word)) {
			return " with a body that repeats the request"
		}
	}
	text := excerpt(string(body[:min(len(body), 4096)]), 200)
	form, _, _ := strings.Cut(http.DetectContentType(body), ";")
	switch {
	case text == "":
		return " with an empty body"
	case form == "text/html", form == "text/plain" && !strings.ContainsAny(text[:1], "<{["):
		return fmt.Sprintf(" with a body that begins %q", text)
	}
	return " with a body of another format, not shown"
}
