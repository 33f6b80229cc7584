// Package session logs a bot in to a Second Life or OpenSimulator grid and
// tells a world what the grid says. It keeps the circuit alive and does
// nothing else: it moves nothing, says nothing, selects, accepts and fetches
// nothing that anybody could notice.
//
// One goroutine, the loop, owns all state of a login and is the only one that
// holds a sender. It asks on timers of its own, never because of a call: who
// looks at the world cannot reach it. Around it are goroutines that wait for
// what blocks (the socket, the event queue, other HTTP requests) and post what
// came back.
//
//	login ─► core ◄─ datagrams, event queue, inventory, names
//	          │
//	          ├─► world.Update ─► objects/world
//	          └─► packets (handshake, acks, pings, AgentUpdate, wants)
//
// core is free of I/O and clocks, so that a capture of real traffic can be
// played through the very code that runs live.
package session
