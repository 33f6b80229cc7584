package llsd

// ParseAtMost is Parse with another limit than MaxNodes.
var ParseAtMost = parse
