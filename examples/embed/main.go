// Command embed is a program of one page that looks at a world through
// wipagent: it mounts the embedded grid, asks what serves a purpose, and calls
// it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	// A world is what one session has observed; a source feeds it.
	w := world.New()
	demo.New(nil).Start(ctx, w)

	// A client keeps a space of mounted Hosts. The grid is one Host.
	c := client.New(&client.Config{Audit: audit.New(os.Stderr)})
	if err := c.Mount(ctx, "/grid", objects.New(w, nil), &client.MountOptions{Title: "Grid", Trusted: true}); err != nil {
		log.Fatal(err)
	}

	// Every call is made on somebody's behalf.
	visitor := &policy.Principal{ID: "visitor-1", Audience: idl.PublicChat}

	found, err := c.Discover(ctx, visitor, "/", "who is here")
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.Path, hit.Strength)
	}

	out, err := c.Invoke(ctx, visitor, client.Call{
		Target: "/grid/region", Operation: "nearby_avatars",
		Arguments: json.RawMessage(`{"radius_meters": 50, "page_size": 3}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out.Result))
}
