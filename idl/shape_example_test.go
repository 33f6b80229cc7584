package idl_test

import (
	"fmt"
	"log"
	"testing/fstest"

	"github.com/wipagent/wipagent/idl"
)

func ExampleOperation_Shape() {
	docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{"issue.wip": {Data: []byte(`
		package tracker;
		interface Issue { get_metadata() -> Metadata; }
		record Metadata { title: text; votes: fact<int>; }
	`)}}), "issue.wip")
	if err != nil {
		log.Fatal(err)
	}
	op := docs[0].Interface("Issue").Operation("get_metadata")

	shaped, err := op.Shape([]byte(`{"votes":3,"title":"Crash on start, see http://evil.example/log"}`), idl.ShapeOptions{})
	fmt.Println(string(shaped.JSON), err)

	_, err = op.Shape([]byte(`{"title":"Crash on start","votes":3,"assignee":"someone"}`), idl.ShapeOptions{})
	fmt.Println(err)
	// Output:
	// {"trust":"untrusted_observed_data","title":"Crash on start, see [link removed]","votes":3} <nil>
	// result of tracker.Issue.get_metadata at "/?": found an undeclared field, expected only the fields of record Metadata
}
