// Package objects is the grid as a Host: the Agent, its Region, the Parcel it
// stands on and its Inventory, each an Object that implements a generated
// interface.
//
// A call never meets an event of the grid. It gets one immutable snapshot of
// the world, taken now or less than the TTL ago in the same stay in the same
// region, and projects it. Nothing here holds a connection or starts a
// goroutine, so a call can neither send nor change anything.
package objects
