package dialect

// CommonPattern is commonPattern, for tests.
var CommonPattern = commonPattern
