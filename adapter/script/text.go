package script

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The library reads a script up to its first NUL and takes that for the end, and
// what else no reader sees it takes as it is. So a script is looked through first.

// badText returns the error of a script that is not text: its first control
// character that is no white space, or byte that is not UTF-8; nil if there is
// none.
func badText(name, src string) *Error {
	line, column := 1, 1
	for i, c := range src {
		found := ""
		switch {
		case c == '\n' || c == '\r' && !strings.HasPrefix(src[i+1:], "\n"):
			line, column = line+1, 1
			continue
		case c == '\t' || c == '\r':
		case c == utf8.RuneError && !strings.HasPrefix(src[i:], string(utf8.RuneError)):
			found = fmt.Sprintf("the byte 0x%02x, which is not UTF-8, expected text in UTF-8", src[i])
		case unicode.IsControl(c):
			found = fmt.Sprintf("the control character %U, expected none; in a string write it as an escape such as \"\\x1b\"", c)
		}
		if found != "" {
			return &Error{Name: name, Line: line, Column: column, Message: "found " + found}
		}
		column++
	}
	return nil
}

const (
	maxName    = 100     // bytes of a script's own words in a message
	maxMessage = 8 << 10 // bytes of a message, which may quote what a script has made
)

// short returns a name for a message, cut if it is too long for one.
func short(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "") + "…"
}

// bounded returns a message, cut if it is too long.
func bounded(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + fmt.Sprintf("… and %d more bytes", len(message)-maxMessage)
}
