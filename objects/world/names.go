package world

import (
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// names are what avatars are called, as far as it was learned apart from their
// descriptions.
type names = simplelru.LRU[UUID, string]

func newNames() *names {
	n, err := simplelru.NewLRU[UUID, string](MaxNames, nil)
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
	s.version++
	s.names.Add(u.ID, name)
	return applied
}

// fullName joins a legacy name. "Resident" stands for no last name.
func fullName(first, last string) string {
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
