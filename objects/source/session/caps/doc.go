// Package caps speaks with a region over HTTP: it asks for capabilities,
// polls the event queue, and reads inventory and names.
//
// A capability is an address that a region gives to one session; whoever has
// it may use it. Hence only capabilities that read are asked for, addresses
// are secrets that stand in no error, and no redirect is ever followed.
//
// Sources: Second Life wiki and viewer (seed, EventQueueGet); OpenSimulator,
// capability and event queue modules, measured.
package caps
