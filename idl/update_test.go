package idl_test

import "flag"

// update rewrites the golden files of this package's tests.
var update = flag.Bool("update", false, "rewrite golden files")
