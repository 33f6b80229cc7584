package remote_test

import "github.com/wipagent/wipagent/client"

// worldStory asks the grid for all that it tells.
func worldStory(s *session) {
	if path := s.call(s.Context(), chat, "", "discover", `{"query":"who is near me","scope":"/world"}`).Get("hits.0.path").String(); path != "/world/region" {
		s.Errorf("discover finds %s", path)
	}
	if n := s.inspects(operator, "/world").Get("children.#").Int(); n != 4 {
		s.Errorf("found %d entries, expected 4", n)
	}
	for _, entry := range []string{"agent", "region", "parcel", "inventory"} {
		s.inspects(operator, "/world/"+entry)
	}
	s.inspects(chat, "/world/region#nearby_avatars")

	s.must(chat, "/world/region", "world_location", `{}`)
	s.must(chat, "/world/agent", "agent_state", `{}`)
	s.must(chat, "/world/parcel", "parcel_environment", `{}`)
	for _, paged := range []struct {
		entry, operation, args string
		size, least            int
	}{
		{"region", "nearby_avatars", `{"radius_meters":256,`, 2, 3},
		{"region", "visible_objects", `{"radius_meters":256,`, 7, 15},
		{"agent", "recent_participants", `{`, 2, 3},
		{"inventory", "inventory_search", `{"query":"a",`, 3, 4},
		{"inventory", "received_landmarks", `{`, 1, 2},
	} {
		if items := s.pages(operator, "/world/"+paged.entry, paged.operation, paged.args, paged.size); len(items) < paged.least {
			s.Errorf("%s: found %d items, expected %d at least", paged.operation, len(items), paged.least)
		}
	}

	// What is wrong is said with a call that is right.
	s.corrected(chat, "/world/region", "nearby_avatars", `{"radius_meters":-3,"page_size":500}`)
	s.corrected(chat, "/world/region", "world_location", `{"verbose":true}`)
	s.corrected(operator, "/world/inventory", "inventory_search", `{"qery":"hat","page":0}`)
	s.refused(client.BadArguments, operator, "/world/inventory", "inventory_search", `{}`)

	// An operation that is not for a chat, and one that nobody has.
	s.alike(chat, "/world/inventory", "/world/anything1", "inventory_search", `{"query":"hat"}`)
	s.refused(client.Refused, operator, "/claims/region", "world_location", `{}`)

	s.ends(chat, "/world/region", "world_location", `{}`)
	objects := `{"radius_meters":256,"page_size":20}`
	s.overflows(operator, s.must(operator, "/world/region", "visible_objects", objects), "/tight/region", "visible_objects", objects)
}
