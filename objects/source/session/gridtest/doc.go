// Package gridtest is a grid for tests: login, circuits, capabilities, event
// queues and inventories of a Second Life or OpenSimulator grid, as a client
// that only watches meets them, with scripted worlds and faults.
//
// It is written apart from the client's packages and by the servers' rules:
// its messages have every field of the template, and fields that must come no
// further than the decoders hold Canary or CanaryID.
package gridtest
