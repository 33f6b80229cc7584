package gridtest

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// capability is an address that does something for one circuit.
type capability struct {
	kind    string // as in Counts
	url     string
	circuit *circuit
}

// capabilityKinds are what Counts calls the capabilities.
var capabilityKinds = map[string]string{
	"EventQueueGet": "event_queue", "FetchInventoryDescendents2": "inventory", "GetDisplayNames": "names", "SimulatorFeatures": "features",
}

// capability makes up an address.
func (g *Grid) capability(c *circuit, kind string) *capability {
	id := g.newID().String()
	g.secret(id)
	path := "/" + id
	switch kind {
	case "seed":
		path = "/CAPS/" + id + "0000/"
	case "event_queue":
		path = "/CE/" + id
	}
	made := &capability{kind, g.base + path, c}
	g.caps[path] = made
	return made
}

// maxRequest is more than any request of a client needs.
const maxRequest = 4 << 20

// ServeHTTP implements http.Handler: the login and all capabilities.
func (g *Grid) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, maxRequest))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	g.mu.Lock()
	kind, found := "login", g.caps[req.URL.Path]
	if found == nil { // GetDisplayNames is asked with a slash before the query
		found = g.caps[strings.TrimSuffix(req.URL.Path, "/")]
	}
	switch {
	case found != nil:
		kind = found.kind
	case req.URL.Path != "/":
		kind = "unknown_path"
	}
	g.count(kind)
	g.mu.Unlock()

	if !g.travel(req) {
		panic(http.ErrAbortHandler)
	}
	var a answer
	switch {
	case kind == "unknown_path":
		a.status = http.StatusNotFound
	case found == nil:
		a = g.login(req, body)
	default:
		a = found.serve(req, body)
	}
	if !g.travel(req) || a.status == 0 {
		panic(http.ErrAbortHandler)
	}
	g.mu.Lock()
	lost := g.faults.HalfOpen
	g.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler)
	}
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(a.status)
	w.Write(a.body)
}

// answer is what an HTTP request gets; a status of 0 is none.
type answer struct {
	status int
	header map[string]string
	body   []byte
}

// openSim writes zero values as OpenSimulator does.
var openSim = strings.NewReplacer(
	"<integer>0</integer>", "<integer />",
	"<uuid>00000000-0000-0000-0000-000000000000</uuid>", "<uuid />",
	"<string></string>", "<string />",
	"<array></array>", "<array />",
	` encoding="base64"`, "",
)

// document answers with an LLSD document, of the content type that
// OpenSimulator has for most.
func document(v llsd.Value) answer {
	return answer{http.StatusOK, map[string]string{"Content-Type": "text/html;charset=UTF-8"}, []byte(openSim.Replace(string(v.AppendXML(nil))))}
}

// serve answers a request for a capability.
func (c *capability) serve(req *http.Request, body []byte) answer {
	g := c.circuit.grid
	switch {
	case c.kind == "names":
		return g.names(req)
	case c.kind == "features":
		return document(dict("MeshRezEnabled", true))
	case req.Method != http.MethodPost:
		return answer{status: http.StatusNotFound}
	}
	asked, err := llsd.Parse(body)
	if err != nil {
		return answer{status: http.StatusBadRequest}
	}
	switch c.kind {
	case "seed":
		if req.Header.Get("Content-Type") != "application/llsd+xml" {
			return answer{status: http.StatusNotFound}
		}
		return c.circuit.capabilities(asked)
	case "event_queue":
		return c.circuit.queue.poll(req, asked)
	}
	return c.circuit.inventory(asked)
}

// capabilities answers a seed request.
func (c *circuit) capabilities(asked llsd.Value) answer {
	g := c.grid
	g.mu.Lock()
	defer g.mu.Unlock()
	if status := take(&g.faults.SeedStatus); status != 0 {
		return answer{status: status}
	}
	if c.gone {
		return answer{status: http.StatusNotFound}
	}
	if g.faults.SeedNotReady > 0 || !c.addr.IsValid() {
		g.faults.SeedNotReady = max(g.faults.SeedNotReady-1, 0)
		return answer{status: http.StatusServiceUnavailable, header: map[string]string{"Retry-After": "1"}}
	}
	var granted []llsd.Member
	for v := range asked.Values() {
		name, _ := v.Str()
		kind, known := capabilityKinds[name]
		if !known || !slices.Contains(g.cfg.Capabilities, name) {
			continue
		}
		if c.granted[kind] == nil {
			c.granted[kind] = g.capability(c, kind)
		}
		granted = append(granted, llsd.Member{Key: name, Value: llsd.String(c.granted[kind].url)})
	}
	c.seeded = true
	c.tell()
	g.poke()
	return document(llsd.Map(granted...))
}

// queue is an event queue. g.mu guards it.
type queue struct {
	grid   *Grid
	id     int32 // of the last answer; it starts anywhere
	events []llsd.Value
	closed bool
	news   chan struct{} // closed and replaced when something changes
}

