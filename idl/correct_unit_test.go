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
		`{"radius_meters":"20 m"}`:                  `{"radius_meters":20}`, // the unit that the name says
		`{"radius_meters":"10m","page_size":100}`:   `{"radius_meters":10,"page_size":20}`,
		`{"radius_meters":"20.5 metres"}`:           `{"radius_meters":20.5}`,
		`{"radius_meters":"0.1 km"}`:                "",
		`{"radius_meters":"3 miles"}`:               "",
		`{"page_size":"5 m"}`:                       "",
		`{"page_size":"two"}`:                       "",
		`{"radius_meters":"far"}`:                   `{}`,
		`{"radius_meters":[20]}`:                    `{"radius_meters":20}`,
		`{"radius_meters":{"value":20,"unit":"m"}}`: `{"radius_meters":20}`,
		`{"radius_meters":["20 km"]}`:               "",
		`{"radius_meters":20`:                       "", // of which more may have followed
		`{"radius_meters":"20"`:                     `{"radius_meters":20}`,
		`{"radius_meters":20,"pa`:                   "",
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
