package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/gridtest/capture"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// player plays a capture through a core: it is the core's driver, and answers
// with what the real grid answered.
type player struct {
	t       testing.TB
	core    *core
	sent    map[message.Number]int
	notices []Notice
	folders []caps.Folder
	reply   *login.Reply
	owner   world.UUID
}

func (p *player) send(_ netip.AddrPort, datagram []byte) {
	body := datagram[6:]
	if datagram[0]&0x80 != 0 { // AgentUpdate, the only one that is zero-coded
		body = []byte{byte(message.NumberAgentUpdate)}
	}
	n, _, err := message.Split(body)
	if err != nil {
		p.t.Fatal(err)
	}
	p.sent[n]++
}
func (p *player) fetchSeed(*region)                      {}
func (p *player) pollQueue(*region)                      {}
func (p *player) crawl(_ *region, folders []caps.Folder) { p.folders = folders }
func (p *player) fetchNames(*region, []world.UUID)       {}
func (p *player) notify(n Notice)                        { p.notices = append(p.notices, n) }

// one answers every request with the same response.
type one struct {
	status int
	body   []byte
}

func (o one) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: o.status, Status: fmt.Sprint(o.status), Header: http.Header{}, Request: r, Body: io.NopCloser(bytes.NewReader(o.body)), ContentLength: int64(len(o.body))}, nil
}

// play plays the capture and stops to look whenever look says so.
func play(t testing.TB, c *capture.Capture, w *world.World, look func(p *player, at time.Time)) *player {
	p := &player{t: t, sent: map[message.Number]int{}}
	cfg := Config{LoginURI: "http://127.0.0.1:9000/", First: "Test", Last: "User", Password: secret.New("x"), MAC: strings.Repeat("a", 32), ID0: strings.Repeat("b", 32)}
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p.core = newCore(&cfg, w, p, 1)
	next := time.Time{}
	var from netip.AddrPort
	for e := range c.Events() {
		for !next.IsZero() && !next.After(e.At) {
			p.core.tick(next)
			p.core.second(next)
			next = next.Add(time.Second)
		}
		switch {
		case e.Exchange != nil:
			if p.core.root == nil {
				reply, err := login.Do(context.Background(), &http.Client{Transport: one{e.Exchange.Status, e.Exchange.ResponseBody}}, cfg.request())
				if err != nil {
					t.Fatal(err)
				}
				p.reply, p.owner, from = reply, reply.AgentID, reply.Simulator
				p.core.start(e.At, reply)
				next = e.At.Add(time.Second)
				continue
			}
			p.exchange(e.At, e.Exchange)
		case !e.Packet.FromClient:
			p.core.received(e.At, from, e.Packet.Datagram)
		}
		if look != nil {
			look(p, e.At)
		}
	}
	return p
}

func (p *player) exchange(at time.Time, x *capture.Exchange) {
	client := &http.Client{Transport: one{x.Status, x.ResponseBody}}
	request, _ := llsd.Parse(x.RequestBody)
	response, _ := llsd.Parse(x.ResponseBody)
	switch {
	case request.Kind() == llsd.KindArray: // names of capabilities
		set, err := caps.FetchSeed(context.Background(), client, secret.New("http://127.0.0.1:9000"+x.Path))
		if err != nil {
			p.t.Fatal(err)
		}
		p.core.seedFetched(at, p.core.root, set, nil)
	case request.Get("folders").Len() > 0:
		crawl := &caps.Crawl{Client: client, URL: secret.New("http://127.0.0.1:9000" + x.Path), Owner: p.owner}
		var folders []caps.Folder
		for f := range request.Get("folders").Values() {
			id, _ := f.Get("folder_id").UUID()
			for _, known := range p.folders {
				if known.ID == id {
					folders = append(folders, known)
				}
			}
		}
		_, err := crawl.Run(context.Background(), folders, func(c caps.Contents) { p.core.contents(at, &c) })
		if err != nil {
			p.t.Fatal(err)
		}
	case x.Status == http.StatusOK && response.Get("events").Len() > 0:
		d := caps.Delivery{Ready: true}
		for e := range response.Get("events").Values() {
			name, _ := e.Get("message").Str()
			d.Events = append(d.Events, caps.Event{Name: name, Body: e.Get("body")})
		}
		p.core.delivered(at, p.core.root, d)
	case x.Status == http.StatusBadGateway:
		p.core.delivered(at, p.core.root, caps.Delivery{Ready: true})
	}
}

