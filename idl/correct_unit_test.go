package idl_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/wipagent/wipagent/idl"
)

// A default must not take the place of a number that the caller named.
func TestNoCorrectionDropsANumber(t *testing.T) {
	docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{"a.wip": {Data: []byte(
		"package a;\ninterface A { look(radius_meters: float [0..256] = 96, page_size: int [1..20] = 20) -> bool; }\n",
	)}}), "a.wip")
	if err != nil {
		t.Fatal(err)
	}
	for record, want := range map[string]string{
		`{"radius_meters":"20 m"}`:                "",
		`{"radius_meters":"10m","page_size":100}`: "",
		`{"radius_meters":"far"}`:                 `{}`,
	} {
		_, err := docs[0].Interfaces[0].Operations[0].DecodeArgs([]byte(record))
		var bad *idl.ArgumentError
		if !errors.As(err, &bad) {
			t.Fatalf("%s: %v", record, err)
		}
		if got := string(bad.Corrected); got != want {
			t.Errorf("%s is corrected to %q, want %q", record, got, want)
		}
	}
}