func (q *queue) changed() {
	close(q.news)
	q.news = make(chan struct{})
}

func (q *queue) push(name string, body llsd.Value) {
	if !q.closed {
		q.events = append(q.events, llsd.Map(llsd.Member{Key: "message", Value: llsd.String(name)}, llsd.Member{Key: "body", Value: body}))
		q.changed()
	}
}

func (q *queue) close() {
	if !q.closed {
		q.closed = true
		q.changed()
	}
}

// poll answers a request for events: at once if there are some, after a while
// with an error if there are none. What was answered is forgotten, whether it
// arrives or not, and an acknowledgement is not even read.
//
// Source: OpenSimulator, event queue module.
func (q *queue) poll(req *http.Request, asked llsd.Value) answer {
	g := q.grid
	timer := time.NewTimer(g.cfg.QueueHold)
	defer timer.Stop()
	for {
		g.mu.Lock()
		if !g.closed && !q.closed {
			if status := take(&g.faults.QueueStatus); status != 0 {
				g.mu.Unlock()
				return answer{status: status}
			}
		}
		switch {
		case q.closed:
			g.mu.Unlock()
			return answer{status: http.StatusNotFound}
		case len(q.events) > 0:
			q.id++
			events := q.events
			q.events = nil
			id := q.id
			g.mu.Unlock()
			return document(dict("events", llsd.Array(events...), "id", int(id)))
		}
		news := q.news
		g.mu.Unlock()
		select {
		case <-news:
		case <-timer.C:
			return answer{status: g.cfg.QueueIdle, header: map[string]string{"Connection": "close"}}
		case <-req.Context().Done():
			return answer{}
		case <-g.done:
			return answer{}
		}
	}
}

// names answers a GetDisplayNames request.
func (g *Grid) names(req *http.Request) answer {
	g.mu.Lock()
	defer g.mu.Unlock()
	var agents, bad []llsd.Value
	for _, text := range req.URL.Query()["ids"] {
		id, err := world.ParseUUID(text)
		p, ok := g.people[id]
		if err != nil || !ok {
			bad = append(bad, llsd.String(text))
			continue
		}
		agents = append(agents, dict(
			"id", id, "username", p.first+" "+p.last, "display_name", p.display,
			"legacy_first_name", p.first, "legacy_last_name", p.last,
			"is_display_name_default", p.display == p.first+" "+p.last,
			"display_name_next_update", llsd.Date(time.Unix(1_700_000_000, 0))))
	}
	a := document(dict("agents", llsd.Array(agents...), "bad_ids", llsd.Array(bad...)))
	a.header["Content-Type"] = "application/llsd+xml"
	return a
}

// inventory answers a FetchInventoryDescendents2 request.
func (c *circuit) inventory(asked llsd.Value) answer {
	g := c.grid
	g.mu.Lock()
	defer g.mu.Unlock()
	if status := take(&g.faults.InventoryStatus); status != 0 {
		return answer{status: status}
	}
	if c.gone {
		return answer{status: http.StatusNotFound}
	}
	account := c.agent.account
	var folders, bad []llsd.Value
	for f := range asked.Get("folders").Values() {
		id, _ := f.Get("folder_id").UUID()
		i := slices.IndexFunc(account.Folders, func(f Folder) bool { return f.ID == id })
		if i < 0 {
			bad = append(bad, dict("folder_id", id, "error", "Unknown"))
			continue
		}
		var categories, items []llsd.Value
		for _, child := range account.Folders {
			if child.ParentID == id {
				categories = append(categories, dict(
					"category_id", child.ID, "parent_id", id, "name", child.Name,
					"type_default", child.Type, "version", child.Version))
			}
		}
		for _, item := range account.Items {
			if item.FolderID == id {
				items = append(items, inventoryItem(account.ID, item))
			}
		}
		folders = append(folders, dict(
			"folder_id", id, "agent_id", account.ID, "owner_id", account.ID,
			"descendents", len(categories)+len(items), "version", account.Folders[i].Version,
			"categories", llsd.Array(categories...), "items", llsd.Array(items...)))
	}
	members := []llsd.Member{{Key: "folders", Value: llsd.Array(folders...)}}
	if len(bad) > 0 {
		members = append(members, llsd.Member{Key: "bad_folders", Value: llsd.Array(bad...)})
	}
	return document(llsd.Map(members...))
}

func inventoryItem(owner world.UUID, i message.InventoryItem) llsd.Value {
	return dict(
		"parent_id", i.FolderID, "asset_id", CanaryID, "item_id", i.ID,
		"permissions", dict(
			"creator_id", CanaryID, "owner_id", owner, "group_id", CanaryID,
			"base_mask", 647168, "owner_mask", 647168, "is_owner_group", false),
		"type", i.AssetType, "inv_type", i.AssetType, "flags", 0,
		"sale_info", dict("sale_price", 987654, "sale_type", 2),
		"name", i.Name, "desc", Canary, "created_at", int(i.Created),
	)
}
