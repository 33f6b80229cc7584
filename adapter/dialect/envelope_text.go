package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/idl"
)

// MaxMessageBytes bounds one message of a provider, and what the fragments of
// a streamed one come to. Providers end a message far earlier.
const MaxMessageBytes = 16 << 20

// maxLevels is how deep a message may be nested: arguments as deep as any tool
// checks, with room for envelopes and for what other tools of the provider say.
const maxLevels = 500

// parse reads one JSON text from outside, after looking at its size and depth:
// the time and the stack that reading takes grow with both.
func parse(text []byte) (gjson.Result, error) {
	if len(text) > MaxMessageBytes {
		return gjson.Result{}, fmt.Errorf("found a message of %d bytes, expected at most %d", len(text), MaxMessageBytes)
	}
	if n := idl.Levels(text); n > maxLevels {
		return gjson.Result{}, fmt.Errorf("found a message nested %d levels deep, expected at most %d", n, maxLevels)
	}
	if !gjson.ValidBytes(text) {
		return gjson.Result{}, fmt.Errorf("found %s, expected one message in JSON", describeText(text))
	}
	return gjson.ParseBytes(text), nil
}

// unquote appends what a JSON string says. The string is valid JSON, in its
// quotes. Bytes that are no UTF-8 and halves of surrogate pairs stay what they
// are, each half as three bytes: the rest of a character may come with the
// next fragment, which mend then joins to it.
func unquote(to []byte, quoted string) []byte {
	s := quoted[1 : len(quoted)-1]
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			to = append(to, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			to = append(to, '\b')
		case 'f':
			to = append(to, '\f')
		case 'n':
			to = append(to, '\n')
		case 'r':
			to = append(to, '\r')
		case 't':
			to = append(to, '\t')
		case 'u':
			unit, _ := strconv.ParseUint(s[i+1:i+5], 16, 16)
			i += 4
			if utf16.IsSurrogate(rune(unit)) {
				to = append(to, 0xE0|byte(unit>>12), 0x80|byte(unit>>6)&0x3F, 0x80|byte(unit)&0x3F)
			} else {
				to = utf8.AppendRune(to, rune(unit))
			}
		default: // quote, backslash, slash
			to = append(to, s[i])
		}
	}
	return to
}

// mend joins the halves of surrogate pairs that unquote left. A half without
// the other becomes its escape again, which the check of the arguments sees:
// nothing is replaced unnoticed.
func mend(text []byte) []byte {
	at := half(text, 0)
	if at < 0 {
		return text
	}
	mended := make([]byte, 0, len(text)+8)
	from := 0
	for ; at >= 0; at = half(text, from) {
		mended = append(mended, text[from:at]...)
		unit := surrogate(text[at:])
		from = at + 3
		if r := utf16.DecodeRune(unit, surrogate(text[from:])); r != utf8.RuneError {
			mended = utf8.AppendRune(mended, r)
			from += 3
		} else {
			mended = fmt.Appendf(mended, `\u%04x`, unit)
		}
	}
	return append(mended, text[from:]...)
}

// half returns where the first half of a surrogate pair is from there on, or -1.
func half(text []byte, from int) int {
	for {
		i := bytes.IndexByte(text[from:], 0xED)
		if i < 0 {
			return -1
		}
		if from += i; surrogate(text[from:]) != 0 {
			return from
		}
		from++
	}
}

// surrogate returns the half of a pair that the text begins with, or 0.
func surrogate(text []byte) rune {
	if len(text) < 3 || text[0] != 0xED || text[1]&0xE0 != 0xA0 || text[2]&0xC0 != 0x80 {
		return 0
	}
	return 0xD000 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F)
}

// inString reads arguments where the provider sends their JSON text in a
// string. Anything else is handed on as it was sent; nil if nothing was.
func inString(v gjson.Result) json.RawMessage {
	if v.Type != gjson.String {
		return sent(v)
	}
	return mend(unquote(make([]byte, 0, len(v.Raw)), v.Raw))
}

// inObject reads arguments where the provider sends an object. A string that
// holds an object is read, as some gateways send one.
func inObject(v gjson.Result) json.RawMessage {
	if v.Type == gjson.String {
		if text := inString(v); len(text) == 0 || bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
			return text
		}
	}
	return sent(v)
}

// sent returns a value as it was sent, nil if it was not.
func sent(v gjson.Result) json.RawMessage {
	if v.Raw == "" {
		return nil
	}
	return json.RawMessage(v.Raw)
}

// cutOff takes the last bracket off an object of which the model did not write
// the end: a gateway closed it. A record that lacks its end is refused by any
// check, one that lacks only some members could mean something else.
func cutOff(object json.RawMessage) json.RawMessage {
	return bytes.TrimSuffix(bytes.TrimRight(object, " \t\r\n"), []byte("}"))
}
