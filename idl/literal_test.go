package idl_test

import (
	"testing"
	"testing/fstest"

	"github.com/wipagent/wipagent/idl"
)

// A default must come back from DecodeArgs byte for byte, whatever it holds.
func TestDefaultIsCanonical(t *testing.T) {
	docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{"a.wip": {Data: []byte(
		"package a;\ninterface A { ask(tag: string [..64 bytes] = \"<a> & b \u2028\") -> bool; }\n",
	)}}), "a.wip")
	if err != nil {
		t.Fatal(err)
	}
	op := docs[0].Interfaces[0].Operations[0]
	first, err := op.DecodeArgs([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	second, err := op.DecodeArgs(first.Record)
	if err != nil {
		t.Fatal(err)
	}
	if string(first.Record) != string(second.Record) {
		t.Errorf("the default is %s and, decoded again, %s", first.Record, second.Record)
	}
}
