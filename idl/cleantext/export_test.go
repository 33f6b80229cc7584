package cleantext

// Links returns how many URL-shaped tokens the matcher sees in s.
func Links(s string) int { return len(findLinks(fold(s).text)) + len(findLinks(s)) }

// IsTLD gives tests the list of top-level domains.
var IsTLD = isTLD

// FileTLDs gives tests the extensions that are not taken for a domain.
var FileTLDs = fileTLDs
