package session

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// Config says who logs in where. LoginURI, First, Password and the machine IDs
// are needed; the rest has defaults.
type Config struct {
	// LoginURI is the grid's login address, https or http.
	LoginURI string
	// First and Last are the account's name; an empty Last is "Resident".
	First, Last string
	Password    secret.Of[string]
	// Start is where to arrive: "last" (the default), "home" or
	// "uri:Region Name&x&y&z".
	Start string
	// Channel and Version name the client to the grid, truthfully; the
	// defaults are this program's.
	Channel, Version string
	// MAC and ID0 are 32 hexadecimal digits each that stay the same from
	// login to login.
	MAC, ID0 string
	// AcceptTerms and ReadCritical say that the operator has read and
	// accepted what the grid shows; they are never set by themselves.
	AcceptTerms, ReadCritical bool
	// MFA keeps the hash that stands for a one-time code, and asks for a
	// code. Nil: a login that needs one fails.
	MFA MFA

	// DrawDistance is how far the agent sees, in metres, 32 to 256; 0 means
	// 256. Objects beyond it are unknown.
	DrawDistance float64
	// ObjectNames asks for the names and descriptions of the nearest
	// objects, at most 100 a region. It selects nothing, but is traffic
	// that a plain viewer would not send.
	ObjectNames bool
	// NoDisplayNames leaves avatars with the names that come unasked.
	NoDisplayNames bool
	// NoInventory leaves the inventory unknown.
	NoInventory bool
	// InventoryCache is a file that keeps what the inventory held, so that
	// only changed folders are fetched; empty means none.
	InventoryCache string

	// RootCAs are trusted for this grid's hosts besides the system's; nil
	// means the system's alone.
	RootCAs *x509.CertPool
	// Once ends Run when the session is lost, instead of logging in again.
	Once bool
	// Notify is told what happens, in order, from one goroutine; it must be
	// quick. Nil means nobody.
	Notify func(Notice)

	// Transport and Listen are the network; nil means the real one.
	Transport http.RoundTripper
	Listen    func() (PacketConn, error)
}

// MFA is where one-time codes and the hashes that stand for them come from.
type MFA interface {
	// Hash returns what SetHash was last told; the zero value if nothing.
	Hash() secret.Of[string]
	// SetHash keeps a hash; the zero value forgets it.
	SetHash(secret.Of[string]) error
	// Code asks for a one-time code; message is the grid's own words.
	Code(ctx context.Context, message string) (secret.Of[string], error)
}

// PacketConn is the part of a *net.UDPConn that a session uses.
type PacketConn interface {
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	Close() error
}

const (
	channel = "wipagent"
	version = "0.1.0"
	far     = 256 // metres
	minFar  = 32
)

// withDefaults checks a configuration and fills it in.
func (c Config) withDefaults() (Config, error) {
	u, err := url.Parse(c.LoginURI)
	switch {
	case err != nil:
		return c, errors.New("the login address is no URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return c, fmt.Errorf("found the login address %q, expected https://HOST/… or http://HOST/…", u.Redacted())
	case u.User != nil:
		return c, errors.New("found a user name in the login address, expected none: credentials have their own places")
	case c.First == "":
		return c, errors.New("found no account name, expected FIRST LAST")
	case c.Password.IsZero():
		return c, errors.New("found no password")
	case len(c.MAC) != 32 || len(c.ID0) != 32:
		return c, errors.New("found no machine IDs, expected 32 hexadecimal digits each")
	case math.IsNaN(c.DrawDistance), c.DrawDistance != 0 && (c.DrawDistance < minFar || c.DrawDistance > far):
		return c, fmt.Errorf("found a draw distance of %g m, expected %d to %d", c.DrawDistance, minFar, far)
	}
	if c.Last == "" {
		c.Last = "Resident"
	}
	if c.Start == "" {
		c.Start = "last"
	}
	if c.Channel == "" {
		c.Channel = channel
	}
	if c.Version == "" {
		c.Version = version
	}
	if c.DrawDistance == 0 {
		c.DrawDistance = far
	}
	if c.Notify == nil {
		c.Notify = func(Notice) {}
	}
	return c, nil
}

func (c *Config) request() *login.Request {
	return &login.Request{
		URI: c.LoginURI, First: c.First, Last: c.Last, Password: c.Password, Start: c.Start,
		Channel: c.Channel, Version: c.Version, MAC: c.MAC, ID0: c.ID0,
		AcceptTerms: c.AcceptTerms, ReadCritical: c.ReadCritical,
	}
}

// NoticeKind is what a Notice is about.
type NoticeKind string

// The kinds of notices.
const (
	LoggingIn    NoticeKind = "logging_in"
	LoggedIn     NoticeKind = "logged_in"
	Arrived      NoticeKind = "arrived"      // Text is the region's name
	Leaving      NoticeKind = "leaving"      // the agent is on its way to another region
	Crawling     NoticeKind = "crawling"     // Done of Total folders
	Crawled      NoticeKind = "crawled"      // Total-Done could not be fetched
	Disconnected NoticeKind = "disconnected" // Err is why
	Retrying     NoticeKind = "retrying"     // After is when
	LoggedOut    NoticeKind = "logged_out"
	Trouble      NoticeKind = "trouble" // Err is something that the session survives
)

// Notice is something that an operator may want to know. Texts and errors may
// hold the grid's own words, uncleaned; they hold no secret.
type Notice struct {
	At          time.Time
	Kind        NoticeKind
	Text        string
	Err         error
	Done, Total int
	After       time.Duration
}
