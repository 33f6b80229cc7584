package world

// What a world holds at most. Beyond it, what comes is counted and left out,
// and snapshots say that the collection is truncated.
const (
	MaxObjects      = 65_536     // prims, trees and avatars of the region
	MaxCoarse       = 4_096      // entries of one CoarseLocations
	MaxNames        = 16_384     // avatar names; the longest unused goes first
	MaxParcels      = 16_384     // parcels of the region
	MaxParcelBytes  = 32 << 20   // all parcels' bitmaps
	MaxTerrain      = 16_777_216 // samples of ground height
	MaxFolders      = 65_536     // inventory folders
	MaxItems        = 262_144    // inventory items
	MaxParticipants = 4_096      // people and channels; the longest silent goes first
	MaxText         = 4_096      // bytes of one text; the rest is cut on a character boundary
	MaxRegionSize   = 8_192      // metres a side
	MaxLinkDepth    = 16         // parents between an object and its root
	MaxFolderDepth  = 128        // folders above an item
)

// MaxInspected is how many entries of a collection one call inspects.
const MaxInspected = 2_048
