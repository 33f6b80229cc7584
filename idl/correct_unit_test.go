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

// What is too long, was cut off or cannot be read has no correction: what would
// be in its place is not what the caller meant. Nor may it be left out.
func TestNoCorrectionCutsOrGuesses(t *testing.T) {
	docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{"a.wip": {Data: []byte(
		"package a;\ninterface A { find(query: string [..8 bytes] = \"\", tags: list<string [..4 bytes]>?, page: int [1..9] = 1) -> bool; look() -> bool; }\n",
	)}}), "a.wip")
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range []string{
		`{"query":"a lamp with a shade"}`, `{"query":"a lamp with a shade","page":20}`, `{"query":"éééééé"}`, `{"tags":["red","purple"]}`,
		`{"page":2,"query":"la`, `{`, `{"arguments":{}`, `"{"`, `"{\"page\":2"`, `"{\"page\":2,\"query\":\"la"`, `"[\"lamp\", "`, `"\"{\""`,
		`{"arguments":"{\"page\":2"}`, `{"args":["{"]}`, `{"tags":"[\"red\", \"bl"}`, `{"page":"{"}`, `"lamp"`, `"page=2"`, `lamp`,
	} {
		_, err := docs[0].Interfaces[0].Operations[0].DecodeArgs([]byte(record))
		var bad *idl.ArgumentError
		if !errors.As(err, &bad) {
			t.Fatalf("%s: %v", record, err)
		}
		if bad.Corrected != nil {
			t.Errorf("%s is corrected to %s, want no correction", record, bad.Corrected)
		}
	}
}
