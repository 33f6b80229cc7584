// Package lludp frames the packets of Second Life's UDP protocol and keeps one
// circuit of it: what was received is acknowledged and told apart from what
// comes twice, what was sent reliably is sent again until it is acknowledged.
//
// The package does no I/O. It has no goroutine, no clock and no socket: whoever
// owns the socket hands in datagrams and the time, and sends what it is given.
//
// Everything here comes from strangers, and everything that is remembered is
// bounded.
package lludp
