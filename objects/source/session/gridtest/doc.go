// Package gridtest is a grid for tests: login, circuits, capabilities, event
// queues and inventories of a Second Life or OpenSimulator grid, as a client
// that only watches meets them, with scripted worlds and faults.
//
//	g := gridtest.New(nil) // "Test User", "secret", region "Alpha"
//	defer g.Close()
//	cfg.LoginURI, cfg.Transport = g.LoginURI(), g.Transport()
//	cfg.Listen = func() (session.PacketConn, error) { return g.Listen(), nil }
//	…
//	id := g.Region("Alpha").Enter(gridtest.Avatar{First: "Second", Last: "Resident"})
//	g.Region("Alpha").Say(id, "hello")
//	g.SetFaults(gridtest.Faults{Loss: 0.1})
//
// In memory it waits for channels and timers only, so that it runs inside a
// testing/synctest bubble; Serve opens real loopback sockets instead.
//
// It is written apart from the client's packages and by the servers' rules:
// its messages have every field of the template, and fields that must come no
// further than the decoders hold Canary or CanaryID. A region tells a client
// of nothing but its own avatar, the land and the parcel until the client has
// both answered the handshake and fetched its capabilities; it sends again
// what is not acknowledged, and lets go of who is silent for a minute.
package gridtest