// truth is what a correct client finds in a capture.
type truth struct {
	End struct {
		World struct {
			Name     string    `json:"region_name"`
			Position []float64 `json:"agent_position"`
		} `json:"world_location"`
		Avatars []struct {
			UUID     world.UUID
			Name     string
			Position []float64
			Distance float64
		} `json:"nearby_avatars"`
		Objects struct {
			Count   int
			Nearest []uint32 `json:"nearest_20"`
			Within  map[string]int
		} `json:"visible_objects"`
		Land struct {
			Parcel struct {
				ID          int32 `json:"local_id"`
				Name        string
				Description string
				Area        int
			}
			Water   float64 `json:"water_height"`
			Terrain float64 `json:"terrain_height_decoded"`
		} `json:"parcel_environment"`
		Inventory struct {
			Known     bool
			Items     int
			Landmarks int
		}
		Participants []participant `json:"recent_participants"`
	} `json:"expected_at_end"`
	Received map[string]struct{ Unique, Duplicates uint64 } `json:"messages_received"`
	Roots    []struct {
		ID       uint32 `json:"local_id"`
		UUID     world.UUID
		Position []float64
		Scale    []float64
		Hover    string `json:"hover_text"`
	} `json:"root_objects"`
	Children []struct {
		ID uint32 `json:"local_id"`
	} `json:"child_objects"`
	Seats []struct {
		T      float64
		UUID   world.UUID
		Parent uint32
	} `json:"seat_changes"`
	Checkpoints []struct {
		T       float64
		Avatars []struct {
			UUID     world.UUID
			Name     string
			Position []float64 `json:"captured_position"`
		}
	}
	Inventory struct {
		Items []struct {
			UUID    world.UUID
			Name    string
			Type    int `json:"asset_type"`
			Created int64
			Path    string
		}
	}
	Parcels []struct {
		T    float64
		Name string
	}
	Announced struct {
		Cached int `json:"announced_as_cached"`
	} `json:"object_counts"`
}

type participant struct {
	UUID    world.UUID
	Channel world.Channel
	Last    float64 `json:"last_active_unix"`
}

func near(got world.Vec3, want []float64, within float64) bool {
	return math.Abs(got.X-want[0]) <= within && math.Abs(got.Y-want[1]) <= within && math.Abs(got.Z-want[2]) <= within
}

// shown is a name as the world shows it: "Resident" stands for no last name.
func shown(name string) string { return strings.TrimSuffix(name, " Resident") }

