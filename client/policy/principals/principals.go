// Package principals reads the file that says who may call a server, and which
// bearer tokens stand for whom. Each principal is a table:
//
//	[principals.robot]
//	audience = "im"                       # as --as takes it
//	token_sha256 = ["5f2c…"]              # of the whole token; several while one takes another's place
//	expires = 2031-01-31T00:00:00Z        # optional
//	revoked = false                       # true lets nobody in
//	intent = ["/grid/region#world_location"]  # optional: narrows to these operations
//	grants = []                           # of a scheduler_run: what it may call
//	rate = 20                             # requests a second; optional
//	burst = 40                            # how many of them at once; optional
//	embedder = false                      # true: may narrow itself with each request
//
// The file holds digests and no tokens. A token is 256 random bits, which nobody
// finds by trying, however fast a digest is computed: a slow hash with a salt is
// for passwords, which people choose, and would be paid for with each request.
//
// A File follows its file: what is withdrawn there ends within a second or two,
// and a file that has become bad changes nothing until it is good again.
package principals

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"regexp"
	"time"

	"github.com/wipagent/wipagent/client/policy"
)

// Access is what a token gives. It must not be changed.
type Access struct {
	Principal policy.Principal
	// Embedder says that the principal speaks for others, and may narrow its
	// own rights with each request.
	Embedder bool
	// Rate is how many requests a second the principal may make, and Burst how
	// many of them at once; 0 is the server's default.
	Rate  float64
	Burst int
	// Expires is when the access ends by itself; the zero time is never.
	Expires time.Time
	// Done is closed when the access is withdrawn before that; nil is never.
	Done <-chan struct{}
}

// Over reports whether the access has ended.
func (a *Access) Over(now time.Time) bool {
	select {
	case <-a.Done:
		return true
	default:
		return !a.Expires.IsZero() && !now.Before(a.Expires)
	}
}

// ErrUnknown says that a token stands for nobody, for whatever reason: it was
// never given out, or it has expired, or it was revoked.
var ErrUnknown = errors.New("the token is not known here")

// id is what a principal may be called. The slash is left for those whom an
// embedder speaks for.
var id = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}$`)

// ValidID reports whether a principal may be called so: 1 to 64 letters, digits
// and _.:@-, of which the first is a letter or digit.
func ValidID(s string) bool { return id.MatchString(s) }

// tokenPrefix is what a token begins with, so that one that lies where it should
// not is recognized.
const tokenPrefix = "wipagent_"

// NewToken returns a new token, 256 random bits in text, and the digest by which
// a file knows it.
func NewToken() (token string, digest [sha256.Size]byte) {
	var bits [32]byte
	rand.Read(bits[:]) // never fails
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(bits[:])
	return token, Digest(token)
}

// Digest returns the SHA-256 of a token's text.
func Digest(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// NewVerifier returns a function that knows one token, for a server without a
// file. It never blocks.
func NewVerifier(digest [sha256.Size]byte, access *Access) func(context.Context, string) (*Access, error) {
	s := &set{digests: [][sha256.Size]byte{digest}, access: []*held{{Access: access}}}
	return func(_ context.Context, token string) (*Access, error) { return s.find(token, time.Now()) }
}

// set is what a file says. It is not changed.
type set struct {
	digests [][sha256.Size]byte
	access  []*held // of each digest; nil if it is revoked
}

// held is an access that can be withdrawn.
type held struct {
	*Access
	withdraw func()
}

// find returns what a token gives. How long it takes tells nothing about the
// tokens there are: each is compared, by its digest, in constant time.
func (s *set) find(token string, now time.Time) (*Access, error) {
	digest := Digest(token)
	found := -1
	for i := range s.digests {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(digest[:], s.digests[i][:]), i, found)
	}
	if found < 0 || s.access[found] == nil || s.access[found].Over(now) {
		return nil, ErrUnknown
	}
	return s.access[found].Access, nil
}
