// Package message lays out the messages of Second Life's UDP protocol, as far
// as a client that only watches needs them: decoders of what a simulator sends
// and encoders of the few messages that such a client answers with.
//
// What must not leave does not enter: owners, groups, permissions, prices and
// media addresses are skipped where they are on the wire, and are not in the
// types. The exception is the words of chat and instant messages, which do not
// enter either: only who spoke, and how.
//
// A decoder takes the body after the message number, which Split takes off. It
// overwrites the whole message and keeps nothing of the body, but reuses the
// message's slices, and strings that have not changed: one value serves a loop
// without allocating, and whoever keeps rows copies them. Messages are not
// safe for concurrent use; decoders of different messages are independent.
//
// Every error of a decoder wraps ErrTruncated, and the message then holds what
// came before the fault. Texts are as they were sent, without the NUL at the
// end and with U+FFFD for what is no UTF-8; numbers may be NaN or infinite.
package message
