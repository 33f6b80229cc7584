package caps

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// Bounds of asking for names.
const (
	maxNameIDs   = 80      // in one request
	maxNameURL   = 3_500   // bytes; servers refuse longer addresses
	maxNames     = 4 << 20 // bytes of one answer
	namesTimeout = 30 * time.Second
	nameTries    = 3
)

// Name is how an avatar is called.
type Name struct {
	ID world.UUID
	// Display is what the person chose to be called, which is not unique and
	// may be anybody's name; empty if the grid gave none.
	Display string
	// Username is the account's name in the grid's form: "test.user", or
	// "test" for an account of one name, on Second Life; "Test User" on
	// OpenSimulator.
	Username string
	// First and Last are the account's name in two parts, Last "Resident"
	// where it has one. They are empty if the grid gave none and they cannot
	// be told from Username.
	First, Last string
	// Default says that Display is nothing chosen, but made of the
	// account's name.
	Default bool
}

// FetchNames asks the capability GetDisplayNames for the names of avatars, in
// as many requests as it takes, one after the other. IDs that the grid does
// not know are left out, and so are repeated and zero ones. With an error,
// which is ErrGone where the capability does not exist any more, come the
// names that were fetched until then.
// Source: Second Life and OpenSimulator, GetDisplayNames.
func FetchNames(ctx context.Context, client *http.Client, url secret.Of[string], ids []world.UUID) ([]Name, error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, world.UUID.Compare)
	ids = slices.DeleteFunc(slices.Compact(ids), world.UUID.IsZero)
	base, room, err := namesBase(url.Reveal())
	if err != nil {
		return nil, err
	}
	var names []Name
	for batch := range slices.Chunk(ids, room) {
		v, err := fetchNames(ctx, client, base+namesQuery(batch))
		if err != nil {
			return names, err
		}
		names = append(names, readNames(v, batch)...)
	}
	return names, nil
}

// namesBase returns the address up to the first ID, and for how many IDs
// there is room.
func namesBase(address string) (base string, room int, err error) {
	u, err := url.Parse(address)
	if err != nil || !isWeb(u) {
		return "", 0, errors.New("found no address as GetDisplayNames")
	}
	// Second Life reads the query only after a slash; OpenSimulator takes
	// the address with and without.
	if !strings.HasSuffix(u.Path, "/") {
		u = u.JoinPath("/")
	}
	base = u.String()
	if u.RawQuery == "" {
		base += "?"
	} else {
		base += "&"
	}
	room = min(maxNameIDs, (maxNameURL-len(base))/len("&ids=00000000-0000-0000-0000-000000000000"))
	if room < 1 {
		return "", 0, errors.New("found an address without room for a query as GetDisplayNames")
	}
	return base, room, nil
}

// namesQuery lists IDs.
func namesQuery(batch []world.UUID) string {
	var b strings.Builder
	for i, id := range batch {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString("ids=" + id.String())
	}
	return b.String()
}

// fetchNames makes one request, again where that may help.
func fetchNames(ctx context.Context, client *http.Client, address string) (llsd.Value, error) {
	c := capability{GetDisplayNames, secret.New(address)}
	return backoff.Retry(ctx, func() (llsd.Value, error) {
		ctx, cancel := context.WithTimeout(ctx, namesTimeout)
		defer cancel()
		return c.ask(c.get(ctx, client, maxNames))
	}, backoff.WithBackOff(newPauses()), backoff.WithMaxTries(nameTries))
}

// readNames reads an answer: names of those that were asked for, once each.
func readNames(v llsd.Value, batch []world.UUID) []Name {
	var names []Name
	asked := map[world.UUID]bool{}
	for _, id := range batch {
		asked[id] = true
	}
	for agent := range v.Get("agents").Values() {
		id, _ := agent.Get("id").UUID()
		n := Name{
			ID: id, Display: name(agent.Get("display_name")), Username: name(agent.Get("username")),
			First: name(agent.Get("legacy_first_name")), Last: name(agent.Get("legacy_last_name")),
		}
		n.Default, _ = agent.Get("is_display_name_default").Bool()
		if n.First == "" {
			n.First, n.Last = parts(n.Username)
		}
		if !asked[id] || n.Display == "" && n.Username == "" && n.First == "" {
			continue
		}
		delete(asked, id)
		names = append(names, n)
	}
	return names
}

// parts splits the forms of a user name, "test.user", "test" and "Test User".
func parts(username string) (first, last string) {
	first, last, ok := strings.Cut(username, " ")
	if !ok {
		first, last, ok = strings.Cut(username, ".")
	}
	if !ok && first != "" {
		last = "Resident"
	}
	return first, last
}
