package lludp

import (
	"bytes"
	"fmt"
)

// Zero coding shortens runs of zero bytes: 00 NN stands for NN of them. Every
// further 00 before the count adds 256, so 00 00 NN is 256+NN, and a 00 that
// ends the input, without a count, is one zero.
//
// Source: packets of Second Life's viewer and of OpenSimulator.

// zeros is what runs are copied from.
var zeros [256]byte

// expand appends to dst what the zero-coded src stands for. It fails rather
// than append more than MaxExpanded bytes.
func expand(dst, src []byte) ([]byte, error) {
	room := len(dst) + MaxExpanded
	for len(src) > 0 {
		plain := bytes.IndexByte(src, 0)
		if plain < 0 {
			plain = len(src)
		}
		if len(dst)+plain > room {
			return nil, errExpanded
		}
		dst = append(dst, src[:plain]...)
		src = src[plain:]
		if len(src) == 0 {
			break
		}
		src = src[1:]
		run := 1 // of a 00 without a count
		for len(src) > 0 && src[0] == 0 {
			run += len(zeros)
			src = src[1:]
		}
		if len(src) > 0 {
			run += int(src[0]) - 1
			src = src[1:]
		}
		if len(dst)+run > room {
			return nil, errExpanded
		}
		for ; run > len(zeros); run -= len(zeros) {
			dst = append(dst, zeros[:]...)
		}
		dst = append(dst, zeros[:run]...)
	}
	return dst, nil
}

var errExpanded = fmt.Errorf("found a zero-coded packet of more than %d bytes when expanded", MaxExpanded)

// appendCoded appends src zero-coded. Runs over 255 are split, because not
// every reader knows the longer form.
func appendCoded(dst, src []byte) []byte {
	for len(src) > 0 {
		plain := bytes.IndexByte(src, 0)
		if plain < 0 {
			return append(dst, src...)
		}
		dst = append(dst, src[:plain]...)
		src = src[plain:]
		run := 1
		for run < len(src) && run < 255 && src[run] == 0 {
			run++
		}
		dst = append(dst, 0, byte(run))
		src = src[run:]
	}
	return dst
}
