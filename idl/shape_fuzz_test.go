package idl_test

import (
	"strings"
	"testing"
)

func FuzzShape(f *testing.F) {
	const declarations = records + `
record Item { id: uuid; name: text; pos: fact<Pos>; @derived far: fact<float>; at: timestamp?; color: fact<Color?>; to: entry; raw: bytes [..9 bytes]; m: map<text>; tags: list<string [..9 bytes]>; }
record All { items: fact<page<Item>>; tree: Tree?; flag: fact<bool>; n: int [-9..9]; }`
	page := operationOf(f, "observed<fact<page<Item>>>", declarations)
	record := operationOf(f, "All", declarations)
	item := `{"id":"11111111-2222-4333-8444-555555555555","name":"A\u0301 evil.example","pos":{"x":1,"y":2e0,"z":{"status":"unknown","reason":"r"}},` +
		`"far":3.5,"at":null,"color":null,"to":"/a/b","raw":"AAE=","m":{"a\u200b":"x","a":"y"},"tags":["t"]}`
	counts := `,"page":1,"page_size":2,"total_matching":2,"next_page":null,"truncated":false,"source_truncated":false`
	f.Add([]byte(`{` + envelope + `,"status":"unknown","reason":"r"}`))
	f.Add([]byte(`{` + envelope + `,"items":[` + item + `,` + item + `]` + counts + `}`))
	f.Add([]byte(`{"n":0,"flag":true,"tree":{"name":"r","children":[{"children":[],"name":"c"}]},"items":{"items":[` + item + `,` + item + `]` + counts + `}}`))
	f.Add([]byte(`{"items":{"status":"unknown","reason":"r"},"flag":{"status":"unknown","reason":"r"},"n":1}`))
	f.Add([]byte(strings.Repeat(`{"children":[`, 70)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkShaped(t, page, raw)
		checkShaped(t, record, raw)
	})
}
