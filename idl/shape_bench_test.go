package idl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl"
)

// BenchmarkShapePage shapes what nearby_avatars answers: 20 avatars in the
// order of the document, with plain names and with ones that need cleaning.
func BenchmarkShapePage(b *testing.B) {
	op := operationOf(b, "observed<fact<page<Avatar>>>", records+`
record Avatar { avatar_id: uuid; name: fact<text>; position: fact<Pos>; @derived distance_meters: fact<float>; @derived direction: fact<Color>; }`)
	op.MaxOutput = idl.DefaultMaxOutput
	for _, c := range []struct{ name, avatar string }{
		{"plain", "Resident Number Four"},
		{"strange", "Ré\u200bsident \u202ehttp://evil.example/x \U0001f468\u200d\U0001f469"},
	} {
		var items []string
		for i := range 20 {
			items = append(items, fmt.Sprintf(`{"avatar_id":"11111111-2222-4333-8444-5555555555%02d","name":%q,"position":{"x":12.25,"y":%d.5,"z":24.659999847},`+
				`"distance_meters":17.32050807568877,"direction":"red"}`, i, c.avatar, i))
		}
		raw := fmt.Appendf(nil, `{%s,"items":[%s],"page":1,"page_size":20,"total_matching":2048,"next_page":2,"truncated":true,"source_truncated":false}`,
			envelope, strings.Join(items, ","))
		if _, err := op.Shape(raw, idl.ShapeOptions{}); err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := op.Shape(raw, idl.ShapeOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
