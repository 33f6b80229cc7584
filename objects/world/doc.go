// Package world holds what one session on a grid has observed so far.
//
// A source applies updates; a Host captures snapshots. In between stand the
// managers: the session and its region, the scene of objects and avatars, the
// land, the inventory, the participants. They have no sender, no goroutine and no
// timer, so that looking at the world cannot change it.
//
// Everything a source says may be hostile or wrong. Each manager is bounded,
// every chain of parents is walked with a limit, and what does not follow from
// what was observed is unknown.
package world
