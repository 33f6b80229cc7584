package mcp

// Narrowed is for tests of who comes of a request.
var Narrowed = narrowed