func snapshot(t testing.TB, w *world.World) *world.Snapshot {
	t.Helper()
	s, err := w.Capture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCaptures: real logins, played through the code that runs live, come to
// what the simulator itself knew.
func TestCaptures(t *testing.T) {
	for _, name := range []string{"login-session", "login-session-cached"} {
		t.Run(name, func(t *testing.T) {
			c := capture.Fixture(t, name)
			var want truth
			capture.Truth(t, name, &want)
			w := world.New()
			checkpoints := want.Checkpoints
			p := play(t, c, w, func(_ *player, at time.Time) {
				if len(checkpoints) > 0 && at.Sub(c.Start).Seconds() >= checkpoints[0].T {
					s := snapshot(t, w)
					avatars, _ := s.Scene.Avatars(256)
					for _, a := range checkpoints[0].Avatars {
						i := slices.IndexFunc(avatars.Items, func(b *world.Avatar) bool { return b.ID == a.UUID })
						switch {
						case a.UUID == s.Agent:
							if !near(s.Scene.Agent.Vec3, a.Position, 0.01) {
								t.Errorf("at %g s: found the agent at %v, expected %v", checkpoints[0].T, s.Scene.Agent, a.Position)
							}
						case i < 0:
							t.Errorf("at %g s: found no %s", checkpoints[0].T, a.Name)
						case !near(avatars.Items[i].Place.Vec3, a.Position, 0.01) || avatars.Items[i].Name != shown(a.Name):
							t.Errorf("at %g s: found %+v, expected %+v", checkpoints[0].T, avatars.Items[i], a)
						}
					}
					checkpoints = checkpoints[1:]
				}
			})
			if len(checkpoints) > 0 {
				t.Errorf("%d checkpoints were not reached", len(checkpoints))
			}

			for name, n := range want.Received {
				var got uint64
				for number, count := range p.core.stats.messages {
					if number.String() == name {
						got = count
					}
				}
				if got != n.Unique {
					t.Errorf("found %d %s, expected %d", got, name, n.Unique)
				}
			}
			if s := p.core.stats; s.malformed+s.foreign+s.overflow != 0 {
				t.Errorf("found %+v, expected everything to be understood", s)
			}
			checkEnd(t, snapshot(t, w), &want)
			if asked := p.sent[message.NumberRequestMultipleObjects]; (asked > 0) != (want.Announced.Cached > 0) {
				t.Errorf("found %d requests for objects, %d were announced", asked, want.Announced.Cached)
			}
			for _, n := range []message.Number{message.NumberRegionHandshakeReply, message.NumberAgentThrottle, message.NumberCompleteAgentMovement, message.NumberUseCircuitCode, message.NumberAgentUpdate} {
				if p.sent[n] == 0 {
					t.Errorf("found no %v sent", n)
				}
			}
		})
	}
}

func checkEnd(t *testing.T, s *world.Snapshot, want *truth) {
	t.Helper()
	end := &want.End
	if s.RegionName != end.World.Name || !near(s.Scene.Agent.Vec3, end.World.Position, 0.001) {
		t.Errorf("found %q at %v, expected %+v", s.RegionName, s.Scene.Agent, end.World)
	}
	if s.Health != nil {
		t.Errorf("found health %v, expected none: no message told it", *s.Health)
	}
	if s.Scene.Seat == nil || *s.Scene.Seat != 0 {
		t.Errorf("found seat %v, expected none", s.Scene.Seat)
	}
	avatars, ok := s.Scene.Avatars(256)
	if !ok || avatars.Truncated || len(avatars.Items) != len(end.Avatars) {
		t.Errorf("found %d avatars, %v, %v, expected %d", len(avatars.Items), ok, avatars.Truncated, len(end.Avatars))
	}
	for i, a := range avatars.Items {
		b := end.Avatars[i]
		if a.ID != b.UUID || a.Name != shown(b.Name) || !near(a.Place.Vec3, b.Position, 0.001) || math.Abs(a.Distance-b.Distance) > 0.001 {
			t.Errorf("avatar %d: found %+v, expected %+v", i, a, b)
		}
	}
	for radius, n := range end.Objects.Within {
		var r float64
		fmt.Sscan(radius, &r)
		if got, ok := s.Scene.Objects(r); !ok || got.Truncated || len(got.Items) != n {
			t.Errorf("within %s m: found %d objects, %v, %v, expected %d", radius, len(got.Items), ok, got.Truncated, n)
		}
	}
	all, _ := s.Scene.Objects(1_000)
	byID := map[world.UUID]*world.Object{}
	for i, o := range all.Items {
		byID[o.ID] = o
		if i < len(end.Objects.Nearest) && o.LocalID != end.Objects.Nearest[i] {
			t.Errorf("object %d: found %d, expected %d", i, o.LocalID, end.Objects.Nearest[i])
		}
	}
	if len(byID) != len(want.Roots) {
		t.Errorf("found %d objects, expected %d", len(byID), len(want.Roots))
	}
	for _, r := range want.Roots {
		o := byID[r.UUID]
		switch {
		case o == nil:
			t.Errorf("found no object %v", r.UUID)
		case o.LocalID != r.ID || !near(o.Place.Vec3, r.Position, 0.001) || !near(o.Scale, r.Scale, 0.001) || *o.HoverText != r.Hover:
			t.Errorf("found %+v, expected %+v", o, r)
		case o.Name != nil || o.Description != nil:
			t.Errorf("found a name of %v, which no message told", r.UUID)
		}
	}
	parcel, land := s.Parcel, &end.Land
	if parcel == nil || parcel.Name != land.Parcel.Name || parcel.Description != land.Parcel.Description || parcel.Area != land.Parcel.Area ||
		!parcel.AllowFly || !parcel.AllowBuild || !parcel.AllowScripts || parcel.DamageEnabled {
		t.Errorf("found %+v, expected %+v", parcel, land.Parcel)
	}
	if s.WaterHeight == nil || *s.WaterHeight != land.Water || s.TerrainHeight == nil || math.Abs(*s.TerrainHeight-land.Terrain) > 0.001 {
		t.Errorf("found water %v and ground %v, expected %g and %g", s.WaterHeight, s.TerrainHeight, land.Water, land.Terrain)
	}
	checkBelongings(t, s, want)
	people, ok := s.People.Recent()
	if !ok || len(people.Items) != len(end.Participants) {
		t.Fatalf("found %d participants, %v, expected %d", len(people.Items), ok, len(end.Participants))
	}
	for i, p := range people.Items {
		q := end.Participants[i]
		if p.ID != q.UUID || p.Channel != q.Channel || math.Abs(float64(p.LastActive.UnixMilli())/1000-q.Last) > 0.002 {
			t.Errorf("participant %d: found %+v, expected %+v", i, p, q)
		}
	}
}

func checkBelongings(t *testing.T, s *world.Snapshot, want *truth) {
	t.Helper()
	items, known := s.Belongings.Search("")
	landmarks, _ := s.Belongings.Landmarks()
	end := &want.End.Inventory
	if known != end.Known || known && (len(items.Items) != end.Items || len(landmarks.Items) != end.Landmarks) {
		t.Errorf("found %d items, %d landmarks, %v, expected %+v", len(items.Items), len(landmarks.Items), known, end)
	}
	byID := map[world.UUID]*world.Item{}
	for _, i := range items.Items {
		byID[i.ID] = i
	}
	for _, w := range want.Inventory.Items {
		i := byID[w.UUID]
		if i == nil {
			t.Errorf("found no item %v (%q)", w.UUID, w.Name)
			continue
		}
		path, ok := i.Path()
		created := i.Created.Unix()
		if w.Created <= 0 {
			w.Created = time.Time{}.Unix()
		}
		if !ok || path != w.Path || i.Name != w.Name || i.AssetType != w.Type || created != w.Created {
			t.Errorf("found %+v at %q, %v, expected %+v", i, path, ok, w)
		}
	}
}
