package world

import (
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// names are what avatars are called, as far as it was learned apart from their
// descriptions.
type names = simplelru.LRU[UUID, knownName]

// knownName is one avatar's name and the attempts to learn it.
type knownName struct {
	attempt
	name     string // empty if not learned
	complete bool
}

func newNames() *names {
	n, err := simplelru.NewLRU[UUID, knownName](MaxNames, nil)
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return n
}

func (s *scene) nameAvatar(u AvatarNamed) outcome {
	name := cleanName(u.Name)
	if u.ID.IsZero() || name == "" {
		return malformed
	}
	known, _ := s.names.Get(u.ID)
	if known.complete && !u.Complete || known.name == name && known.complete == u.Complete {
		return applied
	}
	known.name, known.complete = name, u.Complete
	s.names.Add(u.ID, known)
	s.version++
	return applied
}

// FullName joins a legacy name, without outer spaces. "Resident" stands for no
// last name, in any case, and what stands in for an unknown name is none.
func FullName(first, last string) string {
	first, last = cleanName(first), cleanName(last)
	if first == "" || last == "" || strings.EqualFold(last, "Resident") {
		return first
	}
	return first + " " + last
}

// cleanName returns a name without outer spaces, or nothing if it is what
// viewers and grids write for a name they do not have.
func cleanName(s string) string {
	s = strings.TrimSpace(text(s))
	switch strings.ToLower(strings.Trim(s, "().…?! ")) {
	case "":
		return ""
	case "loading", "waiting":
		if strings.ContainsAny(s, ".…(") {
			return ""
		}
	}
	return s
}
