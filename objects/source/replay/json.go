package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf16"
)

// checkJSON returns why a line is not one JSON value. All that follows relies
// on it.
func checkJSON(line []byte) error {
	if json.Valid(line) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(line, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && int(syntax.Offset) >= len(bytes.TrimRight(line, "\r\n")) {
		return errors.New("found the line's end in the middle of a JSON value")
	}
	return fmt.Errorf("found no valid JSON: %w", err)
}

// eachMember calls do for each member of a JSON object, in order, and refuses
// one that comes twice.
func eachMember(raw []byte, do func(name string, value []byte) error) error {
	raw = bytes.TrimSpace(raw)
	if raw[0] != '{' {
		return fmt.Errorf("found %s, expected a JSON object", excerpt(string(raw)))
	}
	seen := make([]string, 0, 16)
	for rest := skip(raw[1:], 0); rest[0] != '}'; {
		n := valueLen(rest)
		name, err := unquote(rest[:n])
		if err != nil {
			return err
		}
		if slices.Contains(seen, name) {
			return fmt.Errorf("found %s twice", excerpt(name))
		}
		seen = append(seen, name)
		rest = skip(rest[n:], ':')
		n = valueLen(rest)
		if err := do(name, rest[:n]); err != nil {
			return err
		}
		rest = skip(rest[n:], ',')
	}
	return nil
}

// eachElement calls do for each element of a JSON array, in order.
func eachElement(raw []byte, do func(value []byte) error) error {
	if raw[0] != '[' {
		return fmt.Errorf("found %s, expected a JSON array", excerpt(string(raw)))
	}
	for rest := skip(raw[1:], 0); rest[0] != ']'; {
		n := valueLen(rest)
		if err := do(rest[:n]); err != nil {
			return err
		}
		rest = skip(rest[n:], ',')
	}
	return nil
}

// skip returns what follows white space and, among it, one mark if it is there.
// The mark 0 is none.
func skip(raw []byte, mark byte) []byte {
	for len(raw) > 0 {
		switch raw[0] {
		case ' ', '\t', '\r', '\n':
		case mark:
			mark = 0
		default:
			return raw
		}
		raw = raw[1:]
	}
	return raw
}

// valueLen returns the length of the JSON value with which raw begins.
func valueLen(raw []byte) int {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // that of what holds a number, true, false or null
			}
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(raw)
}

// unquote reads a JSON string.
func unquote(raw []byte) (s string, err error) {
	switch {
	case string(raw) == "null":
		return "", errNull
	case raw[0] != '"':
		return "", fmt.Errorf("found %s, expected a string", excerpt(string(raw)))
	case bytes.IndexByte(raw, '\\') < 0:
		return string(raw[1 : len(raw)-1]), nil
	}
	err = json.Unmarshal(raw, &s)
	return s, err
}

// appendQuoted writes a JSON string. What does not print is escaped, so that
// nothing in a recording controls the terminal on which somebody looks at it.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case unicode.IsPrint(r):
			b = append(b, string(r)...)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				b = append(b, `\u`...)
				hex := strconv.FormatUint(0x10000|uint64(unit), 16)
				b = append(b, hex[1:]...)
			}
		}
	}
	return append(b, '"')
}

// excerpt quotes the beginning of hostile text in printable ASCII.
func excerpt(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
