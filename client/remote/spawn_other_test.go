//go:build !unix

package remote_test

// hang is for tests that there are not here.
func hang() {}
