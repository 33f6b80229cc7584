// Package message lays out the messages of Second Life's UDP protocol, as far
// as a client that only watches needs them: decoders of what a simulator sends
// and encoders of the few messages that such a client answers with.
//
// What must not leave does not enter: owners, groups, permissions, prices and
// media addresses are skipped where they are on the wire, and are not in the
// types. The exception is the words of chat and instant messages, which do not
// enter either: only who spoke, and how.
package message
