package space

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a path, whoever names it.
const (
	maxPath     = 1024 // bytes
	maxSegment  = 128  // bytes
	maxSegments = 32
)

// checkPath says what is wrong with an absolute path, without quoting it: a
// path comes from strangers and the error goes to a log. "/" is valid.
func checkPath(path string) error {
	switch {
	case len(path) > maxPath:
		return notice("the path is longer than 1024 bytes")
	case !strings.HasPrefix(path, "/"):
		return notice("the path is not absolute")
	case !utf8.ValidString(path):
		return notice("the path is not UTF-8")
	case path == "/":
		return nil
	case strings.Count(path, "/") > maxSegments:
		return notice("the path has more than 32 segments")
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if err := checkSegment(segment); err != nil {
			return err
		}
	}
	return nil
}

// checkSegment refuses what could be mistaken for something else: another
// segment, a place further up, the # of target#operation, or what a reader
// cannot see.
func checkSegment(segment string) error {
	switch {
	case segment == "":
		return notice("the path has an empty segment")
	case segment == "." || segment == "..":
		return notice("the path has a segment of dots")
	case len(segment) > maxSegment:
		return notice("the path has a segment longer than 128 bytes")
	case segment != strings.TrimSpace(segment):
		return notice("the path has a segment with spaces at its ends")
	}
	for _, r := range segment {
		if r == '#' || r == '\\' || r != ' ' && !unicode.IsPrint(r) {
			return notice("the path has a character that is not allowed")
		}
	}
	return nil
}

// checkMountPath is checkPath for the operator's choice, which is narrower.
func checkMountPath(path string) error {
	if err := checkPath(path); err != nil {
		return err
	}
	for _, r := range path {
		if !strings.ContainsRune("/._-", r) && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)) {
			return notice("a mount's segments consist of letters, digits, dots, underscores and hyphens")
		}
	}
	return nil
}

// within reports whether path is scope or lies below it, on whole segments.
func within(path, scope string) bool {
	return scope == "/" || path == scope || len(path) > len(scope) && path[len(scope)] == '/' && strings.HasPrefix(path, scope)
}

// join puts a Host's own path below the path where it is mounted.
func join(mount, host string) string {
	switch {
	case mount == "/":
		return host
	case host == "/":
		return mount
	}
	return mount + host
}

// hostPath is the inverse of join.
func hostPath(mount, path string) string {
	if mount == "/" {
		return path
	}
	if path == mount {
		return "/"
	}
	return path[len(mount):]
}

// comparePaths orders paths so that an entry is followed by all that is below
// it, whatever characters its neighbours' names begin with.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		switch {
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		}
		return cmp.Compare(a[i], b[i])
	}
	return cmp.Compare(len(a), len(b))
}

// parent returns the path one segment up; that of "/" is "".
func parent(path string) string {
	if path == "/" {
		return ""
	}
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// scopeOf returns the path that a caller's scope means: nothing is everything,
// and a slash too many or too few at the ends does no harm.
func scopeOf(scope string) (string, bool) {
	scope = "/" + strings.Trim(strings.TrimSpace(scope), "/")
	return scope, checkPath(scope) == nil
}
