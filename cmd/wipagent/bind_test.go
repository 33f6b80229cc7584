package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/world"
)

// TestMountedEntries mounts two Hosts, one of which nobody vouches for.
func TestMountedEntries(t *testing.T) {
	c := client.New(nil)
	for path, trusted := range map[string]bool{"/a": true, "/b/c": false} {
		if err := c.Mount(t.Context(), path, objects.New(world.New(), nil), &client.MountOptions{Trusted: trusted}); err != nil {
			t.Fatal(err)
		}
	}
	type entry struct {
		path, mount string
		untrusted   bool
		operations  []string
	}
	var got []entry
	for _, e := range mountedEntries(c.Catalog(&policy.Principal{ID: "t", Audience: idl.PublicChat})) {
		var names []string
		for _, o := range e.Operations {
			names = append(names, o.Name)
		}
		got = append(got, entry{e.Path, e.Mount, e.Untrusted, names})
	}
	state, parcel, region := []string{"agent_state"}, []string{"parcel_environment"}, []string{"world_location", "nearby_avatars", "visible_objects"}
	want := []entry{
		{"/a/agent", "/a", false, state}, {"/a/parcel", "/a", false, parcel}, {"/a/region", "/a", false, region},
		{"/b/c/agent", "/b/c", true, state}, {"/b/c/parcel", "/b/c", true, parcel}, {"/b/c/region", "/b/c", true, region},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(entry{})); d != "" {
		t.Errorf("(-want +found)\n%s", d)
	}
}
