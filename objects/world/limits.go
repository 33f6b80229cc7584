package world

import (
	"strings"
	"unicode/utf8"
)

// What a world holds at most. Beyond it, what comes is counted and left out,
// and snapshots say that the collection is truncated.
const (
	MaxObjects      = 65_536     // prims, trees and avatars of the region
	MaxHearsay      = 4_096      // objects that were named, but neither described nor offered
	MaxCoarse       = 4_096      // entries of one CoarseLocations
	MaxNames        = 16_384     // avatar names; the one longest not heard of goes first
	MaxParcels      = 16_384     // parcels of the region
	MaxParcelBytes  = 32 << 20   // all parcels' bitmaps
	MaxTerrain      = 16_777_216 // samples of ground height
	MaxFolders      = 32_768     // inventory folders
	MaxItems        = 262_144    // inventory items
	MaxParticipants = 4_096      // people and channels; the one longest silent goes first
	MaxText         = 2_048      // bytes of one text; the rest is cut on a character boundary
	MaxPath         = 4_096      // bytes of an inventory folder's path; a longer one is unknown
	MaxFolderDepth  = 128        // folders above an item; beyond it the path is unknown
	MaxLinkDepth    = 16         // parents between an object and its root
	MaxRegionSize   = 8_192      // metres a side
)

// MaxInspected is how many entries of a collection one call inspects.
const MaxInspected = 2_048

// text returns s within MaxText, in memory of its own, so that a short text
// does not keep alive the packet or file it was cut from.
func text(s string) string {
	if len(s) > MaxText {
		n := MaxText
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.Clone(s)
}

// optionalText is text for one that may be unknown.
func optionalText(s *string) *string {
	if s == nil {
		return nil
	}
	t := text(*s)
	return &t
}
